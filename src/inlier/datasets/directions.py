"""Directions that an adversary picks, and how much rows vary in them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from inlier.datasets._typing import FloatArray

DIRECTIONS = ("random", "top", "bottom")


def largest_eigenvalue(rows: FloatArray) -> float:
    """Of the covariance of rows, about their own mean and normalised by their number."""
    centred: FloatArray = rows - rows.mean(axis=0)
    m, d = centred.shape
    # The scatter and the Gram matrix share their largest eigenvalue; take the smaller one.
    moment = centred.T @ centred if d <= m else centred @ centred.T
    last = len(moment) - 1
    top = eigh(moment, eigvals_only=True, subset_by_index=(last, last), driver="evr")
    return float(max(top[0], 0.0) / m)  # rounding can leave a zero below zero


def random_direction(d: int, rng: np.random.Generator) -> FloatArray:
    """A unit vector, uniform on the sphere."""
    direction = rng.standard_normal(d)
    return np.asarray(direction / np.linalg.norm(direction))


def principal_direction(rows: FloatArray, which: str) -> FloatArray:
    """The unit vector along which rows vary most ("top"), or least but still do ("bottom")."""
    centred = rows - rows.mean(axis=0)
    m, d = centred.shape
    wide = d >= m
    moment = centred @ centred.T if wide else centred.T @ centred
    # Centred rows leave one eigenvalue of their Gram matrix at zero: it belongs to no direction.
    place = len(moment) - 1 if which == "top" else min(int(wide), m - 1)
    vector = eigh(moment, subset_by_index=(place, place), driver="evr")[1][:, 0]
    direction = centred.T @ vector if wide else vector
    length = np.linalg.norm(direction)
    if length == 0.0:  # a single row, or equal ones
        return np.asarray(np.eye(1, d)[0])
    # Either sign is an eigenvector; the same one on every machine.
    sign = np.sign(direction[np.argmax(np.abs(direction))])
    return np.asarray(direction * (sign / length))


def choose_direction(rows: FloatArray, which: str, rng: np.random.Generator) -> FloatArray:
    """One of `DIRECTIONS`, as a unit vector."""
    if which == "random":
        return random_direction(rows.shape[1], rng)
    return principal_direction(rows, which)
