"""The contract of all rival methods: equivariance, tables of every kind, refusals, passes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines import (
    BASELINES,
    ChengDiakonikolasGe,
    CorruptionLevelAgnostic,
    FalseDiscoveryFilter,
    IterativeFiltering,
    Krum,
    LaiRaoVempala,
    LaiRaoVempalaGaussian,
    LeeValiant,
    MedianOfMeans,
    MinimumCovarianceDeterminant,
    MultiKrum,
    NormTrimmedMean,
    OutlierFractionAgnostic,
    ProjectedGradient,
    QuantumEntropy,
    RandEigen,
    SampleMean,
    SpectralReweighting,
)
from reference import contaminated
from rivals import deviation, fitted, told

MCD = MinimumCovarianceDeterminant
# Those that look along the directions of largest variance until none is left: spectral signatures
# look once.
SPECTRAL = (
    IterativeFiltering,
    QuantumEntropy,
    LaiRaoVempala,
    LaiRaoVempalaGaussian,
    ChengDiakonikolasGe,
    OutlierFractionAgnostic,
    CorruptionLevelAgnostic,
    ProjectedGradient,
    SpectralReweighting,
    FalseDiscoveryFilter,
    RandEigen,
)


NOT_ROBUST = (SampleMean,)
# Needs more than two rows for each column.
NEEDS_ROWS = (MCD,)
ALL = [told(method) for method in BASELINES]


each = cases("method", ALL)
each_robust = cases("method", [method for method in ALL if not isinstance(method, NOT_ROBUST)])
told_alpha = cases("method", [method for method in ALL if "alpha" in method.needs])
told_sigma = cases("method", [method for method in ALL if "sigma" in method.needs])


def needs_more_rows(method, shape):
    return isinstance(method, NEEDS_ROWS) and shape[0] <= 2 * shape[1]


def has_too_few_rows(method, shape):
    """Whether the method refuses so few rows, of which a tenth rounds to none."""
    return needs_more_rows(method, shape) or (isinstance(method, Krum) and shape[0] < 3)


# -- what all share -------------------------------------------------------------------------------


def with_one_bad_row(method, shape):
    """The data, and a little more than the standard deviation of the good rows."""
    if needs_more_rows(method, shape):
        shape = (2 * shape[1] + 1, shape[1])
    X = contaminated(*shape, n_bad=1)
    return X, 1.05 * deviation(X[1:])


# Every move of one table, and one move of tables of other shapes.
MOVES = [
    *(((60, 4), *move) for move in [(1e-8, 0.0), (1e8, 0.0), (1.0, 1e6), (-3.0, 7.0)]),
    *((shape, -3.0, 7.0) for shape in [(13, 1), (61, 2), (12, 40)]),
]


@each
@cases(("shape", "scale", "shift"), MOVES)
def test_moves_with_the_data(method, shape, scale, shift):
    X, sigma = with_one_bad_row(method, shape)
    plain = fitted(method, X, sigma)
    moved = fitted(method, scale * X + shift, abs(scale) * sigma)
    np.testing.assert_allclose(
        (moved.location_ - shift) / scale, plain.location_, rtol=0.0, atol=1e-6
    )
    np.testing.assert_array_equal(moved.support_, plain.support_)
    assert moved.result_.converged


# Means of blocks depend on which rows share one, and rows are removed at random.
@cases("method", [m for m in ALL if not isinstance(m, MedianOfMeans | LeeValiant | RandEigen)])
def test_the_order_of_rows_does_not_matter(method):
    X = contaminated()
    order = np.random.default_rng(1).permutation(len(X))
    sigma = 1.05 * deviation(X[6:])
    plain, shuffled = fitted(method, X, sigma), fitted(method, X[order], sigma)
    np.testing.assert_allclose(shuffled.location_, plain.location_, atol=1e-6)
    np.testing.assert_array_equal(shuffled.support_, plain.support_[order])
    np.testing.assert_allclose(
        shuffled.result_.scores, plain.result_.scores[order], rtol=1e-5, atol=1e-5
    )


# These measure from the coordinate-wise median, or take directions along the axes.
AXES = (LaiRaoVempala, LaiRaoVempalaGaussian)


@cases("method", [m for m in ALL if m.rotates and not isinstance(m, AXES)])
@cases("shape", [(60, 4), (12, 40)])
def test_rotated_rows_have_a_rotated_answer(method, shape):
    X, sigma = with_one_bad_row(method, shape)
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((shape[1], shape[1])))[0]
    plain, rotated = fitted(method, X, sigma), fitted(method, X @ Q, sigma)
    # It starts at the coordinate-wise median, and stops within a tolerance.
    tolerance = 0.1 if isinstance(method, ChengDiakonikolasGe) else 1e-5
    np.testing.assert_allclose(rotated.location_, plain.location_ @ Q, atol=tolerance)


@each_robust
@cases("far", [1e6, 1e300])
def test_few_bad_rows_leave_the_error_bounded(method, far):
    X = np.random.default_rng(3).standard_normal((80, 3))
    sigma = 1.05 * deviation(X[7:])
    X[:7] = far
    found = fitted(method, X, sigma)
    assert np.linalg.norm(found.location_) < 4.0
    assert found.result_.converged


@cases(
    "method",
    [told(m) for m in (NormTrimmedMean, MultiKrum, ChengDiakonikolasGe, ProjectedGradient)],
)
def test_rows_that_are_set_aside_count_as_bad(method):
    # With alpha = .1 these are all that may leave.
    X = contaminated()
    X[:6] = 1e300
    found = fitted(method, X)
    np.testing.assert_array_equal(np.flatnonzero(~found.support_), np.arange(6))
    np.testing.assert_allclose(found.location_, X[6:].mean(axis=0), atol=1e-12)


@told_alpha
def test_many_bad_rows_leave_the_error_bounded(method):
    X = np.random.default_rng(3).standard_normal((80, 3))
    X[:35] += 1e4  # near enough not to be set aside
    found = fitted(method, X, alpha=35 / 80)
    assert np.linalg.norm(found.location_) < 6.0


@each
@cases(("shape", "value"), [((12, 3), 0.0), ((12, 1), 2.5), ((5, 30), 2.5), ((2, 2), -1e12)])
def test_all_rows_equal(method, shape, value):
    X = np.full(shape, value)
    if has_too_few_rows(method, shape):
        with pytest.raises(ValueError, match=f"rows .*but X has {len(X)}"):
            fitted(method, X)
        return
    # Weights of 1/n do not sum to 1 in the last digit.
    np.testing.assert_allclose(fitted(method, X).location_, X[0], rtol=1e-15)


@each
@cases(("n", "d"), [(2, 1), (2, 5), (3, 2), (4, 5), (7, 1), (7, 2)])
@pytest.mark.filterwarnings("ignore:FalseDiscoveryFilter")  # a few rows may all be a tail
def test_few_rows_give_an_answer_unless_the_method_needs_more(method, n, d):
    X = np.random.default_rng([n, d]).standard_normal((n, d))
    if has_too_few_rows(method, (n, d)):
        with pytest.raises(ValueError, match=f"rows .*but X has {n}"):
            fitted(method, X)
        return
    found = fitted(method, X, 1.05 * deviation(X))
    # Halving takes other rows in other directions and may leave the box, though not by far.
    room = np.ptp(X) / 4 if isinstance(method, LaiRaoVempala | LaiRaoVempalaGaussian) else 1e-9
    assert (found.location_ >= X.min(axis=0) - room).all()
    assert (found.location_ <= X.max(axis=0) + room).all()


@told_sigma
def test_rows_within_sigma_all_stay(method):
    X = contaminated(n_bad=0)
    found = fitted(method, X, sigma=deviation(X))
    np.testing.assert_allclose(found.location_, X.mean(axis=0), atol=1e-12)
    assert found.support_.all() and found.result_.n_iter == 0


@each
def test_weights_give_the_location_unless_they_are_all_one(method):
    X = contaminated()
    result = fitted(method, X, 1.05 * deviation(X[6:])).result_
    assert result.weights.max() == 1.0 and result.weights.min() >= 0.0
    np.testing.assert_array_equal(result.support, result.weights >= 0.5)
    judged = f"Kept {result.support.sum()} of 60 rows."
    assert (judged in result.message) == method.judges_rows and result.message
    if not (result.weights == 1.0).all():
        mean = np.average(X, axis=0, weights=result.weights)
        np.testing.assert_allclose(result.location, mean, atol=1e-7)


@each
def test_far_rows_score_worse(method):
    X = contaminated(far=50.0)
    scores = fitted(method, X, 1.05 * deviation(X[6:])).result_.scores
    assert scores[:6].min() > scores[6:].max()


@cases("method", BASELINES)
def test_what_is_missing_is_named(method):
    if not method.needs:
        assert method().fit(contaminated()).result_.converged
        return
    with pytest.raises(
        ValueError, match=f"{method.__name__} needs {method.needs[0]}, .*RobustMean"
    ):
        method().fit(contaminated())


@each
def test_wrong_input_is_refused(method):
    X = contaminated()
    for name, wrong, message in (
        ("alpha", 0.5, r"alpha must be a finite number .* below 0\.5"),
        ("sigma", 0.0, "sigma must be a finite number above"),
    ):
        if name in method.needs:
            with pytest.raises(ValueError, match=message):
                fitted(method, X, **{name: wrong})
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted(method, X)


@told_sigma
def test_a_sigma_that_is_too_small_is_said(method):
    X = contaminated()
    with pytest.warns(
        ConvergenceWarning, match="[Hh]alf of the rows .* Raise sigma, or use Robust"
    ):
        result = fitted(method, X, sigma=0.2).result_
    assert not result.converged
    assert 30 <= result.support.sum() <= 60 and np.isfinite(result.location).all()


def test_wrong_parameters():
    with pytest.raises(ValueError, match="random_state must be a whole number"):
        FalseDiscoveryFilter(random_state=-1).fit(contaminated())
    needed = r"at least 2 f \+ 3 = 61 rows where f = 29 .* but X has 60"
    with pytest.raises(ValueError, match=needed):
        Krum(alpha=0.49).fit(contaminated())


# -- what the papers prove: filters ---------------------------------------------------------------


@told_sigma
@cases("shape", [(200, 5), (150, 20), (400, 300), (30, 80)])
def test_no_variance_of_the_answer_exceeds_sigma(method, shape):
    n_bad = shape[0] // 10
    X = contaminated(*shape, n_bad, far=1.0)
    sigma = 1.02 * deviation(X[n_bad:])
    assert deviation(X) > sigma
    result = fitted(method, X, sigma).result_
    assert result.converged
    np.testing.assert_allclose(
        result.location, np.average(X, axis=0, weights=result.weights), atol=1e-9
    )
    # The fraction-agnostic filter divides by n and not by the number of rows that are left. Of more
    # than 256 columns eigenvalues are known to a thousandth.
    mass = result.weights.sum() if isinstance(method, OutlierFractionAgnostic) else len(X)
    tolerance = 1e-3 if shape[1] > 256 else 1e-8
    largest = deviation(X, result.weights) * np.sqrt(mass / len(X))
    assert largest <= sigma * (1.0 + tolerance)


BOUNDED = [
    IterativeFiltering,
    QuantumEntropy,
    OutlierFractionAgnostic,
    ChengDiakonikolasGe,
    ProjectedGradient,
    SpectralReweighting,
]


@pytest.mark.slow
@pytest.mark.parametrize("method", BOUNDED, ids=lambda method: method.name)
@settings(max_examples=40)
@given(
    log_distance=st.floats(-1.0, 5.0),
    alpha=st.floats(0.02, 0.3),
    width=st.sampled_from([0.0, 0.3, 3.0]),
    two_sided=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_the_error_is_of_the_order_sigma_sqrt_alpha(
    method, log_distance, alpha, width, two_sided, seed
):
    rng = np.random.default_rng(seed)
    n, d = 200, 10
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 1.0, d)
    n_bad = round(alpha * n)
    direction = rng.standard_normal(d)
    direction *= 10.0**log_distance / np.linalg.norm(direction)
    X[:n_bad] = direction + width * rng.standard_normal((n_bad, d))
    if two_sided:
        X[: n_bad // 3] *= -1.0
    good = X[n_bad:]
    sigma = deviation(good)
    found = told(method, n_bad / n, sigma).fit(X)
    error = np.linalg.norm(found.location_ - good.mean(axis=0))
    assert error <= 2.0 * sigma * np.sqrt(n_bad / n)


# -- where the authors' code fails ----------------------------------------------------------------


def spectral_error(method, X, n_bad, room=1.0):
    """The error in units of the largest standard deviation of the good rows."""
    good = X[n_bad:]
    sigma = deviation(good)
    if "alpha" in method.needs:
        method = clone(method).set_params(alpha=n_bad / len(X))
    found = fitted(method, X, sigma * room)
    assert found.result_.converged
    return np.linalg.norm(found.location_ - good.mean(axis=0)) / sigma


each_spectral = cases("method", [m for m in ALL if isinstance(m, SPECTRAL)])


@each_spectral
@cases("far", [3.0, 1e300])
def test_fewer_rows_than_columns(method, far):
    X = contaminated(30, 200, 3, far=far)
    # The good rows are nearly orthogonal: each moves the mean by sigma / 5, and once weights differ
    # one of them varies by more than sigma.
    assert spectral_error(method, X, 3, room=1.1) <= 0.6


@each_spectral
@cases("far", [1e2, 1e5])
def test_a_far_row_does_not_hide_the_others(method, far):
    X = contaminated(400, 20, 50, far=2.0)
    X[0] = far
    assert spectral_error(SampleMean(), X[1:], 49) > 0.8
    assert spectral_error(method, X, 50) <= 0.25
