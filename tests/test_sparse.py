"""Sparse tables against the same numbers in a dense array, wherever the rows lie."""

import warnings

import numpy as np
import scipy.sparse as sp

from cases import cases
from inlier import RobustMean, WeakEvidenceWarning, robust_mean
from inlier.data import as_table
from inlier.estimators.base import in_signs

OFFSETS = [0.0, 1.0, 1e3, 1.4e8, -1e12]
SCALES = [1e-6, 1.0, 1e5]


def sparse_sample(seed: int, offset: float, scale: float) -> np.ndarray:
    """Rows that store some columns always, some mostly and some seldom, the first two far away."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 60)), int(rng.integers(2, 12))
    X = rng.normal(size=(n, d))
    X[: n // 6] += rng.uniform(3.0, 9.0)
    X = scale * (X + offset)
    share = rng.choice([1.0, 0.9, 0.1], size=d)
    # Of the columns that are seldom stored, values near zero: far away they would be all there is.
    seldom = share < 0.5
    X[:, seldom] -= scale * offset
    X[rng.random((n, d)) > share] = 0.0
    return X


def exact_sq_distances(X: np.ndarray, center: np.ndarray) -> np.ndarray:
    return ((X - center) ** 2).sum(axis=1)


@cases("scale", SCALES)
@cases("offset", OFFSETS)
def test_passes_are_those_of_the_dense_table(offset, scale):
    for seed in range(10):
        X = sparse_sample(seed, offset, scale)
        n, d = X.shape
        rng = np.random.default_rng(seed)
        rows = rng.random(n) < 0.7
        rows[:2] = True
        for Y, table in ((X, as_table(sp.csc_array(X))),
                         (X[rows], as_table(sp.csr_matrix(X)).take(rows))):  # fmt: skip
            center = np.median(Y, axis=0) + scale * rng.normal(size=d)
            A = Y - center
            lengths = exact_sq_distances(Y, center)
            np.testing.assert_allclose(
                table.sq_distances(center), lengths, rtol=1e-12, atol=1e-14 * np.median(lengths)
            )
            # Products know each entry to its own rounding, as those of a dense table do.
            close = 1e-13 * max(1.0, np.abs(A).max() / scale) * np.median(lengths)
            np.testing.assert_allclose(table.gram(center), A @ A.T, rtol=1e-10, atol=close)
            basis = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
            far = np.abs(A).max()
            np.testing.assert_allclose(table.project(center, basis), basis @ A.T, atol=1e-13 * far)
            w = rng.random(len(Y))
            squares, drift = table.squares(center, w)
            np.testing.assert_allclose(squares, np.square(A).T @ w, rtol=1e-12)
            np.testing.assert_allclose(drift, A.T @ w, atol=1e-12 * far)
            C = rng.normal(size=(2, len(Y)))
            np.testing.assert_allclose(table.combine(center, C), C @ A, atol=1e-12 * far)
            np.testing.assert_allclose(table.mean(np.ones(len(Y)), center), Y.mean(axis=0),
                                       rtol=1e-14, atol=1e-13 * far)  # fmt: skip


@cases("sigma", [None, 2.0])
@cases("scale", SCALES)
@cases("offset", OFFSETS)
def test_answers_are_those_of_the_dense_table(offset, scale, sigma):
    for seed in range(8):
        X = sparse_sample(seed, offset, scale)
        arguments = {"sigma": None if sigma is None else sigma * scale}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakEvidenceWarning)
            dense = robust_mean(X, **arguments)
            model = RobustMean(**arguments).fit(sp.csr_matrix(X))
        sparse = model.result_
        np.testing.assert_array_equal(sparse.support, dense.support)
        # A score is known to the rounding of the entries, seen from the centre.
        known = np.finfo(float).eps * np.abs(X).max() / scale
        close = {"rtol": 1e-6 + 100.0 * known, "atol": 1e-9 + 100.0 * known}
        np.testing.assert_allclose(sparse.scores, dense.scores, **close)
        np.testing.assert_array_equal(model.predict(sp.csr_matrix(X)), in_signs(model.support_))
        np.testing.assert_array_equal(model.predict(X), in_signs(model.support_))
        for row in range(len(X)):
            why = sparse.explain(row)
            assert why.removed is not bool(sparse.support[row])
            np.testing.assert_allclose(why.contributions.sum(), why.score, **close)
            if why.pruned:  # left before the fit, for its distance
                assert sparse.scores[row] == np.inf
                continue
            np.testing.assert_allclose(why.score, sparse.scores[row], **close)
            np.testing.assert_allclose(sum(part.contribution for part in why.directions),
                                       sparse.scores[row], **close)  # fmt: skip


def test_rows_that_are_near_each_other_and_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(8, 8)) + 1.4e8
    model = RobustMean().fit(sp.csr_matrix(X))
    assert model.support_.all()
    assert (model.predict(sp.csr_matrix(X)) == 1).all()
    np.testing.assert_allclose(model.result_.scores, robust_mean(X).scores, rtol=1e-6)


def test_the_matrix_is_left_alone():
    X = sp.csr_matrix(sparse_sample(3, 1e3, 1.0))
    before, stored = X.toarray(), X.nnz
    robust_mean(X, sigma=1.0)
    assert X.nnz == stored
    np.testing.assert_array_equal(X.toarray(), before)
