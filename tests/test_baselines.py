"""The methods of others: what all share, the errors that were published, what their papers prove.

What the medians, trimmed means and aggregators compute is in test_aggregators.py.
"""

import functools
from contextlib import nullcontext

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from cases import cases
from inlier.baselines import (
    BASELINES,
    Bulyan,
    ChengDiakonikolasGe,
    CoordinateMedian,
    CorruptionLevelAgnostic,
    FalseDiscoveryFilter,
    IterativeFiltering,
    Krum,
    LaiRaoVempala,
    LaiRaoVempalaGaussian,
    MedianOfMeans,
    MinimumCovarianceDeterminant,
    MultiKrum,
    NormTrimmedMean,
    OutlierFractionAgnostic,
    ProjectedGradient,
    QuantumEntropy,
    SampleMean,
    SpectralReweighting,
    TukeyMedian,
    base,
)
from inlier.baselines.capped_simplex import nearest_distribution, nearest_point
from inlier.data.arrays import DenseTable
from inlier.datasets import SettingA, SettingB, printed_tables
from reference import contaminated

ALPHA = 0.1
MCD = MinimumCovarianceDeterminant
# Those that look along the directions of largest variance.
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
)
NOT_ROBUST = (SampleMean,)
# Needs more than two rows for each column.
NEEDS_ROWS = (MCD,)


def told(method, alpha=ALPHA, sigma=1.0, **parameters):
    """The estimator, told what it asks for."""
    known = {"alpha": alpha, "sigma": sigma}
    return method(**{name: known[name] for name in method.needs}, **parameters)


# Each method, and the options that are methods of their own.
ALL = [
    *(told(method) for method in BASELINES),
    told(MedianOfMeans, median="coordinate"),
    MCD(support_fraction=1.0 - ALPHA),
    told(IterativeFiltering, removal="random"),
]


def choice(methods):
    return cases("method", methods)


each = choice(ALL)
each_robust = choice([method for method in ALL if not isinstance(method, NOT_ROBUST)])
told_alpha = choice([method for method in ALL if "alpha" in method.needs])
told_sigma = choice([method for method in ALL if "sigma" in method.needs])


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


def needs_more_rows(method, shape):
    return isinstance(method, NEEDS_ROWS) and shape[0] <= 2 * shape[1]


def has_too_few_rows(method, shape):
    """Whether the method refuses so few rows, of which a tenth rounds to none."""
    return needs_more_rows(method, shape) or (isinstance(method, Krum | Bulyan) and shape[0] < 3)


# -- what all share -------------------------------------------------------------------------------


def shapes(shapes):
    return cases("shape", shapes)


def with_one_bad_row(method, shape):
    """The data, and a little more than the standard deviation of the good rows."""
    if needs_more_rows(method, shape):
        shape = (2 * shape[1] + 1, shape[1])
    X = contaminated(*shape, n_bad=1)
    return X, 1.05 * deviation(X[1:])


@pytest.mark.parametrize("method", BASELINES, ids=lambda method: method.name)
def test_scikit_learn_checks(method):
    # scikit-learn's tables have features up to a hundred apart, and all rows are good there.
    check_estimator(told(method, sigma=1e3), on_skip=None)


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


@choice([m for m in ALL if not isinstance(m, TukeyMedian)])
def test_the_order_of_columns_does_not_matter(method):
    X = contaminated()
    order = [2, 0, 3, 1]
    sigma = 1.05 * deviation(X[6:])
    np.testing.assert_allclose(
        fitted(method, X[:, order], sigma).location_,
        fitted(method, X, sigma).location_[order],
        atol=1e-6,
    )


# Means of blocks depend on which rows share one, and of removal at random the rows that go.
@choice([m for m in ALL if not isinstance(m, MedianOfMeans) and "random" not in str(m)])
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
AXES = (LaiRaoVempala, LaiRaoVempalaGaussian, TukeyMedian)


@choice([m for m in ALL if m.rotates and not isinstance(m, AXES)])
@shapes([(60, 4), (12, 40)])
def test_rotated_rows_have_a_rotated_answer(method, shape):
    X, sigma = with_one_bad_row(method, shape)
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((shape[1], shape[1])))[0]
    plain, rotated = fitted(method, X, sigma), fitted(method, X @ Q, sigma)
    # It starts at the coordinate-wise median, and stops within a tolerance.
    tolerance = 0.1 if isinstance(method, ChengDiakonikolasGe) else 1e-5
    np.testing.assert_allclose(rotated.location_, plain.location_ @ Q, atol=tolerance)


@each
def test_the_same_random_state_gives_the_same_answer(method):
    X = contaminated(d=3)
    sigma = 1.05 * deviation(X[6:])
    first, second = fitted(method, X, sigma), fitted(method, X, sigma)
    np.testing.assert_array_equal(first.location_, second.location_)
    np.testing.assert_array_equal(first.result_.scores, second.result_.scores)


@choice([told(m) for m in (IterativeFiltering, LaiRaoVempala, ProjectedGradient)])
def test_any_number_of_threads_gives_the_same_answer(method):
    X = contaminated(400, 270, 40, far=1.0)
    sigma = 1.05 * deviation(X[40:])
    with threadpool_limits(1):
        one = fitted(method, X, sigma)
    with threadpool_limits(2):
        two = fitted(method, X, sigma)
    np.testing.assert_allclose(two.location_, one.location_, atol=1e-8)
    np.testing.assert_array_equal(two.support_, one.support_)


