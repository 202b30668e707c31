"""Algorithm 1, its starts and its eigenvectors, against cvxpy, scipy and dense matrices."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

import inlier
import reference
from cases import cases
from inlier import theory
from inlier.data import as_table
from inlier.datasets import SettingA, SettingB
from inlier.known_sigma import continuation
from inlier.known_sigma.algorithm import ExactStep
from inlier.linalg.centers import geometric_median
from inlier.linalg.eigenpairs import Oracle, top_eigenpairs
from inlier.packing.surrogates import L1, SMOOTHING
from inlier.packing.surrogates import surrogate as named_surrogate

SURROGATES = ["l1", "reweighted-l1", "reweighted-l2"]
POWERS = [0.3, 0.5, 0.9]


def error(result, sample):
    return np.linalg.norm(result.location - sample.mean)


# -- Algorithm 1 as published ---------------------------------------------------------------------


def minimised_by_cvxpy(A, budget, surrogate, p=1.0):
    """Step 1: the indicator h, by the paper's sequence of convex problems."""
    h = np.ones(len(A))
    if surrogate == "l1":
        return 1.0 - reference.optimum(A, budget, reference.weighted_l1(h))[1]
    for eps in SMOOTHING:
        if surrogate == "reweighted-l1":
            objective = reference.weighted_l1((h + eps) ** (p - 1.0))
        else:
            objective = reference.weighted_squares((h**2 + eps) ** (p / 4.0 - 0.5))
        h = 1.0 - reference.optimum(A, budget, objective)[1]
        h = np.clip(h, 0.0, 1.0)
    return h


@pytest.mark.parametrize("seed", range(4))
def test_iterations_are_those_of_algorithm_1_with_cvxpy(seed):
    sample = SettingA(n=60, d=6, alpha=0.3).sample(seed)
    result = inlier.robust_mean(
        sample.X, sigma=sample.sigma, algorithm="paper", surrogate="l1", tol=1e-8
    )
    center, counts, sums = np.median(sample.X, axis=0), [np.inf], []
    while True:
        h = minimised_by_cvxpy(sample.X - center, result.budget, "l1")
        counts.append(int((h > 1e-5).sum()))
        sums.append(h.sum())
        if counts[-1] >= counts[-2]:
            break
        kept = h <= 1e-5
        center = sample.X[kept].mean(axis=0)
    assert [step.n_removed for step in result.history] == counts[1:]
    np.testing.assert_allclose([step.h_sum for step in result.history], sums, atol=1e-5)
    np.testing.assert_array_equal(result.support, kept)


@cases("seed", range(3))
@cases("p", POWERS)
@cases("surrogate", SURROGATES)
def test_step_1_is_the_sequence_of_convex_problems_of_the_paper(surrogate, p, seed):
    sample = SettingA(n=60, d=6, alpha=0.2).sample(seed)
    center, budget = np.median(sample.X, axis=0), 60 * sample.sigma**2
    oracle = Oracle(as_table(sample.X), np.random.default_rng(0))
    step1 = ExactStep(oracle, named_surrogate(surrogate, p), tol=1e-9)
    found = step1(center, budget, np.inf)
    h = minimised_by_cvxpy(sample.X - center, budget, surrogate, p)
    # All but the last of the least squares problems are solved to a gap of 1e-3 only.
    close = 2e-2 if surrogate == "reweighted-l2" else 2e-3
    np.testing.assert_allclose(found.h, h, atol=close)
    # Removed is what has h != 0, as published; nothing is asked of rows that are too close to call.
    zero = np.sqrt(SMOOTHING[-1] / (1.0 - p)) if surrogate == "reweighted-l2" else 1e-4
    assert np.all(found.removed[h > zero + close])
    assert not np.any(found.removed[h < zero - close])
    np.testing.assert_allclose(found.mean, sample.X[~found.removed].mean(axis=0), atol=1e-12)


