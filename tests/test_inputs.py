"""What `robust_mean` and the solvers accept and refuse, and what every answer has to satisfy."""

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier import RobustMeanResult, project, robust_mean, solve_l1, solve_least_squares
from inlier.data.checks import check_table
from inlier.datasets import SettingA, SettingB

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
    assert result.indicator.shape == (n,)
    np.testing.assert_array_equal(kept, result.indicator == 0.0)
    assert (result.indicator >= 0.0).all() and (result.indicator <= 1.0).all()
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
        rounding += 1e-12 * result.budget
        assert certificate.lambda_max - rounding <= top <= certificate.bound + rounding
        if certificate.feasible:
            assert top <= result.budget * (1.0 + 1e-6) + rounding
    # The verdict.
    assert result.sigma == sigma
    assert result.budget == certificate.budget == pytest.approx(c1**2 * n * sigma**2)
    assert result.scores.shape == (n,)
    assert not np.isnan(result.scores).any()
    # As published, re-weighted l1 judges a row by its own weight as well as by its score.
    if kept.any() and (algorithm != "paper" or surrogate != "reweighted-l1"):
        threshold = result.rule.threshold
        np.testing.assert_array_equal(result.scores > threshold, ~kept)
    if result.converged:
        assert certificate.feasible and kept.any()
    assert isinstance(result.message, str) and result.message
    assert 0 <= certificate.l0_lower_bound <= n
    # The bounds: some rows must go about this mean, and a feasible answer keeps no more than that.
    if certificate.feasible and kept.any():
        assert certificate.l0_lower_bound <= certificate.n_removed
        assert certificate.gap >= -1e-6 * n
    assert result.n_passes >= 1
    assert result.n_iter >= 1
    assert len(result.history) >= 1