@each
@shapes([(60, 4), (12, 40)])
def test_sparse_is_dense(method, shape):
    X, sigma = with_one_bad_row(method, shape)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = 0.0
    dense, sparse = fitted(method, X, sigma), fitted(method, sp.csr_matrix(X), sigma)
    np.testing.assert_allclose(sparse.location_, dense.location_, atol=1e-6)
    np.testing.assert_array_equal(sparse.support_, dense.support_)


@each
@shapes([(60, 4), (12, 40)])
def test_single_precision(method, shape):
    X, sigma = with_one_bad_row(method, shape)
    X = X.astype(np.float32)
    single, double = fitted(method, X, sigma), fitted(method, X.astype(np.float64), sigma)
    assert single.location_.dtype == np.float32
    np.testing.assert_allclose(single.location_, double.location_, atol=1e-4)
    assert single.result_.converged


@each
def test_the_table_is_not_changed(method):
    X = contaminated()
    before = X.copy()
    X.flags.writeable = False
    fitted(method, X, sigma=2.0)
    np.testing.assert_array_equal(X, before)


@each_robust
@cases("far", [1e6, 1e300])
def test_few_bad_rows_leave_the_error_bounded(method, far):
    X = np.random.default_rng(3).standard_normal((80, 3))
    sigma = 1.05 * deviation(X[7:])
    X[:7] = far
    found = fitted(method, X, sigma)
    assert np.linalg.norm(found.location_) < 4.0
    assert found.result_.converged


@choice([told(m) for m in (NormTrimmedMean, MultiKrum, ChengDiakonikolasGe, ProjectedGradient)])
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
    n_bad = 19 if isinstance(method, Bulyan) else 35
    X[:n_bad] += 1e4  # near enough not to be set aside
    found = fitted(method, X, alpha=n_bad / 80)
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
def test_duplicates_and_a_constant_column(method):
    X = np.repeat(contaminated(20, 3, 2), 2, axis=0)
    X[:, 1] = 7.0
    singular = pytest.warns(ConvergenceWarning, match="scikit-learn warns: .* drop these")
    with singular if isinstance(method, MCD) else nullcontext():
        found = fitted(method, X, 1.05 * deviation(X[4:]))
    assert np.isfinite(found.location_).all()
    assert found.location_[1] == pytest.approx(7.0, abs=1e-8)


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


@told_alpha
def test_no_bad_rows(method):
    X = contaminated(n_bad=0)
    found = fitted(method, X, alpha=0)
    if isinstance(method, Krum) and not isinstance(method, MultiKrum):
        assert found.support_.sum() == 1
    else:
        np.testing.assert_allclose(found.location_, X.mean(axis=0), atol=1e-7)


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
    if not (result.weights == 1.0).all() and not isinstance(method, Bulyan):
        mean = np.average(X, axis=0, weights=result.weights)
        np.testing.assert_allclose(result.location, mean, atol=1e-7)


@each
def test_far_rows_score_worse(method):
    X = contaminated(far=50.0)
    scores = fitted(method, X, 1.05 * deviation(X[6:])).result_.scores
    assert scores[:6].min() > scores[6:].max()


@each
def test_missing_values_are_refused(method):
    for wrong, said in ((np.nan, "NaN"), (np.inf, "infinity")):
        X = contaminated()
        X[3, 2] = wrong
        with pytest.raises(ValueError, match=said):
            fitted(method, X)


@cases("method", BASELINES)
def test_what_is_missing_is_named(method):
    if not method.needs:
        assert method().fit(contaminated()).result_.converged
        return
    with pytest.raises(
        ValueError, match=f"{method.__name__} needs {method.needs[0]}, .*RobustMean"
    ):
        method().fit(contaminated())


@told_alpha
@cases("alpha", [-0.1, 0.5, 1, np.nan, "many", True, [0.1]])
def test_wrong_alpha(method, alpha):
    with pytest.raises(ValueError, match=r"alpha must be a finite number .* below 0\.5"):
        fitted(method, contaminated(), alpha=alpha)


@told_sigma
@cases("sigma", [0.0, -1.0, np.nan, np.inf, "large", True])
def test_wrong_sigma(method, sigma):
    with pytest.raises(ValueError, match="sigma must be a finite number above"):
        fitted(method, contaminated(), sigma=sigma)


@told_sigma
def test_a_sigma_that_is_too_small_is_said(method):
    X = contaminated()
    with pytest.warns(
        ConvergenceWarning, match="[Hh]alf of the rows .* Raise sigma, or use Robust"
    ):
        result = fitted(method, X, sigma=0.2).result_
    assert not result.converged
    assert 30 <= result.support.sum() <= 60 and np.isfinite(result.location).all()


@cases(
    ("method", "message"),
    [
        (told(IterativeFiltering, factor=0.0), "factor must be"),
        (told(IterativeFiltering, removal="hard"), "removal must be one of 'soft', 'random'"),
        (told(QuantumEntropy, beta=0.0), "beta must be"),
        (told(QuantumEntropy, beta=101.0), "beta must be .* at most 100"),
        (told(QuantumEntropy, batch=0.5), "batch must be .* below 0.5"),
        (told(QuantumEntropy, n_sketches=0), "n_sketches must be a whole number"),
        (LaiRaoVempalaGaussian(damping=-1.0), "damping must be"),
        (told(ChengDiakonikolasGe, tol=1.0), "tol must be"),
        (told(ChengDiakonikolasGe, max_iter=0), "max_iter must be"),
        (CorruptionLevelAgnostic(ratio=1.0), "ratio must be a finite number above 1"),
        (CorruptionLevelAgnostic(constant=0.0), "constant must be"),
        (told(ProjectedGradient, tol="small"), "tol must be"),
        (told(ProjectedGradient, max_iter=2.5), "max_iter must be a whole number"),
        (told(SpectralReweighting, step=1.5), "step must be .* at most 1"),
        (told(SpectralReweighting, patience=0), "patience must be"),
        (FalseDiscoveryFilter(fdr=1.0), "fdr must be"),
        (FalseDiscoveryFilter(random_state=-1), "random_state must be a whole number"),
    ],
)
def test_wrong_parameters(method, message):
    with pytest.raises(ValueError, match=message):
        method.fit(contaminated())


