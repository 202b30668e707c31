"""Tables of text that a spreadsheet can open without obeying them.

A spreadsheet takes a cell that begins with =, +, - or @ for a formula, which may start programs and
send other cells away, and names come from whoever made the data. An apostrophe before it makes it
the text that it is. Numbers stay as they are.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from inlier._internal.atomic import replacing

# The wide signs are those of Chinese and Japanese keyboards. What a tab or a line break stands
# before may become the beginning.
FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
# With a sign, a point or comma, an exponent; or a sign alone, which stands for nothing.
NUMBER = r"^[+-]?((\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?|(?i:nan|inf|infinity))?$"
BEFORE = "'"


def harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; what is no text is as it was."""
    if isinstance(cell, str) and re.match(FORMULA, cell) and not re.fullmatch(NUMBER, cell):
        return BEFORE + cell
    return cell


class Writer:
    """A writer of records, all of whose cells are harmless; options are those of `csv.writer`."""

    def __init__(self, file: TextIO, **options: Any) -> None:
        self._writer = csv.writer(file, **options)
        self._quoting = csv.writer(file, quoting=csv.QUOTE_ALL, **options)

    def writerow(self, record: Iterable[Any]) -> None:
        """Write a record."""
        cells = [harmless(cell) for cell in record]
        # Python leaves it without quotes if lines end otherwise, and readers take it for an end.
        ends = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (self._quoting if ends else self._writer).writerow(cells)

    def writerows(self, records: Iterable[Iterable[Any]]) -> None:
        """Write records."""
        for record in records:
            self.writerow(record)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Writer]:
    """A writer to a new file, which takes its place only if all went well."""
    with replacing(path) as unfinished, open(unfinished, "w", newline="", encoding="utf-8") as file:
        yield Writer(file)
