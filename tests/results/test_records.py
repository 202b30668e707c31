"""Records are frozen, and name the rows that left."""

import dataclasses

import numpy as np
import pytest
from inlier.results.records import MeanResult, Step

from inlier import robust_mean
from libraries import host, is_beside
from reference import contaminated


def result_of(support):
    return MeanResult(np.zeros(2), support, support, support, (), 1, 1, True, "done")


def test_outliers_are_the_rows_without_support(library):
    support = library(np.array([True, False, True, False]))
    found = result_of(support).outliers
    assert host(found).tolist() == [1, 3] and is_beside(found, support)
    assert host(result_of(library(np.ones(3, bool))).outliers).tolist() == []


def test_records_are_frozen():
    step = Step("selection", 1.0, 2, 2.0, 1, 0.5, 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.budget = 2.0
    assert step == dataclasses.replace(step)


def test_points_of_a_path_are_told_apart_by_identity():
    path = robust_mean(contaminated(far=20.0)).path
    assert path[0] == path[0] != dataclasses.replace(path[0])
    assert "removed" not in repr(path[0]) and "budget=" in repr(path[0])