# Removal at random, from no seed, sometimes gives up.
@pytest.mark.filterwarnings("ignore:IterativeFiltering")
@choice([m for m in ALL if "random_state" in m.get_params()])
def test_every_random_state_of_numpy_is_taken(method):
    X = contaminated()
    for random_state in (None, np.random.default_rng(0), np.random.RandomState(0)):
        found = fitted(method, X, sigma=2.0, random_state=random_state)
        assert np.isfinite(found.location_).all()


# -- passes and history ---------------------------------------------------------------------------


class CountedTable(DenseTable):
    """Counts reads of the rows by itself."""

    def __init__(self, Y):
        super().__init__(Y)
        self.reads = 0

    def _blocks(self, height):
        self.reads += 1
        return super()._blocks(height)

    def median(self, sample=None):
        # A sample is not a read of the table, unless it is all of it.
        self.reads += sample is None or self.shape[0] <= 501
        return super().median(sample)

    def combine(self, center, coefficients):
        self.reads += self._wide  # in blocks of columns
        return super().combine(center, coefficients)

    def _products(self, center):
        self.reads += 1
        return super()._products(center)


@each
@shapes([(100, 5), (20, 60), (400, 300), (700, 5)])
def test_all_passes_are_counted(method, shape, monkeypatch):
    if needs_more_rows(method, shape) or (shape[1] == 300 and not isinstance(method, SPECTRAL)):
        return  # it needs n > 2 d, or forms no Krylov basis
    tables = []

    def as_counted(X):
        tables.append(CountedTable(X))
        return tables[-1]

    monkeypatch.setattr(base, "as_table", as_counted)
    n_bad = shape[0] // 10
    X = contaminated(*shape, n_bad, far=3.0)
    result = fitted(method, X, deviation(X[n_bad:])).result_
    assert len(tables) == 1
    assert result.n_passes == tables[0].reads > 0


WITH_HISTORY = [
    method
    for method in ALL
    if isinstance(method, SPECTRAL)
    and not isinstance(method, LaiRaoVempala | LaiRaoVempalaGaussian)
]


@choice(WITH_HISTORY)
@shapes([(200, 5), (500, 300), (20, 60)])
def test_history(method, shape):
    n_bad = shape[0] // 10
    X = contaminated(*shape, n_bad, far=3.0)
    result = fitted(method, X, deviation(X[n_bad:])).result_
    history = result.history
    passes = [step.n_passes for step in history]
    # Rotated rows cost nothing to read.
    assert passes[0] > 0 and np.all(np.diff(passes) >= (shape[0] >= shape[1]))
    for step in history:
        assert step.lambda_max >= 0.0
        assert -1e-9 <= step.h_sum <= len(X) and 0 <= step.n_removed <= len(X)
    # Either all steps are held against a limit or none is.
    assert len({np.isnan(step.budget) for step in history}) == 1
    if shape[0] >= shape[1] or isinstance(
        method, QuantumEntropy | ProjectedGradient | SpectralReweighting
    ):
        assert passes[-1] <= result.n_passes


@choice([told(QuantumEntropy), told(IterativeFiltering, removal="random")])
def test_filters_stop_at_the_first_variance_within_the_limit(method):
    X = contaminated(200, 5, 20, far=1.5)
    sigma = deviation(X[20:])
    result = fitted(method, X, sigma).result_
    # Of these two the weights are 0 or 1, so the rows that are left are known from the history.
    n_left = np.array([len(X) - step.h_sum for step in result.history])
    assert n_left[0] == 200 and n_left[-1] == result.support.sum() and np.all(np.diff(n_left) < 0)
    np.testing.assert_allclose([step.budget for step in result.history], n_left * sigma**2)
    over = [step.lambda_max > step.budget for step in result.history]
    assert over == [True] * result.n_iter + [False]
    first, last = result.history[0].lambda_max, result.history[-1].lambda_max
    assert first == pytest.approx(200 * deviation(X) ** 2)
    assert last == pytest.approx(n_left[-1] * deviation(X[result.support]) ** 2)


# -- the published errors -------------------------------------------------------------------------

SETTINGS = {
    "A400": (SettingA, 800, 400),
    "A100": (SettingA, 2000, 100),
    "B100": (SettingB, 2000, 100),
    "B2000": (SettingB, 4000, 2000),
}
ALPHAS = (0.1, 0.2, 0.3)


@functools.lru_cache(maxsize=15)
def drawn(setting, n, d, alpha, seed):
    return setting(n=n, d=d, alpha=alpha).sample(seed)


def mean_error(method, setting, n, d, alpha, n_seeds=5, **parameters):
    errors = []
    for seed in range(n_seeds):
        sample = drawn(setting, n, d, alpha, seed)
        estimator = told(method, alpha, sample.sigma, **parameters).fit(sample.X)
        errors.append(np.linalg.norm(estimator.location_ - sample.mean))
    return float(np.mean(errors))


def quick(cell, alpha, *others):
    """One column of each table in the fast set, in the order in which draws are kept."""
    marks = () if alpha == 0.2 and cell != "B2000" else (pytest.mark.slow,)
    names = [getattr(other, "name", "") for other in others if isinstance(other, type)]
    return pytest.param(cell, alpha, *others, marks=marks, id="-".join([cell, str(alpha), *names]))


