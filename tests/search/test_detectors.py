"""Each detector finds the group that it is for, and nothing among clean rows."""

import numpy as np
import pytest

from inlier.search.detectors import by_direction, by_distance, by_metric, is_uneven
from inlier.search.settings import SEARCH
from symmetric_fits import started


def looked_at(X):
    """The oracle, the state before any group is removed, and the rows about the nearest half."""
    task, state = started(X)
    return task.oracle, state, state.near


def planted(n_bad, n=400, d=10, **changes):
    X = np.random.default_rng(1).standard_normal((n, d))
    X[:, -1] *= changes.get("quiet", 1.0)
    X[:n_bad] = changes.get("shrunk", 1.0) * X[:n_bad]
    X[:n_bad] += np.asarray(changes.get("by", 0.0))
    return X


def test_rows_far_out_are_found_by_distance():
    oracle, state, near = looked_at(planted(3, by=1e4))
    found = by_distance(oracle, state, near)
    assert found.kind == "apart" and found.cut.log_p < SEARCH.log_level
    np.testing.assert_array_equal(np.flatnonzero(found.among(state.kept)), [0, 1, 2])


def test_a_group_to_one_side_is_found_by_direction():
    X = planted(80, by=9.0 * np.eye(10)[0], shrunk=0.5)
    oracle, state, _ = looked_at(X)
    found = by_direction(oracle, state)
    assert found.kind == "direction"
    np.testing.assert_array_equal(found.among(state.kept), np.arange(400) < 80)
    assert abs(found.direction[0]) > 0.99


def test_a_group_in_a_quiet_direction_is_found_in_the_metric_only():
    X = planted(80, quiet=0.01, by=0.2 * np.eye(10)[-1])
    oracle, state, near = looked_at(X)
    assert by_distance(oracle, state, near) is None and by_direction(oracle, state) is None
    found = by_metric(oracle, state, np.random.default_rng(0))
    assert found.kind == "metric"
    assert (found.among(state.kept) != (np.arange(400) < 80)).sum() <= 2


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_found_among_clean_rows(seed):
    X = np.random.default_rng(seed).standard_normal((300, 8))
    oracle, state, near = looked_at(X)
    assert by_distance(oracle, state, near) is None
    assert by_direction(oracle, state) is None
    assert by_metric(oracle, state, np.random.default_rng(seed)) is None
    assert not is_uneven(state, near)


def test_rows_that_vary_much_more_in_some_directions_are_uneven():
    X = np.random.default_rng(0).standard_normal((300, 8)) * 10.0 ** -np.arange(8.0)
    assert is_uneven(*looked_at(X)[1:])


def test_whether_rows_are_uneven_is_known_without_a_pass():
    X = planted(80, by=9.0, quiet=0.1) + 100.0
    oracle, state, near = looked_at(X)
    squares = np.square(X - X.mean(axis=0)).sum()
    # What the test compares: the largest eigenvalue, and that of white noise as large.
    noise = squares / 10 * (1.0 + np.sqrt(10 / 400)) ** 2
    passes = oracle.table.n_passes
    assert is_uneven(state, near) == (state.spectrum.values[0] > SEARCH.anisotropic * noise)
    assert oracle.table.n_passes == passes
