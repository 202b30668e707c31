"""The bound on the influence of bad rows, attacked."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from cases import cases
from inlier import WeakEvidenceWarning, robust_mean

GOOD = {
    "Gaussian": lambda rng, n: rng.standard_normal((n, 4)),
    "Student": lambda rng, n: rng.standard_t(5, (n, 4)),
    "skewed": lambda rng, n: np.exp(0.5 * rng.standard_normal((n, 4))),
    "classes": lambda rng, n: rng.standard_normal((n, 4)) + 4.0 * (rng.random((n, 1)) < 0.4),
}


def ladder(rng, k, top):
    """No gap separates one of these values from the next."""
    m = round(0.78 * k)
    return np.r_[np.geomspace(3.2, top, m), -np.geomspace(3.2, top, k - m)]


BAD = {
    "ladder": ladder,
    "one side": lambda rng, k, top: np.geomspace(3.2, top, k),
    "code": lambda rng, k, top: np.full(k, top),
    "heavy": lambda rng, k, top: top * rng.standard_cauchy(k),
}


@cases("top", [10.0, 1e3, 1e6, 1e12])
@cases("alpha", [0.05, 0.1, 0.2])
@cases("bad", BAD)
@pytest.mark.parametrize("good", GOOD)
def test_no_column_moves_without_bound(good, bad, alpha, top):
    rng = np.random.default_rng([round(100 * alpha), round(np.log10(top))])
    X = GOOD[good](rng, 400)
    mean, deviation, k = X.mean(axis=0), X.std(axis=0), round(400 * alpha)
    X[:k, 1] = mean[1] + deviation[1] * BAD[bad](rng, k, top)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakEvidenceWarning)
        result = robust_mean(X)
    off = np.abs(result.location - X[k:].mean(axis=0)) / deviation
    assert off.max() <= 5.0
    assert (off <= result.guarantee(0.25) / deviation).all()


def test_no_choice_of_good_rows_breaks_the_guarantee():
    """By brute force: any nine of twelve rows that vary by no more may be the good ones."""
    X = np.random.default_rng(0).standard_normal((12, 1))
    result = robust_mean(X)
    bound, spread = result.guarantee(0.25)[0], result.deviation[0]
    assert bound == pytest.approx(spread * np.sqrt(0.25 / 0.75))
    chosen = X[np.array(list(combinations(range(12), 9))), 0]
    means = chosen.mean(axis=1)[chosen.std(axis=1) <= spread]
    assert len(means) > 50 and np.abs(means - result.location[0]).max() <= bound
    with pytest.raises(ValueError, match="fraction"):
        result.guarantee(0.5)
    with pytest.raises(ValueError, match="sample_weight"):
        robust_mean(X, sample_weight=np.ones(12)).guarantee()