@cases("p", POWERS)
@cases("surrogate", SURROGATES)
@cases("setting", [SettingA, SettingB])
def test_algorithm_1_stops_by_the_rule_of_the_paper(setting, surrogate, p):
    sample = setting(n=120, d=10, alpha=0.2).sample(0)
    result = inlier.robust_mean(
        sample.X, sigma=sample.sigma, p=p, algorithm="paper", surrogate=surrogate
    )
    counts = [step.n_removed for step in result.history]
    assert all(step.stage == "algorithm 1" for step in result.history)
    assert all(step.budget == result.budget for step in result.history)
    assert result.n_iter == len(counts)
    assert np.all(np.diff(counts[:-1]) < 0)
    assert counts[-1] >= counts[-2] or counts[-1] == 0
    assert result.converged
    assert result.certificate.n_removed == min(counts)
    np.testing.assert_array_equal(result.support, result.indicator == 0.0)
    np.testing.assert_allclose(result.location, sample.X[result.support].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("surrogate", ["reweighted-l1", "reweighted-l2"])
def test_power_1_is_l1(surrogate):
    sample = SettingA(n=100, d=8, alpha=0.2).sample(1)
    options = {"sigma": sample.sigma, "algorithm": "paper"}
    l1 = inlier.robust_mean(sample.X, surrogate="l1", **options)
    reweighted = inlier.robust_mean(sample.X, surrogate=surrogate, p=1.0, **options)
    np.testing.assert_array_equal(l1.support, reweighted.support)
    assert l1.history == reweighted.history


def test_algorithm_1_in_more_columns_than_the_interior_point_method_takes():
    sample = SettingB(n=150, d=40, alpha=0.2).sample(0)
    for surrogate in SURROGATES:
        result = inlier.robust_mean(
            sample.X, sigma=sample.sigma, algorithm="paper", surrogate=surrogate, tol=1e-5
        )
        counts = [step.n_removed for step in result.history]
        assert np.all(np.diff(counts[:-1]) < 0)
        kept = sample.X[result.support]
        top = reference.largest_eigenvalue(kept - kept.mean(axis=0), np.ones(len(kept)))
        assert top <= result.budget * (1.0 + 1e-9)
        assert result.certificate.lambda_max == pytest.approx(top, rel=1e-9)


def test_too_few_iterations_are_reported():
    sample = SettingA(n=120, d=10, alpha=0.3).sample(0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        result = inlier.robust_mean(
            sample.X, sigma=sample.sigma, algorithm="paper", surrogate="l1", max_iter=1
        )
    assert not result.converged
    assert result.n_iter == len(result.history) == 1


@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_clean_data_lose_no_row(algorithm):
    sample = SettingA(n=200, d=10, alpha=0.0).sample(0)
    result = inlier.robust_mean(
        sample.X, sigma=1.1 * sample.sigma, algorithm=algorithm, start=sample.mean
    )
    assert result.support.all()
    assert result.converged
    assert result.certificate.l0_lower_bound == 0
    np.testing.assert_allclose(result.location, sample.mean, atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(100, 10), (100, 30)])
@pytest.mark.parametrize("alpha", [0.2, 0.4])
def test_l1_objective_never_rises_when_the_mean_is_weighted(n, d, alpha):
    """Theorem 2 for the relaxed problem: a weighted mean keeps feasible weights feasible."""
    sample = SettingA(n=n, d=d, alpha=alpha).sample(0)
    oracle = Oracle(as_table(sample.X), np.random.default_rng(0))
    tol = 1e-6
    step1 = ExactStep(oracle, L1(), tol=tol, soft=True)
    center, objectives = np.median(sample.X, axis=0), []
    for _ in range(6):
        found = step1(center, n * sample.sigma**2, np.inf)
        objectives.append(found.h.sum())
        w = 1.0 - found.h
        np.testing.assert_allclose(found.mean, w @ sample.X / w.sum(), atol=1e-10)
        center = found.mean
    assert np.all(np.diff(objectives) <= tol * n)
    assert objectives[-1] < objectives[0]


# -- Starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["coordinate-median", "geometric-median", "auto"])
@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_every_start_leads_to_the_good_rows(algorithm, start):
    sample = SettingB(n=300, d=60, alpha=0.2).sample(0)
    result = inlier.robust_mean(sample.X, sigma=sample.sigma, algorithm=algorithm, start=start)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


def steps(result):
    """The history but for the passes, of which a named start takes some itself."""
    return [(step.n_removed, step.h_sum, step.lambda_max) for step in result.history]


def test_named_starts_are_the_centres_they_name():
    sample = SettingA(n=100, d=5, alpha=0.2).sample(0)
    options = {"sigma": sample.sigma, "algorithm": "paper"}
    median = inlier.robust_mean(sample.X, start="coordinate-median", **options)
    same = inlier.robust_mean(sample.X, start=np.median(sample.X, axis=0), **options)
    auto = inlier.robust_mean(sample.X, **options)
    assert steps(median) == steps(same) == steps(auto)
    geometric = inlier.robust_mean(sample.X, start="geometric-median", **options)
    same = inlier.robust_mean(
        sample.X, start=geometric_median(as_table(sample.X)).location, **options
    )
    assert steps(geometric) == steps(same)
    elsewhere = inlier.robust_mean(sample.X, start=sample.mean, **options)
    assert steps(elsewhere)[0] != steps(median)[0]


def sum_of_distances(X):
    return lambda x: np.linalg.norm(X - x, axis=1).sum()


@pytest.mark.parametrize(("n", "d"), [(5, 2), (30, 3), (101, 8)])
def test_geometric_median_minimises_the_sum_of_distances(n, d):
    X = np.random.default_rng([n, d]).standard_normal((n, d)) * np.arange(1, d + 1) + 100.0
    X[: n // 3] += 50.0
    found = geometric_median(as_table(X)).location
    best = minimize(
        sum_of_distances(X),
        X.mean(axis=0),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-10, "maxiter": 20000, "maxfev": 20000},
    )
    assert sum_of_distances(X)(found) <= best.fun * (1.0 + 1e-8)
    if d <= 3:  # where Nelder and Mead find the place as well
        np.testing.assert_allclose(found, best.x, atol=1e-4)


def test_geometric_median_of_rows_on_a_line_is_their_median():
    along = np.array([-3.0, -1.0, 0.5, 2.0, 40.0])
    direction = np.array([3.0, -4.0]) / 5.0
    X = np.array([7.0, 1.0]) + along[:, None] * direction
    np.testing.assert_allclose(
        geometric_median(as_table(X)).location, np.array([7.0, 1.0]) + 0.5 * direction, atol=1e-6
    )


@pytest.mark.parametrize("copies", [1, 4])
def test_geometric_median_at_a_row(copies):
    """The centre of a square and its corners: Weiszfeld's own iteration divides by zero there."""
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    X = np.vstack([corners, np.zeros((copies, 2))])
    np.testing.assert_allclose(geometric_median(as_table(X)).location, np.zeros(2), atol=1e-9)


def test_geometric_median_where_it_starts_at_a_row_that_is_not_it():
    # The coordinate-wise median is the first row; the sum of distances is smaller elsewhere.
    X = np.array([[0.0, 0.0], [-1.0, 9.0], [9.0, -1.0], [9.0, 9.0], [-1.0, -1.0]])
    assert np.array_equal(np.median(X, axis=0), X[0])
    found = geometric_median(as_table(X)).location
    grid = np.linspace(-1.0, 9.0, 201)
    lowest = min(sum_of_distances(X)(np.array([a, b])) for a in grid for b in grid)
    assert sum_of_distances(X)(found) <= lowest + 1e-9


def test_geometric_median_of_identical_rows():
    X = np.full((4, 3), 2.5)
    np.testing.assert_array_equal(geometric_median(as_table(X)).location, X[0])


# Nearly all good rows break the budget about the coordinate-wise median of these data.
def test_continuation_succeeds_where_the_published_start_fails():
    sample = SettingA(n=600, d=300, alpha=0.45).sample(0)
    published = inlier.robust_mean(sample.X, sigma=sample.sigma, algorithm="paper", tol=1e-3)
    assert error(published, sample) > 1.0
    result = inlier.robust_mean(sample.X, sigma=sample.sigma)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
    assert result.converged


@cases("factor", [0.8, 0.95, 1.0, 1.2])
@cases("setting", [SettingA, SettingB])
def test_what_is_clear_of_many_rows_is_what_solving_again_says(monkeypatch, setting, factor):
    sample = setting(6000, 20, 0.2).sample(0)
    sigma = factor * sample.sigma
    known = inlier.robust_mean(sample.X, sigma=sigma).support
    monkeypatch.setattr(continuation, "CLEARLY", -np.inf)
    np.testing.assert_array_equal(inlier.robust_mean(sample.X, sigma=sigma).support, known)


@pytest.mark.slow
def test_continuation_succeeds_where_the_published_start_fails_in_high_dimension():
    sample = SettingA(n=4000, d=2000, alpha=0.3).sample(0)
    with pytest.warns(ConvergenceWarning, match="continuation"):
        published = inlier.robust_mean(sample.X, sigma=sample.sigma, algorithm="paper", tol=1e-3)
    assert not published.support.any()
    assert not published.converged
    result = inlier.robust_mean(sample.X, sigma=sample.sigma)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_a_start_that_is_one_of_the_rows(algorithm, unit):
    """The median of an odd number of values: its distance to itself is zero."""
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 60.0]) * unit
    result = inlier.robust_mean(x[:, None], sigma=2.0 * unit, algorithm=algorithm)
    np.testing.assert_array_equal(result.outliers, [6])
    assert result.location[0] == pytest.approx(2.5 * unit)


