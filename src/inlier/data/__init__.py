"""The data, seen through a few passes; one file for each home that they may have."""

from __future__ import annotations

from inlier.data.arrays import is_wide
from inlier.data.base import Metric, Moment, Table
from inlier.data.filled import FilledTable, Gaps, filled, find_missing
from inlier.data.finite import check_finite
from inlier.data.gram import LooksLater, Rotation, central_row
from inlier.data.host import OnHost
from inlier.data.measures import Fences, Measure, TailLength
from inlier.data.opening import as_table, is_elsewhere, open_table

__all__ = [
    "Fences",
    "FilledTable",
    "Gaps",
    "LooksLater",
    "Measure",
    "Metric",
    "Moment",
    "OnHost",
    "Rotation",
    "Table",
    "TailLength",
    "as_table",
    "central_row",
    "check_finite",
    "filled",
    "find_missing",
    "is_elsewhere",
    "is_wide",
    "open_table",
]