COLUMNS = {
    "iterative_filtering": IterativeFiltering,
    "que": QuantumEntropy,
    "lrv": LaiRaoVempala,
    "cdg": ChengDiakonikolasGe,
}
# Its error differs by half from draw to draw; the tables are averages of 20, ours of 5.
NOISE = {LaiRaoVempala: 1.25}
TABLES = {"A400": "table1", "A100": "table2", "B100": "table3", "B2000": "table6"}


@pytest.mark.parametrize(
    ("cell", "alpha", "method", "printed"),
    [
        quick(cell, alpha, COLUMNS[column], printed)
        for cell, table in TABLES.items()
        for alpha in ALPHAS
        for column, printed in printed_tables()[table].errors[alpha].items()
        if column in COLUMNS
    ],
)
def test_errors_are_at_most_those_printed_in_the_paper(cell, alpha, method, printed):
    n_seeds = 2 if cell == "B2000" else 5
    error = mean_error(method, *SETTINGS[cell], alpha, n_seeds)
    assert error <= NOISE.get(method, 1.0) * printed


@pytest.mark.slow
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("n", [100, 200, 500, 1000, 5000])
def test_errors_are_at_most_those_printed_for_other_numbers_of_rows(column, n):
    table = printed_tables()["table4"]
    method = COLUMNS[column]
    error = mean_error(method, SettingB, n, 100, 0.2)
    assert error <= NOISE.get(method, 1.0) * table.errors[n][column]


# Errors of the authors' code on the same settings, mean of five draws; by what factor and by how
# much ours may exceed them. The first two were run on the same draws as here.
SAME = (1.1, 0.001)
ZERO = 1e-12  # what is given as 0
ORIGINALS = {
    CorruptionLevelAgnostic: (
        SAME,
        {"A400": (0.557, 0.471, 0.867), "A100": (0.093, 0.073, 0.2), "B100": (0.13, 0.112, 0.062)},
    ),
    ProjectedGradient: (
        SAME,
        {
            "A400": (0.0452, 0.0006, 0.0),
            "A100": (0.0201, 0.0066, 0.0052),
            "B100": (0.0298, 0.0262, 0.0758),
        },
    ),
    OutlierFractionAgnostic: (
        (1.05, ZERO),
        {
            "A400": (0.031, 0.084, 0.013),
            "A100": (0.051, 0.108, 0.154),
            "B100": (0.027, 0.025, 0.038),
            "B2000": (0.0, 0.0, 0.0),
        },
    ),
    # A draw of B100 has an error of .01 or, if a bad row stays, of .04.
    IterativeFiltering: (
        (1.25, ZERO),
        {
            "A400": (0.086, 0.112, 0.159),
            "A100": (0.076, 0.119, 0.176),
            "B100": (0.026, 0.019, 0.022),
            "B2000": (0.198, 0.004, 0.005),
        },
    ),
    QuantumEntropy: (
        (1.0, ZERO),
        {
            "A400": (0.047, 0.246, 0.351),
            "A100": (0.02, 0.088, 0.163),
            "B100": (0.046, 0.134, 0.377),
            "B2000": (0.25, 0.66, 7.3),
        },
    ),
    # A good row that is lost moves the mean by .005 in B100.
    FalseDiscoveryFilter: (
        (1.0, 0.002),
        {
            "A400": (0.0058, 0.0, 0.0216),
            "A100": (0.0, 0.0033, 0.0),
            "B100": (0.0, 0.0, 0.0),
            "B2000": (0.0, 0.0, 0.0),
        },
    ),
    LaiRaoVempala: (
        (1.25, ZERO),
        {
            "A400": (0.469, 0.742, 1.24),
            "A100": (0.184, 0.248, 0.417),
            "B100": (0.328, 0.627, 0.919),
            "B2000": (0.533, 0.949, 1.84),
        },
    ),
}


# Where ours falls short of the original.
SHORT = {
    ("A400", 0.3, OutlierFractionAgnostic): "a bad row stays in every other draw: .025",
    ("B2000", 0.2, IterativeFiltering): "in every other draw a bad row or two stay: .011",
    ("B2000", 0.3, IterativeFiltering): "in every other draw a bad row or two stay: .017",
}


@pytest.mark.parametrize(
    ("cell", "alpha", "method", "theirs"),
    [
        quick(cell, alpha, method, theirs)
        for cell in SETTINGS
        for column, alpha in enumerate(ALPHAS)
        for method, (_, cells) in ORIGINALS.items()
        for theirs in [cells.get(cell, (None,) * 3)[column]]
        if theirs is not None
    ],
)
def test_errors_are_at_most_those_of_the_authors_code(cell, alpha, method, theirs, request):
    if (cell, alpha, method) in SHORT:
        request.applymarker(pytest.mark.xfail(reason=SHORT[cell, alpha, method]))
    (factor, slack), _ = ORIGINALS[method]
    n_seeds = 2 if cell == "B2000" else 5
    assert mean_error(method, *SETTINGS[cell], alpha, n_seeds) <= factor * theirs + slack


@cases("cell", ["A100", "B100"])
def test_que_is_as_good_where_batches_do_not_meet_the_fraction(cell):
    # With alpha a multiple of the batch the last round takes just the last outliers; here it does
    # not. In the neighbouring cells the paper has .4 to .8 and the original code .02 to .13.
    assert mean_error(QuantumEntropy, *SETTINGS[cell], 0.15) <= 0.05


