"""Tables: passes over the data, with one file for each place where rows may be stored."""

from inlier._internal.validation import check_finite
from inlier.data.arrays import DenseTable, is_wide
from inlier.data.base import Metric, Table
from inlier.data.checks import as_table, is_external, open_table
from inlier.data.frame import Frame, Place, Rotation, central_row
from inlier.data.imputed import Gaps, set_aside
from inlier.data.measures import Ellipsoid, Fences, ManyCells, Measure, TailLength

__all__ = [
    "DenseTable",
    "Ellipsoid",
    "Fences",
    "Frame",
    "Gaps",
    "ManyCells",
    "Measure",
    "Metric",
    "Place",
    "Rotation",
    "Table",
    "TailLength",
    "as_table",
    "central_row",
    "check_finite",
    "is_external",
    "is_wide",
    "open_table",
    "set_aside",
]  # fmt: skip
