"""Sizes of blocks and samples, shared by all tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TableSettings:
    """Sizes of blocks and samples; `make bench` and `make bench-scale` measure the passes."""

    memory: int = 1 << 30
    """Bytes for the blocks of a table that is read from a file, unless the user sets a limit."""
    sample_rows: int = 501
    """Odd, so that the median is one of the values. With 45% outliers a random sample this large
    has a majority of good rows 99 times in 100."""
    ordered_exactly: int = 1 << 22
    """Entries up to which rows are ordered in double precision, so that the order does not depend
    on how a library rounds. With more rows no single one matters, and the cost would."""
    near: float = 2.0
    near_rows: int = 64
    near_columns: int = 1 << 14
    """Single-precision rows farther from the origin than `near` typical distances lose precision;
    the typical distance comes from so many rows, or so many columns of a wide table."""
    block_bytes: int = 1 << 21
    row_overhead: int = 16
    min_block_rows: int = 16
    """A block stays in the cache between the two products of a fused pass, with the temporaries of
    about `row_overhead` numbers a row."""
    freed_bytes: int = 1 << 22
    """Freeing one large block raises glibc's mmap threshold, so temporaries are reused."""
    device_elements: int = 1 << 30
    device_copied: int = 1 << 24
    """Elements of a block on a device; the second limit holds where a pass copies the block."""
    wide_rows: int = 512
    wide_elements: int = 1 << 20
    """A table with at most `wide_rows` rows, and more columns, is read in blocks of columns. With
    more rows the eigenvectors of an n x n matrix cost more than the passes they save."""
    sorted_elements: int = 1 << 24
    """Elements up to which the exact median is found by sorting."""
    host_elements: int = 1 << 22
    """Elements of a temporary block on the host: checks, missing cells, densified sparse rows."""
    central: float = 4.0
    central_elements: int = 1 << 20
    """Row 0 is central if its median squared distance is at most `central` times the smallest. In
    a table of at most `central_elements` it must be the smallest, whatever the order of rows."""


SETTINGS = TableSettings()
