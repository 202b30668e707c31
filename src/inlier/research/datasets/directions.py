"""Directions in a sample, and second streams of random numbers."""

import numpy as np
from scipy.linalg import eigh

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_random_state
from inlier.datasets import seed_of

DIRECTIONS = ("random", "top", "bottom")


def second_generator(random_state: Seed, key: int) -> np.random.Generator:
    """Return a second stream of the same seed, beside that of a model that is changed."""
    seed = seed_of(random_state)
    of_seed = None if seed is None else np.random.default_rng([seed, key])
    return of_seed or check_random_state(random_state)


def random_direction(d: int, rng: np.random.Generator) -> Array:
    """Draw a unit vector, uniform on the sphere."""
    direction = rng.standard_normal(d)
    return np.asarray(direction / np.linalg.norm(direction))


def principal_direction(rows: Array, which: str) -> Array:
    """Return the unit vector of largest ("top") or smallest positive ("bottom") variance."""
    centered = rows - rows.mean(axis=0)
    m, d = centered.shape
    wide = d >= m
    moment = centered @ centered.T if wide else centered.T @ centered
    # The Gram matrix of centered rows has one zero eigenvalue, which belongs to no direction.
    place = len(moment) - 1 if which == "top" else min(int(wide), m - 1)
    vector = eigh(moment, subset_by_index=(place, place), driver="evr")[1][:, 0]
    direction = centered.T @ vector if wide else vector
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
