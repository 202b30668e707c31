"""The answer moves with the data: permuted, translated, scaled and rotated tables; precision."""

import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group
from threadpoolctl import threadpool_limits

from cases import cases
from clear_samples import ALGORITHMS, SURROGATES, spectral_sigma
from fits import robust_mean
from inlier import RobustMeanResult, WeakEvidenceWarning
from inlier.l0 import Options, project, solve_l1, solve_least_squares
from inlier.research.datasets import SettingA, SettingB

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


class Problem:
    """Gaussian rows with outliers that are far but not absurd, and a bound that fits."""

    def __init__(self, n: int, d: int, n_bad: int, seed: int, single: bool = False) -> None:
        rng = np.random.default_rng([seed, n, d, n_bad])
        self.X = rng.standard_normal((n, d)) * rng.uniform(0.5, 1.0, d)
        self.is_bad = np.zeros(n, dtype=bool)
        self.is_bad[rng.permutation(n)[:n_bad]] = True
        direction = rng.standard_normal(d)
        direction *= 20.0 / np.linalg.norm(direction)
        self.X[self.is_bad] += direction
        if single:
            self.X = self.X.astype(np.float32).astype(np.float64)
        self.sigma = 1.02 * spectral_sigma(self.X[~self.is_bad])

    def __repr__(self) -> str:
        return f"Problem{self.X.shape} with {self.is_bad.sum()} outliers"