# -- what the papers prove: filters ---------------------------------------------------------------


@told_sigma
@shapes([(200, 5), (150, 20), (400, 300), (30, 80)])
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


# An unlucky draw would take half of the rows, of which it warns.
@pytest.mark.filterwarnings("ignore:IterativeFiltering")
def test_random_removal_takes_more_bad_rows_than_good_ones():
    X = contaminated(200, 10, 30, far=1.0)
    sigma = deviation(X[30:])
    gone = np.zeros(2)
    for seed in range(100):
        found = IterativeFiltering(sigma, removal="random", random_state=seed).fit(X)
        gone += (~found.support_[:30]).sum(), (~found.support_[30:]).sum()
    assert gone[0] > gone[1] > 0


def test_random_removal_does_not_give_up_by_bad_luck():
    # The soft form, its expectation, ends well within sigma.
    X = contaminated(200, 10, 30, far=1.0)
    sigma = 1.05 * deviation(X[30:])
    assert IterativeFiltering(sigma).fit(X).result_.converged
    for seed in range(40):
        IterativeFiltering(sigma, removal="random", random_state=seed).fit(X)


@pytest.mark.filterwarnings("ignore:IterativeFiltering")
def test_weights_are_the_chance_to_survive():
    # The only outlier always leaves in the first round, which is then the last.
    X = np.random.default_rng(5).standard_normal((31, 2)) * [2.0, 1.0]
    X[0] = [8.0, 0.0]
    sigma = 1.05 * deviation(X[1:])
    soft = IterativeFiltering(sigma).fit(X).result_
    # By hand: along the top eigenvector, from the median, relative to the largest.
    seen = (X - X.mean(axis=0)) @ np.linalg.eigh(np.cov(X.T))[1][:, -1]
    tau = (seen - np.median(seen)) ** 2
    chance = 1.0 - tau / tau.max()
    assert soft.n_iter == 1
    np.testing.assert_allclose(soft.weights, chance, atol=1e-9)
    n_runs = 1000
    survived = np.zeros(31)
    for seed in range(n_runs):
        run = IterativeFiltering(sigma, removal="random", random_state=seed).fit(X)
        assert run.n_iter_ == run.result_.converged
        # Where it gives up, the half of the rows that is farther out was to go.
        survived += run.support_ if run.result_.converged else 0
    farther = tau > np.median(tau)
    noise = np.sqrt(chance * (1.0 - chance) / n_runs)
    assert (chance[farther] < 0.9).sum() > 3
    assert np.all(np.abs(survived / n_runs - chance)[farther] <= 4.5 * noise[farther])


@choice([told(IterativeFiltering), told(QuantumEntropy)])
def test_rows_that_left_do_not_come_back(method):
    X = contaminated(300, 10, 60, far=0.8)
    removed = [step.h_sum for step in fitted(method, X, deviation(X[60:])).result_.history]
    assert len(removed) > 1 and np.all(np.diff(removed) > 0)


# -- quantum entropy ------------------------------------------------------------------------------


def entropy_scores(X, beta):
    """Equation (3) as printed, with a covariance of norm 1."""
    away = X - X.mean(axis=0)
    covariance = away.T @ away
    U = scipy.linalg.expm(beta * covariance / np.linalg.norm(covariance, 2))
    return np.einsum("ij,jk,ik->i", away, U / np.trace(U), away)


def after_one_round(X, n_bad, **parameters):
    """The scores of the first round: after it just the good rows are left."""
    sigma = 1.01 * deviation(X[n_bad:])
    found = QuantumEntropy(sigma, batch=n_bad / len(X), **parameters).fit(X)
    assert found.n_iter_ == 1 and not found.support_[:n_bad].any()
    return found.result_.scores


@cases("beta", [0.1, 1.0, 4.0, 30.0])
@cases("d", [1, 3, 40])
def test_que_scores(beta, d):
    X = contaminated(100, d, 10, far=5.0) + 3.0
    np.testing.assert_allclose(
        after_one_round(X, 10, beta=beta), entropy_scores(X, beta), rtol=1e-8
    )


def test_que_goes_from_the_distance_to_the_top_eigenvector():
    X = contaminated(100, 6, 10, far=5.0)
    away = X - X.mean(axis=0)
    np.testing.assert_allclose(
        after_one_round(X, 10, beta=1e-9), (away**2).sum(axis=1) / 6, rtol=1e-6
    )
    top = np.linalg.svd(away, full_matrices=False)[2][0]
    np.testing.assert_allclose(
        after_one_round(X, 10, beta=100.0), (away @ top) ** 2, rtol=1e-6, atol=1e-9
    )


@cases("beta", [0.5, 4.0, 20.0])
def test_que_sketches_are_near_the_formula(beta):
    # Not with the seed of the sketches: these would then be the rows themselves.
    X = contaminated(400, 280, 40, seed=1, far=2.0)
    exact = entropy_scores(X, beta)
    sketched = after_one_round(X, 40, beta=beta, n_sketches=1000)
    # Each is a sum of a thousand squares: a standard error of sqrt(2 / 1000) = .045.
    assert np.abs(sketched / exact - 1.0).max() <= 5.0 * 0.045
    few = after_one_round(X, 40, beta=beta)
    assert np.corrcoef(few, exact)[0, 1] > 0.95


# -- halving the dimension ------------------------------------------------------------------------


