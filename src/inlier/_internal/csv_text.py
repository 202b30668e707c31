"""CSV output that is safe against formula injection.

Spreadsheets evaluate a cell that begins with =, +, - or @, also after spaces. Many split cells at a
semicolon or a tab whatever delimiter was written, so what follows one counts as a cell too. An
apostrophe before a formula makes it text. Numbers are unchanged.
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
# Where a cell may begin, and its sign; full-width signs count too. Spaces are part of the match, so
# that none is looked at twice.
_BEGIN = re.compile(rf'(^|[;,\t\r\n])([\s"]*+)((?!{_NUMBER}\Z)[=+\-@＝＋－＠])?')


def harmless(cell: Any) -> Any:
    """Escape what a spreadsheet would evaluate in a cell; return other values unchanged."""
    return _BEGIN.sub(_escaped, cell) if isinstance(cell, str) else cell


def _escaped(begin: re.Match[str]) -> str:
    delimiter, space, sign = begin.groups(default="")
    # Spreadsheets may strip a leading tab or line break.
    stripped = not delimiter and space.startswith(("\t", "\r", "\n"))
    return f"{delimiter}'{space}{sign}" if sign or stripped else begin[0]


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
