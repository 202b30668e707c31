"""Names of columns and rows: from data frames, or as they are given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from inlier.data import as_table
from inlier.data.checks import named_table

X = np.arange(12.0).reshape(4, 3)


def named(data, **names):
    return named_table(as_table(X), data, **names)


def test_where_names_come_from():
    found = named(X)
    assert found.columns is None and found.names is None and found.shape == (4, 3)
    frame = pd.DataFrame(X, columns=["a", 2, "c"], index=["p", "q", "r", "s"])
    found = named(frame)
    assert found.columns == ("a", "2", "c") and found.names.tolist() == ["p", "q", "r", "s"]
    assert named(pd.DataFrame(X)).names is None  # an index that counts names no row
    polars = named(pl.DataFrame(X, schema=["a", "b", "c"]))
    assert polars.columns == ("a", "b", "c") and polars.names is None
    found = named(frame, columns=list("xyz"), names=[1, 2, 3, 4])
    assert found.columns == ("x", "y", "z") and found.names.tolist() == ["1", "2", "3", "4"]


def test_names_of_another_number_are_refused():
    with pytest.raises(ValueError, match=r"^columns must have a name for each of the 3 columns"):
        named(X, columns=["a"])
    with pytest.raises(ValueError, match=r"^names must have a name for each of the 4 rows.*has 2"):
        named(X, names=["a", "b"])
