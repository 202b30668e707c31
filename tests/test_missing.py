"""Missing cells: against numpy's means without NaN, and fits of tables that were filled by hand."""

import pickle
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from cases import cases
from fits import arguments
from inlier import RobustMean, open_table, robust_mean
from inlier.research.baselines import CoordinateMedian
from not_numbers import not_numbers


class Contaminated(NamedTuple):
    X: np.ndarray
    is_outlier: np.ndarray
    sigma: float = 1.3


def contaminated(n, d, seed=0):
    """Good rows about 0.3, and a tenth of the rows beside them in every column."""
    rng = np.random.default_rng(seed)
    bad = rng.permutation(n) < n // 10
    return Contaminated(rng.standard_normal((n, d)) + 0.3 + 3.0 * bad[:, None], bad)


SAMPLE, WIDE = contaminated(500, 20), contaminated(60, 90)


def with_gaps(X, share=0.2, seed=0):
    """Cells go at random, but no row and no column as a whole."""
    X = np.array(X, dtype=X.dtype if X.dtype.kind == "f" else float)
    gone = np.random.default_rng(seed).random(X.shape) < share
    gone[gone.all(axis=1), 0] = False
    X[gone] = np.nan
    return X


def filled(X):
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X)


def assert_no_nan(result):
    assert not_numbers([result, result._summary]) == []
    assert "nan" not in result.message
    assert "nan" not in str(result.explain(0)).lower()


GAPPY = with_gaps(SAMPLE.X)


@pytest.fixture(scope="module")
def result():
    return robust_mean(GAPPY)


# -- The mean -------------------------------------------------------------------------------------


@cases("dtype", [np.float64, np.float32, np.longdouble])
@cases("order", ["C", "F"])
@cases("sample", [SAMPLE, WIDE])
def test_means_and_errors_are_over_the_cells_that_are_there(sample, dtype, order):
    X = np.asarray((with_gaps(sample.X) + 100.0).astype(dtype), order=order)
    before = X.copy()
    result = robust_mean(X)
    np.testing.assert_array_equal(X, before)
    assert np.array_equal(result.support, ~sample.is_outlier)
    kept = X[result.support].astype(float)
    tolerance = 1e-6 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(result.location, np.nanmean(kept, axis=0), rtol=tolerance)
    assert result.location.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(result.details.n_missing, np.isnan(X).sum(axis=0))
    m = (~np.isnan(kept)).sum(axis=0)
    errors = np.nanstd(kept, axis=0, ddof=1) / np.sqrt(m)
    np.testing.assert_allclose(result.standard_error, errors, rtol=1e-9)
    reach = stats.t.ppf(0.95, m - 1) * errors
    low, high = result.confidence_interval(0.9)
    np.testing.assert_allclose((low + high) / 2.0, np.nanmean(kept, axis=0), rtol=1e-12)
    np.testing.assert_allclose((high - low) / 2.0, reach, rtol=1e-8)
    assert np.array_equal(result._summary.standard_error, result.standard_error)
    assert_no_nan(result)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"sigma": SAMPLE.sigma},
        {"sigma": SAMPLE.sigma, "algorithm": "paper"},
        {"scatter": np.ones(20)},
        {"start": "geometric-median"},
    ],
    ids=str,
)
def test_all_but_the_mean_is_that_of_the_filled_table(how):
    how = arguments(how)
    gappy, whole = robust_mean(GAPPY, **how), robust_mean(filled(GAPPY), **how)
    assert np.array_equal(gappy.support, whole.support)
    assert np.array_equal(gappy.scores, whole.scores)
    assert gappy.certificate.bound == whole.certificate.bound
    assert gappy.certificate.most_kept == whole.certificate.most_kept
    assert gappy.sigma == whole.sigma
    assert gappy.location != pytest.approx(whole.location, abs=1e-4)
    expected = np.nanmean(GAPPY[gappy.support], axis=0)
    assert gappy.location == pytest.approx(expected, abs=1e-12)


