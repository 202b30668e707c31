"""Tables of packages with errors."""

import numpy as np
from sklearn.datasets import load_digits, load_iris


def iris_with_typos():
    X = load_iris().data.copy()
    X[3, 0] *= 10.0
    X[60, 2] *= 100.0
    X[[100, 101, 102], 1] = -999.0
    X[120, 3] *= -10.0
    X[140, [0, 2]] = 1e4, 3e-9
    return X


def digits(good=0, bad=1, n_bad=60):
    """One digit, and rows of another that nothing given leaves in; how many are good."""
    X, y = load_digits(return_X_y=True)
    return np.vstack([X[y == good], X[y == bad][:n_bad]]), int((y == good).sum())
