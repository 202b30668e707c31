"""What a search finds in its working frame, mapped back to the rows and columns of the data."""

import numpy as np
import pytest
from inlier.search.mapping import Early, mapped_back

from inlier._internal.arrays import all_but
from inlier.data import Frame, as_table
from inlier.linalg.eigenpairs import Oracle
from inlier.search import below_the_edge, select, settled

FAR = 2


def searched(shape, far):
    """A table of which the last quarter is a group; the answer of a search without row `FAR`."""
    n, d = shape
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    X[-n // 4 :] += 4.0 / np.sqrt(min(d, 30))
    gone = np.arange(n) == FAR
    X[FAR] = 1e6 if far else 0.0
    start = np.median(X, axis=0)
    frame = Frame.of(as_table(X), ~gone if far else np.full(n, True), start)
    oracle = Oracle(frame.table, rng)
    distances = frame.table.sq_distances(frame.center)
    found = select(oracle, frame.center, distances, rng, 1e-12, False, lambda step: None, True)
    found = settled(oracle, found, lambda step: None)
    early = [Early("apart", gone, 1e5, -1.0, None)] if far else []
    below = below_the_edge(oracle, found)
    return X, found, mapped_back(frame, found, [], below, early), below


@pytest.mark.parametrize("far", [False, True], ids=["all near", "one far"])
@pytest.mark.parametrize("shape", [(400, 30), (120, 200)], ids=["tall", "wide"])
def test_groups_and_path_are_those_of_the_data(shape, far):
    X, found, answer, below = searched(shape, far)
    n = len(X)
    assert found.groups, "nothing to map"
    assert len(answer.groups) == len(found.groups) + far
    assert len(answer.path) == len(answer.groups) + 1 + (below is not None)
    atol = 1e-8 * np.abs(X).max()
    left = np.empty(0, int)
    for group, point in zip(answer.groups, answer.path, strict=False):
        np.testing.assert_allclose(group.mean, X[group.rows].mean(axis=0), atol=atol)
        assert group.direction.shape == group.center.shape == (X.shape[1],)
        assert np.linalg.norm(group.direction) == pytest.approx(1.0)
        np.testing.assert_array_equal(np.sort(point.removed), np.sort(left))
        left = np.concatenate([left, group.rows])
    for point in answer.path[far:]:
        kept = X[all_but(n, point.removed)]
        np.testing.assert_allclose(point.location, kept.mean(axis=0), atol=1e-9)
        assert (point.certificate.n, point.certificate.n_removed) == (n, n - len(kept))
        assert point.certificate.budget == pytest.approx(point.budget)
    top = np.linalg.norm(X[all_but(n, left)] - X[all_but(n, left)].mean(axis=0), 2) ** 2
    chosen = answer.path[len(answer.groups)].certificate
    assert chosen.lambda_max <= top * (1.0 + 1e-6) and top <= chosen.bound * (1.0 + 1e-6)


def test_rows_that_left_early_are_the_first_group():
    X, _, answer, _ = searched((400, 30), far=True)
    first = answer.groups[0]
    assert (first.kind, first.side, first.cut, first.log_p) == ("apart", 0, 1e5, -1.0)
    np.testing.assert_array_equal(first.rows, [FAR])
    offset = X[FAR] - np.median(X, axis=0)
    np.testing.assert_allclose(first.direction, offset / np.linalg.norm(offset), atol=1e-9)
    assert [point.share for point in answer.path[:2]] == [1.0, 0.0]
    np.testing.assert_allclose(answer.path[0].location, X.mean(axis=0), rtol=1e-9)


def test_scores_come_without_a_pass_where_all_rows_were_rotated():
    assert searched((120, 200), far=False)[2].scores.shape == (120,)
    assert searched((120, 200), far=True)[2].scores is None
    assert searched((400, 30), far=False)[2].scores is None
