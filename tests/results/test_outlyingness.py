"""The ranking of rows: consistent with the verdicts, in every home of the data, in any units."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import mahalanobis
from scipy.stats import rankdata

from cases import cases
from inlier import RobustMean, robust_mean
from inlier.results import outlyingness

RNG = np.random.default_rng(0)
# Correlated, in different units, with a group far out, and one row that is far in no column.
X = RNG.standard_normal((300, 4)) @ np.linalg.cholesky(0.1 * np.eye(4) + 0.9).T
X[:20] += [12.0, -12.0, 12.0, -12.0]
X[20] = [1.5, -1.5, 1.5, -1.5]
X *= [1.0, 100.0, 0.01, 1.0]
RESULT = robust_mean(X)


def test_removed_rows_are_above_one_and_kept_rows_below():
    assert not RESULT.support[:20].any() and RESULT.support[20:].all()
    np.testing.assert_array_equal(RESULT._outlyingness > 1.0, ~RESULT.support)
    assert RESULT._outlyingness.min() >= 0.0 and RESULT._outlyingness.max() <= 2.0
    assert np.median(RESULT._outlyingness[RESULT.support]) == pytest.approx(0.5, abs=1e-3)
    # One that is far in no column is the farthest of the kept.
    kept = np.flatnonzero(RESULT.support)
    assert kept[np.argmax(RESULT._outlyingness[kept])] == 20
    back = RESULT.keep(0)
    assert back.support.all() and (back._outlyingness <= 1.0).all()


def test_where_rows_abound_it_ranks_as_the_mahalanobis_distance_of_the_good():
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((4000, 3)) @ rng.standard_normal((3, 3))
    inverse = np.linalg.inv(np.cov(Y.T))
    far = [mahalanobis(y, Y.mean(axis=0), inverse) for y in Y]
    ranks = rankdata(robust_mean(Y)._outlyingness)
    assert np.corrcoef(ranks, rankdata(far))[0, 1] > 0.99


def homes(tmp_path):
    torch, da = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    np.save(tmp_path / "X.npy", X)
    yield "float32", X.astype(np.float32), 1e-5
    yield "torch", torch.from_numpy(X.copy()), 1e-12
    yield "sparse", sp.csr_array(X), 1e-10
    yield "file", tmp_path / "X.npy", 1e-12
    yield "dask", da.from_array(X, chunks=(77, 4)), 1e-12


def test_every_home_of_the_data_gives_the_same(tmp_path):
    model = RobustMean().fit(X)
    for name, there, atol in homes(tmp_path):
        found = np.asarray(robust_mean(there)._outlyingness)
        np.testing.assert_allclose(found, RESULT._outlyingness, atol=atol, err_msg=name)
        if name != "file":
            scores = -np.asarray(model.score_samples(there))
            np.testing.assert_allclose(scores, RESULT._outlyingness, atol=atol, err_msg=name)


def test_neither_order_nor_units_nor_the_origin_matter():
    order = np.random.default_rng(3).permutation(len(X))
    np.testing.assert_array_equal(robust_mean(X[order])._outlyingness, RESULT._outlyingness[order])
    scaled = X * 2.0 ** np.array([-9, 4, 0, 7])
    moved = X + np.array([3.0, -700.0, 0.1, 20.0])
    wider = np.concatenate([X, np.full((len(X), 2), 7.0)], axis=1)  # by constants
    for Y in (scaled, moved, wider):
        np.testing.assert_allclose(robust_mean(Y)._outlyingness, RESULT._outlyingness, rtol=1e-9)


def test_new_rows_are_ranked_by_what_the_fit_stored():
    model = RobustMean().fit(X)
    copy = pickle.loads(pickle.dumps(model))
    new = X[20:60] * 1.1
    np.testing.assert_array_equal(copy.score_samples(new), model.score_samples(new))
    # A row does not depend on those that it is asked about with.
    np.testing.assert_allclose(model.score_samples(new[:3]), model.score_samples(new)[:3])
    line = RESULT.location + np.outer([0.0, 1.0, 3.0, 9.0, 1e9], X.std(axis=0))
    assert (np.diff(model.score_samples(line)) < 0.0).all()


def test_a_sample_of_the_rows_will_do(monkeypatch):
    rng = np.random.default_rng(4)
    Y = rng.standard_normal((3000, 5))
    exact = rankdata(robust_mean(Y)._outlyingness)
    monkeypatch.setattr(outlyingness, "CELLS", 2500)
    assert np.corrcoef(rankdata(robust_mean(Y)._outlyingness), exact)[0, 1] > 0.97


@cases("table", [np.zeros((2, 1)), np.ones((9, 3)), np.array([[0.0, 1.0], [1.0, 0.0]])])
def test_tiny_and_constant_tables(table):
    found = robust_mean(table)._outlyingness
    assert found.min() >= 0.0 and found.max() <= 1.0