def fitted(X: Any, dense: np.ndarray | None = None, **arguments: Any) -> RobustMeanResult:
    """A fit without any warning, checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = robust_mean(X, **arguments)
    dense = np.asarray(X) if dense is None else dense
    check_answer(dense, result, **arguments)
    assert result.converged
    return result


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


def test_few_rows_and_many_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 20_000))
    X[25:] += 3.0
    sigma = spectral_sigma(X[:25])
    for data in (X, np.asfortranarray(X), X.astype(np.float32), sp.csr_array(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = robust_mean(data, sigma=sigma)
        np.testing.assert_array_equal(result.support, np.arange(30) < 25)
        np.testing.assert_allclose(result.location, X[:25].mean(axis=0), atol=1e-5)
        assert result.n_passes <= 6
        kept = X[:25] - X[:25].mean(axis=0)
        top = np.linalg.eigvalsh(kept @ kept.T)[-1]
        assert result.certificate.lambda_max == pytest.approx(top, rel=1e-5)
        directions = result.rule.directions
        np.testing.assert_allclose(
            directions @ directions.T, np.eye(len(directions)), atol=1e-4
        )  # fmt: skip


# -- difficult tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n", [5, 40, 700])
def test_one_column(n, algorithm):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 1))
    n_bad = n // 5
    X[:n_bad] += 30.0
    result = fitted(X, sigma=spectral_sigma(X[n_bad:]), algorithm=algorithm)
    np.testing.assert_array_equal(result.support, np.arange(n) >= n_bad)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_two_rows_within_sigma(d, algorithm):
    X = np.stack([np.zeros(d), np.ones(d) / np.sqrt(d)])
    result = fitted(X, sigma=1.0, algorithm=algorithm)
    assert result.support.all()
    np.testing.assert_allclose(result.location, X.mean(axis=0))


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("d", [1, 2, 7])
def test_two_rows_that_contradict_each_other(d, surrogate, algorithm):
    # Neither is the outlier by right: whatever is answered must be finite and say so.
    X = np.stack([np.zeros(d), np.full(d, 50.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = robust_mean(X, sigma=1.0, algorithm=algorithm, surrogate=surrogate)
    check_answer(X, result, 1.0)
    assert not result.support.all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_three_rows_one_of_them_far(d, algorithm):
    X = np.stack([np.zeros(d), np.full(d, 0.1), np.full(d, 50.0)])
    result = fitted(X, sigma=1.0, algorithm=algorithm)
    np.testing.assert_array_equal(result.support, [True, True, False])


@cases("algorithm", ALGORITHMS)
@cases("shape", [(2, 1), (10, 3), (10, 30), (600, 2)])
def test_all_rows_equal(shape, algorithm):
    X = np.full(shape, 2.5)
    result = fitted(X, sigma=1.0, algorithm=algorithm)
    assert result.support.all()
    np.testing.assert_allclose(result.location, 2.5, rtol=1e-15)
    assert result.certificate.lambda_max == pytest.approx(0.0, abs=1e-20)


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("shape", [(3, 1), (10, 3), (10, 30), (600, 2)])
def test_all_rows_equal_but_one(shape, surrogate, algorithm):
    X = np.full(shape, 2.5)
    X[1] = 100.0
    result = fitted(X, sigma=1.0, algorithm=algorithm, surrogate=surrogate)
    np.testing.assert_array_equal(result.outliers, [1])
    np.testing.assert_allclose(result.location, 2.5, rtol=1e-15)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_copies_of_one_outlier(algorithm):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((60, 5)), np.tile(np.full(5, 20.0), (40, 1))])
    result = fitted(X, sigma=1.05 * spectral_sigma(X[:60]), algorithm=algorithm)
    assert not result.support[60:].any()
    assert result.support[:60].sum() >= 58


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_copies_of_one_good_row(algorithm):
    rng = np.random.default_rng(0)
    X = np.concatenate([np.ones((60, 5)), 10.0 + rng.standard_normal((40, 5))])
    result = fitted(X, sigma=1.0, algorithm=algorithm)
    np.testing.assert_array_equal(result.support, np.arange(100) < 60)
    np.testing.assert_allclose(result.location, 1.0, rtol=1e-14)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_given_twice_are_judged_alike(algorithm):
    X, is_bad, sigma = clear_sample(n=50, n_bad=10)
    result = fitted(np.repeat(X, 2, axis=0), sigma=sigma, algorithm=algorithm)
    np.testing.assert_array_equal(result.support, np.repeat(~is_bad, 2))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_constant_columns_change_nothing(algorithm):
    X, is_bad, sigma = clear_sample()
    wider = np.insert(X, [0, 3], [7.0, 0.0], axis=1)
    result = fitted(wider, sigma=sigma, algorithm=algorithm)
    np.testing.assert_array_equal(result.support, ~is_bad)
    np.testing.assert_allclose(result.location[[0, 4]], [7.0, 0.0], rtol=1e-14)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_clean_rows_are_all_kept(algorithm):
    X = np.random.default_rng(0).standard_normal((300, 10))
    result = fitted(X, sigma=1.001 * spectral_sigma(X), algorithm=algorithm)
    assert result.support.all()
    np.testing.assert_allclose(result.location, X.mean(axis=0), atol=1e-13)


@cases("where", ["one entry", "whole row"])
@cases("size", [1e2, 1e5, 1e8, 1e20, 1e150, 1e300])
@cases("shape", [(300, 30), (50, 2), (40, 1), (30, 80)])
def test_one_absurd_row_among_good_ones(shape, size, where):
    X = np.random.default_rng(1).standard_normal(shape)
    X[3] = 0.0
    X[3, slice(1) if where == "one entry" else slice(None)] = size
    good = np.arange(len(X)) != 3
    result = fitted(X, sigma=1.05 * spectral_sigma(X[good]))
    np.testing.assert_array_equal(result.support, good)


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("size", [1e8, 1e150, 1e300])
def test_absurd_rows_with_every_method(size, surrogate, algorithm):
    X = np.random.default_rng(1).standard_normal((80, 6))
    X[3], X[40, 2], X[41, 5] = size, -size, size
    good = ~np.isin(np.arange(80), [3, 40, 41])
    sigma = 1.05 * spectral_sigma(X[good])
    result = fitted(X, sigma=sigma, algorithm=algorithm, surrogate=surrogate)
    np.testing.assert_array_equal(result.support, good)


@cases("size", [1e6, 1e10, 1e150, 1e300])
@cases("shape", [(200, 12), (60, 200)])
def test_an_absurd_row_hides_no_other_outlier(shape, size):
    n, d = shape
    X = np.random.default_rng(1).standard_normal(shape)
    X[:10, d // 2 :] += 15.0
    X[20] = 0.0
    X[20, 0] = size
    good = ~np.isin(np.arange(n), [*range(10), 20])
    result = fitted(X, sigma=spectral_sigma(X[good]))
    np.testing.assert_array_equal(result.support, good)


@cases("size", [1e8, 1e19, 1e30, 1e38])
@cases("make", [np.asarray, sp.csr_array])
@cases("shape", [(200, 12), (60, 200)])
def test_absurd_rows_in_single_precision(shape, make, size):
    X = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    X[3], X[5, 0] = -size, size
    good = ~np.isin(np.arange(len(X)), [3, 5])
    result = fitted(make(X), dense=X, sigma=1.05 * spectral_sigma(X[good]))
    np.testing.assert_array_equal(result.support, good)


@pytest.mark.parametrize("start", ["geometric-median", "coordinate-median"])
@pytest.mark.parametrize("size", [1e6, 1e150, 1e300])
def test_absurd_rows_from_every_start(size, start):
    X = np.random.default_rng(1).standard_normal((80, 6))
    X[3] = size
    good = np.arange(80) != 3
    result = fitted(X, sigma=1.05 * spectral_sigma(X[good]), start=start)
    np.testing.assert_array_equal(result.support, good)


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("factor", [1e-2, 1e-4, 1e-8, 1e-12])
@cases("shape", [(60, 4), (20, 50)])
def test_a_bound_far_too_small_is_said_to_be_so(shape, factor, surrogate, algorithm):
    X = np.random.default_rng(0).standard_normal(shape)
    sigma = factor * spectral_sigma(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        result = robust_mean(X, sigma=sigma, algorithm=algorithm, surrogate=surrogate)
    assert np.isfinite(result.location).all()
    assert (np.abs(result.location) <= np.abs(X).max()).all(), "not even inside the data"
    assert "sigma" in result.message
    np.testing.assert_array_equal(result.support, result.indicator == 0.0)
    assert result.converged == (not caught)
    if caught:
        assert str(caught[0].message) == result.message
        assert caught[0].filename == __file__, "the warning points at the caller"
    # Nothing is kept, or next to nothing: no radius, but no exception either.
    radius = result.certificate.error_radius(0.1, sigma)
    assert radius >= 0.0


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("shape", [(100, 6), (20, 50)])
def test_a_huge_bound_keeps_all(shape, surrogate, algorithm):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:5] += 10.0
    for sigma in (1e3, 1e8, 1e100):
        result = fitted(X, sigma=sigma, algorithm=algorithm, surrogate=surrogate)
        assert result.support.all()
        np.testing.assert_allclose(result.location, X.mean(axis=0), atol=1e-13)
        assert result.certificate.l0_lower_bound == 0


@cases("sigma", [1e-300, 1e-160, 1e160, 1e300])
def test_a_bound_whose_square_is_out_of_range_is_refused(sigma):
    X = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(ValueError, match=r"sigma=.* is out of range.*other units"):
        robust_mean(X, sigma=sigma)


def test_a_bound_whose_square_is_just_within_range():
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert robust_mean(X, sigma=1e120).support.all()
    with pytest.warns(ConvergenceWarning, match="sigma"):
        assert not robust_mean(X, sigma=1e-120).support.any()


entries = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-10.0, 10.0, width=32),
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([0.0, 1e8, -1e8, 1e-20]),
)


@st.composite
def small_fits(draw: st.DrawFn) -> tuple[np.ndarray, dict[str, Any]]:
    n, d = draw(st.tuples(st.integers(2, 9), st.integers(1, 4)))
    row = st.lists(entries, min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    sigma = draw(st.sampled_from([1e-3, 0.5, 1.0, 3.0, 1e3]))
    method = {
        "algorithm": draw(st.sampled_from(ALGORITHMS)),
        "surrogate": draw(st.sampled_from(SURROGATES)),
    }
    return X, {"sigma": sigma, **method}


def check_small_fit(fit: tuple[np.ndarray, dict[str, Any]]) -> None:
    X, arguments = fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = robust_mean(X, **arguments)
    check_answer(X, result, **arguments)
    assert result.certificate.error_radius(0.1, arguments["sigma"]) >= 0.0


@given(small_fits())
@settings(deadline=None, max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@example((np.array([[0.0], [13408.0], [1e8]]), {"sigma": 1e-3}))
@example((np.array([[0.0], [13408.0]]), {"sigma": 1e-3, "algorithm": "paper"}))
@example((np.array([[0.0], [50.0]]), {"sigma": 1.0}))
def test_any_finite_table_has_an_answer(fit):
    check_small_fit(fit)


@pytest.mark.slow
@given(small_fits())
@settings(deadline=None, max_examples=1000)
def test_many_finite_tables_have_an_answer(fit):
    check_small_fit(fit)


# -- pruning --------------------------------------------------------------------------------------


@cases("shape", [(100, 6), (40, 90)])
@cases("surrogate", SURROGATES)
@cases("algorithm", ALGORITHMS)
def test_pruned_rows_are_removed(algorithm, surrogate, shape):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:3] += 1e4
    X[5, 0] = 1e9
    X[6] = 1e200
    good = ~np.isin(np.arange(len(X)), [0, 1, 2, 5, 6])
    result = fitted(
        X, sigma=1.1 * spectral_sigma(X[good]), prune=0.2, algorithm=algorithm, surrogate=surrogate
    )
    np.testing.assert_array_equal(result.support, good)
    np.testing.assert_array_equal(result.indicator[~good], 1.0)


def test_pruning_where_nothing_is_far_changes_nothing():
    X, is_bad, sigma = clear_sample()
    plain = fitted(X, sigma=sigma)
    pruned = fitted(X, sigma=sigma, prune=0.01)
    np.testing.assert_array_equal(plain.support, pruned.support)
    np.testing.assert_array_equal(plain.support, ~is_bad)
    np.testing.assert_array_equal(plain.location, pruned.location)


def test_a_pruned_row_scores_above_the_threshold():
    # Far from the start, but too few rows and too many columns for it to break the budget.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    X[0] = 12.0
    result = fitted(X, sigma=spectral_sigma(X[1:]), prune=0.9)
    np.testing.assert_array_equal(result.outliers, [0])


def test_pruning_that_leaves_nothing_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match=r"\bprune\b"):
        robust_mean(X, sigma=1e-6, prune=0.5)


# -- tables that are refused ----------------------------------------------------------------------


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


@cases("name", list(NO_TABLES))
def test_what_is_no_table_is_refused(name):
    with pytest.raises(ValueError, match=r"\bX\b"):
        robust_mean(NO_TABLES[name], sigma=1.0, missing="error")


def test_a_word_is_taken_for_a_path_and_refused():
    with pytest.raises(FileNotFoundError, match=r"X='table': there is no such file. Give the path"):
        robust_mean("table", sigma=1.0)


@cases("solver", [solve_l1, solve_least_squares, project])
@cases("name", ["NaN", "one dimension", "strings", "complex", "one row"])
def test_solvers_refuse_what_is_no_table(name, solver):
    extra = {"target": np.ones(4)} if solver is project else {}
    with pytest.raises(ValueError, match=r"\bX\b"):
        solver(NO_TABLES[name], np.zeros(3), 1.0, **extra)


def test_where_the_first_bad_entry_is():
    with pytest.raises(ValueError, match=r"row 2, column 1"):
        robust_mean(with_entry(np.nan), sigma=1.0, missing="error")


def test_large_finite_numbers_are_not_mistaken_for_infinity():
    X = np.full((4, 3), 1e308)  # their sum overflows
    assert check_table(X) is X
    X[:2] *= -1.0
    assert check_table(X) is X


# -- arguments that are refused -------------------------------------------------------------------

GOOD = np.random.default_rng(0).standard_normal((12, 3))
NAN, INF = float("nan"), float("inf")

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


WRONG_VECTORS = [
    np.ones(11),
    np.ones((12, 1)),
    np.ones(0),
    1.0,
    "ones",
    np.r_[np.ones(11), NAN],
    np.r_[np.ones(11), INF],
    ["a"] * 12,
    np.ones(12) * 1j,
]
NOT_POSITIVE = [np.zeros(12), np.r_[np.ones(11), 0.0], np.r_[np.ones(11), -1.0]]


@cases("value", WRONG_VECTORS + NOT_POSITIVE)
@cases(
    ("solver", "name"),
    [(solve_l1, "weights"), (solve_least_squares, "weights"), (project, "metric")],
)
def test_solvers_name_wrong_weights(solver, name, value):
    extra = {"target": np.ones(12)} if solver is project else {}
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        solver(GOOD, np.zeros(3), 10.0, **{name: value}, **extra)


@cases("value", [*WRONG_VECTORS, None])
def test_project_names_a_wrong_target(value):
    with pytest.raises(ValueError, match=r"\btarget\b"):
        project(GOOD, np.zeros(3), 10.0, target=value)


@cases("solver", [solve_l1, solve_least_squares, project])
@cases(
    ("name", "value"),
    [
        *[("center", value) for value in (np.zeros(2), np.zeros((1, 3)), 0.0, "mean", None)],
        ("center", [0.0, NAN, 0.0]),
        ("center", [0.0, INF, 0.0]),
        ("center", [1j, 0.0, 0.0]),
        *[("budget", value) for value in (0, -1.0, NAN, INF, "1", True)],
        *[("tol", value) for value in (0, -1e-6, 1.0, NAN, "1e-6", None, True)],
        *[("max_steps", value) for value in (0, -1, 1.5, "10", None, True)],
        *[("random_state", value) for value in (-1, 1.5, "0", NAN)],
    ],
)
def test_solvers_name_a_wrong_argument(solver, name, value):
    arguments: dict[str, Any] = {"X": GOOD, "center": np.zeros(3), "budget": 10.0, name: value}
    if solver is project:
        arguments["target"] = np.ones(12)
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        solver(**arguments)


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


# -- starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("start", ["auto", "coordinate-median", "geometric-median"])
def test_every_start_finds_the_outliers(start, algorithm):
    X, is_bad, sigma = clear_sample()
    result = fitted(X, sigma=sigma, start=start, algorithm=algorithm)
    np.testing.assert_array_equal(result.support, ~is_bad)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda v: v.astype(int)])
def test_a_start_of_any_kind(kind):
    X, is_bad, sigma = clear_sample()
    result = fitted(X, sigma=sigma, start=kind(np.array([1.0, 2.0, 0.0, -3.0, 1.0, 0.0])))
    np.testing.assert_array_equal(result.support, ~is_bad)


@pytest.mark.parametrize("distance", [10.0, 1e3, 1e6])
def test_continuation_recovers_from_a_start_far_off(distance):
    X, is_bad, sigma = clear_sample()
    result = fitted(X, sigma=sigma, start=np.full(6, -distance))
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


@cases("surrogate", SURROGATES)
@cases("algorithm", ALGORITHMS)
@cases("c1", [1.0, np.sqrt(1.5)])
@cases("setting", [SettingA(150, 12, 0.2), SettingB(150, 12, 0.2)])
def test_what_holds_of_every_answer(setting, c1, algorithm, surrogate):
    sample = setting.sample(0)
    arguments = {"sigma": sample.sigma, "c1": c1, "algorithm": algorithm, "surrogate": surrogate}
    result = fitted(sample.X, **arguments)
    alpha = (setting.n_outliers + 0.5) / setting.n
    radius = result.certificate.error_radius(alpha, sample.sigma)
    assert np.isfinite(radius)
    assert np.linalg.norm(result.location - sample.mean) <= radius


@pytest.mark.parametrize(
    "setting", [SettingA(600, 300, 0.1), SettingB(600, 300, 0.2), SettingA(60, 150, 0.1)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_holds_where_eigenvalues_are_not_all_computed(setting, dtype):
    sample = setting.sample(1)
    X = sample.X.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = robust_mean(X, sigma=sample.sigma)
    check_answer(X, result, sample.sigma)
    alpha = (setting.n_outliers + 0.5) / setting.n
    radius = result.certificate.error_radius(alpha, sample.sigma)
    assert np.linalg.norm(result.location - sample.mean) <= radius < np.inf


@pytest.mark.parametrize("setting", [SettingA(150, 12, 0.2), SettingA(40, 90, 0.1)])
def test_scores_are_those_of_the_multiplier(setting):
    sample = setting.sample(0)
    result = robust_mean(sample.X, sigma=sample.sigma)
    multiplier = result.rule
    assert multiplier.directions is not None
    gram = multiplier.directions @ multiplier.directions.T
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-8)
    assert (multiplier.prices >= 0.0).all()
    seen = (sample.X - multiplier.center) @ multiplier.directions.T
    expected = np.square(seen) @ multiplier.prices / multiplier.budget
    np.testing.assert_allclose(result.scores, expected, rtol=1e-6, atol=1e-10)


def test_scores_where_nothing_was_removed():
    X = np.random.default_rng(0).standard_normal((50, 4))
    result = fitted(X, sigma=2.0)
    assert result.rule.directions is None
    expected = np.square(X - X.mean(axis=0)).sum(axis=1) / result.rule.budget
    np.testing.assert_allclose(result.scores, expected, rtol=1e-10)


def test_too_few_iterations_are_reported():
    sample = SettingA(150, 12, 0.2).sample(0)
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        result = robust_mean(sample.X, sigma=sample.sigma, max_iter=1)
    assert caught[0].filename == __file__
    assert not result.converged
    assert result.n_iter == 1
    assert np.isfinite(result.location).all()


def test_columns_of_a_frame_that_hold_no_numbers_are_named():
    frame = pd.DataFrame({"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0], "when": ["u", "v", "w"]})
    with pytest.raises(ValueError, match=r"other types: 'id', 'when'.*select_dtypes"):
        robust_mean(frame)
    missing = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64"), "y": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="NaN"):
        robust_mean(missing, missing="error")
