"""A table on the host speaks numpy, and never holds all rows of a device."""

from typing import Any

import numpy as np

from inlier import robust_mean
from inlier.data import HostTable, arrays, as_table
from inlier.data.base import Metric
from inlier.data.settings import SETTINGS as TABLES
from inlier.datasets import SettingB
from inlier.search import thresholds
from libraries import Verbs, quietly


def test_a_copy_on_the_host_is_never_made_of_all_rows(library, monkeypatch):
    """What goes to the host is rows by their numbers: a sample, or all if they are few."""
    asked: list[int] = []
    original = arrays.DenseTable.some

    def counted(self: Any, rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return original(self, rows)

    monkeypatch.setattr(arrays.DenseTable, "some", counted)
    monkeypatch.setattr(thresholds, "WHOLE_CELLS", 0)
    monkeypatch.setattr(thresholds, "SAMPLE_CELLS", 0)
    X = SettingB(5000, 12, 0.2).sample(0).X
    X[:4] = 1e12
    quietly(robust_mean, library(X))
    assert asked and max(asked) <= TABLES.sample_rows


def test_a_table_on_the_host_speaks_numpy(library, blocks):
    X = np.random.default_rng(4).standard_normal((90, 6))
    table, numpy = HostTable(as_table(library(X))), as_table(X)
    verbs = Verbs(X, X)
    verbs.check_all(table, numpy, deep=False)
    mask = verbs.mask
    assert isinstance(table.take(mask), HostTable)
    verbs.check_all(table.take(mask), numpy.take(mask), deep=False)
    metric = Metric(verbs.center, verbs.scales)
    assert isinstance(table.in_metric(metric), HostTable)
    verbs.check_all(table.in_metric(metric), numpy.in_metric(metric), deep=False)
