"""Tables: passes over the data, with one file for each place where rows may be stored."""

from inlier._internal.validation import check_finite
from inlier.data.arrays import is_wide
from inlier.data.base import Metric, Moment, Table
from inlier.data.filled import FilledTable, Gaps, filled, find_missing
from inlier.data.frame import Frame, Place
from inlier.data.gram import Rotation, central_row
from inlier.data.host import HostTable
from inlier.data.measures import Ellipsoid, Fences, Measure, TailLength
from inlier.data.opening import as_table, is_external, open_table

__all__ = [
    "Ellipsoid", "Fences", "FilledTable", "Frame", "Gaps", "HostTable", "Measure", "Metric",
    "Moment", "Place", "Rotation", "Table", "TailLength",
    "as_table", "central_row", "check_finite", "filled", "find_missing", "is_external", "is_wide",
    "open_table",
]  # fmt: skip
