"""Extreme cells, sampled rows, and the rounding of columns."""

import numpy as np
import pytest
from scipy.stats import rankdata

from cases import cases
from fits import fitted
from inlier import robust_mean
from inlier.data import as_table
from inlier.research.datasets import SettingA
from inlier.search import thresholds
from inlier.search.cells import average_ranks
from inlier.search.sample import RowSample
from ordinary_tables import iris_with_typos

# Rows, columns, the bad rows and columns, and what happens to them.
SMALL = {
    "one far row": (20, 3, ([3],), lambda x: x + 100.0),
    "two cells times ten": (20, 4, ([2, 7], 1), lambda x: 10.0 * (x + 10.0)),
    "a cell in another unit": (50, 4, ([11], 2), lambda x: 100.0 * (x + 20.0)),
    "three far rows": (40, 2, ([1, 5, 9],), lambda x: x + 30.0),
}


@cases("seed", range(5))
@cases("kind", SMALL)
def test_cells_of_small_tables_leave_as_cells_and_rows_as_rows(kind, seed):
    n, d, bad, change = SMALL[kind]
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[bad] = change(X[bad])
    result = fitted(X)
    if len(bad) == 1:
        np.testing.assert_array_equal(result.outliers, bad[0])
    else:
        assert result.support.all()
        np.testing.assert_array_equal(result.certificate.gaps.cells, [[i, bad[1]] for i in bad[0]])


@cases("seed", (0, 1, 4))
def test_rows_of_another_kind_are_removed_if_many_of_their_cells_are_extreme(seed):
    # A chain without a gap, beside flags: no column alone tells it from a natural minority.
    rng = np.random.default_rng(seed)
    X = (rng.random((400, 6)) < rng.uniform(0.05, 0.3, 6)).astype(float)
    chain = np.outer(np.geomspace(2.5, 60.0, 48), np.linspace(0.3, 0.9, 6))
    X[:48] = chain + 0.1 * rng.standard_normal((48, 6))
    support = robust_mean(X).support
    assert not support[40:48].any()
    assert support[48:].all()


def test_typos_are_set_aside_and_described():
    result = fitted(iris_with_typos())
    assert result.support.all()
    said = {(cell.row, cell.column): cell.name + cell.words for cell in result.cells}
    for place, times in {(3, 0): 10, (60, 2): 100}.items():
        slip = f"about {times} times the usual, like a misplaced decimal point; set aside"
        assert said[place].endswith(slip)
    assert "like a code for a missing value" in said[100, 1]
    assert "x2 = 350, about 280 times the column's usual distance from its median" in said[60, 2]
    assert result.explain(60).cells == (said[60, 2],)
    assert said[60, 2] in str(result.explain(60))


@pytest.mark.parametrize("value", [1e3, 1e7, 1e10, 1e20, 1e150, 1e300])
def test_an_extreme_cell_of_any_size_is_reported(value):
    """The scale of a column is that of its middle, for any distance of a cell."""
    X = np.random.default_rng(1).standard_normal((300, 4))
    X[7, 2] = value
    result = robust_mean(X)
    assert [(cell.row, cell.column) for cell in result.cells] == [(7, 2)]
    assert result.support.all() and result.cells[0].set_aside


@cases("seed", [2, 4])
def test_many_extreme_rows_are_cut_at_the_least_likely_gap(seed):
    """In these draws a good row lies nearer to the extreme ones than to the others."""
    sample = SettingA(2000, 100, 0.2).sample(seed)
    np.testing.assert_array_equal(robust_mean(sample.X).support, ~sample.is_outlier)


# -- sampled rows ---------------------------------------------------------------------------------


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(thresholds, "WHOLE_CELLS", 0)
    monkeypatch.setattr(thresholds, "SAMPLE_CELLS", 5000)


@pytest.mark.parametrize("seed", range(4))
def test_amounts_that_grow_together_are_kept(seed):
    """Sales, assets and profits of firms: heavy tails, and a size that all columns share."""
    rng = np.random.default_rng(seed)
    size, own = rng.standard_normal((1000, 1)), rng.standard_normal((1000, 4))
    X = np.c_[np.exp(2.0 * (0.8 * size + 0.6 * own)), rng.standard_normal(1000)]
    assert fitted(X).support.all()
    # A twentieth in another unit.
    X[:50, :4] *= 1e6
    assert not fitted(X).support[:50].any()


@pytest.mark.usefixtures("small_samples")
def test_a_sample_finds_what_all_rows_show():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(6000, 5))
    X[[10, 2000, 5999], [0, 3, 4]] = 300.0, -80.0, 1e5
    X[4000:4060] += 200.0
    assert len(RowSample.of(as_table(X)).rows) == 1000
    result = fitted(X)
    found = np.union1d(result.outliers, result.certificate.gaps.cells[:, 0])
    np.testing.assert_array_equal(found, np.r_[10, 2000, 4000:4060, 5999])
    assert not result.support[4000:4060].any()


@pytest.mark.usefixtures("small_samples")
@cases("top", [1e4, 1e6, 1e12])
def test_bad_cells_in_a_sample_do_not_move_its_fences(top):
    """Beside skewed rows nothing else finds values that no gap separates."""
    X = np.random.default_rng(0).lognormal(size=(6000, 5))
    X[:300, 2] = np.geomspace(6.0, top, 300)
    off = np.abs(fitted(X).location - X[300:].mean(axis=0)) / X[300:].std(axis=0)
    assert off.max() <= 0.5


@pytest.mark.usefixtures("small_samples")
def test_a_sample_does_not_cost_the_farthest_good_rows():
    X = np.random.default_rng(0).standard_normal((20_000, 6))
    X[:200] += 8.0
    outliers = fitted(X).outliers
    assert (outliers < 200).all() and len(outliers) >= 195


@pytest.mark.usefixtures("small_samples")
def test_a_device_removes_the_rows_of_the_host(torch, monkeypatch):
    X = np.random.default_rng(0).standard_t(5, size=(4000, 30)).astype("f4")
    X[7, 8], X[9] = 1e6, 40.0 * X[9]
    device = torch.tensor(X)
    kind = type(as_table(device))
    monkeypatch.setattr(kind, "to_gpu", kind.to_device)
    there, here = robust_mean(device), robust_mean(X)
    np.testing.assert_array_equal(here.outliers, [9])
    np.testing.assert_array_equal(there.support.numpy(), here.support)
    np.testing.assert_array_equal(there.certificate.gaps.cells, here.certificate.gaps.cells)
    assert [7, 8] in here.certificate.gaps.cells.tolist()


@pytest.mark.parametrize("n", [40, 50])
def test_rows_too_long_to_sample_are_tested_in_their_span(n, monkeypatch):
    # The origin of the span may be one of the rows, which is no outlier for that.
    monkeypatch.setattr(thresholds, "MOST_SAMPLE_CELLS", 0)
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((n, 20_000)) + 5.0
        assert RowSample.of(as_table(X)) is None
        assert fitted(X).support.all()
        X[: n // 5] += 0.5
        np.testing.assert_array_equal(fitted(X).outliers, np.arange(n // 5))


@pytest.mark.parametrize("values", [[0.5, -2.0, 7.0, 1.0], [1.0, 1.0, 0.0, 1.0, 3.0], [2.0] * 7])
def test_ranks_are_those_of_scipy(values):
    np.testing.assert_array_equal(average_ranks(np.array(values)), rankdata(values) - 1.0)
