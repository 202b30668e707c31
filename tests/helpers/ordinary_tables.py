"""Ordinary tables with errors, and clean ones."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

import inlier
from inlier import robust_mean
from inlier.data import as_table


def fitted(X, **options):
    """A fit, with what holds of every answer checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        result = robust_mean(X, **options)
    X = np.asarray(X, dtype=np.float64)
    kept = result.support
    np.testing.assert_array_equal(kept, result.scores <= result.details.rule.threshold)
    observed = without(X, result)
    np.testing.assert_allclose(
        result.location, np.nanmean(observed[kept], axis=0), rtol=1e-6, atol=1e-12
    )
    table = np.where(np.isnan(observed), np.nanmedian(observed, axis=0), observed)
    np.testing.assert_array_equal(result.details.rule.scores(as_table(table)) <= 1.0, kept)
    assert result.certificate.verify(X).faults == ()
    left = np.sort(np.concatenate([group.rows for group in result.groups] or [[]]))
    np.testing.assert_array_equal(left, result.outliers)
    for i in result.outliers[:3]:
        why = result.explain(int(i))
        assert why.contributions.sum() == pytest.approx(result.scores[i], rel=1e-5)
    return result


def without(X, result):
    """The table without the cells that were set aside."""
    X = np.array(X, dtype=np.float64)
    if result.certificate.gaps is not None:
        X[tuple(result.certificate.gaps.cells.T)] = np.nan
    return X


def iris_with_typos():
    X = load_iris().data.copy()
    X[3, 0] *= 10.0
    X[60, 2] *= 100.0
    X[[100, 101, 102], 1] = -999.0
    X[120, 3] *= -10.0
    X[140, [0, 2]] = 1e4, 3e-9
    return X
