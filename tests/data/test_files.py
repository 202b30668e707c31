"""Passes over a file in blocks are those over the array."""

import numpy as np
import pytest

from cases import cases
from inlier.data import open_table


@cases("memory", [320, 2000, 1 << 30])
@cases("dtype", [np.float64, np.float32, np.int16])
def test_passes_over_a_file_are_those_over_the_array(dtype, memory, tmp_path):
    X = (10.0 * np.random.default_rng(0).standard_normal((137, 5))).astype(dtype)
    np.save(tmp_path / "t.npy", X)
    table = open_table(tmp_path / "t.npy", memory=memory)
    Y = X.astype(np.float64)
    center, w = Y.mean(axis=0) + 1.0, np.random.default_rng(1).random(137)
    A, V = Y - center, np.linalg.qr(np.random.default_rng(2).standard_normal((5, 2)))[0].T
    near = {"rtol": 1e-5, "atol": 1e-5 * np.abs(A).max() ** 2 * 137}
    np.testing.assert_allclose(table.project(center, V), V @ A.T, **near)
    np.testing.assert_allclose(table.moment(center, w, V).image, V @ (A.T * w) @ A, **near)
    np.testing.assert_allclose(table.sq_distances(center), np.square(A).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(table.mean(w, center), np.average(Y, axis=0, weights=w), rtol=1e-4)
    np.testing.assert_allclose(table.median(), np.median(Y, axis=0), atol=1e-6)
    rows = w > 0.5
    np.testing.assert_allclose(
        table.take(rows).sq_distances(center), np.square(A[rows]).sum(axis=1), rtol=1e-5
    )
    np.testing.assert_array_equal(table.fetch(np.array([136, 0])), Y[[136, 0]])


def test_memory_for_less_than_a_row_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((10, 5)))
    with pytest.raises(ValueError, match=r"memory=319 is too little .* at least 320 bytes"):
        open_table(tmp_path / "t.npy", memory=319).sq_distances(np.zeros(5))
