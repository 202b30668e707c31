"""What `robust_mean` accepts and refuses, and what it gives back."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from cases import cases
from clear_samples import (
    ALGORITHMS,
    GOOD,
    INF,
    NAN,
    SURROGATES,
    clear_sample,
    fitted,
    spectral_sigma,
)
from inlier import project, robust_mean, solve_l1, solve_least_squares

# -- kinds of tables ------------------------------------------------------------------------------


def memory_mapped(X: np.ndarray, folder: Path) -> np.memmap:
    file = folder / "table.bin"
    X.tofile(file)
    return np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


KINDS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "Fortran": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "float32 Fortran": lambda X, folder: np.asfortranarray(X, dtype=np.float32),
    "float16": lambda X, folder: X.astype(np.float16),
    "longdouble": lambda X, folder: X.astype(np.longdouble),
    "big endian": lambda X, folder: X.astype(">f8"),
    "int8": lambda X, folder: X.astype(np.int8),
    "int16": lambda X, folder: X.astype(np.int16),
    "int32": lambda X, folder: X.astype(np.int32),
    "int64": lambda X, folder: X.astype(np.int64),
    "slice": lambda X, folder: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X, folder: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda X, folder: read_only(X),
    "object": lambda X, folder: X.astype(object),
    "memmap": lambda X, folder: memory_mapped(X, folder),
    "memmap float32": lambda X, folder: memory_mapped(X.astype(np.float32), folder),
    "list": lambda X, folder: X.tolist(),
    "list of arrays": lambda X, folder: list(X),
    "tuple of tuples": lambda X, folder: tuple(map(tuple, X.astype(int).tolist())),
    "pandas": lambda X, folder: pd.DataFrame(X, index=[f"row {i}" for i in range(len(X))]),
    "pandas mixed": lambda X, folder: pd.DataFrame(X).astype({0: np.int64, 1: np.float32}),
    "pandas nullable": lambda X, folder: pd.DataFrame(X).astype("Float64"),
    "polars": lambda X, folder: pl.DataFrame(X),
    "polars mixed": lambda X, folder: pl.DataFrame(X).with_columns(pl.nth(0).cast(pl.Int32)),
    "csr_matrix": lambda X, folder: sp.csr_matrix(X),
    "csc_matrix": lambda X, folder: sp.csc_matrix(X),
    "coo_matrix": lambda X, folder: sp.coo_matrix(X),
    "csr_array": lambda X, folder: sp.csr_array(X),
    "csc_array": lambda X, folder: sp.csc_array(X),
    "coo_array": lambda X, folder: sp.coo_array(X),
    "lil": lambda X, folder: sp.lil_matrix(X),
    "bsr": lambda X, folder: sp.bsr_array(X),
    "csr float32": lambda X, folder: sp.csr_array(X.astype(np.float32)),
    "csr int8": lambda X, folder: sp.csr_array(X.astype(np.int8)),
}


@cases("kind", list(KINDS))
def test_every_kind_of_table_gives_the_same_answer(kind, tmp_path):
    X, is_bad, sigma = clear_sample()
    data = KINDS[kind](X, tmp_path)
    for prune in (None, 0.5):
        result = fitted(data, dense=X, sigma=sigma, prune=prune)
        np.testing.assert_array_equal(result.support, ~is_bad)
        np.testing.assert_allclose(result.location, X[~is_bad].mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("make", [np.asmatrix, np.ma.MaskedArray])
def test_unusual_arrays_are_read(make):
    X, is_bad, sigma = clear_sample()
    result = robust_mean(make(X), sigma=sigma)
    np.testing.assert_array_equal(result.support, ~is_bad)
    assert type(result.location) is np.ndarray


@cases("kind", ["Fortran", "float32", "int8", "memmap", "pandas", "csr_array"])
@cases("surrogate", SURROGATES)
@cases("algorithm", ALGORITHMS)
def test_kinds_of_tables_with_every_method(algorithm, surrogate, kind, tmp_path):
    X, _, sigma = clear_sample(n=60, d=4, n_bad=12)
    options = {"sigma": sigma, "algorithm": algorithm, "surrogate": surrogate}
    plain = fitted(X, **options)
    other = fitted(KINDS[kind](X, tmp_path), dense=X, **options)
    np.testing.assert_array_equal(plain.support, other.support)
    np.testing.assert_allclose(plain.location, other.location, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["float32", "float32 Fortran", "memmap float32", "csr float32"])
def test_single_precision_stays_single_precision(kind, tmp_path):
    X, _, sigma = clear_sample()
    assert robust_mean(KINDS[kind](X, tmp_path), sigma=sigma).location.dtype == np.float32


@pytest.mark.parametrize("kind", ["Fortran", "int64", "longdouble", "list", "pandas", "csr_array"])
def test_other_numbers_give_double_precision(kind, tmp_path):
    X, _, sigma = clear_sample()
    assert robust_mean(KINDS[kind](X, tmp_path), sigma=sigma).location.dtype == np.float64


def test_truth_values():
    rng = np.random.default_rng(0)
    X = rng.random((200, 40)) < 0.5
    X[:40] = True
    result = fitted(X, sigma=spectral_sigma(X[40:]))
    np.testing.assert_array_equal(result.support, np.arange(200) >= 40)
    np.testing.assert_allclose(result.location, X[40:].mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize(
    "kind", ["Fortran", "float32", "pandas", "polars", "csr_array", "csc_array"]
)
def test_the_data_are_not_modified(kind, tmp_path):
    X, _, sigma = clear_sample()
    data = KINDS[kind](X, tmp_path)
    before = data.copy() if not isinstance(data, pl.DataFrame) else data.clone()
    start = np.zeros(X.shape[1])
    for algorithm in ALGORITHMS:
        robust_mean(data, sigma=sigma, algorithm=algorithm, start=start, prune=0.5)
    if sp.issparse(data):
        assert (data != before).nnz == 0
        np.testing.assert_array_equal(data.indices, before.indices)
    else:
        np.testing.assert_array_equal(np.asarray(data), np.asarray(before))
    np.testing.assert_array_equal(start, 0.0)


# -- arguments that are refused -------------------------------------------------------------------


WRONG_ARGUMENTS: list[tuple[str, Any]] = [
    *[("sigma", value) for value in (0, 0.0, -1.0, NAN, INF, -INF, "1", True, [1.0], 1j)],
    ("sigma", 10**400),
    *[("p", value) for value in (0, -0.5, 1.5, NAN, INF, "0.5", True)],
    *[("c1", value) for value in (0, -1.0, NAN, INF, "1", True)],
    *[("algorithm", value) for value in ("Paper", "", None, 1)],
    *[("surrogate", value) for value in ("l2", "", 1)],
    *[("start", value) for value in ("median", "", None, 1.0)],
    *[("start", np.ones(shape)) for shape in (2, 4, 0, (1, 3), (3, 1), (12, 3))],
    ("start", [0.0, NAN, 0.0]),
    ("start", [0.0, INF, 0.0]),
    ("start", ["a", "b", "c"]),
    ("start", [1j, 0, 0]),
    *[("prune", value) for value in (0, 1, 1.0, -0.1, NAN, INF, "0.5", True)],
    *[("max_iter", value) for value in (0, -1, 1.5, 10.0, NAN, "10", True)],
    *[("tol", value) for value in (0, -1e-6, 1.0, NAN, INF, "1e-6", True)],
    *[("random_state", value) for value in (-1, 1.5, "0", [1.5], NAN, True)],
]


@cases(("name", "value"), WRONG_ARGUMENTS)
def test_a_wrong_argument_is_named(name, value):
    arguments = {"sigma": 1.0, name: value}
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        robust_mean(GOOD, **arguments)


@pytest.mark.parametrize(("name", "value"), [("start", np.ones(4)), ("random_state", -1)])
def test_a_wrong_argument_is_named_where_rows_are_few(name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        robust_mean(GOOD.T, **{"sigma": 1.0, name: value})


@pytest.mark.parametrize("number", [2, 2.0, np.float32(2.0), np.float64(2.0), np.int64(2)])
def test_numbers_of_any_type_are_taken(number):
    result = robust_mean(GOOD, sigma=number, max_iter=np.int64(50), random_state=np.int32(1))
    assert type(result.sigma) is float
    assert result.sigma == 2.0


@pytest.mark.parametrize(
    "random_state", [None, 0, np.random.default_rng(0), np.random.RandomState(0)]
)
def test_random_states_of_any_type_are_taken(random_state):
    X, is_bad, sigma = clear_sample()
    result = fitted(X, sigma=sigma, random_state=random_state)
    np.testing.assert_array_equal(result.support, ~is_bad)


# -- the answer -----------------------------------------------------------------------------------


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("shape", [(60, 5), (25, 60)])
def test_nothing_is_printed(capfd, shape, surrogate, algorithm):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:5] += 12.0
    robust_mean(X, sigma=1.2 * spectral_sigma(X[5:]), algorithm=algorithm, surrogate=surrogate)
    center = np.median(X, axis=0)
    solve_l1(X, center, 100.0)
    solve_least_squares(X, center, 100.0)
    project(X, center, 100.0, target=np.ones(len(X)))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("shape", [(100, 6), (30, 60)])
def test_the_callback_sees_the_history(shape, algorithm):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:5] += 12.0
    seen: list[Any] = []
    sigma = spectral_sigma(X[5:])
    result = robust_mean(X, sigma=sigma, algorithm=algorithm, callback=seen.append)
    assert seen == list(result.history)
    passes = [step.n_passes for step in seen]
    assert passes == sorted(passes)
    last = [step for step in seen if step.stage == "algorithm 1"]
    assert result.n_iter >= 1 and len(last) >= 1
    assert int((~result.support).sum()) in {int(step.n_removed) for step in last}
    for step in seen:
        with pytest.raises(dataclasses.FrozenInstanceError):
            step.budget = 0.0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("exception", [KeyboardInterrupt, RuntimeError])
def test_an_exception_in_the_callback_ends_the_fit(exception, algorithm):
    X, _, sigma = clear_sample()
    n_steps = len(robust_mean(X, sigma=sigma, algorithm=algorithm).history)
    for stop_at in range(1, n_steps + 1):
        steps = []

        def callback(step, steps=steps, stop_at=stop_at):
            steps.append(step)
            if len(steps) == stop_at:
                raise exception("stop")

        with pytest.raises(exception, match="stop"):
            robust_mean(X, sigma=sigma, algorithm=algorithm, callback=callback)
        assert len(steps) == stop_at


def test_an_answer_is_frozen():
    X, _, sigma = clear_sample()
    result = robust_mean(X, sigma=sigma)
    for part in (result, result.certificate, result.rule, result.history[0]):
        for field in dataclasses.fields(part):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(part, field.name, None)


def test_the_answer_does_not_hold_on_to_the_data():
    X, _, sigma = clear_sample()
    result = robust_mean(X, sigma=sigma)
    for value in (result.location, result.support, result.indicator, result.scores):
        assert not np.shares_memory(value, X)