@cases("seed", range(5))
def test_halving_of_rows_that_mirror_each_other(seed):
    half = np.random.default_rng(seed).standard_t(3, (100, 12))
    X = np.concatenate([half, -half]) + 5.0
    # Each step keeps pairs, and their mean is the centre. The median in the last direction is too;
    # the shortest interval there need not be.
    np.testing.assert_allclose(LaiRaoVempalaGaussian().fit(X).location_, 5.0, atol=1e-9)
    assert np.linalg.norm(LaiRaoVempala(alpha=0.2).fit(X).location_ - 5.0) <= 0.7


@cases("method", [LaiRaoVempala, LaiRaoVempalaGaussian])
@shapes([(1000, 1), (1000, 7), (2000, 64), (40, 100)])
def test_halving_of_clean_rows(method, shape):
    n, d = shape
    X = np.random.default_rng(1).standard_normal(shape)
    error = np.linalg.norm(told(method, 0.1).fit(X).location_)
    # In the last direction the shortest interval converges with the cube root of n.
    assert error <= 1.6 * np.sqrt(d / n) + n ** (-1 / 3)


@cases("method", [LaiRaoVempala, LaiRaoVempalaGaussian])
def test_halving_is_far_better_than_the_coordinate_median(method):
    # In each coordinate the outliers are within the noise, together they are sqrt(d) away.
    X = contaminated(2000, 256, 400, far=1.0)
    truth = X[400:].mean(axis=0)
    ours = np.linalg.norm(told(method, 0.2).fit(X).location_ - truth)
    median = np.linalg.norm(CoordinateMedian().fit(X).location_ - truth)
    assert ours <= 0.25 * median


def test_halving_in_one_direction_is_the_shortest_interval():
    x = np.random.default_rng(2).standard_normal(101)
    width = int(0.8**2 * 101)
    intervals = np.lib.stride_tricks.sliding_window_view(np.sort(x), width)
    shortest = min(intervals, key=lambda interval: interval[-1] - interval[0])
    found = LaiRaoVempala(alpha=0.2).fit(x[:, None])
    np.testing.assert_allclose(found.location_, shortest.mean())
    np.testing.assert_allclose(LaiRaoVempalaGaussian().fit(x[:, None]).location_, np.median(x))


# -- the capped simplex ---------------------------------------------------------------------------


def smallest_variance(X, center, mass):
    """min lambda_max( sum_i w_i a_i a_i^T ) / mass over 0 <= w <= 1 that sum to the mass."""
    w, away = cp.Variable(len(X), nonneg=True), X - center
    moment = away.T @ cp.diag(w) @ away
    problem = cp.Problem(
        cp.Minimize(cp.lambda_max((moment + moment.T) / 2.0) / mass), [cp.sum(w) == mass, w <= 1.0]
    )
    return problem.solve(solver="CLARABEL")


@cases("seed", range(6))
def test_cdg_minimises_the_variance(seed):
    X = contaminated(40, 3, 6, seed, far=(1.0, 2.0, 5.0)[seed % 3])
    result = ChengDiakonikolasGe(alpha=0.15).fit(X).result_
    last = result.history[-1]
    mass = len(X) - last.h_sum
    assert result.converged and mass == pytest.approx(34.0, abs=1.0)
    best = smallest_variance(X, result.location, mass)
    # The weights are nearly optimal, and the centre is nearly that of the answer.
    assert 0.97 * best <= last.lambda_max / mass <= 1.08 * best
    # The rows that hold most of their weight are no worse than the best weights by much.
    assert deviation(X[result.support]) ** 2 <= 1.4 * smallest_variance(X, result.location, 34.0)


def test_cdg_says_that_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter, or tol"):
        ChengDiakonikolasGe(alpha=0.2, max_iter=1).fit(contaminated(100, 5, 20))


@cases("method", [ProjectedGradient, SpectralReweighting])
@shapes([(200, 5), (400, 300), (30, 80)])
@cases("alpha", [0.05, 0.2, 0.4])
def test_weights_are_in_the_capped_simplex(method, shape, alpha):
    n = shape[0]
    X = contaminated(*shape, round(alpha * n), far=1.5)
    result = told(method, alpha).fit(X).result_
    w = result.weights / result.weights.sum()
    assert w.min() >= 0.0
    assert w.max() <= (1.0 + 1e-6) / (n - round(alpha * n))
    np.testing.assert_allclose(result.location, w @ X, atol=1e-9)


@shapes([(200, 5), (400, 300), (30, 80)])
def test_projected_gradient_never_raises_the_variance(shape):
    n_bad = shape[0] // 5
    X = contaminated(*shape, n_bad, far=1.0)
    result = ProjectedGradient(alpha=0.2).fit(X).result_
    variances = [step.lambda_max for step in result.history]
    assert len(variances) >= 3 and np.all(np.diff(variances) < 0.0)
    assert variances[0] < deviation(X) ** 2
    assert variances[-1] == pytest.approx(deviation(X, result.weights) ** 2, rel=2e-3)
    # Stationary points are about as good as the good rows.
    assert variances[-1] <= 1.2 * deviation(X[n_bad:]) ** 2


def test_projected_gradient_says_that_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        ProjectedGradient(alpha=0.2, max_iter=2).fit(contaminated(100, 5, 20))


@cases("far", [0.5, 1.0, 3.0, 30.0])
@cases("step", [0.5, 1.0])
def test_spectral_reweighting_is_as_quiet_as_the_good_rows(far, step):
    X = contaminated(300, 20, 60, far=far)
    result = SpectralReweighting(alpha=0.2, step=step).fit(X).result_
    best = min(step.lambda_max for step in result.history)
    assert deviation(X, result.weights) ** 2 == pytest.approx(best, rel=1e-6)
    assert best <= 1.1 * deviation(X[60:]) ** 2


