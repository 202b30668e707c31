"""The metric of the rows in the middle, against scikit-learn's covariances."""

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.covariance import EmpiricalCovariance, ledoit_wolf

from cases import cases
from inlier.linalg.whitening import ADDED_VARIANCE, concentrated, shrunk_metric


def sq_distances(found, rows):
    """In the metric that was found."""
    offsets = rows - found.center
    along = offsets @ found.directions.T
    outside = (offsets**2).sum(axis=1) - (along**2).sum(axis=1)
    return along**2 @ found.precisions + found.residual * np.maximum(outside, 0.0)


def by_scikit_learn(rows):
    """The same steps with dense covariances."""
    m, d = rows.shape

    def distances(far, share):
        nearest = rows[far <= np.sort(far)[int(np.ceil(share * m)) - 1]]
        fit = EmpiricalCovariance().fit(nearest)
        fit.covariance_ += ADDED_VARIANCE * np.trace(fit.covariance_) / d * np.eye(d)
        fit.precision_ = np.linalg.inv(fit.covariance_)
        return fit.mahalanobis(rows)

    far = (rows**2).sum(axis=1)
    for _ in range(8):
        far = distances(far, 0.5)
    return distances(far, 0.75)


def drawn(m, d, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, d)) @ rng.standard_normal((d, d)) + 0.1


@cases(("m", "d"), [(200, 5), (80, 30), (61, 60), (60, 61), (30, 90), (5, 40)])
def test_distances_are_those_of_scikit_learn(m, d):
    rows = drawn(m, d, m + d)
    found = concentrated(rows)
    expected = by_scikit_learn(rows)
    np.testing.assert_allclose(sq_distances(found, rows), expected, rtol=1e-6)
    np.testing.assert_allclose(
        found.directions @ found.directions.T, np.eye(len(found.directions)), atol=1e-9
    )
    assert (found.residual > 0.0) == (d > m)


def test_many_bad_rows_do_not_move_it():
    rng = np.random.default_rng(0)
    good = rng.standard_normal((1200, 4)) * [1.0, 2.0, 0.5, 1.0]
    bad = rng.standard_normal((380, 4)) * 0.1 + [0.0, 0.0, 4.0, 0.0]
    rows = np.concatenate([good, bad])
    rows -= np.median(rows, axis=0)
    far = sq_distances(concentrated(rows), rows)
    # Of Gaussian rows so few are that far, in units of the median.
    cut = chi2.ppf(0.995, 4) / chi2.ppf(0.5, 4)
    unit = np.median(far[:1200])
    assert np.mean(far[:1200] > cut * unit) < 0.05
    assert np.mean(far[1200:] > cut * unit) > 0.99


def test_distances_do_not_depend_on_the_axes():
    rows = drawn(100, 6, 1)
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((6, 6)))[0]
    turned = rows @ Q
    np.testing.assert_allclose(
        sq_distances(concentrated(turned), turned), sq_distances(concentrated(rows), rows)
    )


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (6, 3), (3, 6)])
def test_equal_rows_have_a_metric(shape):
    found = concentrated(np.zeros(shape))
    assert np.isfinite(found.precisions).all()
    assert (sq_distances(found, np.ones((1, shape[1]))) > 0.0).all()


def test_a_row_off_the_plane_of_the_others():
    rows = drawn(50, 3, 3)
    rows = np.concatenate([rows, rows[:, :1] - rows[:, 1:2]], axis=1)
    found = concentrated(rows)
    far = sq_distances(found, rows)
    off = sq_distances(found, rows[:1] + np.eye(4)[3])
    assert np.isfinite(far).all() and off[0] > 10.0 * far.max()


def test_shrinkage_is_that_of_ledoit_and_wolf():
    rng = np.random.default_rng(0)
    for m, d in ((200, 6), (20, 50)):
        rows = rng.standard_normal((m, d)) * np.linspace(0.1, 3.0, d)
        found = shrunk_metric(rows)
        covariance, _ = ledoit_wolf(rows)
        precision = found.directions.T @ np.diag(found.precisions) @ found.directions
        outside = np.eye(d) - found.directions.T @ found.directions
        np.testing.assert_allclose(
            precision + found.residual * outside, np.linalg.inv(covariance), rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(found.center, rows.mean(axis=0), atol=1e-12)
