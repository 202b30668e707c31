"""Every pass over arrays of other libraries is that over numpy's."""

from dataclasses import replace

import numpy as np

from cases import cases
from inlier.data import arrays, as_table
from inlier.data.settings import SETTINGS as TABLES
from libraries import PRECISIONS, WHOLE, Verbs, whole_numbers


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


def test_columns_that_are_too_long_to_sort_have_the_same_median(library, blocks, monkeypatch):
    X = np.random.default_rng(2).standard_normal((TABLES.sample_rows + 100, 5))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 3.0
    monkeypatch.setattr(arrays, "SETTINGS", replace(arrays.SETTINGS, sorted_elements=0))
    expected = np.median(X, axis=0)
    for mask in (np.ones(len(X), dtype=bool), np.arange(len(X)) % 10 > 0):
        table = as_table(library(X))
        median = table.take(table.to_device(mask)).median()
        expected = np.median(X[mask], axis=0)
        assert type(median) is np.ndarray
        np.testing.assert_allclose(median, expected, rtol=1e-15, atol=1e-15)