@st.composite
def problems(draw: st.DrawFn, wide: bool = True) -> Problem:
    n = draw(st.integers(8, 40))
    d = draw(st.integers(1, 2 * n if wide else max(1, n // 2)))
    return Problem(n, d, draw(st.integers(0, n // 4)), draw(st.integers(0, 2**16)))


methods = st.fixed_dictionaries(
    {"algorithm": st.just("continuation"), "surrogate": st.sampled_from(SURROGATES)}
)
# The same examples in every run: a row may lie on the border by accident.
examples = settings(deadline=None, max_examples=25, derandomize=True)

SETTINGS = [
    SettingA(400, 80, 0.1),
    SettingA(400, 80, 0.3),
    SettingB(400, 100, 0.2),
    SettingA(700, 80, 0.2),
    SettingA(60, 150, 0.1),
]
LARGER = [SettingA(2000, 100, 0.2), SettingB(1000, 300, 0.3), SettingA(800, 400, 0.1)]


def setting_name(setting: SettingA | SettingB) -> str:
    return f"{type(setting).__name__[-1]} {setting.n}x{setting.d} {setting.alpha}"


@cache
def plain_fit(setting, seed=0):
    """A table, and its fit as it is."""
    sample = setting.sample(seed)
    return sample, robust_mean(sample.X, sigma=sample.sigma)


def assert_same_answer(
    first: RobustMeanResult, second: RobustMeanResult, atol: float, scale: float = 1.0
) -> None:
    """The same rows are kept, about the same place, `scale` times as large."""
    np.testing.assert_array_equal(first.support, second.support)
    np.testing.assert_allclose(scale * first.location, second.location, rtol=0.0, atol=atol)
    larger = scale**2 * first.certificate.lambda_max
    room = 1e-6 * larger + 1e-9 * second.details.budget
    assert larger <= second.certificate.bound + room
    assert second.certificate.lambda_max <= scale**2 * first.certificate.bound + room
    assert first.certificate.feasible == second.certificate.feasible


# -- the order of the rows ------------------------------------------------------------------------


@given(problems(), methods, st.integers(0, 2**16))
@examples
def test_rows_in_another_order(problem, method, seed):
    order = np.random.default_rng(seed).permutation(len(problem.X))
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    permuted = robust_mean(problem.X[order], sigma=problem.sigma, **method)
    np.testing.assert_array_equal(plain.support[order], permuted.support)
    np.testing.assert_allclose(plain.location, permuted.location, rtol=0, atol=1e-12)


@pytest.mark.parametrize("setting", SETTINGS, ids=setting_name)
def test_rows_of_the_settings_in_another_order(setting):
    sample, plain = plain_fit(setting)
    order = np.random.default_rng(0).permutation(setting.n)
    permuted = robust_mean(sample.X[order], sigma=sample.sigma)
    if setting.n <= 501:  # otherwise another sample of rows decides on the start
        np.testing.assert_allclose(plain.location, permuted.location, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(plain.support[order], permuted.support)


@given(problems(), methods, st.integers(0, 2**16))
@examples
def test_columns_in_another_order(problem, method, seed):
    order = np.random.default_rng(seed).permutation(problem.X.shape[1])
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    permuted = robust_mean(problem.X[:, order], sigma=problem.sigma, **method)
    np.testing.assert_array_equal(plain.support, permuted.support)
    np.testing.assert_allclose(plain.location[order], permuted.location, rtol=0, atol=1e-12)


# -- translation ----------------------------------------------------------------------------------


@given(problems(), methods, st.sampled_from([0.0, 1.0, 1e3, 1e6]), st.integers(0, 2**16))
@examples
def test_translation(problem, method, size, seed):
    shift = size * np.random.default_rng(seed).uniform(-1.0, 1.0, problem.X.shape[1])
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    moved = robust_mean(problem.X + shift, sigma=problem.sigma, **method)
    np.testing.assert_array_equal(plain.support, moved.support)
    atol = 1e-12 + 1e-14 * size
    np.testing.assert_allclose(plain.location + shift, moved.location, rtol=0, atol=atol)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("setting", SETTINGS[:3], ids=setting_name)
def test_translation_by_a_million(setting, algorithm):
    sample = setting.sample(0)
    shift = 1e6 * np.random.default_rng(0).uniform(-1.0, 1.0, setting.d)
    plain = robust_mean(sample.X, sigma=sample.sigma, l0=Options(algorithm=algorithm))
    moved = robust_mean(sample.X + shift, sigma=sample.sigma, l0=Options(algorithm=algorithm))
    np.testing.assert_array_equal(plain.support, moved.support)
    np.testing.assert_allclose(plain.location + shift, moved.location, rtol=0, atol=1e-8)


@pytest.mark.parametrize("setting", SETTINGS, ids=setting_name)
def test_translation_of_single_precision(setting):
    sample, plain = plain_fit(setting)
    moved = robust_mean((sample.X + 1e4).astype(np.float32), sigma=sample.sigma)
    np.testing.assert_array_equal(plain.support, moved.support)
    # At 1e4 single precision has steps of 1e-3.
    np.testing.assert_allclose(plain.location + 1e4, moved.location, rtol=0, atol=2e-3)


# -- scale ----------------------------------------------------------------------------------------


@given(problems(), methods, st.integers(-8, 8), st.sampled_from([1.0, 3.0]))
@examples
def test_scale_of_data_and_bound(problem, method, exponent, factor):
    scale = factor * 10.0**exponent
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    scaled = robust_mean(scale * problem.X, sigma=scale * problem.sigma, **method)
    assert_same_answer(plain, scaled, 1e-12 * scale, scale)
    np.testing.assert_allclose(plain.scores, scaled.scores, rtol=1e-3, atol=1e-3)


@given(problems(), methods, st.integers(-60, 60))
@examples
def test_a_power_of_two_changes_nothing_at_all(problem, method, exponent):
    scale = 2.0**exponent
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    scaled = robust_mean(scale * problem.X, sigma=scale * problem.sigma, **method)
    np.testing.assert_array_equal(plain.support, scaled.support)
    np.testing.assert_allclose(scale * plain.location, scaled.location, rtol=1e-13, atol=0)


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("scale", [1e-8, 1e8])
def test_scale_with_every_method(scale, surrogate, algorithm):
    problem = Problem(60, 6, 10, seed=0)
    method = {"algorithm": algorithm, "surrogate": surrogate}
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    scaled = robust_mean(scale * problem.X, sigma=scale * problem.sigma, **method)
    assert_same_answer(plain, scaled, 1e-12 * scale, scale)


@pytest.mark.parametrize("scale", [1e-60, 1e-30, 1e-15, 1e15, 1e30, 1e60])
def test_units_in_which_the_numbers_are_very_small_or_large(scale):
    sample = SettingA(300, 30, 0.2).sample(0)
    plain = robust_mean(sample.X, sigma=sample.sigma)
    scaled = robust_mean(scale * sample.X, sigma=scale * sample.sigma)
    assert_same_answer(plain, scaled, 1e-12 * scale, scale)


@cases("scale", [1e-8, 1.0, 1e8])
@cases("n", [11, 51, 701])
def test_scale_of_one_column(scale, n):
    # With an odd number of rows the median is one of them, at distance 0.
    problem = Problem(n, 1, n // 5, seed=0)
    result = robust_mean(scale * problem.X, sigma=scale * problem.sigma)
    np.testing.assert_array_equal(result.support, ~problem.is_bad)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scale_of_the_convex_problems(scale):
    problem = Problem(40, 5, 8, seed=1)
    center = np.median(problem.X, axis=0)
    budget = 0.7 * len(problem.X) * problem.sigma**2
    for solve, extra in (
        (solve_l1, {}),
        (solve_least_squares, {}),
        (project, {"target": np.linspace(0.2, 1.5, 40)}),
    ):
        plain = solve(problem.X, center, budget, **extra)
        scaled = solve(scale * problem.X, scale * center, scale**2 * budget, **extra)
        assert scaled.objective == pytest.approx(plain.objective, rel=1e-5)
        assert scaled.lambda_max <= scaled.budget * (1.0 + 1e-9)


# -- rotation -------------------------------------------------------------------------------------


def rotation(d: int, seed: int) -> np.ndarray:
    return ortho_group.rvs(d, random_state=seed) if d > 1 else -np.eye(1)


@given(problems(wide=False), methods, st.integers(0, 2**16))
@examples
def test_rotation(problem, method, seed):
    Q = rotation(problem.X.shape[1], seed)
    method = method | {"start": "geometric-median"}
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    rotated = robust_mean(problem.X @ Q, sigma=problem.sigma, **method)
    np.testing.assert_array_equal(plain.support, rotated.support)
    np.testing.assert_allclose(plain.location @ Q, rotated.location, rtol=0, atol=1e-10)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("setting", SETTINGS[:3], ids=setting_name)
def test_rotation_of_the_settings(setting, algorithm):
    sample = setting.sample(0)
    Q = rotation(setting.d, 0)
    options = {"sigma": sample.sigma, "start": "geometric-median", "algorithm": algorithm}
    plain = robust_mean(sample.X, **options)
    rotated = robust_mean(sample.X @ Q, **options)
    np.testing.assert_array_equal(plain.support, rotated.support)
    np.testing.assert_allclose(plain.location @ Q, rotated.location, rtol=0, atol=1e-10)


@given(problems(wide=False), st.integers(1, 60))
@examples
def test_columns_of_zeros(problem, n_zeros):
    # Enough of them and the table is rotated first: another path to the same answer.
    wider = np.pad(problem.X, ((0, 0), (0, n_zeros)))
    plain = robust_mean(problem.X, sigma=problem.sigma)
    padded = robust_mean(wider, sigma=problem.sigma)
    np.testing.assert_array_equal(plain.support, padded.support)
    d = problem.X.shape[1]
    np.testing.assert_allclose(plain.location, padded.location[:d], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(padded.location[d:], 0.0)


# -- precision, memory order, storage, threads ----------------------------------------------------


@cases("setting", SETTINGS)
@cases("seed", range(2))
def test_single_precision_keeps_the_same_rows(setting, seed):
    sample, double = plain_fit(setting, seed)
    single = robust_mean(sample.X.astype(np.float32), sigma=sample.sigma)
    np.testing.assert_array_equal(double.support, single.support)
    np.testing.assert_allclose(double.location, single.location, rtol=0, atol=1e-6)


@given(problems(), methods)
@examples
def test_memory_order_and_storage(problem, method):
    plain = robust_mean(np.ascontiguousarray(problem.X), sigma=problem.sigma, **method)
    for data in (np.asfortranarray(problem.X), sp.csr_array(problem.X), sp.csc_matrix(problem.X)):
        other = robust_mean(data, sigma=problem.sigma, **method)
        assert_same_answer(plain, other, 1e-12)


@pytest.mark.parametrize("setting", SETTINGS, ids=setting_name)
def test_number_of_threads(setting):
    sample = setting.sample(0)
    answers = []
    for limit in (1, 2):
        with threadpool_limits(limits=limit):
            answers.append(robust_mean(sample.X, sigma=sample.sigma))
    assert_same_answer(*answers, 1e-12)


# -- chance ---------------------------------------------------------------------------------------


@cases(
    ("setting", "algorithm"),
    [*((setting, "continuation") for setting in SETTINGS), (SETTINGS[2], "paper")],
)
def test_the_same_random_state_gives_the_same_answer_to_the_last_bit(setting, algorithm):
    sample = setting.sample(0)
    before = sample.X.copy()
    options = {"sigma": sample.sigma, "algorithm": algorithm}
    with threadpool_limits(limits=1):
        pairs = [
            [robust_mean(sample.X, random_state=state(), **options) for _ in range(2)]
            for state in (lambda: 7, lambda: np.random.default_rng(7))
        ]
    for first, second in pairs:
        for name in ("location", "support", "scores"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
        assert first.details.history == second.details.history
        assert first.certificate == second.certificate
    np.testing.assert_array_equal(sample.X, before)


def test_a_fit_leaves_the_global_random_state_alone():
    sample = SETTINGS[0].sample(0)
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    robust_mean(sample.X, sigma=sample.sigma, random_state=None)
    assert np.random.random() == expected  # noqa: NPY002


@pytest.mark.parametrize("setting", SETTINGS, ids=setting_name)
def test_another_random_state_keeps_the_same_rows(setting):
    sample, plain = plain_fit(setting)
    for random_state in (1, None, np.random.default_rng(5)):
        other = robust_mean(sample.X, sigma=sample.sigma, random_state=random_state)
        np.testing.assert_array_equal(plain.support, other.support)


# -- larger tables --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("setting", LARGER, ids=setting_name)
@pytest.mark.parametrize("seed", range(2))
def test_all_of_it_on_larger_tables(setting, seed):
    sample = setting.sample(seed)
    X, sigma = sample.X, sample.sigma
    plain = robust_mean(X, sigma=sigma)
    np.testing.assert_array_equal(plain.support, ~sample.is_outlier)
    order = np.random.default_rng(seed).permutation(setting.n)
    shift = 1e6 * np.random.default_rng(seed).uniform(-1.0, 1.0, setting.d)
    Q = rotation(setting.d, seed)
    kept = plain.support
    changed = {
        "permuted": (robust_mean(X[order], sigma=sigma).support, kept[order]),
        "translated": (robust_mean(X + shift, sigma=sigma).support, kept),
        "small": (robust_mean(1e-8 * X, sigma=1e-8 * sigma).support, kept),
        "large": (robust_mean(1e8 * X, sigma=1e8 * sigma).support, kept),
        "rotated": (
            robust_mean(X @ Q, sigma=sigma, l0=Options(start="geometric-median")).support,
            kept,
        ),
        "single": (robust_mean(X.astype(np.float32), sigma=sigma).support, kept),
        "single, far": (robust_mean((X + 1e4).astype(np.float32), sigma=sigma).support, kept),
        "Fortran": (robust_mean(np.asfortranarray(X), sigma=sigma).support, kept),
        "sparse": (robust_mean(sp.csr_array(X), sigma=sigma).support, kept),
        "another seed": (robust_mean(X, sigma=sigma, random_state=99).support, kept),
    }
    wrong = [name for name, (got, expected) in changed.items() if not (got == expected).all()]
    assert not wrong


@pytest.mark.slow
@given(problems(), methods, st.integers(0, 2**16))
@settings(deadline=None, max_examples=500)
def test_many_small_tables(problem, method, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(problem.X))
    shift = 1e3 * rng.standard_normal(problem.X.shape[1])
    scale = 10.0 ** rng.uniform(-8, 8)
    plain = robust_mean(problem.X, sigma=problem.sigma, **method)
    changed = robust_mean(
        scale * (problem.X + shift)[order], sigma=scale * problem.sigma, **method
    )  # fmt: skip
    np.testing.assert_array_equal(plain.support[order], changed.support)
    expected = scale * (plain.location + shift)
    np.testing.assert_allclose(expected, changed.location, rtol=0, atol=1e-9 * scale)


def test_the_order_of_rows_that_coincide_does_not_matter():
    # Most are copies, whose distances from their mean are rounding, or none.
    X = np.tile(np.random.default_rng(0).integers(-1, 2, 563), (141, 1)).astype(np.float64)
    X[:14] = np.random.default_rng(1).integers(-1, 2, (14, 563))
    found = set()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(141)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakEvidenceWarning)
            found.add(tuple(np.sort(order[robust_mean(X[order]).support])))
    assert len(found) == 1


def test_the_order_of_few_long_rows_does_not_matter():
    # The origin of their coordinates is a row, and random directions are drawn in these.
    X = np.random.default_rng(0).standard_t(2, (30, 80))
    found = set()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(30)
        support = robust_mean(X[order], sigma=4.0).support
        found.add(tuple(np.sort(order[support])))
    assert len(found) == 1
