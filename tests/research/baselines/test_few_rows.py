"""Krum, Bulyan, minimum diameter averaging and centered clipping against their definitions."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines.few_rows import MDA, Bulyan, CenteredClipping, Krum, MultiKrum
from reference import contaminated
from rivals import krum_by_hand


@cases("n_bad", [0, 1, 3, 8])
@cases("d", [2, 40])
def test_krum(n_bad, d):
    X = contaminated(20, d, n_bad, far=2.0) + 100.0
    expected = krum_by_hand(X, n_bad)
    krum = Krum(alpha=n_bad / 20).fit(X)
    np.testing.assert_allclose(krum.result_.scores, expected, rtol=1e-9)
    np.testing.assert_allclose(krum.location_, X[np.argmin(expected)])
    multi = MultiKrum(alpha=n_bad / 20).fit(X)
    best = np.argsort(expected)
    np.testing.assert_allclose(multi.location_, X[best[: 20 - n_bad]].mean(axis=0))


@cases("n_bad", [0, 1, 2, 4])
@cases("seed", range(4))
def test_bulyan(n_bad, seed):
    n = 19 + seed
    X = contaminated(n, 3, n_bad, seed, far=1.5)
    left, chosen = list(range(n)), []
    for _ in range(n - 2 * n_bad):
        scores = krum_by_hand(X[left], n_bad) if len(left) > 1 else np.zeros(1)
        chosen.append(left.pop(int(np.argmin(scores))))
    found = Bulyan(alpha=n_bad / n).fit(X)
    assert set(np.flatnonzero(found.support_)) == set(chosen)
    rows = X[chosen]
    expected = []
    for column, median in zip(rows.T, np.median(rows, axis=0), strict=True):
        nearest = sorted(column, key=lambda value, median=median: abs(value - median))
        expected.append(np.mean(nearest[: n - 4 * n_bad]))
    np.testing.assert_allclose(found.location_, expected, atol=1e-10)


@cases("n_bad", [1, 2, 4])
@cases("seed", range(8))
def test_mda_has_the_smallest_diameter(n_bad, seed):
    X = contaminated(12, 2, n_bad, seed, far=0.5)
    if seed % 2:  # with duplicates and ties
        X = X.round()
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    smallest = min(
        apart[np.ix_(rows, rows)].max() for rows in itertools.combinations(range(12), 12 - n_bad)
    )
    found = MDA(alpha=n_bad / 12).fit(X)
    kept = found.support_
    assert found.result_.converged and kept.sum() >= 12 - n_bad
    assert apart[np.ix_(kept, kept)].max() == pytest.approx(smallest, abs=1e-12)
    np.testing.assert_allclose(found.location_, X[kept].mean(axis=0), atol=1e-12)


def smallest_cover(edges):
    """The fewest rows that touch all edges, by integer programming."""
    ends = np.argwhere(np.triu(edges))
    touch = np.zeros((len(ends), len(edges)))
    touch[np.arange(len(ends))[:, None], ends] = 1.0
    each_edge = LinearConstraint(touch, lb=1.0)
    solved = milp(np.ones(len(edges)), constraints=each_edge, integrality=1, bounds=Bounds(0, 1))
    return round(solved.fun)


@pytest.mark.parametrize("seed", range(6))
def test_mda_against_integer_programming(seed):
    rng = np.random.default_rng(seed)
    n_bad, X = int(rng.integers(3, 15)), rng.standard_normal((40, rng.integers(1, 8)))
    kept = MDA(alpha=n_bad / 40).fit(X).support_
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    diameter = apart[np.ix_(kept, kept)].max()
    assert kept.sum() == 40 - n_bad
    assert smallest_cover(apart >= diameter) > n_bad, "a smaller diameter is possible"


def test_mda_says_when_the_search_is_too_long():
    angles = 2.0 * np.pi * np.random.default_rng(0).random(150)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    with pytest.warns(ConvergenceWarning, match="max_nodes=1, .* raise max_nodes"):
        result = MDA(alpha=0.45, max_nodes=1).fit(X).result_
    assert result.support.sum() >= 82
    least = float(result.message.split("at least ")[1].split(":")[0])
    diameter = float(result.message.split("Diameter ")[1].split(" ")[0].rstrip("."))
    assert 0.0 < least < diameter
    assert MDA(alpha=0.45).fit(X).result_.converged


@cases("radius", [None, 0.5, 2.0, 1e3])
@cases("shape", [(60, 4), (15, 40)])
def test_centered_clipping_stands_still(radius, shape):
    X = contaminated(*shape, n_bad=4)
    result = CenteredClipping(radius=radius).fit(X).result_
    assert result.converged
    away = X - result.location
    lengths = np.linalg.norm(away, axis=1)
    size = np.median(lengths) if radius is None else radius
    factors = np.minimum(1.0, size / lengths)
    assert np.linalg.norm((factors[:, None] * away).mean(axis=0)) <= 2e-8 * np.median(lengths)
    np.testing.assert_allclose(result.weights * factors.max(), factors, atol=1e-9)
    if radius == 1e3:
        np.testing.assert_allclose(result.location, X.mean(axis=0), atol=1e-6)


def test_centered_clipping_is_the_published_step():
    X = contaminated()
    with pytest.warns(ConvergenceWarning, match="raise max_iter, tol or radius=1"):
        found = CenteredClipping(radius=1.0, max_iter=1).fit(X)
    v = np.median(X, axis=0)
    away = X - v
    lengths = np.linalg.norm(away, axis=1)[:, None]
    expected = v + np.where(lengths > 1.0, away / lengths, away).mean(axis=0)
    np.testing.assert_allclose(found.location_, expected, atol=1e-12)
