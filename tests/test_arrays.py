"""Arrays of other libraries than numpy: the same answer, of the same kind, where the data are."""

import dataclasses
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cases import cases
from inlier import RobustMean, RobustMeanResult, WeakEvidenceWarning, baselines, robust_mean
from inlier._internal.arrays import like
from inlier.data import HostTable, Table, arrays, as_table, medians
from inlier.data.base import SAMPLE_ROWS, Metric
from inlier.data.passes import Histogram
from inlier.datasets import SettingA, SettingB
from inlier.packing.problem import Projection
from inlier.packing.subspace import LONG, SKETCH_ROWS, Sketch, SubspaceSolution, SubspaceSolver
from inlier.unknown_sigma import caution

SETTINGS = {"A": SettingA, "B": SettingB}
PRECISIONS = ["float64", "float32"]
PER_ROW = ["support", "weights", "indicator", "scores"]


@dataclasses.dataclass(frozen=True)
class Library:
    """How a library makes an array of one of numpy; it never shares memory with it."""

    name: str
    make: Callable[[np.ndarray], Any]

    def __call__(self, X: np.ndarray) -> Any:
        return self.make(X.copy())


def host(x: Any) -> np.ndarray:
    """The numbers of any array."""
    return x.detach().numpy() if hasattr(x, "detach") else np.asarray(x)


def dtype_of(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]


def is_beside(x: Any, X: Any) -> bool:
    """Whether an array is of the same library and on the same device."""
    return type(x) is type(X) and x.device == X.device


def on_a_device(monkeypatch: pytest.MonkeyPatch) -> Callable[[np.ndarray], Any]:
    """Arrays of a device of which every mixture with another one is an error.

    They refuse to come to the host as well; there, explicit requests are what drivers fulfil.
    """
    strict = pytest.importorskip("array_api_strict")
    kind = type(strict.asarray([0.0]))
    device = strict.Device("device1")

    def fetched(self: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self._array, dtype=dtype)

    monkeypatch.delattr(kind, "__buffer__", raising=False)
    monkeypatch.setattr(kind, "__array__", fetched)
    return lambda X: strict.asarray(X, device=device)


