"""Files in, files out: a table of any common format, and its good rows again."""

from inlier.data.sources import FORMATS
from inlier.data.sources.location import MAX_BYTES
from inlier.io.reading import LoadedTable, read
from inlier.io.writing import TARGETS, check_target, write

__all__ = ["FORMATS", "MAX_BYTES", "TARGETS", "LoadedTable", "check_target", "read", "write"]
