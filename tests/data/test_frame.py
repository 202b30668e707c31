"""The working frame: rows set aside, rotated where that pays, and all of it mapped back."""

import numpy as np
import pytest

from inlier.data import as_table
from inlier.data.frame import Frame


def frame_of(shape, rotates=True):
    X = np.random.default_rng(0).standard_normal(shape)
    X[2] = 1e9
    near = np.arange(len(X)) != 2
    origin = np.median(X, axis=0)
    return X, near, Frame.of(as_table(X), near, origin, rotates)


@pytest.mark.parametrize("shape", [(30, 4), (12, 50)], ids=["tall", "wide"])
def test_what_the_fit_sees_is_mapped_back(shape):
    X, near, frame = frame_of(shape)
    assert (frame.rotation is not None) is (shape[1] > shape[0])
    assert not frame.complete and frame.table.shape[0] == near.sum()
    # Distances are those of the data, in whatever axes.
    expected = np.square(X[near] - frame.origin).sum(axis=1)
    np.testing.assert_allclose(frame.table.sq_distances(frame.center), expected, rtol=1e-9)
    weights = np.linspace(0.0, 1.0, near.sum())
    found = frame.table.mean(weights, frame.center)
    np.testing.assert_allclose(
        frame.mean(weights, found), np.average(X[near], axis=0, weights=weights), atol=1e-12
    )
    # Where no row has a weight, the point itself is mapped.
    again = frame.mean(0.0 * weights, found)
    np.testing.assert_allclose(again, frame.mean(weights, found), atol=1e-9)
    np.testing.assert_allclose(frame.place(found[None], None).points[0], again, atol=1e-9)
    # Directions keep their products with the rows.
    given = np.random.default_rng(1).standard_normal((2, shape[1]))
    seen = frame.table.project(frame.center, frame.directions(given))
    np.testing.assert_allclose(seen, given @ (X[near] - frame.origin).T, atol=1e-8)
