"""Tables of so few rows that all subsets can be tried."""

from functools import cache

import numpy as np

# Rows, columns and outliers: few enough for all subsets to be tried.
SHAPES = [(8, 1, 2), (10, 2, 3), (11, 3, 4), (12, 4, 3)]
CONTAMINATIONS = ["none", "far cluster", "near cluster", "copies"]


@cache
def small_table(contamination, shape, seed):
    n, d, n_bad = shape
    rng = np.random.default_rng([seed, *shape])
    X = rng.standard_normal((n, d))
    if contamination == "far cluster":
        X[:n_bad] += 30.0
    elif contamination == "near cluster":
        X[:n_bad] += 3.0 * rng.choice([-1.0, 1.0], d)
    elif contamination == "copies":
        X[:n_bad] = 4.0 * rng.standard_normal(d)
    return X
