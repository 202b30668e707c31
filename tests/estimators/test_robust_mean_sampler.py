"""The sampler, and the pipelines of imbalanced-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import NearestCentroid

import inlier
from documented import documents_everything
from inlier import RobustMeanSampler

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [180, 20])
X = RNG.standard_normal((200, 3)) + 15.0 * Y[:, None]  # a rare class, far from the other
BAD = np.isin(np.arange(200), [3, 4, 5, 6, 7, 199])
X[BAD] += 500.0


def test_rows_are_judged_within_their_class():
    model = RobustMeanSampler()
    rows, y = model.fit_resample(X, Y)
    np.testing.assert_array_equal(model.support_, ~BAD)
    np.testing.assert_array_equal(rows, X[~BAD])
    np.testing.assert_array_equal(y, Y[~BAD])
    np.testing.assert_array_equal(model.sample_indices_, np.flatnonzero(~BAD))
    documents_everything(model)
    words = np.array(["many", "few"], dtype=object)[Y]
    np.testing.assert_array_equal(RobustMeanSampler().fit(X, words).support_, ~BAD)
    words[3] = "only"  # a class of one row
    assert RobustMeanSampler().fit(X, words).support_[3]


def test_without_classes_rows_are_judged_together():
    expected = inlier.robust_mean(X).support
    for y in (None, RNG.standard_normal(200)):
        rows, targets = RobustMeanSampler().fit_resample(X, y)
        np.testing.assert_array_equal(rows, X[expected])
        assert targets is None if y is None else np.array_equal(targets, y[expected])


def test_rows_with_extreme_cells_do_not_reach_the_next_step():
    rows = RNG.standard_normal((200, 6))
    rows[[3, 50], 2] = 1000.0  # a slip in one cell: robust_mean keeps the rest of the row
    assert inlier.robust_mean(rows).support.all()
    np.testing.assert_array_equal(np.flatnonzero(~RobustMeanSampler().fit(rows).support_), [3, 50])


def test_kinds_of_data_come_back_as_they_were():
    index = [f"r{i}" for i in range(200)]
    frame, labels = pd.DataFrame(X, columns=list("abc"), index=index), pd.Series(Y, index=index)
    rows, y = RobustMeanSampler().fit_resample(frame, labels)
    assert rows.equals(frame[~BAD]) and y.equals(labels[~BAD])
    rows, y = RobustMeanSampler().fit_resample(pl.DataFrame(X, schema=list("abc")), Y)
    assert isinstance(rows, pl.DataFrame) and rows.shape == (194, 3)
    rows, y = RobustMeanSampler().fit_resample(sp.csr_array(X), Y)
    np.testing.assert_array_equal(rows.toarray(), X[~BAD])
    holes = np.where(np.arange(600).reshape(200, 3) == 150, np.nan, X)
    np.testing.assert_array_equal(RobustMeanSampler().fit_resample(holes, Y)[0], holes[~BAD])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RobustMeanSampler().fit_resample(X, Y[:-1])


def test_in_a_pipeline_of_imbalanced_learn():
    pipelines = pytest.importorskip("imblearn.pipeline")
    pipeline = pipelines.make_pipeline(RobustMeanSampler(), NearestCentroid()).fit(X, Y)
    clean = NearestCentroid().fit(X[~BAD], Y[~BAD])
    np.testing.assert_allclose(pipeline[-1].centroids_, clean.centroids_)
    # Rows are dropped in a fit, and only there.
    assert pipeline.predict(X).shape == (200,)
    assert pipeline.score(X[~BAD], Y[~BAD]) == 1.0
    target = X @ [1.0, 2.0, 3.0] + 1000.0 * BAD
    linear = pipelines.make_pipeline(RobustMeanSampler(), LinearRegression()).fit(X, target)
    kept = linear[0].support_
    np.testing.assert_allclose(
        linear[-1].coef_, LinearRegression().fit(X[kept], target[kept]).coef_
    )