@st.composite
def points(draw):
    n = draw(st.integers(2, 12))
    # Whole numbers: many ties.
    values = draw(
        st.one_of(
            st.lists(st.integers(-2, 3), min_size=n, max_size=n),
            st.lists(st.floats(-2.0, 3.0), min_size=n, max_size=n),
        )
    )
    return np.array(values, dtype=float), draw(st.floats(1.0, n)) / n


@settings(max_examples=60)
@given(points())
def test_nearest_point(drawn):
    w, cap = drawn
    found = nearest_point(w, cap)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.min() >= 0.0 and found.max() <= cap
    # It is nearest if and only if all entries inside the bounds moved by the same, those at 0 by
    # less and those at the cap by more.
    moved, near = w - found, 1e-9
    at_most = moved[found < cap - near].max(initial=-np.inf)
    assert at_most <= moved[found > near].min() + near


def test_nearest_point_is_that_of_cvxpy():
    w, cap = np.array([-0.5, 0.1, 0.1, 0.4, 2.0]), 0.3
    x = cp.Variable(5)
    nearest = cp.Minimize(cp.sum_squares(x - w))
    cp.Problem(nearest, [cp.sum(x) == 1, x >= 0, x <= cap]).solve(solver="CLARABEL")
    np.testing.assert_allclose(nearest_point(w, cap), x.value, atol=1e-5)


@settings(max_examples=60)
@given(points())
def test_nearest_distribution(drawn):
    w, cap = np.exp(drawn[0]), drawn[1]
    found = nearest_distribution(w, cap)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.min() >= 0.0 and found.max() <= cap * (1.0 + 1e-12)
    # It is nearest if and only if all entries below the cap grew by the same factor, and those at
    # the cap by no more.
    grown = found / w
    below = grown[found < cap * (1.0 - 1e-9)]
    if below.size:
        np.testing.assert_allclose(below, below[0], rtol=1e-9)
        assert grown.max() <= below[0] * (1.0 + 1e-9)


def test_nearest_distribution_is_that_of_cvxpy():
    w, cap = np.exp([-0.5, 0.1, 0.1, 0.4, 2.0]), 0.3
    x = cp.Variable(5)
    nearest = cp.Minimize(cp.sum(cp.kl_div(x, w)))
    cp.Problem(nearest, [cp.sum(x) == 1, x <= cap]).solve(solver="CLARABEL")
    np.testing.assert_allclose(nearest_distribution(w, cap), x.value, atol=1e-4)


# -- filters that know less -----------------------------------------------------------------------


def fraction_agnostic_by_hand(X, sigma):
    n, kept = len(X), np.ones(len(X), dtype=bool)
    while True:
        away = X[kept] - X[kept].mean(axis=0)
        values, vectors = np.linalg.eigh(away.T @ away)
        if values[-1] <= n * sigma**2 * (1.0 + 1e-9):
            return kept
        seen = X @ vectors[:, -1]
        deviations = (seen - np.median(seen)) ** 2
        order = np.argsort(deviations)
        fits = np.zeros(n, dtype=bool)
        fits[order[np.cumsum(deviations[order]) <= n * sigma**2]] = True
        kept &= fits


@cases("seed", range(12))
def test_fraction_agnostic_filter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, (80, 1 + seed % 5)) + 10.0
    n_bad = int(rng.integers(0, 20))
    X[:n_bad] += rng.standard_normal(X.shape[1]) * rng.uniform(1.0, 10.0)
    sigma = rng.uniform(0.9, 1.1) * deviation(X[n_bad:])
    expected = fraction_agnostic_by_hand(X, sigma)
    assert expected.sum() >= 40
    found = OutlierFractionAgnostic(sigma).fit(X)
    np.testing.assert_array_equal(found.support_, expected)
    np.testing.assert_allclose(found.location_, X[expected].mean(axis=0), atol=1e-12)


@cases("seed", range(4))
def test_fraction_agnostic_filter_measures_from_the_median_of_all_rows(seed):
    # Two groups on two axes: when the second is looked at, the first has left and counts still.
    X = np.random.default_rng(seed).standard_normal((200, 3))
    X[:40] += [9.0, 3.0, 0.0]
    X[40:80] += [0.0, 6.0, 0.0]
    sigma = 1.1 * deviation(X[80:])
    found = OutlierFractionAgnostic(sigma).fit(X)
    assert found.n_iter_ >= 2
    np.testing.assert_array_equal(found.support_, fraction_agnostic_by_hand(X, sigma))


def test_fraction_agnostic_filter_removes_duplicates_together():
    X = np.repeat(contaminated(40, 2, 4), 3, axis=0)
    found = OutlierFractionAgnostic(1.05 * deviation(X[12:])).fit(X)
    np.testing.assert_array_equal(np.ptp(found.support_.reshape(40, 3).astype(int), axis=1), 0)


def corruption_agnostic_by_hand(X, sigmas, constant):
    """The smallest sigma whose answer all larger ones confirm, straight from Lemma 3."""
    answers = [X[fraction_agnostic_by_hand(X, sigma)].mean(axis=0) for sigma in sigmas]
    confirmed = [
        (sigma, mean)
        for sigma, mean in zip(sigmas, answers, strict=True)
        if all(
            np.linalg.norm(other - mean) <= constant * (s + sigma)
            for s, other in zip(sigmas, answers, strict=True)
            if s >= sigma
        )
    ]
    return min(confirmed, key=lambda entry: entry[0])


