"""Numbers in columns of text: which mark is the decimal point, and which separates thousands.

A column holds numbers if all of its cells do, also those far down. 1.234 may be 1.234 or 1234: the
other cells of its column and the other columns of its file decide or, if they do not, nobody does.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from inlier.data.sources.base import arrow, listed
from inlier.data.sources.options import TEXT, ReadOptions, Reason

MISSING = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "None", "none", "#NA", "n.a.", "N.A.", "?"),
)
# A column is called malformed if at most one in so many cells is not a number, and is not looked
# at any more if it is not after so many cells.
MALFORMED_SHARE, FEW_CELLS = 2, 100
SHOWN_CHARACTERS = 20
# Cells that are looked at before others are compared with them.
GLANCE = 10
# With another mark between thousands.
GROUPED = re.compile(r"[+-]?\d{1,3}([^\w.,:/+-])\d{3}(\1\d{3})*([.,]\d+)?")
# Integers that fit 64 bits.
WHOLE_DIGITS = 18
WHOLE = re.compile(rf"-?[0-9]{{1,{WHOLE_DIGITS}}}")


@dataclass(eq=False)
class Style:
    """A way to write numbers; without a decimal mark, truth values."""

    decimal: str = ""
    thousands: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches a cell that is written in this way."""
        if not self.decimal:
            return re.compile("true|false", re.IGNORECASE)
        whole = rf"(\d+|[1-9]\d{{0,2}}([{re.escape(self.separators)}]\d{{3}})+)"
        number = rf"({whole}({re.escape(self.decimal)}\d*)?|{re.escape(self.decimal)}\d+)"
        return re.compile(rf"[+-]?({number}([eE][+-]?\d+)?|(?i:nan|inf|infinity))", re.ASCII)

    @property
    def separators(self) -> str:
        """The marks between thousands; a space may be one that does not break."""
        return " \u00a0\u202f" if self.thousands == " " else self.thousands

    def cast(self, cells: Any, kind: str) -> Any:
        """Convert cells that match to a type of Arrow."""
        compute = arrow("pyarrow.compute")
        if not self.decimal:
            return compute.equal(compute.utf8_lower(cells), "true").cast(kind)
        for mark in self.separators:
            cells = compute.replace_substring(cells, mark, "")
        return compute.replace_substring(cells, self.decimal, ".").cast(kind)


POINT, COMMA, TRUTH = Style(".", ","), Style(",", "."), Style()


@cache
def styles_of(decimal: str | None, thousands: str | None) -> list[Style]:
    """Return the ways in which numbers may be written, given what is known of them."""
    if decimal is not None:
        return [Style(decimal, thousands or ("," if decimal == "." else "."))]
    if thousands in (",", "."):
        return [POINT if thousands == "," else COMMA]
    return [POINT, COMMA] if thousands is None else [Style(".", thousands), Style(",", thousands)]


def as_number(marker: str) -> float | None:
    """Return a marker of missing values as a number; None if it is none."""
    try:
        return float(marker)
    except ValueError:
        return None


@cache
def missing_words(markers: tuple[str, ...]) -> Any:
    """Return the cells that stand for missing values; markers may be numbers, and then do not."""
    return arrow().array([*MISSING, *(marker for marker in markers if as_number(marker) is None)])