# -- Options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_prune_is_removing_the_far_rows_by_hand(algorithm):
    n, d, prune = 200, 10, 0.2
    sample = SettingA(n=n, d=d, alpha=0.2).sample(0)
    X = sample.X.copy()
    X[np.flatnonzero(sample.is_outlier)[:10]] += 1e3
    start = np.median(X, axis=0)
    near = np.linalg.norm(X - start, axis=1) <= sample.sigma * np.sqrt(40.0 * d / prune)
    assert 0 < (~near).sum() <= 10
    options = {"algorithm": algorithm, "start": start, "random_state": 0}
    pruned = inlier.robust_mean(X, sigma=sample.sigma, prune=prune, **options)
    # The budget is that of all rows, so by hand sigma has to make up for the rows that went.
    by_hand = inlier.robust_mean(X[near], sigma=sample.sigma, c1=np.sqrt(n / near.sum()), **options)
    np.testing.assert_array_equal(pruned.support[near], by_hand.support)
    np.testing.assert_array_equal(pruned.indicator[~near], 1.0)
    assert not pruned.support[~near].any()
    np.testing.assert_allclose(pruned.location, by_hand.location, atol=1e-12)
    assert pruned.budget == pytest.approx(by_hand.budget)
    assert pruned.certificate.n_removed == by_hand.certificate.n_removed + (~near).sum()


