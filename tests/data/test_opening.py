"""Each kind of data is opened by the table that knows it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from inlier.data import as_table, open_table
from inlier.data.arrays import DenseTable
from inlier.data.checks import is_external
from inlier.data.files import FileTable
from inlier.data.sparse import SparseTable

X = np.arange(12.0).reshape(4, 3)


def test_every_kind_has_its_table(tmp_path):
    np.save(tmp_path / "t.npy", X)
    mapped = np.load(tmp_path / "t.npy", mmap_mode="r")
    for data, kind in (
        (X, DenseTable),
        (sp.csr_array(X), SparseTable),
        (tmp_path / "t.npy", FileTable),
        (str(tmp_path / "t.npy"), FileTable),
        (mapped, FileTable),
    ):
        table = as_table(data)
        assert type(table) is kind and table.shape == (4, 3)
        assert is_external(data) is (kind is FileTable)
        np.testing.assert_array_equal(table.fetch(np.array([2, 0])), X[[2, 0]])


def test_what_is_in_memory_is_not_opened():
    for data in (X, X.tolist(), pd.DataFrame(X), sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"^data is a \w+, which is in memory already"):
            open_table(data, name="data")
