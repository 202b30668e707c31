"""The methods of others, told what they ask for, and what their tests share."""

import numpy as np
from sklearn.base import clone

ALPHA = 0.1


def told(method, alpha=ALPHA, sigma=1.0, **constants):
    """The estimator, told what it asks for; with other constants than those of its authors."""
    known = {"alpha": alpha, "sigma": sigma}
    estimator = method(**{name: known[name] for name in method.needs})
    vars(estimator).update(constants)
    return estimator


def deviation(X, weights=None):
    """The largest standard deviation in any direction."""
    weights = np.ones(len(X)) if weights is None else weights
    away = X - np.average(X, axis=0, weights=weights)
    # As singular values: with many columns and few rows, and for scales whose squares are tiny.
    return np.linalg.norm(away * np.sqrt(weights / weights.sum())[:, None], 2)


def fitted(method, X, sigma=None, **changed):
    if sigma is not None and "sigma" in method.needs:
        changed["sigma"] = sigma
    return clone(method).set_params(**changed).fit(X)


def krum_by_hand(X, n_bad):
    """Sums of squared distances to the nearest rows, straight from the definition."""
    n = len(X)
    scores = []
    for i in range(n):
        apart = sorted(np.sum((X[i] - X[j]) ** 2) for j in range(n) if j != i)
        scores.append(sum(apart[: max(1, n - n_bad - 2)]))
    return np.array(scores)
