"""The data, seen through five passes; one file for each kind of table."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from inlier.data.arrays import DenseTable
from inlier.data.base import Metric, Moment, Table
from inlier.data.gram import Rotation

__all__ = ["Metric", "Moment", "Rotation", "Table", "as_table"]


def as_table(X: Any) -> Table:
    """The table that knows how to pass over this kind of data."""
    if issparse(X):
        from inlier.data.sparse import SparseTable

        return SparseTable(X)
    return DenseTable(X)
