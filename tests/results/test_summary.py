"""Standard errors and intervals of the location against numpy and scipy.stats, for every home."""

import copy
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import inlier
from cases import cases
from inlier import robust_mean
from inlier.data import as_table
from inlier.results.summary import summarise

pytestmark = pytest.mark.filterwarnings("ignore::inlier.WeakEvidenceWarning")


def contaminated(n: int = 300, d: int = 6, offset: float = 0.0) -> np.ndarray:
    """Columns that vary by different amounts; a sixth of the rows lies far away."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.linspace(0.5, 2.0, d)
    X[: n // 6] += 9.0
    return X + offset


def dense(X: Any) -> np.ndarray:
    return (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float64)


def check(result: Any, X: Any, rtol: float = 1e-9) -> None:
    """Against scipy.stats, from the rows that were kept."""
    kept = dense(X)[np.asarray(result.support)]
    m = len(kept)
    assert 2 <= m < len(dense(X))
    error = np.asarray(result.standard_error)
    assert error.dtype == np.float64
    np.testing.assert_allclose(error, stats.sem(kept), rtol=rtol)
    for level in (0.5, 0.95, 0.999):
        low, high = np.asarray(result.confidence_interval(level))
        expected = stats.t.interval(level, m - 1, loc=kept.mean(axis=0), scale=stats.sem(kept))
        # As precise as the interval is long, wherever it lies.
        close = rtol * np.abs(expected[1] - expected[0]) + 1e-15 * np.abs(expected[0])
        assert (np.abs(low - expected[0]) <= close).all()
        assert (np.abs(high - expected[1]) <= close).all()


def test_one_pass_once(monkeypatch):
    seen = []
    real = type(as_table(contaminated())).squares

    def counted(table, center, weights):
        seen.append(table)
        return real(table, center, weights)

    monkeypatch.setattr("inlier.data.arrays.DenseTable.squares", counted)
    result = inlier.robust_mean(contaminated())
    passes = result.details.n_passes
    assert not seen
    for level in (0.5, 0.9):
        _ = result.standard_error, result.confidence_interval(level), result._summary
    assert [table.n_passes for table in seen] == [1]
    assert result.details.n_passes == passes
    assert "_means" not in vars(copy.copy(result))


def test_a_constant_column_has_no_error():
    X = contaminated()
    X[:, 2], X[:, 3] = 0.1, 1e6 / 3.0
    for data in (X, sp.csr_array(X), X.astype(np.float32)):
        result = inlier.robust_mean(data)
        assert (np.asarray(result.standard_error)[2:4] == 0.0).all()
        low, high = result.confidence_interval()
        np.testing.assert_array_equal(low[2:4], high[2:4])
        np.testing.assert_allclose(low[2:4], dense(data)[0, 2:4], rtol=1e-15)


@cases("options", [{}, {"sigma": 3.0}, {"scatter": "diagonal"}])
@cases("shape", [(2000, 5), (20_000, 20), (700, 900), (60, 300)])
def test_the_location_of_a_constant_column_is_in_its_interval(shape, options):
    X = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    X[:5] += 30.0
    X[:, 1:4] = 1.0 / 3.0, 0.1, 1e-3
    result = robust_mean(X, **options)
    low, high = result.confidence_interval()
    assert (low <= result.location).all() and (result.location <= high).all()
    np.testing.assert_array_equal(result.location[1:4], X[0, 1:4])


@cases("options", [{}, {"sigma": 3.0}])
def test_the_median_of_a_column_that_is_mostly_missing_costs_no_digits(options):
    X = contaminated(400, 3)
    X[:, 2] = np.nan
    X[:5], X[5:70, :2] = 1e12, X[75:140, :2]
    X[396:, 2] = [-2.0, 1.0, 0.5, 3.0]
    result = robust_mean(X, **options)
    assert result.certificate.gaps.fill[2] == 1e12 and result.support[5:].all()
    np.testing.assert_allclose(result.location[2], X[396:, 2].mean(), rtol=1e-14)
    np.testing.assert_allclose(result.standard_error[2], stats.sem(X[396:, 2]), rtol=1e-14)


@cases("home", [np.array, sp.csr_array, lambda X: np.where(X[0, 0] == X, np.nan, X)])
@cases("unit", [1e-80, 1e-200, 1e-300])
def test_a_column_whose_squares_underflow_has_its_error(unit, home):
    X = contaminated()
    X[:, 3] *= unit
    result = inlier.robust_mean(home(X))
    kept = X[result.support]
    np.testing.assert_allclose(result.standard_error[3], stats.sem(kept[:, 3] / unit) * unit)
    np.testing.assert_allclose(result.deviation[3], (kept[:, 3] / unit).std() * unit)


def test_a_distant_row_is_no_part_of_it_until_it_is_put_back():
    X = contaminated()
    X[100] = 1e300
    result = inlier.robust_mean(X)
    check(result, X)
    index = next(i for i, group in enumerate(result.groups) if 100 in group.rows)
    assert (result.keep(index).standard_error == np.inf).all()


def test_a_single_kept_row_has_no_error():
    X = contaminated()
    result = inlier.robust_mean(X)
    lowest = np.sort(result.scores)
    one = result.at(threshold=float(lowest[0] + lowest[1]) / 2.0)
    assert one.support.sum() == 1
    for ask in (lambda: one.standard_error, lambda: one.confidence_interval()):
        with pytest.raises(ValueError, match="at least 2 kept rows, but this result keeps 1"):
            ask()
    summary = summarise(one)
    assert np.isnan(summary.standard_error).all() and (summary.deviation == 0.0).all()
    assert "not a number" in one.to_html()


# The location is rounded in the units of the row that was removed.
def test_where_kept_rows_are_equal_the_location_is_in_its_interval():
    X = np.zeros((5, 4))
    X[2, 3], X[3, 1], X[4, 0] = 0.14024049, 0.59189884, 0.08507431
    start = inlier.l0.Options(c1=0.8, start="geometric-median")
    result = inlier.robust_mean(X, sigma=0.047469457184406955, l0=start)
    low, high = result.confidence_interval()
    assert ((low <= result.location) & (result.location <= high)).all()
    np.testing.assert_allclose(result.location[1:], 0.0, atol=1e-17)


def test_kept_rows_of_score_0_are_not_among_the_worst():
    X = np.random.default_rng(0).standard_normal((200, 4))
    X[7] = 1e3
    result = robust_mean(X)
    assert (np.delete(result.scores, 7) == 0.0).all()
    assert [why.row for why in result._summary.worst] == [7]


def test_rows_of_a_clean_table_are_farthest_out_in_any_unit():
    """Where nothing was removed, no column decides because its unit is small."""
    X = np.random.default_rng(0).standard_normal((200, 4))
    X[7, 1] = 4.5
    for scales in (np.ones(4), np.array([1e4, 1e-3, 1.0, 10.0])):
        result = robust_mean(X * scales)
        assert result.support.all()
        assert result._summary.worst[0].row == 7
