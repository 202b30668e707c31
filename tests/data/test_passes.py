"""Every pass over arrays of other libraries is that over numpy's."""

from typing import Any

import numpy as np

from cases import cases
from inlier import robust_mean
from inlier.data import as_table
from inlier.data.arrays import DenseTable
from inlier.datasets import SettingB
from inlier.search import thresholds
from libraries import PRECISIONS, WHOLE, Verbs, quietly, whole_numbers


@cases("precision", PRECISIONS)
def test_every_pass_is_that_of_numpy(library, blocks, precision):
    X = np.random.default_rng(1).standard_normal((137, 7)) + np.linspace(-1.0, 1.0, 7)
    X = X.astype(precision)
    there = library(X)
    Verbs(there, X).check_all(as_table(there), as_table(X))


@cases("dtype", [*WHOLE, "float32"])
def test_every_pass_over_whole_numbers_is_that_of_numpy(library, blocks, dtype):
    X = whole_numbers()[0].astype(dtype)
    there = library(X)
    verbs = Verbs(there, X)
    verbs.near = 1e-5  # small whole numbers are read in single precision
    verbs.check_all(as_table(there), as_table(X), deep=dtype == "int64")


def test_rows_on_the_host(library, blocks):
    X = np.random.default_rng(4).standard_normal((90, 6))
    table, numpy = as_table(library(X)).with_rows_on_host(), as_table(X)
    verbs = Verbs(X, X)
    verbs.check_all(table, numpy)
    wide, numpy = as_table(library(X.T.copy())).with_rows_on_host(), as_table(X.T.copy())
    Verbs(X, X.T.copy()).check_all(wide, numpy)


def test_a_copy_on_the_host_is_never_made_of_all_rows(library, monkeypatch):
    """What goes to the host is rows by their numbers: a sample, or all if they are few."""
    asked: list[int] = []
    original = DenseTable.fetch

    def counted(self: Any, rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return original(self, rows)

    monkeypatch.setattr(DenseTable, "fetch", counted)
    monkeypatch.setattr(thresholds, "WHOLE_CELLS", 0)
    monkeypatch.setattr(thresholds, "SAMPLE_CELLS", 0)
    X = SettingB(5000, 12, 0.2).sample(0).X
    X[:4] = 1e12
    quietly(robust_mean, library(X))
    assert asked and max(asked) <= DenseTable.sample_rows
