"""The bound on the influence of bad rows, attacked."""

from itertools import combinations

import numpy as np
import pytest

from cases import cases
from fits import quietly
from inlier import robust_mean

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
    result = quietly(robust_mean, X)
    off = np.abs(result.location - X[k:].mean(axis=0)) / deviation
    assert off.max() <= 5.0
    bound = result.guarantee(0.25) / deviation
    assert (off <= bound).all() and bound.max() < 20.0


COLUMNS = {
    "values": lambda rng, n: values(rng, n),
    "flags": lambda rng, n: (rng.random(n) < rng.uniform(0.01, 0.99)).astype(float),
    "equal values": lambda rng, n: np.where(
        rng.random(n) < rng.uniform(0.05, 0.99), 0.0, values(rng, n) + rng.choice([0, 5])
    ),
    "counts": lambda rng, n: rng.poisson(rng.choice([0.05, 0.3, 1, 3]), n).astype(float),
    "codes": lambda rng, n: rng.choice(9, n, p=rng.dirichlet(np.full(9, 0.4))).astype(float),
}


def values(rng, n):
    drawn = rng.standard_normal(n)
    return [drawn, np.exp(0.5 * drawn), rng.uniform(-1, 1, n)][rng.integers(3)]


def near(rng, k, top):
    """As near to the most frequent value as top is far: codes of good rows then look extreme."""
    return rng.standard_normal(k) / top


def unit(good):
    """Half of the shortest interval that holds 65% of the values."""
    a, k = np.sort(good), int(np.ceil(0.65 * len(good)))
    return np.min(a[k - 1 :] - a[: len(a) - k + 1]) / 2.0


@cases("seed", range(40))
@cases("bad", [*BAD, "near", "near and far"])
@pytest.mark.parametrize("good", COLUMNS)
def test_no_stated_bound_is_false(good, bad, seed):
    """In columns with any share of equal values, of few rows and of many."""
    rng = np.random.default_rng([list(COLUMNS).index(good), len(bad), seed])
    n, d = int(rng.choice([8, 12, 20, 50, 200, 700])), int(rng.choice([1, 3]))
    k, top = int(rng.uniform(1 / n, 0.25) * n), 10 ** rng.uniform(0.5, 8)
    X = np.stack([COLUMNS[good](rng, n) for _ in range(d)], axis=1)
    G = X[k:].copy()
    distinct, counts = np.unique(G[:, 0], return_counts=True)
    if bad.startswith("near"):
        X[:k, 0] = distinct[counts.argmax()] + near(rng, k, top)
    if not bad.startswith("near") or bad == "near and far":
        far = k // 2 if bad == "near and far" else k
        draw = ladder if bad == "near and far" else BAD[bad]
        X[:far, 0] = G[:, 0].mean() + max(G[:, 0].std(), 0.1) * draw(rng, far, top)
    result = quietly(robust_mean, X)
    off = np.abs(result.location - G.mean(axis=0))
    units = np.array([unit(column) for column in G.T])
    # What is assumed, and columns of which most values are equal, of which nothing is.
    holds = (G.std(axis=0) <= 4.0 * units) | (units == 0.0)
    for fraction in (k / n, 0.25):
        bound = result.guarantee(fraction)
        assert (off <= (1.0 + 1e-9) * bound + 1e-12)[holds].all()
        if result.support.all() and not any(cell.set_aside for cell in result.cells):
            assert (off <= (1.0 + 1e-9) * bound + 1e-12).all()


def test_where_no_bound_can_be_stated():
    """A rare flag whose ones are set aside because of noise; too few rows that count."""
    rng = np.random.default_rng(0)
    X = np.stack([(np.arange(400) < 40).astype(float), rng.standard_normal(400)], axis=1)
    assert np.isfinite(robust_mean(X).guarantee()).all()  # every cell counts
    X[200:280, 0] = 1e-6 * rng.standard_normal(80)
    X[:20, 1] = 1e6
    result = robust_mean(X)
    assert result.location[0] < 1e-3
    assert np.isinf(result.guarantee(0.2)).tolist() == [True, False]
    X[:120, 1] = 1e6 + rng.standard_normal(120)
    given = robust_mean(X[:, 1:], sigma=2.0)
    assert given.support.sum() == 280
    assert np.isfinite(given.guarantee(0.1)) and np.isinf(given.guarantee(0.4))


def test_missing_cells_are_not_removed_ones():
    X = np.random.default_rng(0).standard_normal((200, 2))
    X[:80, 1] = np.nan
    bound = robust_mean(X).guarantee(0.1)
    assert np.isfinite(bound).all() and bound[1] > 2.0 * bound[0]


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