def test_prune_radius_is_that_of_the_paper():
    assert theory.far_radius(2.0, 10, 0.2) == pytest.approx(2.0 * np.sqrt(40 * 10 / 0.2))


def test_prune_that_leaves_no_table_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 3)) * 1e6
    with pytest.raises(ValueError, match=r"prune.*sigma"):
        inlier.robust_mean(X, sigma=1e-3, prune=0.5)


@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_callback_sees_each_step_as_it_is_done(algorithm):
    sample = SettingA(n=100, d=8, alpha=0.2).sample(0)
    seen = []
    result = inlier.robust_mean(
        sample.X, sigma=sample.sigma, algorithm=algorithm, callback=seen.append
    )
    assert tuple(seen) == result.history
    passes = [step.n_passes for step in seen]
    assert passes == sorted(passes)
    assert passes[-1] <= result.n_passes


@pytest.mark.parametrize("n", [100, 700])
def test_a_fit_is_repeatable_and_leaves_the_data_alone(n):
    sample = SettingA(n=n, d=20, alpha=0.3).sample(0)
    X = sample.X.copy()
    first = inlier.robust_mean(X, sigma=sample.sigma)
    again = inlier.robust_mean(X, sigma=sample.sigma)
    assert first.history == again.history
    np.testing.assert_array_equal(first.location, again.location)
    np.testing.assert_array_equal(X, sample.X)


