"""Names of columns and rows: from data frames, or as they are given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from inlier.results.named_table import NamedTable

X = np.arange(12.0).reshape(4, 3)


def test_where_names_come_from():
    found = NamedTable.of(X)
    assert found.columns is None and found.names is None and found.table.shape == (4, 3)
    frame = pd.DataFrame(X, columns=["a", 2, "c"], index=["p", "q", "r", "s"])
    found = NamedTable.of(frame)
    assert found.columns == ("a", "2", "c") and found.names.tolist() == ["p", "q", "r", "s"]
    assert NamedTable.of(pd.DataFrame(X)).names is None  # an index that counts names no row
    polars = NamedTable.of(pl.DataFrame(X, schema=["a", "b", "c"]))
    assert polars.columns == ("a", "b", "c") and polars.names is None
    found = NamedTable.of(frame, columns=list("xyz"), names=[1, 2, 3, 4])
    assert found.columns == ("x", "y", "z") and found.names.tolist() == ["1", "2", "3", "4"]


def test_names_of_another_number_are_refused():
    with pytest.raises(ValueError, match=r"^columns must have a name for each of the 3 columns"):
        NamedTable.of(X, columns=["a"])
    with pytest.raises(ValueError, match=r"^names must have a name for each of the 4 rows.*has 2"):
        NamedTable.of(X, names=["a", "b"])
