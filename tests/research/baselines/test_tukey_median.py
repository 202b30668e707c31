"""Tukey's median against brute force in the plane, and what it says of its depth."""

import itertools

import numpy as np
import pytest

from cases import cases
from inlier.data import as_table
from inlier.linalg.centers import geometric_median
from inlier.research.baselines.tukey_median import TukeyMedian
from reference import contaminated


def depth(x, X, tol=1e-7):
    """Of a point in the plane: the fewest rows in a closed half-plane, over all directions."""
    away = X - x
    away = away[np.hypot(*away.T) > tol]
    here = len(X) - len(away)
    if not len(away):
        return here
    at = np.arctan2(away[:, 1], away[:, 0])
    turns = np.sort(np.concatenate([at + np.pi / 2, at - np.pi / 2]) % (2 * np.pi))
    turns = turns[np.append(True, np.diff(turns) > 1e-6)]
    between = (turns + np.append(turns[1:], turns[0] + 2 * np.pi)) / 2
    inside = away @ np.array([np.cos(between), np.sin(between)]) >= -tol
    return here + int(inside.sum(axis=0).min())


def corners(X):
    """The rows, and where the lines through two of them cross: one of these is deepest."""
    a, b = np.array(list(itertools.combinations(range(len(X)), 2))).T
    if len(a) == 1:
        return X
    first, second = np.array(list(itertools.combinations(range(len(a)), 2))).T
    p, u, q, v = X[a[first]], (X[b] - X[a])[first], X[a[second]], (X[b] - X[a])[second]
    cross = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    apart = np.abs(cross) > 1e-9
    away = (q - p)[apart]
    s = (away[:, 0] * v[apart, 1] - away[:, 1] * v[apart, 0]) / cross[apart]
    return np.unique(np.concatenate([X, p[apart] + s[:, None] * u[apart]]).round(12), axis=0)


@cases("seed", range(60))
def test_tukey_median_is_deepest_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 10)
    # Every other time on a grid: with duplicates, and many rows on a line.
    X = rng.integers(-2, 3, (n, 2)) * 1.0 if seed % 2 else rng.standard_normal((n, 2))
    found = TukeyMedian().fit(X)
    assert found.result_.converged and "approx" not in found.result_.message
    assert depth(found.location_, X) == max(depth(corner, X) for corner in corners(X))


@pytest.mark.parametrize("n", [30, 501])
@pytest.mark.parametrize("kind", ["normal", "cauchy", "line"])
def test_tukey_median_says_how_deep_it_is(n, kind):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 2)) if kind != "cauchy" else rng.standard_cauchy((n, 2))
    if kind == "line":
        X = np.array([1e3, -7.0]) + X[:, :1] * np.array([3.0, -4.0])
    found = TukeyMedian().fit(X)
    deep = depth(found.location_, X, tol=1e-6 if kind == "line" else 1e-7)
    assert f"Depth {deep} of {n} rows, exact." in found.result_.message
    assert deep >= np.ceil(n / 3)
    rivals = [np.median(X, axis=0), geometric_median(as_table(X)).location, *X[:50]]
    assert deep >= max(depth(rival, X) for rival in rivals)
    if kind == "line":
        assert deep == (n + 1) // 2


def test_tukey_median_of_a_square_is_where_the_diagonals_cross():
    X = np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 3.0], [5.0, 0.0]])
    crossing = np.array([15.0, 15.0]) / 8.0
    np.testing.assert_allclose(TukeyMedian().fit(X).location_, crossing, atol=1e-8)


@pytest.mark.parametrize("n", [2, 7, 100])
def test_tukey_median_of_one_column_is_the_median(n):
    X = np.random.default_rng(n).standard_normal((n, 1))
    np.testing.assert_allclose(TukeyMedian().fit(X).location_, np.median(X, axis=0))


def test_tukey_median_moves_with_any_change_of_coordinates_in_its_depth():
    X = contaminated(81, 2, 15)
    mixing = np.array([[100.0, 3.0], [2.0, 0.1]])
    plain, mixed = TukeyMedian().fit(X), TukeyMedian().fit(X @ mixing.T)
    assert plain.result_.message == mixed.result_.message
    back = np.linalg.solve(mixing, mixed.location_)
    assert depth(back, X) == depth(plain.location_, X)


@pytest.mark.parametrize(("n", "d"), [(50, 3), (200, 8)])
def test_tukey_median_is_deepest_along_the_directions(n, d):
    X = contaminated(n, d, n // 10)
    found = TukeyMedian(n_directions=300).fit(X)
    assert f"with respect to {300 + d} directions only" in found.result_.message
    deep = int(found.result_.message.split("Depth ")[1].split()[0])
    # Over all directions it can only be less deep; the axes are among those it knows.
    for points in (X, -X):
        at = found.location_ if points is X else -found.location_
        assert (points >= at - 1e-9).sum(axis=0).min() >= deep
    assert deep >= n / (d + 1)


def test_tukey_median_has_all_medians_where_directions_are_few():
    X = contaminated(100, 30, 10)
    found = TukeyMedian(n_directions=5, random_state=np.random.default_rng(4))
    # The same generator draws the same directions; 100 rows are not sampled before.
    directions = np.random.default_rng(4).standard_normal((5, 30))
    np.testing.assert_allclose(
        directions @ found.fit(X).location_, np.median(X @ directions.T, axis=0), atol=1e-9
    )
    assert "with respect to 5 directions only" in found.result_.message