KINDS = {
    "list": lambda X: [[None if np.isnan(x) else x for x in row] for row in X.tolist()],
    "pandas": pd.DataFrame,
    "polars with nulls": lambda X: pl.DataFrame(X).fill_nan(None),
    "objects": lambda X: np.where(np.isnan(X), None, X.astype(object)),
    "masked": np.ma.masked_invalid,
    "nullable": lambda X: pd.DataFrame(X).astype(dict.fromkeys(range(19), "Float64")),
}


@cases("kind", KINDS)
def test_kinds_of_tables(kind, result):
    for other in (robust_mean(KINDS[kind](GAPPY)), RobustMean().fit(KINDS[kind](GAPPY)).result_):
        assert np.ravel(other.location) == pytest.approx(result.location)
        assert np.array_equal(other.support, result.support)
        assert np.array_equal(other.details.n_missing, result.details.n_missing)


# -- The verdict ----------------------------------------------------------------------------------


@cases("assume", ["auto", "nothing", "symmetric"])
@cases("share", [0.05, 0.2, 0.6, 0.95, 0.99])
@cases("n", [500, 2000])
def test_neither_medians_nor_rare_values_make_a_row_extreme(n, share, assume):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 5))
        X[rng.random(n) < share, 0] = np.nan
        result = robust_mean(X, assume=assume)
        assert result.support.all()
        said = "More than half is missing in column 0." in result.message
        assert said or share < 0.5


def test_an_extreme_row_with_missing_cells_is_found():
    X = with_gaps(np.random.default_rng(2).standard_normal((300, 10)))
    X[7] = np.nan
    X[7, 3:6] = 1e3, 2e3, 3e3
    result = robust_mean(X)
    assert result.outliers.tolist() == [7]
    why = result.explain(7)
    assert why.missing.tolist() == [0, 1, 2, 6, 7, 8, 9]
    # Missing cells are no reason, and what has no part in a score is not listed.
    assert [(f.column, f.missing) for f in why.features()] == [(3, False), (4, False), (5, False)]
    assert "x3 = 1000" in str(why)
    # One extreme cell is set aside. Seen from a mean, a median has its part.
    X[7, 4:6] = np.nan
    result = robust_mean(X)
    assert result.support.all() and result.certificate.gaps.cells.tolist() == [[7, 3]]
    assert result.explain(7).set_aside.tolist() == [3] and len(result.explain(7).missing) == 9
    why = robust_mean(X, sigma=1.5).explain(7)
    assert [f.missing for f in why.features()].count(True) == 9
    assert "x0 is missing, counts as" in str(why) and "x3 = 1000" in str(why)


def rare():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    X[rng.random(2000) < 0.99, 0] = np.nan
    X[:100, 1:] += 6.0
    return X


def test_a_column_that_judges_no_row():
    X = rare()
    result = robust_mean(pd.DataFrame(X, columns=list("abcde")), assume="symmetric")
    assert result.outliers.tolist() == list(range(100))
    assert result.certificate.gaps.ignored.tolist() == [0]
    assert "No row is tested by column 'a': most rows with a value" in result.message
    assert result.location.to_numpy() == pytest.approx(np.nanmean(X[100:], axis=0))
    assert result.certificate.verify(X).holds
    seen = X[100:, 0][~np.isnan(X[100:, 0])]
    assert result.standard_error["a"] == pytest.approx(seen.std(ddof=1) / np.sqrt(len(seen)))
    assert result._summary.deviation[0] == pytest.approx(seen.std())
    there = int(np.flatnonzero(~np.isnan(X[:, 0]))[-1])
    assert result.explain(there).values[0] == X[there, 0]
    model = RobustMean(assume="symmetric").fit(X)
    assert np.array_equal(model.predict(X) == 1, result.support)
    assert model.predict([[1e6, 0.0, 0.0, 0.0, 0.0]]).tolist() == [1]
    assert_no_nan(result)


# -- What the result says and does ----------------------------------------------------------------


