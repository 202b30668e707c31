"""Sizes of wide tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TableSettings:
    """Sizes of wide tables; `make bench` measures the passes."""

    central: float = 4.0
    central_elements: int = 1 << 20
    """Row 0 is central if its median squared distance is at most `central` times the smallest. In
    a table of at most `central_elements` it must be the smallest, whatever the order of rows."""


SETTINGS = TableSettings()
