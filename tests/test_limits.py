"""Numbers near the ends of what a precision holds: an answer without NaN, or an error that says so.

Warnings are errors here, those about overflow and division too.
"""

import warnings
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import fits
from inlier import RobustMean, WeakEvidenceWarning, robust_mean
from inlier.estimators.base import in_signs
from inlier.l0 import Options
from not_numbers import not_numbers

DOUBLE = [1e-300, 1e-200, 1e-150, 1e-100, 1e-10, 1.0, 1e17, 1e60, 1e66, 1e70, 1e98, 1e120, 1e150]
SINGLE = [1e-45, 1e-38, 1e-30, 1e-20, 1e-15, 1e-10, 1.0, 1e5, 1e12, 1e15, 1e16, 1e17]
SCALES = [*((np.float64, s) for s in DOUBLE), *((np.float32, s) for s in SINGLE)]
LARGEST = {np.float64: [1e200, 1.7e308], np.float32: [1e30, 3.4e38]}


@contextmanager
def no_warning_but(*allowed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in allowed:
            warnings.simplefilter("ignore", category)
        yield


def tables(rng: np.random.Generator, scale: float, other: float, n: int, d: int):
    """Rows of one size, beside rows, columns or an offset of another."""
    normal = scale * rng.standard_normal((n, d))
    few = rng.permutation(n) < n // 3
    zeros = np.zeros((n, d))
    yield "rows", np.where(few[:, None], other, normal)
    yield "spread", np.where(few[:, None], other * np.clip(normal / scale, -1, 1), normal)
    yield "coincide", np.where(few[:, None], other, zeros)
    yield "half", np.where(few[:, None], other * np.clip(normal / scale, -1, 1), zeros)
    yield "column", np.where(np.arange(d) == 0, other * np.clip(normal / scale, -1, 1), normal)
    opposite = normal.copy()
    opposite[0], opposite[1] = other, -other
    yield "opposite", opposite
    if scale < 1e300 and other < 1e300:
        yield "offset", normal + other


def check_fit(X: Any, **arguments: Any) -> bool:
    """Whether there was an answer; if not, the error says that something is out of range."""
    with no_warning_but(ConvergenceWarning, WeakEvidenceWarning):
        try:
            model = RobustMean(**fits.arguments(arguments)).fit(X)
        except np.linalg.LinAlgError:
            raise
        except ValueError as error:
            assert "out of range" in str(error), error
            return False
        result = model.result_
        assert not_numbers(result) == []
        assert np.isfinite(result.location).all()
        scores = model.score_samples(X)
        assert not np.isnan(scores).any()
        # A bound below the rounding of the entries: it is chance on which side a row comes to lie.
        rounding = np.finfo(X.dtype).eps * np.sqrt(X.shape[1]) * abs(X).max()
        told_apart = arguments.get("sigma", np.inf) > 10.0 * rounding
        if arguments.get("algorithm") != "paper" and told_apart:
            np.testing.assert_array_equal(
                result.scores > result.details.rule.threshold, ~result.support
            )
            np.testing.assert_array_equal(model.predict(X), in_signs(model.support_))
    return True


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
def test_every_finite_table_has_an_answer_or_is_out_of_range(dtype, scale):
    scales = DOUBLE if dtype is np.float64 else SINGLE
    others = scales[scales.index(scale) % 8 :: 8]
    for i, other in enumerate([*others, scale, *LARGEST[dtype]]):
        rng = np.random.default_rng(i)
        n, d = ((30, 1), (30, 3), (7, 12))[i % 3]
        for j, (name, X) in enumerate(tables(rng, scale, other, n, d)):
            X = X.astype(dtype)
            assert np.isfinite(X).all(), name
            data = sp.csr_matrix(X) if (i + j) % 4 in (1, 2) else X
            # By turns, so that every kind of table and every size of row is fitted both ways.
            check_fit(data, **({"sigma": scale} if (i + j) % 2 else {}))
            if (i + j) % 3 == 0:
                check_fit(X, sigma=other)
                check_fit(X, scatter="diagonal")
            if (i + j) % 5 == 0:
                check_fit(X, algorithm="paper")
                check_fit(X, sigma=scale, algorithm="paper", start="geometric-median")


ROWS = np.random.default_rng(0).standard_normal((60, 3))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: robust_mean(ROWS * 1e200, sigma=1.0), "X is out of range"),
        (lambda: robust_mean(ROWS * 1e200), "X is out of range"),
        (lambda: robust_mean(ROWS / 10 * 1.7e308, sigma=1.0), "X is out of range"),
        (lambda: robust_mean(ROWS, l0=Options(start=[1e300] * 3)), "start is out of range.*1e.300"),
        (
            lambda: robust_mean(ROWS, l0=Options(start=[1e300] * 3), sigma=1.0),
            "start is out of range",
        ),
        (
            lambda: robust_mean(ROWS, sigma=1.0, l0=Options(algorithm="paper", start=[1e300] * 3)),
            "start is out of range",
        ),
        (
            lambda: robust_mean(
                ROWS.astype(np.float32), l0=Options(start=[1e39] * 3), scatter="diagonal"
            ),
            "start is out of range",
        ),
        (lambda: robust_mean(ROWS, sigma=1e-200), "sigma=1e-200 .* is out of range"),
        (lambda: robust_mean(ROWS, scatter=[1.0, 1.0, 1e-320]), "scatter is out of range"),
        (lambda: robust_mean([[10**400, 1], [1, 2], [3, 4]]), "X is out of range.*whole number"),
        (lambda: robust_mean(ROWS, l0=Options(start=[10**400, 1, 2])), "start is out of range"),
        (lambda: robust_mean(ROWS).to_html(title=3), "title must be a text, but is 3"),
    ],
)
def test_what_is_out_of_range_is_named(call, said):
    with no_warning_but(), pytest.raises(ValueError, match=said) as caught:
        call()
    assert not isinstance(caught.value, np.linalg.LinAlgError)


def test_tensors_without_numbers_one_after_the_other():
    torch = pytest.importorskip("torch")
    X = torch.tensor(ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, that such layouts are new
        sparse = [X.to_sparse(), X.to_sparse_csr(), X.to_sparse_csc()]
    for tensor in sparse:
        for fit in (robust_mean, RobustMean().fit):
            with pytest.raises(ValueError, match=r"X is a torch tensor with the layout sparse.*"
                               r"X\.to_dense\(\)"):  # fmt: skip
                fit(tensor)
    with pytest.raises(ValueError, match="X is a tensor on the device 'meta'"):
        robust_mean(X.to("meta"))


def test_rows_that_do_not_vary_have_no_bound_for_the_paper():
    X = np.zeros((40, 2))
    X[:5] = 1.0
    with no_warning_but(WeakEvidenceWarning):
        same, apart = (robust_mean(Y, l0=Options(algorithm="paper")) for Y in (0.0 * X, X))
    assert same.support.all() and same.sigma == 0.0
    assert "no bound to run Algorithm 1 with" in same.message
    assert not_numbers(same) == not_numbers(apart) == []


@pytest.mark.parametrize("sigma", [1.0, 3.7, 5.0])
def test_rows_that_coincide_are_kept_whatever_sigma_allows(sigma):
    # A first look along random directions may see nothing of the others.
    X = np.random.default_rng(0).standard_normal((594, 649))
    X[:534] = X[0]
    result = robust_mean(X, sigma=sigma)
    np.testing.assert_array_equal(result.outliers, np.arange(534, 594))