def test_the_message_and_the_certificate_are_about_the_filled_table(result):
    n = int(np.isnan(GAPPY).sum())
    assert (
        f"{n} missing cells (in 20 columns) count as the median of their column in the "
        "certificate; each mean is over the other cells of the kept rows."
    ) in result.message
    assert "More than half" not in result.message
    certificate = result.certificate
    Y = filled(GAPPY)[result.support]
    largest = np.linalg.eigvalsh(len(Y) * np.cov(Y.T, bias=True))[-1]
    assert certificate.lambda_max <= largest * (1 + 1e-9)
    assert largest <= certificate.bound * (1 + 1e-9)
    assert certificate.verify(GAPPY).holds and certificate.verify(filled(GAPPY)).holds
    assert not certificate.verify(filled(GAPPY) * 1.1).holds
    assert certificate.gaps.counts.sum() == n
    assert certificate.statement().endswith("if a missing cell counts as the median of its column.")
    assert certificate.statement() in result.message
    X = SAMPLE.X.copy()
    X[3, 4] = np.nan
    assert "1 missing cell (in 1 column) counts as the median of its column" in str(robust_mean(X))


def test_columns_with_hardly_any_cell():
    X = np.random.default_rng(0).standard_normal((400, 6))
    X[:40] += 8.0
    X[40:, 2] = np.nan  # no kept row has one
    X[41:, 3] = np.nan  # one has
    X[42:, 4] = np.nan
    X[42:, 5], X[40:42, 5] = np.nan, 3.0
    result = robust_mean(X, sigma=1.2)
    assert result.outliers.tolist() == list(range(40))
    assert result.location[2] == pytest.approx(np.median(X[:40, 2]))
    assert "No kept row has a value in column 2: the mean there is the median" in result.message
    assert_no_nan(result)
    error = result.standard_error
    assert error[2] == error[3] == np.inf
    assert error[4] == pytest.approx(abs(X[40, 4] - X[41, 4]) / 2.0)
    assert error[5] == 0.0
    for level in (1e-17, 0.5, 0.95):
        low, high = result.confidence_interval(level)
        assert np.isinf(low).tolist() == np.isinf(high).tolist() == [j in (2, 3) for j in range(6)]
        assert low[5] == high[5] == 3.0
    assert not np.isnan(result._summary.deviation).any()
    assert result.to_html()


def test_a_missing_cell_is_not_extreme():
    X = with_gaps(np.random.default_rng(2).standard_normal((300, 5)) + 20.0)
    X[7], X[8] = [np.nan, 2000.0, np.nan, 20.0, np.nan], [20.0, -999.0, np.nan, np.nan, np.nan]
    result = robust_mean(X)
    assert result.support.all()
    assert [(cell.row, cell.column) for cell in result.cells] == [(7, 1), (8, 1)]
    assert all(cell.set_aside for cell in result.cells)
    assert str(result.cells[0]) == f"row 7: {result.explain(7).cells[0]}"
    assert "about 100 times the usual" in str(result.explain(7))
    back = pickle.loads(pickle.dumps(result))
    assert str(back.with_data(X).explain(7)) == str(result.explain(7))


# -- The estimator --------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"sigma": SAMPLE.sigma}], ids=str)
def test_rows_are_judged_with_the_medians_of_the_fit(how):
    model = RobustMean(**how).fit(GAPPY)
    assert np.array_equal(model.predict(GAPPY) == 1, model.support_)
    assert model.score_samples(GAPPY) == pytest.approx(-model.result_._outlyingness, abs=1e-8)
    model = pickle.loads(pickle.dumps(model))
    new = with_gaps(SAMPLE.X[:50] * 2.0, 0.5, seed=5)
    by_hand = np.where(np.isnan(new), np.nanmedian(GAPPY, axis=0), new)
    assert model.score_samples(new) == pytest.approx(model.score_samples(by_hand))
    assert model.predict(new[:1]).shape == (1,)
    # Of a fit without gaps, the mean stands for a missing cell.
    model = RobustMean(**how).fit(SAMPLE.X)
    by_hand = np.where(np.isnan(new), model.location_, new)
    assert model.score_samples(new) == pytest.approx(model.score_samples(by_hand))