@pytest.fixture(params=["torch", "array_api_strict", "a device"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Library:
    name = request.param
    if name == "torch":
        return Library(name, pytest.importorskip("torch").from_numpy)
    if name == "array_api_strict":
        return Library(name, pytest.importorskip("array_api_strict").asarray)
    return Library(name, on_a_device(monkeypatch))


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def quietly(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, list[Any]]:
    """What a function returns, and the kinds of warnings; weak evidence alone is allowed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", WeakEvidenceWarning)
        answer = function(*args, **options)
    return answer, [warning.category for warning in caught]


def compare(actual: RobustMeanResult, expected: RobustMeanResult, X: Any) -> None:
    """A result beside X against that of numpy: the same up to rounding."""
    double = expected.location.dtype == np.float64
    near = 1e-8 if double else 2e-3
    for name in ["location", *PER_ROW]:
        assert is_beside(getattr(actual, name), X), name
        assert dtype_of(getattr(actual, name)) == getattr(expected, name).dtype.name, name
    np.testing.assert_array_equal(host(actual.support), expected.support)
    size = max(1.0, float(np.abs(expected.location).max()))
    atol = 64 * float(np.finfo(expected.location.dtype).eps) * size
    np.testing.assert_allclose(host(actual.location), expected.location, rtol=0, atol=atol)
    np.testing.assert_allclose(host(actual.weights), expected.weights, rtol=0, atol=near)
    np.testing.assert_allclose(host(actual.indicator), expected.indicator, rtol=0, atol=near)
    # The sizes of cells by their own tails are in single precision.
    by_cells = any(group.measure is not None for group in expected.groups)
    close = max(near, 1e-5) if by_cells else near
    if not double and len(expected.support) > SKETCH_ROWS:
        # Which rows stand for all of many may hang on the last digit of single precision.
        close = 0.05
    atol = close * abs(expected.rule.threshold)
    np.testing.assert_allclose(host(actual.scores), expected.scores, rtol=close, atol=atol)
    assert actual.n_passes == expected.n_passes
    assert actual.n_iter == expected.n_iter
    assert actual.converged == expected.converged
    assert actual.sigma == pytest.approx(expected.sigma, rel=near)
    assert actual.certificate.n_removed == expected.certificate.n_removed
    assert is_beside(actual.outliers, X)
    np.testing.assert_array_equal(host(actual.outliers), expected.outliers)
    assert len(actual.groups) == len(expected.groups)
    for own, other in zip(actual.groups, expected.groups, strict=True):
        assert own.kind == other.kind and own.size == other.size
        np.testing.assert_array_equal(np.sort(host(own.rows)), np.sort(other.rows))
    assert len(actual.path) == len(expected.path)
    for own, other in zip(actual.path, expected.path, strict=True):
        assert own.sigma == pytest.approx(other.sigma, rel=near)
        differ = np.setxor1d(host(own.removed), other.removed)
        assert len(differ) <= (0 if double else 0.001 * len(expected.support))


def agree(library: Library, X: np.ndarray, **options: Any) -> RobustMeanResult:
    """The fit of an array of the library, after it was compared with that of numpy."""
    expected, said = quietly(robust_mean, X, **options)
    there = library(X)
    actual, said_there = quietly(robust_mean, there, **options)
    assert said_there == said
    np.testing.assert_array_equal(host(there), X)  # not changed in place
    compare(actual, expected, there)
    return actual


# -- the same answer ------------------------------------------------------------------------------


# Rows are more than columns, or fewer; so many that a sketch stands for them; so many columns that
# eigenvectors are looked for by Krylov's method.
# Each shape with and without sigma, in both settings and both precisions; not all combinations.
FITS = [
    ("A", (400, 20), True, "float64"),
    ("B", (400, 20), False, "float32"),
    ("B", (60, 100), True, "float32"),
    ("A", (60, 100), False, "float64"),
    ("A", (5000, 12), True, "float32"),
    ("B", (5000, 12), False, "float64"),
    ("B", (700, 300), True, "float64"),
    ("A", (700, 300), False, "float32"),
]


@cases(("setting", "shape", "knows_sigma", "precision"), FITS)
def test_the_answer_is_that_of_numpy(library, setting, shape, knows_sigma, precision):
    sample = SETTINGS[setting](*shape, 0.2).sample(0)
    sigma = sample.sigma if knows_sigma else None
    agree(library, sample.X.astype(precision), sigma=sigma)


@pytest.mark.parametrize("shape", [(400, 20), (60, 100)], ids=str)
def test_other_points_of_the_path_are_of_the_same_kind(library, shape):
    X = SettingB(*shape, 0.2).sample(0).X
    expected, _ = quietly(robust_mean, X)
    there = library(X)
    actual, _ = quietly(robust_mean, there)
    assert expected.groups
    for ask in (
        lambda result: result.at(0),
        lambda result: result.at(sigma=result.sigma),
        lambda result: result.keep(0),
        lambda result: result.keep(result.groups[-1]),
    ):
        compare(ask(actual), ask(expected), there)


def test_all_rows_are_back_at_the_first_point_of_the_path(library):
    X = SettingB(400, 20, 0.2).sample(0).X
    there = library(X)
    first = quietly(robust_mean, there)[0].at(0)
    assert host(first.support).all() and is_beside(first.support, there)
    assert host(first.outliers).shape == (0,)
    np.testing.assert_allclose(host(first.location), X.mean(axis=0), atol=1e-12)


FAR = [("float64", 1e12), ("float64", 1e200), ("float32", 1e12)]


@cases(
    ("knows_sigma", "algorithm"), [(True, "paper"), (True, "continuation"), (False, "continuation")]
)
@cases(("precision", "distance"), FAR)
def test_rows_absurdly_far_away_leave_the_same_answer(
    library, precision, distance, knows_sigma, algorithm
):
    sample = SettingB(150, 10, 0.2).sample(0)
    X = sample.X.astype(precision)
    good = np.flatnonzero(~sample.is_outlier)
    X[good[:3]] = distance
    X[good[3]] = -distance
    sigma = sample.sigma if knows_sigma else None
    result = agree(library, X, sigma=sigma, algorithm=algorithm)
    assert not host(result.support)[good[:4]].any()


def scatter_matrix(d: int) -> np.ndarray:
    M = np.random.default_rng(3).standard_normal((d, d))
    return M @ M.T / d + np.eye(d)


OPTIONS: dict[str, dict[str, Any]] = {
    "paper": {"algorithm": "paper"},
    "reweighted l1": {"surrogate": "reweighted-l1"},
    "l1": {"surrogate": "l1"},
    "geometric median": {"start": "geometric-median"},
    "coordinate median": {"start": "coordinate-median"},
    "a start": {"start": np.full(10, 0.5)},
    "identity": {"scatter": "identity"},
    "diagonal": {"scatter": "diagonal"},
    "variances": {"scatter": np.linspace(0.5, 2.0, 10)},
    "scatter matrix": {"scatter": scatter_matrix(10)},
    "paper, diagonal": {"algorithm": "paper", "scatter": "diagonal"},
    "prune": {"prune": 0.5},
}
OF_THE_PROBLEM = ("reweighted l1", "l1", "prune")


@pytest.mark.parametrize("library", ["torch", "a device"], indirect=True)
@cases("name", OPTIONS)
def test_the_answer_is_that_of_numpy_with_every_option(library, name):
    sample = SettingB(150, 10, 0.2).sample(1)
    agree(library, sample.X, sigma=sample.sigma, **OPTIONS[name])
    if name not in OF_THE_PROBLEM:
        agree(library, sample.X.astype("float32"), **OPTIONS[name])


@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_pruned_rows_are_those_of_numpy(library, algorithm):
    sample = SettingB(300, 20, 0.1).sample(2)
    X = sample.X.copy()
    X[sample.is_outlier] *= 30.0
    result = agree(library, X, sigma=sample.sigma, prune=0.5, algorithm=algorithm)
    assert not host(result.support)[sample.is_outlier].any()


def test_options_may_be_arrays_of_the_library(library):
    sample = SettingB(300, 20, 0.2).sample(1)
    start, scatter = np.full(20, 0.5), scatter_matrix(20)
    expected, _ = quietly(robust_mean, sample.X, start=start, scatter=scatter)
    there = library(sample.X)
    actual, _ = quietly(robust_mean, there, start=library(start), scatter=library(scatter))
    compare(actual, expected, there)


# -- estimators -----------------------------------------------------------------------------------


@cases(("precision", "knows_sigma"), [("float64", True), ("float32", False)])
def test_the_estimator_speaks_in_arrays_of_its_input(library, knows_sigma, precision):
    sample = SettingB(400, 20, 0.2).sample(0)
    X = sample.X.astype(precision)
    new = SettingB(50, 20, 0.2).sample(1).X.astype(precision)
    options = {"sigma": sample.sigma if knows_sigma else None}
    expected, _ = quietly(RobustMean(**options).fit, X)
    there = library(X)
    actual, _ = quietly(RobustMean(**options).fit, there)
    compare(actual.result_, expected.result_, there)
    for name in ("location_", "support_", "weights_", "indicator_"):
        assert is_beside(getattr(actual, name), there), name
    assert actual.n_features_in_ == 20
    near = 1e-8 if precision == "float64" else 2e-3
    atol = near * abs(expected.offset_)
    for ask in ("score_samples", "decision_function"):
        answer = getattr(actual, ask)(library(new))
        assert is_beside(answer, there) and dtype_of(answer) == "float64"
        np.testing.assert_allclose(host(answer), getattr(expected, ask)(new), rtol=near, atol=atol)
    signs = actual.predict(library(new))
    assert is_beside(signs, there)
    np.testing.assert_array_equal(host(signs), expected.predict(new))
    signs, _ = quietly(RobustMean(**options).fit_predict, there)
    assert is_beside(signs, there)
    np.testing.assert_array_equal(host(signs), np.where(expected.support_, 1, -1))


def test_rows_are_judged_in_their_own_library_whatever_was_fitted(library):
    sample = SettingB(400, 20, 0.2).sample(0)
    there = library(sample.X)
    by_numpy, by_library = RobustMean(sigma=sample.sigma), RobustMean(sigma=sample.sigma)
    by_numpy.fit(sample.X)
    by_library.fit(there)
    assert is_beside(by_numpy.predict(there), there)
    assert type(by_library.predict(sample.X)) is np.ndarray
    np.testing.assert_array_equal(host(by_numpy.predict(there)), by_library.predict(sample.X))


def test_a_single_row_can_be_judged(library):
    sample = SettingB(400, 20, 0.2).sample(0)
    model = RobustMean(sigma=sample.sigma).fit(library(sample.X))
    for i in (int(np.argmax(sample.is_outlier)), int(np.argmin(sample.is_outlier))):
        signs = host(model.predict(library(sample.X[i : i + 1])))
        np.testing.assert_array_equal(signs, [-1 if sample.is_outlier[i] else 1])


def test_a_wrong_number_of_features_is_refused(library):
    sample = SettingB(100, 6, 0.2).sample(0)
    model = RobustMean(sigma=sample.sigma).fit(library(sample.X))
    for ask in (model.predict, model.score_samples, model.decision_function):
        with pytest.raises(ValueError, match=r"X has 5 features.*expecting 6"):
            ask(library(sample.X[:, :5]))


@cases("precision", PRECISIONS)
@cases(
    "baseline",
    [
        baselines.SampleMean(),
        baselines.CoordinateMedian(),
        baselines.GeometricMedian(),
        baselines.TrimmedMean(alpha=0.2),
        baselines.IterativeFiltering(sigma=1.3),
        baselines.ProjectedGradient(alpha=0.2),
    ],
)
def test_baselines_give_the_answer_of_numpy(library, baseline, precision):
    X = SettingB(300, 20, 0.2).sample(0).X.astype(precision)
    expected = type(baseline)(**baseline.get_params()).fit(X)
    actual = type(baseline)(**baseline.get_params()).fit(library(X))
    atol = 64 * float(np.finfo(X.dtype).eps)
    np.testing.assert_allclose(host(actual.location_), expected.location_, rtol=0, atol=atol)
    np.testing.assert_array_equal(host(actual.support_), expected.support_)
    np.testing.assert_allclose(host(actual.weights_), expected.weights_, rtol=0, atol=1e-3)
    assert actual.result_.n_passes == expected.result_.n_passes


# -- dtypes and memory of all kinds ---------------------------------------------------------------


def whole_numbers() -> tuple[np.ndarray, np.ndarray]:
    """Rows that every dtype holds exactly, and which of them are bad."""
    rng = np.random.default_rng(0)
    X = np.clip(np.round(8.0 * rng.standard_normal((200, 6))), -24, 24) + 24
    X[:30] += 70.0
    return X, np.arange(200) < 30


WHOLE = ["int8", "int16", "int32", "int64", "uint8"]


@cases("dtype", WHOLE)
def test_whole_numbers_are_taken(library, dtype):
    X, is_bad = whole_numbers()
    result = agree(library, X.astype(dtype))
    np.testing.assert_array_equal(host(result.support), ~is_bad)


@cases("algorithm", ["continuation", "paper"])
@cases("sigma", [10.0, None])
@cases("dtype", ["float16", "bfloat16", "bool"])
def test_small_dtypes_are_taken_in_single_precision(torch, dtype, sigma, algorithm):
    there = torch.from_numpy(whole_numbers()[0]).to(getattr(torch, dtype))
    before = there.clone()
    options = {"sigma": sigma, "algorithm": algorithm}
    expected, _ = quietly(robust_mean, there.double().numpy(), **options)
    actual, _ = quietly(robust_mean, there, **options)
    assert actual.location.dtype == torch.float32
    np.testing.assert_array_equal(host(actual.support), expected.support)
    np.testing.assert_allclose(host(actual.location), expected.location, rtol=1e-5, atol=1e-5)
    assert (there == before).all()


@cases("sigma", [10.0, None])
def test_no_gradient_is_followed(torch, sigma):
    X, _ = whole_numbers()
    there = torch.from_numpy(X.copy()).requires_grad_(True)
    expected, _ = quietly(robust_mean, X, sigma=sigma)
    actual, _ = quietly(robust_mean, there, sigma=sigma)
    assert there.grad is None
    assert not actual.location.requires_grad and not actual.scores.requires_grad
    np.testing.assert_array_equal(host(actual.support), expected.support)
    np.testing.assert_allclose(host(actual.location), expected.location, rtol=1e-12)


LAYOUTS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "transposed": lambda torch, X: torch.from_numpy(np.ascontiguousarray(X.T)).T,
    "strided": lambda torch, X: torch.from_numpy(np.repeat(np.repeat(X, 2, 0), 3, 1))[::2, ::3],
    "one column wider": lambda torch, X: torch.from_numpy(np.c_[X, X[:, :1]])[:, :-1],
    "overlapping": lambda torch, X: torch.from_numpy(X.ravel()).unfold(0, X.shape[1], 1),
}


@cases("algorithm", ["continuation", "paper"])
@cases("sigma", [10.0, None])
@cases("layout", LAYOUTS)
def test_tensors_of_any_layout_are_taken(torch, layout, sigma, algorithm):
    there = LAYOUTS[layout](torch, whole_numbers()[0])
    assert not there.is_contiguous()
    X = np.ascontiguousarray(there.numpy())
    expected, _ = quietly(robust_mean, X, sigma=sigma, algorithm=algorithm)
    actual, _ = quietly(robust_mean, there, sigma=sigma, algorithm=algorithm)
    np.testing.assert_array_equal(there.numpy(), X)
    compare(actual, expected, there)


def test_a_single_row_backwards_is_taken(torch):
    # numpy calls such a view contiguous, whatever its stride.
    there = like(np.arange(3.0).reshape(3, 1)[::-1][:1], torch.zeros(1))
    assert there.tolist() == [[2.0]]


@cases("value", [np.nan, np.inf, -np.inf])
@cases("precision", PRECISIONS)
def test_where_the_first_bad_entry_is(library, precision, value):
    X = np.random.default_rng(0).standard_normal((40, 5)).astype(precision)
    X[7, 3] = X[9, 1] = value
    for ask in (robust_mean, RobustMean().fit):
        with pytest.raises(ValueError, match=r"\bX\b.*row 7, column 3"):
            ask(library(X))


def test_large_finite_numbers_are_not_mistaken_for_infinity(library):
    X = np.random.default_rng(0).standard_normal((40, 5))
    X[0] = 1.5e308  # their sum overflows
    result, _ = quietly(robust_mean, library(X))
    np.testing.assert_array_equal(host(result.outliers), [0])


NO_TABLES = {
    "one dimension": np.ones(5),
    "three dimensions": np.ones((5, 3, 2)),
    "a number": np.ones(()),
    "complex": np.ones((5, 3)) * 1j,
    "one row": np.ones((1, 3)),
    "no row": np.ones((0, 3)),
    "no column": np.ones((3, 0)),
}


@cases("name", NO_TABLES)
def test_what_is_no_table_is_refused(library, name):
    for ask in (robust_mean, RobustMean().fit, baselines.GeometricMedian().fit):
        with pytest.raises(ValueError, match=r"\bX\b"):
            ask(library(NO_TABLES[name]))


# -- the passes -----------------------------------------------------------------------------------


@pytest.fixture(params=["one block", "many blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A device takes all rows at once; what is put together from blocks has to be the same."""
    if request.param == "many blocks":
        for limit in ("DEVICE_ELEMENTS", "DEVICE_COPIED", "GRAM_ELEMENTS", "WIDE_ELEMENTS"):
            monkeypatch.setattr(arrays, limit, 1, raising=False)
    return request.param


class Verbs:
    """Every pass over two tables that hold the same numbers."""

    def __init__(self, there: Any, X: np.ndarray, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.X, self.there = X, there
        self.n, self.d = X.shape
        self.near = 1e-12 if X.dtype == np.float64 else 1e-5
        self.center = X.astype(np.float64).mean(axis=0) + rng.standard_normal(self.d)
        self.basis = np.linalg.qr(rng.standard_normal((self.d, 3)))[0].T
        self.weights = rng.random(self.n)
        self.coefficients = rng.standard_normal((2, self.n))
        self.mask = rng.random(self.n) < 0.7
        self.scales = rng.uniform(0.5, 2.0, self.d)
        self.factor = np.linalg.cholesky(scatter_matrix(self.d))

    def check_rows(self, actual: Any, expected: np.ndarray) -> None:
        assert is_beside(actual, self.there)
        self.check(host(actual), expected)

    def check(self, actual: Any, expected: np.ndarray) -> None:
        assert type(actual) is np.ndarray
        assert actual.shape == expected.shape
        atol = self.near * max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)

    def check_all(self, table: Table, numpy: Table, deep: bool = True) -> None:
        """Of two tables with the same rows; `deep`, also of what is made of them."""
        beside, n = table.to_device, numpy.shape[0]
        w, C = self.weights[:n], self.coefficients[:, :n]
        c, V = self.center, self.basis
        table.n_passes = numpy.n_passes = 0
        assert table.shape == numpy.shape and table.dtype == numpy.dtype
        self.check_rows(table.project(c, V), numpy.project(c, V))
        for drift in (True, False):
            own = table.moment(c, beside(w), V, drift)
            other = numpy.moment(c, w, V, drift)
            self.check_rows(own.projection, other.projection)
            self.check(own.image, other.image)
            self.check(own.drift, other.drift)
        own = table.moment(c, lambda rows, seen: beside(w)[rows] / (1.0 + seen[0, :] ** 2), V)
        other = numpy.moment(c, lambda rows, seen: w[rows] / (1.0 + seen[0] ** 2), V)
        self.check_rows(own.projection, other.projection)
        self.check(own.image, other.image)
        for own, other in zip(table.scatter(c, beside(w)), numpy.scatter(c, w), strict=True):
            self.check(own, other)
        for own, other in zip(table.squares(c, beside(w)), numpy.squares(c, w), strict=True):
            self.check(own, other)
        self.check(table.combine(c, beside(C)), numpy.combine(c, C))
        self.check(table.mean(beside(w), c), numpy.mean(w, c))
        self.check(table.mean(table.rows(0.0), c), c)
        self.check(table.median(), numpy.median())
        for seed in range(2):
            own, other = (np.random.default_rng(seed) for _ in range(2))
            self.check(table.median(own), numpy.median(other))
        own, other = (np.random.default_rng(5) for _ in range(2))
        self.check(table.sampled(own), numpy.sampled(other))
        self.check_rows(table.sq_distances(c), numpy.sq_distances(c))
        self.check(table.gram(c), numpy.gram(c))
        some = np.array([n - 1, 0, n // 2, 0])
        self.check(table.some(some), numpy.some(some))
        self.check_rows(table.rows(2.5), numpy.rows(2.5))
        assert table.n_passes == numpy.n_passes
        if not deep:
            return
        mask = self.mask[:n]
        self.check_all(table.take(beside(mask)), numpy.take(mask), deep=False)
        again = mask[: int(mask.sum())]
        twice = table.take(beside(mask)).take(beside(again))
        self.check_all(twice, numpy.take(mask).take(again), deep=False)
        for factor in (self.scales, self.factor):
            metric = Metric(c, factor)
            self.check_all(table.in_metric(metric), numpy.in_metric(metric), deep=False)
        assert table.n_passes == numpy.n_passes


@cases("precision", PRECISIONS)
def test_every_pass_is_that_of_numpy(library, blocks, precision):
    X = np.random.default_rng(1).standard_normal((137, 7)) + np.linspace(-1.0, 1.0, 7)
    X = X.astype(precision)
    there = library(X)
    Verbs(there, X).check_all(as_table(there), as_table(X))


@cases("dtype", [*WHOLE, "float32"])
def test_every_pass_over_whole_numbers_is_that_of_numpy(library, blocks, dtype):
    X = whole_numbers()[0].astype(dtype)
    there = library(X)
    verbs = Verbs(there, X)
    verbs.near = 1e-5  # small whole numbers are read in single precision
    verbs.check_all(as_table(there), as_table(X), deep=dtype == "int64")


def test_columns_that_are_too_long_to_sort_have_the_same_median(library, blocks, monkeypatch):
    X = np.random.default_rng(2).standard_normal((SAMPLE_ROWS + 100, 5))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 3.0
    monkeypatch.setattr(arrays, "SORTED_ELEMENTS", 0)
    expected = np.median(X, axis=0)
    for mask in (np.ones(len(X), dtype=bool), np.arange(len(X)) % 10 > 0):
        table = as_table(library(X))
        median = table.take(table.to_device(mask)).median()
        expected = np.median(X[mask], axis=0)
        assert type(median) is np.ndarray
        np.testing.assert_allclose(median, expected, rtol=1e-15, atol=1e-15)


def test_a_copy_on_the_host_is_never_made_of_all_rows(library, monkeypatch):
    """What goes to the host is rows by their numbers: a sample, or all if they are few."""
    asked: list[int] = []
    original = arrays.DenseTable.some

    def counted(self: Any, rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return original(self, rows)

    monkeypatch.setattr(arrays.DenseTable, "some", counted)
    monkeypatch.setattr(caution, "WHOLE_CELLS", 0)
    monkeypatch.setattr(caution, "SAMPLE_CELLS", 0)
    X = SettingB(5000, 12, 0.2).sample(0).X
    X[:4] = 1e12
    quietly(robust_mean, library(X))
    assert asked and max(asked) <= SAMPLE_ROWS


def test_a_table_on_the_host_speaks_numpy(library, blocks):
    X = np.random.default_rng(4).standard_normal((90, 6))
    table, numpy = HostTable(as_table(library(X))), as_table(X)
    verbs = Verbs(X, X)
    verbs.check_all(table, numpy, deep=False)
    mask = verbs.mask
    assert isinstance(table.take(mask), HostTable)
    verbs.check_all(table.take(mask), numpy.take(mask), deep=False)
    metric = Metric(verbs.center, verbs.scales)
    assert isinstance(table.in_metric(metric), HostTable)
    verbs.check_all(table.in_metric(metric), numpy.in_metric(metric), deep=False)


# -- medians from histograms ----------------------------------------------------------------------


def columns(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {
        "random": rng.standard_normal(n),
        "far off": 1e6 + rng.standard_normal(n),
        "discrete": rng.integers(0, 3, n).astype(float),
        "two values": (rng.random(n) < 0.5).astype(float),
        "tenths": rng.integers(0, 5, n) * 0.1,
        "mostly zero": rng.standard_normal(n) * (rng.random(n) < 0.2),
        "constant": np.full(n, 0.1),
        "zeros": np.zeros(n),
        "negative": np.full(n, -7.3),
        "rising": np.sort(rng.standard_normal(n)),
        "falling": -np.sort(rng.exponential(size=n)),
        "Cauchy": rng.standard_cauchy(n),
        "heavier": rng.standard_cauchy(n) ** 5,
        "tiny": 1e-200 * rng.standard_normal(n),
        "skewed": rng.exponential(size=n) ** 4,
        # Of two far apart halves the median of an even number lies in the gap.
        "halves": np.where(np.arange(n) < n // 2, -5.0, 5.0) + 1e-3 * rng.standard_normal(n),
    }


def check_median(X: np.ndarray, where: np.ndarray) -> None:
    """The median of a table of which some rows show where to look first."""
    n = len(X)
    passes: list[Histogram] = []

    def count(histogram: Histogram) -> np.ndarray:
        passes.append(histogram)
        return np.asarray(histogram(X)[1][0])

    eps = float(np.finfo(np.float64).eps)
    found = medians.median(n, X[where], count, eps)
    # Rounding is that of the values in the middle, however far away others are.
    ascending = np.sort(X, axis=0)
    size = np.abs(ascending[[(n - 1) // 2, n // 2]]).max(axis=0)
    reach = ascending[int(0.9 * (n - 1))] - ascending[int(0.1 * (n - 1))]
    error = np.abs(found - np.median(X, axis=0))
    assert (error <= 4 * eps * size + 1e-13 * reach + 1e-290).all()
    assert len(passes) <= 2 * medians.MOST_PASSES


@cases("sampled", ["evenly", "from one end"])
@cases("n", [100, 101, 2000, 2001])
@cases("name", columns(2))
def test_the_median_from_histograms_is_the_median(name, n, sampled):
    m = min(n, SAMPLE_ROWS)
    where = np.linspace(0, n - 1, m).astype(int) if sampled == "evenly" else np.arange(m)
    check_median(columns(n)[name][:, None], where)


@pytest.mark.parametrize("distance", [1e12, 1e100, 1e200])
@pytest.mark.parametrize("n", [2000, 2001])
def test_the_median_from_histograms_is_not_moved_by_absurd_values(n, distance):
    x = np.random.default_rng(n).standard_normal(n)
    x[::50] = distance
    check_median(x[:, None], np.linspace(0, n - 1, SAMPLE_ROWS).astype(int))


@cases("seed", range(60))
def test_the_median_from_histograms_of_rounded_values_is_the_median(seed):
    """Values on the edges of bins, many of them equal: none may fall between two looks."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2000, 6000))
    x = np.round(rng.standard_normal(n), 1)
    check_median(x[:, None], np.linspace(0, n - 1, SAMPLE_ROWS).astype(int))


def test_the_median_from_histograms_is_found_where_the_sample_is_another_value():
    """Half of the rows, and one more, are 1; nearly all that was looked at first are 0."""
    n = 2001
    x = np.zeros(n)
    where = np.linspace(0, n - 1, SAMPLE_ROWS).astype(int)
    others = np.setdiff1d(np.arange(n), where)
    x[others[:1000]] = 1.0
    x[where[0]] = 1.0
    assert np.median(x) == 1.0
    check_median(x[:, None], where)


def test_medians_by_sorting_are_those_of_numpy():
    for n in (1, 2, 7, 8):
        X = np.random.default_rng(n).standard_normal((n, 4))
        np.testing.assert_array_equal(medians.column_medians(X), np.median(X, axis=0))


# -- a sketch that stands for all rows ------------------------------------------------------------


def rows_in_units_of_the_budget(k: int, seed: int, n: int = 9000) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which some have to go, with a few extreme ones, and weights u."""
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((k, n)) * np.sqrt(3.0 / n)
    P[:, :4] *= 10.0 ** rng.uniform(1.0, 3.0, 4)
    return P, rng.uniform(0.1, 2.0, n)


SKETCHES = [(k, seed) for k in (1, 2, 4) for seed in range(4)]


@cases(("k", "seed"), SKETCHES)
def test_the_second_moment_of_a_sketch_is_near_that_of_all_rows(k, seed):
    P, u = rows_in_units_of_the_budget(k, seed)
    size = np.square(P).sum(axis=0)
    sketch = Sketch.of(size, SKETCH_ROWS)
    # A sum of sizes has a relative error of about one over the root of the count.
    error = 4.0 / np.sqrt(SKETCH_ROWS)
    for w in (np.ones_like(u), u):
        seen = sketch.sampled(P)
        all_rows = (P * w) @ P.T
        few_rows = (seen * sketch.sampled(w) * sketch.copies) @ seen.T
        assert np.linalg.norm(few_rows - all_rows, 2) <= error * np.trace(all_rows)
    assert sketch.copies.sum() == pytest.approx(P.shape[1], rel=error)


@pytest.mark.parametrize("count", [16, 256, SKETCH_ROWS])
def test_heavy_rows_are_always_in_a_sketch(count):
    rng = np.random.default_rng(0)
    n = 20_000
    for n_heavy in (1, 3):
        heavy = rng.choice(n, n_heavy, replace=False)
        size = rng.random(n)
        # Each stratum covers 1 / count of the chance: a row with more cannot be missed.
        size[heavy] = 4.0 * size.sum() / count
        assert np.isin(heavy, Sketch.of(size, count).rows).all()


def test_a_sketch_is_that_of_numpy(library):
    P, _ = rows_in_units_of_the_budget(3, 0)
    size = np.square(P).sum(axis=0)
    there = library(P)
    sketch, expected = Sketch.of(library(size), 500), Sketch.of(size, 500)
    assert is_beside(sketch.rows, there)
    np.testing.assert_array_equal(host(sketch.rows), expected.rows)
    np.testing.assert_allclose(sketch.copies, expected.copies, rtol=1e-9)
    seen = sketch.sampled(there)
    assert type(seen) is np.ndarray
    np.testing.assert_array_equal(seen, expected.sampled(P))


ASKED: dict[str, Callable[[SubspaceSolver, np.ndarray], tuple[SubspaceSolution, Projection]]] = {
    "least squares": lambda within, u: (within.least_squares(u), Projection.least_squares(u)),
    "projection": lambda within, u: (within.project(2.0 - u / 2.0, u), Projection(2.0 - u / 2, u)),
    "short step": lambda within, u: (
        within.packing(u, 2.0),
        Projection.proximal(u, np.ones_like(u), 2.0),
    ),
    "full step": lambda within, u: (
        within.packing(u),
        Projection.proximal(u, np.ones_like(u), LONG),
    ),
}


@cases("name", ASKED)
@cases(("k", "seed"), SKETCHES)
def test_a_sketch_solves_the_problem_of_all_rows(k, seed, name):
    P, u = rows_in_units_of_the_budget(k, seed)
    assert P.shape[1] > SKETCH_ROWS
    tol = 1e-5
    by_sketch, problem = ASKED[name](SubspaceSolver(P, tol), u)
    exactly, _ = ASKED[name](SubspaceSolver(P, tol, exactly=True), u)
    for answer in (by_sketch, exactly):
        w = answer.weights
        assert w.shape == u.shape and w.min() >= 0.0 and w.max() <= 1.0
        assert np.linalg.eigvalsh((P * w) @ P.T)[-1] <= 1.0 + 2e-3
        assert np.linalg.eigvalsh(answer.S)[0] >= -1e-9 * np.trace(answer.S)
    # Gaps are related to the objective at w = 0.
    lost = problem.objective(by_sketch.weights) - problem.objective(exactly.weights)
    assert abs(lost) <= 0.03 * problem.scale


@cases("name", ["least squares", "short step"])
@cases("k", [1, 2])
def test_what_a_sketch_solves_is_that_of_numpy(library, k, name):
    P, u = rows_in_units_of_the_budget(k, 0)
    there = library(P)

    def ask(P: Any, u: Any) -> SubspaceSolution:
        within = SubspaceSolver(P, 1e-4)
        return within.least_squares(u) if name == "least squares" else within.packing(u, 2.0)

    answer, expected = ask(there, library(u)), ask(P, u)
    assert is_beside(answer.weights, there)
    np.testing.assert_allclose(host(answer.weights), expected.weights, rtol=0, atol=1e-6)
    assert type(answer.S) is np.ndarray
    np.testing.assert_allclose(answer.S, expected.S, rtol=1e-6, atol=1e-6)


def test_few_rows_need_no_sketch():
    P, u = rows_in_units_of_the_budget(2, 0, n=SKETCH_ROWS)
    by_default, exactly = (
        SubspaceSolver(P, 1e-5, exactly=e).least_squares(u) for e in (False, True)
    )
    np.testing.assert_array_equal(by_default.weights, exactly.weights)


# -- few rows and many columns ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "bool"])
def test_whole_numbers_in_few_long_rows_do_not_overflow(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype == "bool" else 100, (40, 300)).astype(dtype)
    for given in ({}, {"sigma": 60.0}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = robust_mean(X, **given)
            expected = robust_mean(X.astype(np.float64), **given)
        np.testing.assert_array_equal(result.support, expected.support)
        np.testing.assert_allclose(result.location, expected.location, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [30, 31])
def test_a_first_row_too_far_away_to_square_is_no_origin(n):
    X = np.random.default_rng(0).standard_normal((n, 100))
    X[0] = 1e160
    result = robust_mean(X)
    assert list(result.outliers) == [0]


def test_a_result_does_not_change_with_the_data():
    sample = SettingB(n=100, d=400, alpha=0.2).sample(random_state=0)
    X = sample.X.copy()
    model = RobustMean().fit(X)
    before = model.predict(sample.X)
    X[:] = 0.0
    np.testing.assert_array_equal(model.predict(sample.X), before)
    np.testing.assert_array_equal(before > 0, ~sample.is_outlier)


def test_vectors_of_very_many_columns_are_restored_when_looked_at():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 1_000_000)).astype(np.float32)
    X[:4] += 0.5
    result = robust_mean(X)
    np.testing.assert_array_equal(result.outliers, np.arange(4))
    group = pickle.loads(pickle.dumps(result)).groups[0]
    np.testing.assert_allclose(group.mean, X[:4].mean(axis=0), atol=1e-5)
    assert np.linalg.norm(group.direction) == pytest.approx(1.0, abs=1e-4)
    np.testing.assert_allclose(result.path[0].location, X.mean(axis=0), atol=1e-5)
