"""Measures of rows are the same in every home of the data."""

import numpy as np
import pytest
import scipy.sparse as sp

from inlier.data import Ellipsoid, Fences, TailLength, as_table


@pytest.mark.parametrize("home", ["numpy", "single", "torch", "sparse", "file"])
def test_measures_of_every_home_of_the_data(home, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(300, 4)).astype(np.float32 if home == "single" else np.float64)
    d = X.shape[1]
    center, unit = np.median(X, axis=0), np.full(d, 0.5)
    fences = Fences(center, unit, np.array([3.0, np.inf, 2.0, 1.0]), np.full(d, np.inf))
    length = TailLength(center, np.ones((2, d)), np.full((2, d), 0.8), rng.standard_normal((3, d)))
    Y = X
    if home == "torch":
        Y = pytest.importorskip("torch").from_numpy(X)
    elif home == "sparse":
        Y = sp.csr_array(X)
    elif home == "file":
        Y = str(tmp_path / "X.npy")
        np.save(Y, X)
    off = X - center
    expected = np.maximum((off / fences.above).max(axis=1), 0.0)
    np.testing.assert_allclose(np.asarray(as_table(Y).measured(fences)), expected, rtol=1e-6)
    cells = 0.67449 * np.sign(off) * np.abs(off) ** 0.8
    expected = np.linalg.norm(cells @ length.whitener.T, axis=1)
    np.testing.assert_allclose(np.asarray(as_table(Y).measured(length)), expected, rtol=1e-4)
    row = X[5].astype(np.float64)
    assert length.parts(row).sum() == pytest.approx(expected[5] ** 2, rel=1e-4)
    directions = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    ellipsoid = Ellipsoid(center, np.array([1.0, 2.0, np.inf, 1.0]), directions, np.ones(2), 0.25)
    cells = off / ellipsoid.unit
    along = cells @ directions.T
    squared = 0.75 * (along**2).sum(axis=1) + 0.25 * (cells**2).sum(axis=1)
    found = np.asarray(as_table(Y).measured(ellipsoid))
    np.testing.assert_allclose(found, np.sqrt(squared), rtol=1e-5)
    assert ellipsoid.parts(row).sum() == pytest.approx(squared[5], rel=1e-4)