# -- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [robust_mean, lambda X: RobustMean().fit(X)])
def test_columns_and_rows_without_a_cell_are_named(fit):
    X = GAPPY.copy()
    X[:, 3] = np.nan
    names = [f"column {j}" for j in range(20)]
    with pytest.raises(ValueError, match=r"X has no value at all in column 3\. Drop such"):
        fit(X)
    with pytest.raises(ValueError, match=r"no value at all in column 'column 3'\."):
        fit(pd.DataFrame(X, columns=names))
    X[:, 5] = np.nan
    with pytest.raises(ValueError, match=r"no value at all in columns 3, 5\."):
        fit(X)
    X = GAPPY.copy()
    X[[4, 9]] = np.nan
    with pytest.raises(ValueError, match=r"no value at all in rows 4, 9 \(counted from 0\)"):
        fit(X)
    with pytest.raises(ValueError, match=r"no value at all in row 0 "):
        RobustMean().fit(GAPPY).predict(np.full((1, 20), np.nan))


def test_missing_cells_can_be_refused():
    with pytest.raises(ValueError, match=r"NaN, the first at row 0, column \d+"):
        robust_mean(GAPPY, missing="error")
    with pytest.raises(ValueError, match="Input X contains NaN"):
        RobustMean(missing="error").fit(GAPPY)
    with pytest.raises(ValueError, match="missing must be one of 'auto', 'error'"):
        robust_mean(GAPPY, missing="drop")
    with pytest.raises(ValueError, match="NaN"):
        CoordinateMedian().fit(GAPPY)


@cases("value", [np.inf, -np.inf])
@cases("shape", [(30, 4), (4, 30)])
def test_infinity_is_no_missing_cell(value, shape):
    X = np.random.default_rng(0).standard_normal(shape)
    X[1, 2], X[3, 1] = np.nan, value
    with pytest.raises(ValueError, match=r"infinity, the first at row 3, column 1"):
        robust_mean(X)


def on_disk(X, folder):
    np.save(folder / "X.npy", X)
    return folder / "X.npy"


ELSEWHERE = {
    "sparse": lambda X, folder: sp.csr_array(X),
    "sparse, by columns": lambda X, folder: sp.csc_matrix(X),
    "file": lambda X, folder: open_table(on_disk(X, folder)),
    "memory map": lambda X, folder: np.load(on_disk(X, folder), mmap_mode="r"),
    "torch": lambda X, folder: pytest.importorskip("torch").asarray(X),
    "dask": lambda X, folder: pytest.importorskip("dask.array").from_array(X, chunks=(20, -1)),
}


@cases("fit", [robust_mean, lambda X: RobustMean().fit(X)])
@pytest.mark.parametrize("kind", ELSEWHERE)
def test_elsewhere_the_cell_is_named(kind, fit, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[23, 1] = np.nan
    message = r"NaN, the first at row 23, column 1\). Drop or impute .* in memory"
    with pytest.raises(ValueError, match=message):
        fit(ELSEWHERE[kind](X, tmp_path))


# -- Properties -----------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    share=st.floats(0.0, 0.9),
    bad=st.floats(0.0, 0.4),
    seed=st.integers(0, 1000),
    scatter=st.sampled_from(["auto", "diagonal"]),
)
@pytest.mark.filterwarnings("ignore::inlier.WeakEvidenceWarning")
def test_nothing_is_nan(n, d, share, bad, seed, scatter):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[: int(bad * n)] += 20.0
    X[rng.random((n, d)) < share] = np.nan
    empty = np.isnan(X).all(axis=1)
    X[empty, rng.integers(0, d, int(empty.sum()))] = 0.5
    X[0, np.isnan(X).all(axis=0)] = 0.5
    result = robust_mean(X, scatter=scatter)
    assert_no_nan(result)
    counted = X.copy()
    counted[tuple(result.certificate.cells.T)] = np.nan  # set aside
    known = (~np.isnan(counted[result.support])).any(axis=0)
    expected = np.nanmean(counted[np.ix_(result.support, known)], axis=0)
    assert result.location[known] == pytest.approx(expected, abs=1e-10)
    assert np.array_equal(result.details.n_missing, np.isnan(X).sum(axis=0))
