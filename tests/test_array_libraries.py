"""Arrays of other libraries than numpy: the same answer, of the same kind, where the data are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cases import cases
from inlier import RobustMean, RobustMeanResult, robust_mean
from inlier.l0.subspace import SKETCH_ROWS
from inlier.research.datasets import SettingA, SettingB
from libraries import (
    PRECISIONS,
    WHOLE,
    Library,
    host,
    is_beside,
    quietly,
    scatter_matrix,
    whole_numbers,
)

SETTINGS = {"A": SettingA, "B": SettingB}
PER_ROW = ["support", "scores"]


def dtype_of(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]


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
    for name in ("weights", "indicator"):
        there, here = (getattr(result.details, name) for result in (actual, expected))
        assert is_beside(there, X), name
        np.testing.assert_allclose(host(there), here, rtol=0, atol=near)
    # The sizes of cells by their own tails are in single precision.
    by_cells = any(group.measure is not None for group in expected.groups)
    close = max(near, 1e-5) if by_cells else near
    if not double and len(expected.support) > SKETCH_ROWS:
        # Which rows stand for all of many may hang on the last digit of single precision.
        close = 0.05
    atol = close * abs(expected.details.rule.threshold)
    np.testing.assert_allclose(host(actual.scores), expected.scores, rtol=close, atol=atol)
    assert actual.details.n_passes == expected.details.n_passes
    assert actual.details.n_iter == expected.details.n_iter
    assert actual.converged == expected.converged
    assert actual.sigma == pytest.approx(expected.sigma, rel=near)
    assert actual.certificate.n_removed == expected.certificate.n_removed
    assert is_beside(actual.outliers, X)
    np.testing.assert_array_equal(host(actual.outliers), expected.outliers)
    assert len(actual.groups) == len(expected.groups)
    for own, other in zip(actual.groups, expected.groups, strict=True):
        assert own.kind == other.kind and own.size == other.size
        np.testing.assert_array_equal(np.sort(host(own.rows)), np.sort(other.rows))


FITTED: dict[Any, tuple[RobustMeanResult, Any]] = {}


def agree(library: Library, X: np.ndarray, **options: Any) -> RobustMeanResult:
    """The fit of an array of the library, after it was compared with that of numpy."""
    key = (X.tobytes(), X.shape, X.dtype.str, repr(options))  # the same for every library
    if key not in FITTED:
        FITTED[key] = quietly(robust_mean, X, **options)
    expected, said = FITTED[key]
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
def test_answers_with_a_group_put_back_are_of_the_same_kind(library, shape):
    X = SettingB(*shape, 0.2).sample(0).X
    expected, _ = quietly(robust_mean, X)
    there = library(X)
    actual, _ = quietly(robust_mean, there)
    assert expected.groups
    for i in (0, -1):
        compare(actual.keep(i), expected.keep(i), there)
    first = actual
    for _ in actual.groups:
        first = first.keep(0)
    assert host(first.support).all() and host(first.outliers).shape == (0,)
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
    "paper, prune": {"algorithm": "paper", "prune": 0.5},
}


OF_THE_PROBLEM = ("reweighted l1", "l1", "prune", "paper, prune")


@pytest.mark.parametrize("library", ["torch", "a device"], indirect=True)
@cases("name", OPTIONS)
def test_the_answer_is_that_of_numpy_with_every_option(library, name):
    sample = SettingB(150, 10, 0.2).sample(1)
    agree(library, sample.X, sigma=sample.sigma, **OPTIONS[name])
    if "prune" in name:
        far = sample.X * np.where(sample.is_outlier, 30.0, 1.0)[:, None]
        result = agree(library, far, sigma=sample.sigma, **OPTIONS[name])
        assert not host(result.support)[sample.is_outlier].any()
    if name not in OF_THE_PROBLEM:
        agree(library, sample.X.astype("float32"), **OPTIONS[name])


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
    assert actual.predict(library(new[:1])).shape == (1,)
    with pytest.raises(ValueError, match="X has 3 features, but RobustMean is expecting 20"):
        actual.predict(library(new[:, :3]))
    signs, _ = quietly(RobustMean(**options).fit_predict, there)
    assert is_beside(signs, there)
    np.testing.assert_array_equal(host(signs), np.where(expected.support_, 1, -1))


# -- dtypes and memory of all kinds ---------------------------------------------------------------


@cases("dtype", WHOLE)
def test_whole_numbers_are_taken(library, dtype):
    X, is_bad = whole_numbers()
    result = agree(library, X.astype(dtype))
    np.testing.assert_array_equal(host(result.support), ~is_bad)


@cases(("sigma", "algorithm"), [(10.0, "continuation"), (10.0, "paper"), (None, "continuation")])
@cases("dtype", ["float16", "bfloat16", "bool", "float64"])
def test_small_dtypes_are_taken_in_single_precision_and_no_gradient(torch, dtype, sigma, algorithm):
    there = torch.from_numpy(whole_numbers()[0]).to(getattr(torch, dtype))
    there.requires_grad_(there.is_floating_point())
    before = there.detach().clone()
    options = {"sigma": sigma, "algorithm": algorithm}
    expected, _ = quietly(robust_mean, before.double().numpy(), **options)
    actual, _ = quietly(robust_mean, there, **options)
    assert actual.location.dtype == (torch.float64 if dtype == "float64" else torch.float32)
    np.testing.assert_array_equal(host(actual.support), expected.support)
    np.testing.assert_allclose(host(actual.location), expected.location, rtol=1e-5, atol=1e-5)
    assert not actual.location.requires_grad and not actual.scores.requires_grad
    assert there.grad is None and (there == before).all()


LAYOUTS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "transposed": lambda torch, X: torch.from_numpy(np.ascontiguousarray(X.T)).T,
    "strided": lambda torch, X: torch.from_numpy(np.repeat(np.repeat(X, 2, 0), 3, 1))[::2, ::3],
    "one column wider": lambda torch, X: torch.from_numpy(np.c_[X, X[:, :1]])[:, :-1],
    "overlapping": lambda torch, X: torch.from_numpy(X.ravel()).unfold(0, X.shape[1], 1),
}


@cases(("sigma", "algorithm"), [(10.0, "continuation"), (10.0, "paper"), (None, "continuation")])
@cases("layout", LAYOUTS)
def test_tensors_of_any_layout_are_taken(torch, layout, sigma, algorithm):
    there = LAYOUTS[layout](torch, whole_numbers()[0])
    assert not there.is_contiguous()
    X = np.ascontiguousarray(there.numpy())
    expected, _ = quietly(robust_mean, X, sigma=sigma, algorithm=algorithm)
    actual, _ = quietly(robust_mean, there, sigma=sigma, algorithm=algorithm)
    np.testing.assert_array_equal(there.numpy(), X)
    compare(actual, expected, there)


@cases("value", [np.nan, np.inf, -np.inf])
@cases("precision", PRECISIONS)
def test_where_the_first_bad_entry_is(library, precision, value):
    X = np.random.default_rng(0).standard_normal((40, 5)).astype(precision)
    X[7, 3] = X[9, 1] = value
    for ask in (robust_mean, RobustMean().fit):
        with pytest.raises(ValueError, match=r"\bX\b.*row 7, column 3"):
            ask(library(X))
