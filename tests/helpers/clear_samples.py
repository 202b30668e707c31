"""Samples with outliers far away, and what holds of every answer."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from fits import robust_mean
from inlier import RobustMeanResult

ALGORITHMS = ["continuation", "paper"]
SURROGATES = ["reweighted-l2", "reweighted-l1", "l1"]


def spectral_sigma(rows: np.ndarray) -> float:
    """The largest standard deviation of rows in any direction."""
    rows = np.asarray(rows, dtype=np.float64)
    return float(np.linalg.norm(rows - rows.mean(axis=0), 2) / np.sqrt(len(rows)))


def clear_sample(n: int = 100, d: int = 6, n_bad: int = 20, seed: int = 0):
    """Whole numbers, with outliers far from the good rows; every dtype holds them exactly."""
    rng = np.random.default_rng(seed)
    X = np.clip(np.round(8.0 * rng.standard_normal((n, d))), -24, 24)
    is_bad = np.zeros(n, dtype=bool)
    is_bad[rng.permutation(n)[:n_bad]] = True
    X[is_bad] += 80.0
    return X, is_bad, spectral_sigma(X[~is_bad])


def check_answer(
    X: np.ndarray,
    result: RobustMeanResult,
    sigma: float,
    c1: float = 1.0,
    algorithm: str = "continuation",
    surrogate: str = "reweighted-l2",
    **others: Any,
) -> None:
    """What holds of every answer, computed from the dense table."""
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    kept = result.support
    # The set, in all its forms.
    assert kept.shape == (n,) and kept.dtype == np.bool_
    assert result.details.indicator.shape == (n,)
    np.testing.assert_array_equal(kept, result.details.indicator == 0.0)
    assert (result.details.indicator >= 0.0).all() and (result.details.indicator <= 1.0).all()
    np.testing.assert_array_equal(result.outliers, np.flatnonzero(~kept))
    certificate = result.certificate
    assert (certificate.n, certificate.n_removed) == (n, int((~kept).sum()))
    # The location.
    assert type(result.location) is np.ndarray
    assert result.location.shape == (d,) and np.isfinite(result.location).all()
    eps = float(np.finfo(result.location.dtype).eps)
    if kept.any():
        rows = X[kept]
        mean = rows.mean(axis=0)
        atol = 64.0 * eps * np.abs(X).max()
        np.testing.assert_allclose(result.location, mean, rtol=0.0, atol=atol)
        # The certificate, from all eigenvalues of the scatter.
        scatter = (rows - mean).T @ (rows - mean)
        top = np.linalg.eigvalsh(scatter)[-1]
        rounding = max(1e-6, 1e3 * eps) * max(top, eps * np.abs(rows).max() ** 2 * len(rows))
        rounding += 1e-12 * result.details.budget
        assert certificate.lambda_max - rounding <= top <= certificate.bound + rounding
        if certificate.feasible:
            assert top <= result.details.budget * (1.0 + 1e-6) + rounding
    # The verdict.
    assert result.sigma == sigma
    assert result.details.budget == certificate.budget == pytest.approx(c1**2 * n * sigma**2)
    assert result.scores.shape == (n,)
    assert not np.isnan(result.scores).any()
    # As published, re-weighted l1 judges a row by its own weight as well as by its score.
    if kept.any() and (algorithm != "paper" or surrogate != "reweighted-l1"):
        threshold = result.details.rule.threshold
        np.testing.assert_array_equal(result.scores > threshold, ~kept)
    if result.converged:
        assert certificate.feasible and kept.any()
    assert 0 <= certificate.l0_lower_bound <= n
    # The bounds: some rows must go about this mean, and a feasible answer keeps no more than that.
    if certificate.feasible and kept.any():
        assert certificate.l0_lower_bound <= certificate.n_removed
        assert certificate.gap >= -1e-6 * n


def fitted(X: Any, dense: np.ndarray | None = None, **arguments: Any) -> RobustMeanResult:
    """A fit without any warning, checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = robust_mean(X, **arguments)._with_labels(None)
    dense = np.asarray(X) if dense is None else dense
    check_answer(dense, result, **arguments)
    assert result.converged
    return result


def with_entry(value: Any, dtype: Any = np.float64) -> np.ndarray:
    X = np.arange(12, dtype=dtype).reshape(4, 3)
    X[2, 1] = value
    return X


NO_TABLES: dict[str, Any] = {
    "NaN": with_entry(np.nan),
    "infinity": with_entry(np.inf),
    "minus infinity": with_entry(-np.inf),
    "NaN in float32": with_entry(np.nan, np.float32),
    "NaN in float16": with_entry(np.nan, np.float16),
    "NaN in longdouble": with_entry(np.nan, np.longdouble),
    "NaN in a sparse matrix": sp.csr_matrix(with_entry(np.nan)),
    "infinity in a sparse array": sp.coo_array(with_entry(np.inf)),
    "NaN in pandas": pd.DataFrame(with_entry(np.nan)),
    "missing in pandas": pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1, 2, 3]}),
    "missing in polars": pl.DataFrame({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]}),
    "infinities that cancel": np.array([[np.inf, -np.inf], [0.0, 1.0], [1.0, 0.0]]),
    "masked": np.ma.MaskedArray(np.ones((4, 3)), mask=with_entry(0.0) > 8.0),
    "one row": np.ones((1, 3)),
    "no row": np.ones((0, 3)),
    "no column": np.ones((3, 0)),
    "one sparse row": sp.csr_array(np.ones((1, 3))),
    "one dimension": np.ones(5),
    "three dimensions": np.ones((5, 3, 2)),
    "a series": pd.Series([1.0, 2.0, 3.0]),
    "a list": [1.0, 2.0, 3.0],
    "a number": 3.0,
    "None": None,
    "strings": np.array([["a", "b"], ["c", "d"]]),
    "a list of strings": [["a", "b"], ["c", "d"]],
    "strings in pandas": pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
    "strings in polars": pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
    "dates": np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]"),
    "dates in pandas": pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"])}),
    "an object that is no number": np.array([[1.0, object()], [2.0, 3.0]], dtype=object),
    "None among objects": np.array([[1.0, None], [2.0, 3.0]], dtype=object),
    "complex": np.ones((3, 2)) * 1j,
    "complex sparse": sp.csr_matrix(np.ones((3, 2)) * 1j),
    "complex objects": np.array([[1.0, 2j], [2.0, 3.0]], dtype=object),
    "records": np.zeros(3, dtype=[("a", float), ("b", float)]),
    "rows of different length": [[1.0, 2.0], [1.0]],
    "a dictionary": {"a": [1.0, 2.0]},
}


GOOD = np.random.default_rng(0).standard_normal((12, 3))
NAN, INF = float("nan"), float("inf")