@pytest.mark.parametrize("shape", [(300, 60), (40, 200)])
def test_a_fit_moves_turns_and_grows_with_the_data(shape):
    n, d = shape
    sample = SettingB(n=n, d=d, alpha=0.2).sample(0)
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    shift, unit = 1e3 * rng.standard_normal(d), 1e-3
    plain = inlier.robust_mean(sample.X, sigma=sample.sigma)
    moved = inlier.robust_mean(unit * sample.X @ turn + shift, sigma=unit * sample.sigma)
    np.testing.assert_array_equal(plain.support, ~sample.is_outlier)
    np.testing.assert_array_equal(moved.support, plain.support)
    np.testing.assert_allclose(moved.location - shift, unit * plain.location @ turn, atol=1e-9)


# -- Eigenpairs -----------------------------------------------------------------------------------


def weighted_table(kind, n=120, d=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    if kind == "decaying":
        X *= 1.0 / np.arange(1, d + 1)
    elif kind == "flat":
        X = np.linalg.qr(rng.standard_normal((n, d)))[0] * 3.0
    elif kind == "rank 3":
        X = X[:, :3] @ rng.standard_normal((3, d))
    center, w = rng.standard_normal(d), rng.uniform(0.0, 1.0, n)
    if kind == "flat":
        center, w = np.zeros(d), np.ones(n)
    return X, center, w


@cases("max_passes", [1, 2, 4, 30])
@cases("kind", ["random", "decaying", "flat", "rank 3"])
def test_eigenpairs_are_as_good_as_their_residuals_say(kind, max_passes):
    X, center, w = weighted_table(kind)
    A = X - center
    M = (A.T * w) @ A
    start = np.random.default_rng(1).standard_normal((5, X.shape[1]))
    table = as_table(X)
    found = top_eigenpairs(
        table, center, w, start, settled=lambda v, r, bound: False, max_passes=max_passes, count=5
    )
    truth = np.linalg.eigvalsh(M)[::-1]
    scale = truth[0]
    V, values = found.vectors, found.values
    assert table.n_passes <= max_passes
    assert len(values) == len(V) <= 5
    assert np.all(np.diff(values) <= 0.0)
    np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-9)
    residuals = np.linalg.norm(V @ M - values[:, None] * V, axis=1)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-9 * scale)
    # An eigenvalue lies within the residual of each value, and none of the largest is exceeded.
    distance = np.abs(values[:, None] - truth).min(axis=1)
    assert np.all(distance <= residuals + 1e-9 * scale)
    assert np.all(values <= truth[: len(values)] + 1e-9 * scale)
    np.testing.assert_allclose(found.projections, V @ A.T, atol=1e-9 * np.sqrt(scale))
    np.testing.assert_allclose(found.drift, A.T @ w, atol=1e-9 * (1.0 + np.abs(A.T @ w).max()))
    if max_passes == 30:
        np.testing.assert_allclose(values, truth[: len(values)], atol=1e-7 * scale)


def test_eigenpairs_from_a_start_without_full_rank():
    X, center, w = weighted_table("decaying")
    A = X - center
    direction = np.random.default_rng(1).standard_normal(X.shape[1])
    start = np.stack([direction, 2.0 * direction, np.zeros_like(direction)])
    found = top_eigenpairs(
        as_table(X),
        center,
        w,
        start,
        settled=lambda v, r, bound: r[0] < 1e-8,
        max_passes=60,
        count=3,
    )
    assert found.values[0] == pytest.approx(reference.largest_eigenvalue(A, w), rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(60, 50), (150, 600)])
def test_oracle_is_accurate_as_centre_and_weights_change(n, d):
    """By a dense pass for few columns, by Krylov iteration from the last answer for many."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.linspace(1.0, 3.0, d)
    oracle = Oracle(as_table(X), np.random.default_rng(1))
    for _ in range(5):
        center, w = 0.3 * rng.standard_normal(d), rng.uniform(0.0, 1.0, n)
        truth = reference.largest_eigenvalue(X - center, w)
        found = oracle.accurately(center, w, 1e-6 * truth)
        assert found.values[0] == pytest.approx(truth, rel=1e-6)
        assert found.values[0] <= truth * (1.0 + 1e-9)
