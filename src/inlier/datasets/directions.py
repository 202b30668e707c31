"""Directions for an adversary, and the variance of rows along them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from inlier._internal.typing import Array

DIRECTIONS = ("random", "top", "bottom")


def largest_eigenvalue(rows: Array) -> float:
    """Return the largest eigenvalue of the covariance, normalised by the number of rows."""
    centred: Array = rows - rows.mean(axis=0)
    m, d = centred.shape
    # The scatter and the Gram matrix share their largest eigenvalue; use the smaller matrix.
    moment = centred.T @ centred if d <= m else centred @ centred.T
    last = len(moment) - 1
    top = eigh(moment, eigvals_only=True, subset_by_index=(last, last), driver="evr")
    return float(max(top[0], 0.0) / m)  # rounding can make a zero negative


def random_direction(d: int, rng: np.random.Generator) -> Array:
    """Draw a unit vector, uniform on the sphere."""
    direction = rng.standard_normal(d)
    return np.asarray(direction / np.linalg.norm(direction))


def principal_direction(rows: Array, which: str) -> Array:
    """Return the unit vector of largest ("top") or smallest positive ("bottom") variance."""
    centred = rows - rows.mean(axis=0)
    m, d = centred.shape
    wide = d >= m
    moment = centred @ centred.T if wide else centred.T @ centred
    # The Gram matrix of centred rows has one zero eigenvalue, which belongs to no direction.
    place = len(moment) - 1 if which == "top" else min(int(wide), m - 1)
    vector = eigh(moment, subset_by_index=(place, place), driver="evr")[1][:, 0]
    direction = centred.T @ vector if wide else vector
    length = np.linalg.norm(direction)
    if length == 0.0:  # a single row, or equal ones
        return np.asarray(np.eye(1, d)[0])
    # Fix the sign of the eigenvector, which depends on the machine.
    sign = np.sign(direction[np.argmax(np.abs(direction))])
    return np.asarray(direction * (sign / length))


def choose_direction(rows: Array, which: str, rng: np.random.Generator) -> Array:
    """Return one of `DIRECTIONS` as a unit vector."""
    if which == "random":
        return random_direction(rows.shape[1], rng)
    return principal_direction(rows, which)
