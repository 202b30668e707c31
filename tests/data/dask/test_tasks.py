"""What is done with one chunk is what a table in memory does."""

import numpy as np
import pytest

from inlier.data.arrays import DenseTable
from inlier.data.base import Metric
from inlier.data.dask.graphs import TaskArrays
from inlier.data.dask.tasks import (
    gram_of,
    in_metric_of,
    non_finite_message,
    pass_over,
    rows_at,
    rows_kept,
)
from inlier.data.passes import BlockView, Distances

BLOCK = np.random.default_rng(0).standard_normal((20, 3))
KEPT = np.arange(20) % 3 > 0
CENTER = np.array([0.5, -1.0, 2.0])
VIEW = BlockView.about(CENTER, "float64", centered=True)


def test_a_pass_over_a_chunk():
    for kept, rows in ((None, BLOCK), (KEPT, BLOCK[KEPT])):
        seen = pass_over(Distances(VIEW), BLOCK, kept, TaskArrays(()), "projected", "X", 0)
        np.testing.assert_allclose(seen, np.square(rows - CENTER).sum(axis=1))


def test_rows_of_a_chunk():
    np.testing.assert_array_equal(
        rows_at(BLOCK, TaskArrays((np.array([4, 0, 4]),))), BLOCK[[4, 0, 4]]
    )
    assert rows_kept(None, BLOCK, None, "X", 0) is BLOCK
    np.testing.assert_array_equal(rows_kept(None, BLOCK, KEPT, "X", None), BLOCK[KEPT])
    np.testing.assert_allclose(
        gram_of(BLOCK, TaskArrays((CENTER,)))[0], (BLOCK - CENTER) @ (BLOCK - CENTER).T
    )


def test_a_chunk_in_other_coordinates():
    metric = Metric(CENTER, np.linalg.cholesky(np.cov(BLOCK.T)))
    expected = DenseTable(BLOCK[KEPT]).in_metric(metric)
    found = DenseTable(in_metric_of(metric, BLOCK, KEPT, "X", 0))
    np.testing.assert_allclose(found.sq_distances(np.zeros(3)), expected.sq_distances(np.zeros(3)))


def test_a_complaint_names_the_row_of_the_table():
    assert non_finite_message(BLOCK, "X", 100) is None
    spoilt = BLOCK.copy()
    spoilt[7, 2] = np.inf
    assert "row 107, column 2" in non_finite_message(spoilt, "X", 100)
    with pytest.raises(ValueError, match="row 107, column 2"):
        pass_over(Distances(VIEW), spoilt, None, TaskArrays(()), "projected", "X", 100)
