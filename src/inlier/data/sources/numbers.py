"""Numbers in columns of text: which mark is the decimal point, and which separates thousands.

A column holds numbers if all of its cells do, also those far down. 1.234 may be 1.234 or 1234: the
other cells of its column and the other columns of its file decide or, if they do not, nobody does.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data.sources.base import arrow, listed
from inlier.data.sources.content import TEXT, ReadOptions, Reason, holds

MISSING = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "None", "none", "#NA", "n.a.", "N.A.", "?"),
)
# A column is called malformed if at most one in so many cells is not a number, and is not looked
# at any more if it is not after so many cells.
MALFORMED_SHARE, FEW_CELLS = 2, 100
SHOWN_CHARACTERS = 20
# With another mark between thousands.
GROUPED = re.compile(r"[+-]?\d{1,3}([^\w.,:/+-])\d{3}(\1\d{3})*([.,]\d+)?$")
# Looked for in every column: integers that fit, cells without a point, and without a comma.
ALWAYS = (r"^-?\d{1,18}$", "^[^.]*$", "^[^,]*$")


@dataclass(frozen=True)
class Style:
    """A way to write numbers; without a decimal mark, truth values."""

    decimal: str = ""
    thousands: str = ""

    @property
    def pattern(self) -> str:
        """Matches a cell that is written in this way."""
        if not self.decimal:
            return "^(?i:true|false)$"
        point, separator = f"[{self.decimal}]", self._separator
        whole = rf"(\d+|[1-9]\d{{0,2}}({separator}\d{{3}})+)"
        number = rf"({whole}({point}\d*)?|{point}\d+)([eE][+-]?\d+)?"
        return f"^[+-]?({number}|(?i:nan|inf|infinity))$"

    @property
    def _separator(self) -> str:
        """Matches the mark between thousands; a space may be one that does not break."""
        return "[ \u00a0\u202f]" if self.thousands == " " else f"[{self.thousands}]"

    def cast(self, cells: Any, kind: str) -> Any:
        """Convert cells that match to a type of Arrow."""
        compute = arrow("pyarrow.compute")
        if not self.decimal:
            return compute.equal(compute.utf8_lower(cells), "true").cast(kind)
        if self.decimal == "." and (cast := _cast(cells, kind)) is not None:
            return cast  # most columns need no change
        cells = compute.replace_substring_regex(cells, self._separator, "")
        return compute.replace_substring(cells, self.decimal, ".").cast(kind)


POINT, COMMA, TRUTH = Style(".", ","), Style(",", "."), Style()


def styles_of(options: ReadOptions) -> list[Style]:
    """Return the ways in which numbers may be written, given what is known of them."""
    decimal, thousands = options.decimal, options.thousands
    if decimal is not None:
        return [Style(decimal, thousands or ("," if decimal == "." else ".")), TRUTH]
    if thousands in (",", "."):
        return [POINT if thousands == "," else COMMA, TRUTH]
    if thousands is not None:
        return [Style(".", thousands), Style(",", thousands), TRUTH]
    return [POINT, COMMA, TRUTH]


def as_number(marker: str) -> float | None:
    """Return a marker of missing values as a number; None if it is none."""
    try:
        return float(marker)
    except ValueError:
        return None


class NumberReader:
    """Find out, batch by batch, how d columns of text are read as numbers; then convert them.

    Cells that are in `na_values`, and no numbers themselves, are missing, as those of `MISSING`
    are. `n` cells of each column were seen so far.
    """

    def __init__(self, d: int, options: ReadOptions) -> None:
        self.styles = styles_of(options)
        self.n, self.n_missing = 0, np.zeros(d, int)
        self.seen: set[str] = set()
        """The markers that occur."""
        self._markers = options.na_values or ()
        words = [marker for marker in self._markers if as_number(marker) is None]
        self._missing = (*MISSING, *words)
        self._patterns = [*(style.pattern for style in self.styles), *ALWAYS]
        self._unlike = np.zeros((len(self._patterns), d), int)
        """By pattern and column, how many cells do not match."""
        self._first: dict[tuple[int, int], tuple[int, str]] = {}
        """The first of them, with its row."""
        self.chosen: list[Style | None] = [None] * d
        """The style of each column; None if it is not used as numbers."""
        self.kinds = ["string"] * d
        """The type of each column."""

    def update(self, columns: list[Any]) -> None:
        """Look at the next cells of all columns."""
        start, n_styles = self.n, len(self.styles)
        self.n += len(columns[0])
        hopeless = (self._unlike * MALFORMED_SHARE > start) & (start > FEW_CELLS)
        looked = np.flatnonzero(~hopeless[:n_styles].all(axis=0))
        cells = dict(zip(looked, self._present([columns[j] for j in looked]), strict=True))
        self.n_missing[looked] += [cells[j].null_count for j in looked]
        for i, pattern in enumerate(self._patterns):
            own = looked[~hopeless[i, looked]]
            unlike = _unlike([cells[j] for j in own], pattern)
            counts = np.count_nonzero(unlike, axis=1)
            for k in np.flatnonzero((counts > 0) & (self._unlike[i, own] == 0)):
                row = int(np.argmax(unlike[k]))
                self._first[i, own[k]] = (start + row, cells[own[k]][row].as_py())
            self._unlike[i, own] += counts

    def _present(self, columns: list[Any]) -> list[Any]:
        """Return the trimmed cells of columns, with null for those that are missing."""
        pa, compute = arrow(), arrow("pyarrow.compute")
        if not columns:
            return []
        cells = compute.utf8_trim_whitespace(pa.concat_arrays(columns))
        if unseen := set(self._markers) - self.seen:
            same = compute.is_in(cells, value_set=pa.array(sorted(unseen)))
            self.seen |= set(cells.filter(same).unique().to_pylist())
        missing = compute.is_in(cells, value_set=pa.array(self._missing))
        cells = compute.if_else(missing, pa.scalar(None, cells.type), cells)
        n = len(columns[0])
        return [cells.slice(k * n, n) for k in range(len(columns))]

    def settle(self, semicolons: bool) -> list[Reason | None]:
        """Choose the style of each column; return why columns are not used as numbers.

        `semicolons` are between the cells: so spreadsheets write where commas are decimal points.
        """
        fits, reasons = self._unlike == 0, []
        numbers = fits[: len(self.styles) - 1]
        certain = np.flatnonzero(numbers[:, numbers.sum(axis=0) == 1].any(axis=1))
        for j, (no_point, no_comma) in enumerate(fits[-2:].T):
            own = np.flatnonzero(fits[: len(self.styles), j])
            reason = None
            if numbers[:, j].sum() > 1 and not (no_point and no_comma):  # they give other numbers
                if len(certain) == 1:
                    own = certain
                elif len(certain) or semicolons or not no_comma:
                    reason = self._doubt(j)
            elif not len(own):
                reason = self._why_not(j)
            reasons.append(reason)
            if reason is None:
                style, whole = self.styles[own[0]], fits[len(self.styles), j]
                self.chosen[j] = style
                self.kinds[j] = "bool" if style == TRUTH else "int64" if whole else "double"
        return reasons

    def _doubt(self, j: int) -> Reason:
        """Say how differently a column could be read."""
        last = len(self._patterns)
        marked = [self._first[i, j] for i in (last - 2, last - 1) if (i, j) in self._first]
        _, cell = min(marked)
        first, second = (
            f"{style.cast(arrow().array([cell]), 'double')[0].as_py():.15g}"
            for style in self.styles[:2]
        )
        return holds(f"numbers such as {cell!r}, which may be {first} or {second}", doubtful=True)

    def _why_not(self, j: int) -> Reason:
        """Say that a column holds text, or numbers but for a few cells."""
        i = int(np.argmin(self._unlike[: len(self.styles) - 1, j]))
        n_wrong = int(self._unlike[i, j])
        row, cell = self._first[i, j]
        if found := GROUPED.match(cell):
            mark = " " if found[1].isspace() else found[1]
            return holds(
                f"numbers such as {cell!r}, which thousands={mark!r} reads", malformed=True
            )
        if n_wrong * MALFORMED_SHARE > self.n - self.n_missing[j]:
            return TEXT.such_as(shortened(cell))
        are = "is no number" if n_wrong == 1 else "are no numbers"
        words = f"{n_wrong} of {self.n} cells {are}, the first {shortened(cell)!r} in row {row + 1}"
        return Reason(words, f"in each of them {words}", malformed=True)

    def notes(self, names: tuple[str, ...]) -> list[str]:
        """Tell which columns have decimal commas, or marks between thousands."""
        found: dict[str, list[str]] = {}
        absent = dict(zip(".,", self._unlike[-2:] == 0, strict=True))
        for j, (name, style) in enumerate(zip(names, self.chosen, strict=True)):
            if style is not None and style.decimal == "," and not absent[","][j]:
                found.setdefault("Commas were read as decimal points", []).append(name)
            if style is not None and style.thousands in absent and not absent[style.thousands][j]:
                what = "Commas" if style.thousands == "," else "Points"
                found.setdefault(f"{what} were read as thousands separators", []).append(name)
        return [f"{what} in {listed(own)}." for what, own in found.items()]

    def convert(self, columns: list[Any], which: list[int]) -> list[Any]:
        """Return the cells of some columns in their types; those of one type are cast together."""
        out = list(columns)
        alike: dict[tuple[Style, str], list[int]] = {}
        for k, j in enumerate(which):
            if (style := self.chosen[j]) is not None:
                alike.setdefault((style, self.kinds[j]), []).append(k)
        for (style, kind), places in alike.items():
            cells = self._present([columns[k] for k in places])
            cast = style.cast(arrow().concat_arrays(cells), kind)
            for i, k in enumerate(places):
                out[k] = cast.slice(i * len(columns[k]), len(columns[k]))
        return out


def shortened(cell: str) -> str:
    """Return the first characters of a cell."""
    return cell if len(cell) <= SHOWN_CHARACTERS else f"{cell[: SHOWN_CHARACTERS - 1]}…"


def _unlike(columns: list[Any], pattern: str) -> Array:
    """Return which cells are there and do not match a pattern, one row for each column."""
    pa, compute = arrow(), arrow("pyarrow.compute")
    if not columns:
        return np.zeros((0, 0), bool)
    cells = pa.concat_arrays(columns)
    if pattern == POINT.pattern and _cast(cells, "double") is not None:
        return np.zeros((len(columns), 1), bool)
    wrong = compute.invert(compute.match_substring_regex(cells, pattern))
    return np.asarray(compute.fill_null(wrong, False)).reshape(len(columns), -1)


def _cast(cells: Any, kind: str) -> Any:
    """Convert cells to a type; None if one of them is not of that type."""
    try:
        return cells.cast(kind)
    except arrow().ArrowInvalid:
        return None