@cases("constant", [0.05, 0.5, 4.0])
def test_corruption_agnostic_choice(constant):
    X = contaminated(101, 3, 20, far=4.0)
    first = deviation(X)
    least = np.sqrt(np.median(((X - np.median(X, axis=0)) ** 2).sum(axis=1)) / 3)
    sigmas = first / 1.1 ** np.arange(100)
    sigmas = [
        sigma
        for sigma in sigmas[sigmas >= least]
        if fraction_agnostic_by_hand(X, sigma).sum() >= 50.5
    ]
    sigma, mean = corruption_agnostic_by_hand(X, sigmas, constant)
    found = CorruptionLevelAgnostic(constant=constant).fit(X)
    assert f"Sigma {sigma:.3g} was chosen." in found.result_.message
    np.testing.assert_allclose(found.location_, mean, atol=1e-9)


def benjamini_hochberg(p_values, rate):
    """Which are rejected, straight from the step-up definition."""
    order = np.argsort(p_values)
    n = len(p_values)
    below = [k for k in range(1, n + 1) if p_values[order[k - 1]] <= k * rate / n]
    rejected = np.zeros(n, dtype=bool)
    rejected[order[: max(below, default=0)]] = True
    return rejected


def false_discovery_filter_by_hand(X, rate):
    kept = np.arange(len(X))
    while True:
        away = X[kept] - X[kept].mean(axis=0)
        seen = away @ np.linalg.svd(away, full_matrices=False)[2][0]
        T = (seen - np.median(seen)) / median_abs_deviation(seen, scale="normal")
        rejected = benjamini_hochberg(np.minimum(1.0, 8.0 * np.exp(-(T**2) / 2.0)), rate)
        if not rejected.any():
            return kept
        kept = kept[~rejected]


@cases("seed", range(8))
def test_false_discovery_filter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 1 + seed % 4)) * 7.0 + 100.0
    X[: rng.integers(0, 40)] += rng.uniform(20.0, 60.0)
    found = FalseDiscoveryFilter(fdr=0.1 + 0.1 * (seed % 2)).fit(X)
    expected = false_discovery_filter_by_hand(X, found.fdr)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), expected)


@shapes([(2000, 50), (500, 300), (500, 1), (50, 100)])
def test_false_discovery_filter_leaves_clean_rows_alone(shape):
    rng = np.random.default_rng(4)
    removed = [
        (~FalseDiscoveryFilter().fit(rng.standard_normal(shape)).support_).sum() for _ in range(5)
    ]
    assert max(removed) <= 3


@cases("seed", range(3))
def test_false_discovery_filter_bears_heavy_tails(seed):
    # The authors' code has an error of 9.7 on such rows; the sample mean's is sqrt(3 d / n) = .39.
    X = np.random.default_rng(seed).standard_t(3, (2000, 100))
    found = FalseDiscoveryFilter().fit(X)
    assert np.linalg.norm(found.location_) <= 0.45


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


# Removal at random may give up; see above.
each_repeatable = choice(
    [m for m in ALL if isinstance(m, SPECTRAL) and getattr(m, "removal", "soft") == "soft"]
)


@each_repeatable
def test_scales_from_one_to_ten(method):
    rng = np.random.default_rng(6)
    scales = np.linspace(1.0, 10.0, 20)
    X = rng.standard_normal((600, 20)) * scales
    X[:90] += 1.5 * scales
    assert spectral_error(method, X, 90) <= 0.55 * spectral_error(SampleMean(), X, 90)


@choice([m for m in WITH_HISTORY if getattr(m, "removal", "soft") == "soft"])
def test_krylov_and_dense_see_the_same(method):
    # A few more columns than the dense path takes: zeros change nothing but the path.
    X = contaminated(500, 250, 50, far=1.0)
    wide = np.concatenate([X, np.zeros((500, 20))], axis=1)
    dense, krylov = (spectral_error(method, table, 50) for table in (X, wide))
    assert krylov == pytest.approx(dense, abs=0.05)


@each_repeatable
@cases("far", [3.0, 1e300])
def test_fewer_rows_than_columns(method, far):
    X = contaminated(30, 200, 3, far=far)
    # The good rows are nearly orthogonal: each moves the mean by sigma / 5, and once weights differ
    # one of them varies by more than sigma.
    assert spectral_error(method, X, 3, room=1.1) <= 0.6


@each_repeatable
@cases("far", [1e2, 1e5])
def test_a_far_row_does_not_hide_the_others(method, far):
    X = contaminated(400, 20, 50, far=2.0)
    X[0] = far
    assert spectral_error(SampleMean(), X[1:], 49) > 0.8
    assert spectral_error(method, X, 50) <= 0.25


@each_repeatable
def test_absurd_and_subtle_outliers_together(method):
    X = contaminated(400, 20, 60, far=2.0)
    X[:10] = 10.0 ** np.linspace(8, 300, 10)[:, None]
    assert spectral_error(method, X, 60) <= 0.25


@choice([m for m in ALL if isinstance(m, SPECTRAL) and "alpha" in m.needs])
def test_nearly_half_of_the_rows(method):
    # The last direction of LRV looks at (1 - alpha)^2 n rows: above .38 the bad may be as many.
    n_bad = 148 if isinstance(method, LaiRaoVempala) else 196
    X = contaminated(400, 5, n_bad, far=1e3)
    assert spectral_error(method, X, n_bad) <= 1.5


def test_false_discovery_filter_says_that_tails_are_too_heavy():
    X = np.random.default_rng(0).standard_t(1.1, (200, 20))
    with pytest.warns(ConvergenceWarning, match=r"none is rejected.* Lower fdr"):
        FalseDiscoveryFilter().fit(X)


def test_spectral_reweighting_says_that_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        SpectralReweighting(alpha=0.2, max_iter=1).fit(contaminated(100, 5, 20))
