"""Samples with outliers far away, fits of them with sigma, and what is no table."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import statements
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
    """What holds of every answer with sigma, from the dense table."""
    # As published, re-weighted l1 judges a row by its own weight as well as by its score.
    by_weight = algorithm == "paper" and surrogate == "reweighted-l1"
    # The rule of a fit that began far from all rows is rounded in the units of that distance.
    given_start = isinstance(getattr(others.get("l0"), "start", None), np.ndarray)
    but = "scores of the rule" if given_start else ""
    statements.check(X, result, but, as_published=by_weight)
    assert type(result.location) is np.ndarray and result.location.shape == (X.shape[1],)
    assert result.sigma == sigma
    assert result.details.budget == pytest.approx(c1**2 * len(X) * sigma**2)


def fitted(X: Any, dense: np.ndarray | None = None, **arguments: Any) -> RobustMeanResult:
    """A fit without any warning, checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = robust_mean(X, **arguments)._with_labels(None)
    dense = np.asarray(X) if dense is None else dense
    check_answer(dense, result, **arguments)
    assert result.converged and result.support.any()
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
