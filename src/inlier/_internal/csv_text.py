"""CSV output that is safe against formula injection.

Spreadsheets evaluate a cell that begins with =, +, - or @, also after spaces, and may strip a
leading tab or line break. An apostrophe before a formula makes it text. Numbers are unchanged.
"""

import csv
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from inlier._internal.atomic import replacing

# With a sign, a point or comma, an exponent; or a sign alone.
_NUMBER = r"[+-](?:(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?|(?i:nan|inf|infinity))?\s*"
# Full-width signs count too.
_FORMULA = re.compile(rf'[\t\r\n]|[\s"]*(?!{_NUMBER}\Z)[=+\-@＝＋－＠]')


def harmless(cell: Any) -> Any:
    """Escape a cell that a spreadsheet would evaluate; return other values unchanged."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


class Writer:
    """A CSV writer that may escape formulas; takes the options of `csv.writer`."""

    def __init__(self, file: TextIO, escaped: bool = True, **options: Any) -> None:
        self._escaped = escaped
        self._writer = csv.writer(file, **options)
        self._quoting = csv.writer(file, quoting=csv.QUOTE_ALL, **options)

    def writerow(self, record: Iterable[Any]) -> None:
        """Write one record."""
        cells = [harmless(cell) for cell in record] if self._escaped else list(record)
        # csv does not quote a lone carriage return, which readers take for the end of a line.
        ends = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (self._quoting if ends else self._writer).writerow(cells)

    def writerows(self, records: Iterable[Iterable[Any]]) -> None:
        """Write records."""
        for record in records:
            self.writerow(record)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Writer]:
    """Open a CSV file for an atomic write."""
    with replacing(path) as unfinished, open(unfinished, "w", newline="", encoding="utf-8") as file:
        yield Writer(file)
