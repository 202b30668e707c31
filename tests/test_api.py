"""What `robust_mean` accepts and refuses, and what it gives back."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import dense_cases
import symmetric_fits
from cases import cases
from clear_samples import (
    ALGORITHMS,
    GOOD,
    INF,
    NAN,
    clear_sample,
    fitted,
)
from fits import NAMES
from inlier import robust_mean
from inlier.l0 import Options

# -- kinds of tables ------------------------------------------------------------------------------


# The kinds of the passes that hold the same numbers, and what becomes such a one.
KINDS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    **{kind: make for kind, make in dense_cases.KINDS.items() if kind not in ("uint8", "bool")},
    "object": lambda X, folder: X.astype(object),
    "list": lambda X, folder: X.tolist(),
    "list of arrays": lambda X, folder: list(X),
    "tuple of tuples": lambda X, folder: tuple(map(tuple, X.astype(int).tolist())),
    "pandas": lambda X, folder: pd.DataFrame(X, index=[f"row {i}" for i in range(len(X))]),
    "pandas mixed": lambda X, folder: pd.DataFrame(X).astype({0: np.int64, 1: np.float32}),
    "pandas nullable": lambda X, folder: pd.DataFrame(X).astype("Float64"),
    "polars": lambda X, folder: pl.DataFrame(X),
    "polars mixed": lambda X, folder: pl.DataFrame(X).with_columns(pl.nth(0).cast(pl.Int32)),
    "matrix": lambda X, folder: np.ndarray.view(X, np.matrix),
    "masked": lambda X, folder: np.ma.MaskedArray(X),
}


# Numbers that single precision holds stay, or become, numbers of single precision.
SINGLE = [kind for kind in KINDS if re.search(r"\b(float32|float16|int8|int16)\b", kind)]


def dense(data: Any) -> np.ndarray:
    return data.toarray() if sp.issparse(data) else np.array(data, dtype=np.float64)


@cases("kind", list(KINDS))
def test_every_kind_of_table_gives_the_same_answer(kind, tmp_path):
    X, is_bad, sigma = clear_sample()
    data = KINDS[kind](X, tmp_path)
    found = [fitted(data, dense=X, sigma=sigma, prune=prune) for prune in (None, 0.5)]
    found.append(symmetric_fits.fitted(data, dense=X))
    for result in found:
        np.testing.assert_array_equal(result.support, ~is_bad)
        np.testing.assert_allclose(result.location, X[~is_bad].mean(axis=0), rtol=1e-6)
        assert result.location.dtype == (np.float32 if kind in SINGLE else np.float64)
    np.testing.assert_array_equal(dense(data), X, err_msg="the data are not modified")


# As signed integers they would be negative.
@cases("kind", ["array", "pandas", "pandas nullable", "list"])
def test_integers_above_those_with_a_sign_keep_their_value(kind):
    X = np.uint64(2**63) + np.random.default_rng(0).integers(0, 2**62, (60, 2)).astype(np.uint64)
    frame = pd.DataFrame(X)
    data = {"pandas": frame, "pandas nullable": frame.astype("UInt64"), "list": X.tolist()}
    result = robust_mean(data.get(kind, X))
    exact = [float(sum(map(int, column)) // 60) for column in X.T]
    np.testing.assert_allclose(result.location, exact, rtol=1e-14)


# -- arguments that are refused -------------------------------------------------------------------


# Of each check one value or two: tests/_internal/test_validation.py has the others.
WRONG_ARGUMENTS: list[tuple[str, Any]] = [
    *[("sigma", value) for value in (0.0, -1.0, NAN, INF, "1", True, [1.0], 10**400)],
    *[("p", value) for value in (0, 1.5, "0.5")],
    *[("c1", value) for value in (0, INF, True)],
    *[("algorithm", value) for value in ("Paper", None)],
    *[("surrogate", value) for value in ("l2", 1)],
    *[("start", value) for value in ("median", None, 1.0, [0.0, NAN, 0.0], [1j, 0, 0])],
    *[("start", np.ones(shape)) for shape in (2, (1, 3), (3, 1), (12, 3))],
    *[("prune", value) for value in (0, 1, "0.5")],
    *[("max_iter", value) for value in (0, 10.0)],
    *[("tol", value) for value in (0, 1.0)],
    *[("random_state", value) for value in (-1, 1.5, "0")],
]


@cases(("name", "value"), WRONG_ARGUMENTS)
def test_a_wrong_argument_is_named(name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        given = {"sigma": 1.0, name: value}
        l0 = {key: given.pop(key) for key in NAMES if key in given}
        robust_mean(GOOD, **given, l0=Options(**l0))


# -- the answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("exception", [KeyboardInterrupt, RuntimeError])
def test_an_exception_in_the_callback_ends_the_fit(exception, algorithm):
    X, _, sigma = clear_sample()
    n_steps = len(robust_mean(X, sigma=sigma, l0=Options(algorithm=algorithm)).details.history)
    for stop_at in range(1, n_steps + 1):
        steps = []

        def callback(step, steps=steps, stop_at=stop_at):
            steps.append(step)
            if len(steps) == stop_at:
                raise exception("stop")

        with pytest.raises(exception, match="stop"):
            robust_mean(X, sigma=sigma, l0=Options(algorithm=algorithm), callback=callback)
        assert len(steps) == stop_at


def test_the_answer_does_not_hold_on_to_the_data():
    X, _, sigma = clear_sample()
    result = robust_mean(X, sigma=sigma)
    for value in (result.location, result.support, result.details.indicator, result.scores):
        assert not np.shares_memory(value, X)
