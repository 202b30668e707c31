"""The data, seen through five passes; one file for each home that they may have."""

from __future__ import annotations

from os import PathLike
from typing import Any

from scipy.sparse import issparse

from inlier.data.arrays import DenseTable
from inlier.data.base import Metric, Moment, Table
from inlier.data.finite import check_finite
from inlier.data.gram import Rotation

__all__ = ["Metric", "Moment", "Rotation", "Table", "as_table", "check_finite", "is_elsewhere"]

FILES = ("zarr", "h5py", "pyarrow")
CLUSTERS = ("dask",)


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def is_elsewhere(X: Any) -> bool:
    """Whether the data are not in this process's memory nor on its device."""
    return isinstance(X, str | PathLike) or _library(X) in (*FILES, *CLUSTERS)


def as_table(X: Any, name: str = "X") -> Table:
    """The table that knows how to pass over this kind of data."""
    if isinstance(X, Table):
        return X
    if issparse(X):
        from inlier.data.sparse import SparseTable

        return SparseTable(X)
    return DenseTable(X)