class TextColumn:
    """Find out, block by block, how a column of text is read as numbers; then convert it.

    Cells that are in `na_values`, and no numbers themselves, are missing, as those of `MISSING`
    are. `n` cells were seen so far.
    """

    def __init__(self, options: ReadOptions) -> None:
        self.styles = styles_of(options.decimal, options.thousands)
        self.n = self.n_missing = 0
        self.seen: set[str] = set()
        """The markers that occur."""
        self._markers = set(options.na_values or ())
        self._missing = missing_words(tuple(options.na_values or ()))
        self.unlike = dict.fromkeys((*self.styles, TRUTH, "whole", ".", ","), 0)
        """How many cells are not in a style, are not integers, or have a point or a comma."""
        self.first: dict[Style | str, tuple[int, str]] = {}
        """The first of them, with its row."""
        self.fitting = self.styles
        """The styles of all cells so far."""
        self.style: Style | None = None
        """That was chosen; None if the column is not used as numbers."""

    def update(self, cells: Any) -> None:
        """Look at the next cells; the first few tell how to look at the others at a glance."""
        if not self.n:
            self._look_at(cells[:GLANCE])
            cells = cells[GLANCE:]
        hopeless = min(map(self.unlike.__getitem__, (*self.styles, TRUTH))) * MALFORMED_SHARE
        if self._changes_nothing(cells) or (self.n > FEW_CELLS and hopeless > self.n):
            self.n, self.n_missing = self.n + len(cells), self.n_missing + cells.null_count
        elif len(cells):
            self._look_at(cells)

    def _present(self, cells: Any) -> Any:
        """Return cells without spaces around them, and null for those that are missing."""
        pa, compute = arrow(), arrow("pyarrow.compute")
        cells = compute.utf8_trim_whitespace(cells)
        if unseen := self._markers - self.seen:
            same = compute.is_in(cells, value_set=pa.array(sorted(unseen)))
            self.seen |= set(cells.filter(same).to_pylist())
        missing = compute.is_in(cells, value_set=self._missing)
        return compute.if_else(missing, pa.scalar(None, cells.type), cells)

    def _changes_nothing(self, cells: Any) -> bool:
        """Whether it is seen at a glance that cells are as those before them."""
        fitting = self.fitting
        if not fitting or not self.unlike[TRUTH]:
            return False
        if len(fitting) > 1 or not self.unlike["whole"]:
            return _cast(cells, "int64") is not None and _cast(cells, "double") is not None
        return fitting[0].decimal == "." and _cast(cells, "double") is not None

    def _look_at(self, cells: Any) -> None:
        """Compare cells with all styles."""
        cells, start = self._present(cells), self.n
        self.n, self.n_missing = start + len(cells), self.n_missing + cells.null_count
        if self._changes_nothing(cells):
            return
        words = cells.to_pylist()
        for cell, count in Counter(words).items():
            if cell is None:
                continue
            unlike: list[Style | str] = [mark for mark in ".," if mark in cell]
            unlike += [s for s in (*self.styles, TRUTH) if not s.pattern.fullmatch(cell)]
            unlike += [] if WHOLE.fullmatch(cell) else ["whole"]
            for what in unlike:
                if what not in self.first:
                    self.first[what] = (start + words.index(cell), cell)
                self.unlike[what] += count
        self.fitting = [style for style in self.styles if not self.unlike[style]]

    @property
    def is_ambiguous(self) -> bool:
        """Whether there are two styles that give other numbers."""
        return len(self.fitting) > 1 and bool(self.unlike["."] or self.unlike[","])

    def doubt(self) -> Reason:
        """Say how differently the column could be read."""
        _, cell = min(self.first[mark] for mark in ".," if mark in self.first)
        read = (style.cast(arrow().array([cell]), "double") for style in self.styles)
        first, second = (f"{number[0].as_py():.15g}" for number in read)
        what = f"numbers such as {cell!r}, which may be {first} or {second}"
        return Reason(what, doubtful=True)

    def why_not(self) -> Reason:
        """Say that the column holds text, or numbers but for a few cells."""
        style = min(self.styles, key=self.unlike.__getitem__)
        n_wrong, (row, cell) = self.unlike[style], self.first[style]
        if found := GROUPED.fullmatch(cell):
            mark = " " if found[1].isspace() else found[1]
            what = f"numbers such as {cell!r}, which thousands={mark!r} reads"
            return Reason(what, malformed=True)
        if len(cell) > SHOWN_CHARACTERS:
            cell = f"{cell[: SHOWN_CHARACTERS - 1]}…"
        if n_wrong * MALFORMED_SHARE > self.n - self.n_missing:
            return Reason(TEXT.what, f" such as {cell!r}")
        are = "cell that is no number" if n_wrong == 1 else "cells that are no numbers"
        what = f"{n_wrong} {are} among {self.n}, the first {cell!r} in row {row + 1}"
        return Reason(what, malformed=True)

    @property
    def kind(self) -> str:
        """The name of the type of the column in Arrow."""
        if self.style is None:
            return "string"
        if not self.unlike["whole"]:
            return "int64"
        return "double" if self.style.decimal else "bool"

    def cast(self, cells: Any) -> Any:
        """Return cells in the type of the column; null for those that are missing."""
        style = self.style
        if style is None:
            return cells
        if style.decimal == "." and (found := _cast(cells, self.kind)) is not None:
            return found  # most columns need no change
        return style.cast(self._present(cells), self.kind)


def _cast(cells: Any, kind: str) -> Any:
    """Convert cells to a type; None if one of them is not of that type."""
    try:
        return cells.cast(kind)
    except arrow().ArrowInvalid:
        return None


def settle(columns: list[TextColumn], semicolons: bool) -> list[Reason | None]:
    """Choose the style of each column; return why columns are not used as numbers.

    `semicolons` are between the cells: so spreadsheets write where commas are decimal points.
    """
    certain = {column.fitting[0] for column in columns if len(column.fitting) == 1}
    reasons: list[Reason | None] = []
    for column in columns:
        fitting = column.fitting or [TRUTH] * (not column.unlike[TRUTH])
        reason = None if fitting else column.why_not()
        if column.is_ambiguous and len(certain) == 1:
            fitting = list(certain)
        elif column.is_ambiguous and (certain or semicolons or column.unlike[","]):
            reason = column.doubt()
        reasons.append(reason)
        column.style = None if reason else fitting[0]
    return reasons


def notes_on(columns: dict[str, TextColumn]) -> list[str]:
    """Tell which columns have decimal commas, or marks between thousands."""
    found: dict[str, list[str]] = {}
    for name, column in columns.items():
        decimal, thousands = (
            (column.style.decimal, column.style.thousands) if column.style else ("",) * 2
        )
        if decimal == "," and column.unlike[","]:
            found.setdefault("Commas were read as decimal points", []).append(name)
        if thousands in (".", ",") and column.unlike[thousands]:
            what = "Commas" if thousands == "," else "Points"
            found.setdefault(f"{what} were read as thousands separators", []).append(name)
    return [f"{what} in {listed(own)}." for what, own in found.items()]
