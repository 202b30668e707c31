"""Medians, trimmed means and aggregators: against scipy, scikit-learn, brute force and theory.

What they share with the other methods, and what all have to bear, is in test_baselines.py.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp, minimize
from scipy.stats import trim_mean
from sklearn.covariance import MinCovDet
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.baselines.bulyan import Bulyan
from inlier.baselines.centered_clipping import CenteredClipping
from inlier.baselines.coordinate_median import CoordinateMedian
from inlier.baselines.geometric_median import GeometricMedian
from inlier.baselines.krum import Krum, MultiKrum
from inlier.baselines.mda import MDA
from inlier.baselines.median_of_means import MedianOfMeans
from inlier.baselines.min_cov_det import MinimumCovarianceDeterminant
from inlier.baselines.trimmed_mean import TrimmedMean
from inlier.baselines.tukey_median import TukeyMedian
from inlier.data import as_table
from inlier.linalg.centers import geometric_median
from reference import contaminated

MCD = MinimumCovarianceDeterminant


@cases(
    ("method", "message"),
    [
        (GeometricMedian(tol=0.0), "tol must be"),
        (GeometricMedian(max_iter=0), "max_iter must be"),
        (TukeyMedian(n_directions=0), "n_directions must be"),
        (MedianOfMeans(alpha=0.1, n_blocks=12), "n_blocks must be above 2 alpha n = 12"),
        (MedianOfMeans(alpha=0.1, n_blocks=61), "at most n = 60, but is 61"),
        (MedianOfMeans(alpha=0.1, n_blocks=2.5), "n_blocks must be a whole number"),
        (MedianOfMeans(alpha=0.1, median="mean"), "median must be one of"),
        (Krum(alpha=0.49), r"at least 2 f \+ 3 = 61 rows where f = 29 .* but X has 60"),
        (MultiKrum(alpha=0.1, n_selected=61), "n_selected must be at most"),
        (Bulyan(alpha=0.25), r"at least 4 f \+ 3 = 63 rows where f = 15 .* but X has 60"),
        (CenteredClipping(radius=0.0), "radius must be"),
        (CenteredClipping(max_iter=0), "max_iter must be"),
        (CenteredClipping(tol=2.0), "tol must be"),
        (MDA(alpha=0.1, max_nodes=0), "max_nodes must be"),
        (MCD(support_fraction=0.4), "support_fraction must be"),
    ],
)
def test_wrong_parameters(method, message):
    with pytest.raises(ValueError, match=message):
        method.fit(contaminated())


# -- medians --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [9, 10])
def test_coordinate_median(n):
    X = np.random.default_rng(n).standard_normal((n, 5))
    result = CoordinateMedian().fit(X).result_
    np.testing.assert_array_equal(result.location, np.median(X, axis=0))
    np.testing.assert_allclose(result.scores, np.linalg.norm(X - result.location, axis=1))
    assert result.support.all()


def smallest_subgradient(X, x):
    """Norm of the smallest subgradient of the mean distance from x."""
    away = X - x
    lengths = np.linalg.norm(away, axis=1)
    here = lengths <= 1e-10 * np.median(lengths)
    pull = np.linalg.norm((away[~here] / lengths[~here, None]).sum(axis=0))
    return max(0.0, pull - here.sum()) / len(X)


@cases(("n", "d"), [(5, 2), (12, 3), (60, 4), (200, 30), (10, 40)])
@cases("kind", ["normal", "cauchy", "clusters"])
def test_geometric_median(n, d, kind):
    rng = np.random.default_rng([n, d])
    X = rng.standard_normal((n, d)) if kind != "cauchy" else rng.standard_cauchy((n, d))
    if kind == "clusters":
        X[: n // 3] += 30.0
    found = GeometricMedian().fit(X)
    assert found.result_.converged
    assert smallest_subgradient(X, found.location_) <= 1.1e-8

    def mean_distance(x):
        away = X - x
        lengths = np.linalg.norm(away, axis=1)
        return lengths.mean(), -(away / lengths[:, None]).mean(axis=0)

    start = X.mean(axis=0)
    best = minimize(mean_distance, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    assert mean_distance(found.location_)[0] <= best.fun * (1.0 + 1e-12)
    np.testing.assert_allclose(found.location_, best.x, atol=1e-3)


@pytest.mark.parametrize("pull", [0.5, 0.999, 1.0, 1.0 + 1e-6, 1.0001, 1.01, 1.3])
def test_geometric_median_at_a_row_or_nearly(pull):
    # The other two rows pull at the first with this force: up to 1 it stays. Weiszfeld's own
    # iteration takes thousands of steps here.
    angle = np.arccos(pull / 2.0)
    X = np.array([[0, 0], [np.cos(angle), np.sin(angle)], [np.cos(angle), -np.sin(angle)]])
    found = geometric_median(as_table(X))
    assert found.converged and found.n_iter <= 100
    assert smallest_subgradient(X, found.location) <= 1e-8
    np.testing.assert_allclose(found.distances, np.linalg.norm(X - found.location, axis=1))
    if pull <= 1.0:
        np.testing.assert_allclose(found.location, X[0], atol=1e-8)


@cases("seed", range(200))
def test_geometric_median_of_few_rows_with_ties(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (rng.integers(2, 12), rng.integers(1, 5))).astype(float)
    found = GeometricMedian().fit(X)
    assert found.result_.converged
    assert smallest_subgradient(X, found.location_) <= 1e-7


@pytest.mark.parametrize("seed", [31, 114, 145, 175])
def test_geometric_median_of_rows_nearly_on_a_line(seed):
    # Between the two middle rows of an even number the sum of distances is nearly constant.
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 8)) * np.logspace(-8, 8, 8)
    found = geometric_median(as_table(X))
    assert found.converged and found.n_iter <= 200
    assert smallest_subgradient(X, found.location) <= 1e-7


def test_geometric_median_says_that_it_has_not_converged():
    X = contaminated()
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        result = GeometricMedian(max_iter=2).fit(X).result_
    assert not result.converged


# -- Tukey's median -------------------------------------------------------------------------------


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


# -- means ----------------------------------------------------------------------------------------


@cases("alpha", [0.0, 0.1, 0.3, 0.45])
@cases(("n", "d"), [(40, 3), (20, 50)])
def test_trimmed_mean(alpha, n, d):
    X = np.random.default_rng(0).standard_t(2, (n, d)) + 5.0
    expected = trim_mean(X, alpha, axis=0)
    np.testing.assert_allclose(TrimmedMean(alpha=alpha).fit(X).location_, expected, atol=1e-12)


def test_median_of_means_of_as_many_blocks_as_rows_is_the_median_of_the_rows():
    X = contaminated()
    found = MedianOfMeans(alpha=0.1, n_blocks=60).fit(X)
    np.testing.assert_allclose(found.location_, GeometricMedian().fit(X).location_, atol=1e-6)
    found = MedianOfMeans(alpha=0.1, n_blocks=60, median="coordinate").fit(X)
    np.testing.assert_allclose(found.location_, np.median(X, axis=0), atol=1e-12)


@cases("alpha", [0.02, 0.1, 0.3, 0.45])
@cases("n", [11, 200])
def test_median_of_means_has_a_majority_of_good_blocks(alpha, n):
    message = MedianOfMeans(alpha=alpha).fit(contaminated(n, 3, 0)).result_.message
    n_blocks = int(message.split(" blocks")[0].split()[-1])
    assert 2 * round(alpha * n) < n_blocks <= n


@pytest.mark.parametrize("median", ["geometric", "coordinate"])
def test_median_of_means_stays_among_the_good_blocks(median):
    # Bounded by the good blocks, however far the bad rows: the breakdown property.
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (100, 3))
    found = [
        MedianOfMeans(alpha=0.2, median=median).fit(np.vstack([X[20:], np.full((20, 3), far)]))
        for far in (1e2, 1e4, 1e5)
    ]
    assert max(np.abs(one.location_).max() for one in found) <= 3.0
    assert np.ptp([one.location_ for one in found], axis=0).max() < 0.1


def test_median_of_means_of_random_blocks():
    X = contaminated()
    first, second = (MedianOfMeans(alpha=0.1, random_state=seed).fit(X) for seed in (0, 1))
    assert not np.array_equal(first.location_, second.location_)


# -- choices of rows ------------------------------------------------------------------------------


def krum_by_hand(X, n_bad):
    n = len(X)
    scores = []
    for i in range(n):
        apart = sorted(np.sum((X[i] - X[j]) ** 2) for j in range(n) if j != i)
        scores.append(sum(apart[: max(1, n - n_bad - 2)]))
    return np.array(scores)


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
    multi = MultiKrum(alpha=n_bad / 20, n_selected=5).fit(X)
    assert set(np.flatnonzero(multi.support_)) == set(best[:5])


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


# -- clipping -------------------------------------------------------------------------------------


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


# -- scikit-learn's -------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [None, 1.0, 0.8])
def test_minimum_covariance_determinant(fraction):
    X = contaminated(200, 4, 30, far=8.0)
    found = MCD(support_fraction=fraction).fit(X)
    fits = [MinCovDet(support_fraction=fraction, random_state=s).fit(X) for s in range(10)]
    # Its answer depends on the random starts; on data this clear, hardly.
    best = min(fits, key=lambda fit: np.linalg.norm(fit.location_ - found.location_))
    np.testing.assert_allclose(found.location_, best.location_, atol=1e-6)
    np.testing.assert_array_equal(found.support_, best.support_)
    np.testing.assert_allclose(found.result_.scores**2, best.dist_, rtol=1e-5)
    if fraction != 1.0:
        assert not found.support_[:30].any()


def test_minimum_covariance_determinant_needs_rows():
    with pytest.raises(ValueError, match=r"more than 2 d = 80 rows .* but X has 80"):
        MCD().fit(np.random.default_rng(0).standard_normal((80, 40)))
