"""Tables whose columns have types of their own, held by Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.io.base import Content, ReadOptions, arrow, listed

MISSING = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "None", "none", "#NA", "n.a.", "N.A.", "?"),
)
# A plain pattern, to count cells with; it is the conversion that decides.
NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:nan|inf|infinity))$"
# If no more than one in so many cells is no number, it is worth telling.
FEW = 10
TEXT = "text"
INDEX = "the index of pandas"


class Columns(Content):
    """A table of Arrow.

    Parameters
    ----------
    table : pyarrow.Table
    names : tuple of str
        Distinct ones.
    reasons : dict
        Why columns are left out, by their numbers, where the types do not tell.
    cells : pyarrow.Table, optional
        The same table as it was written, if it was text.
    """

    def __init__(
        self,
        table: Any,
        names: tuple[str, ...],
        options: ReadOptions,
        *,
        reasons: dict[int, str] | None = None,
        cells: Any = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.table = _without_views(table)
        self.schema = self.table.schema
        self.cells = cells
        self.n = table.num_rows
        self.names = names
        self.options = options
        self.notes = notes
        known = reasons or {}
        self.reasons = tuple(
            known[j] if j in known else _reason(column)
            for j, column in enumerate(self.table.columns)
        )

    def numbers(self, columns: list[int]) -> Array:
        """See `Content.numbers`."""
        pa = arrow()
        chosen = [self.table.column(j) for j in columns]
        single = bool(chosen) and all(column.type == pa.float32() for column in chosen)
        X = np.empty((self.n, len(columns)), np.float32 if single else np.float64)
        for j, column in enumerate(chosen):
            kind = pa.from_numpy_dtype(X.dtype)
            X[:, j] = column.cast(kind, safe=False).to_numpy(zero_copy_only=False)
        return X

    def words(self, column: int) -> Array:
        """See `Content.words`. What is missing is empty."""
        cells = (self.table if self.cells is None else self.cells).column(column)
        try:
            found = cells.cast(arrow().string()).to_pylist()
        except arrow().ArrowException:  # lists and the like
            found = [None if cell is None else str(cell) for cell in cells.to_pylist()]
        return np.array(["" if cell is None else cell for cell in found], object)

    def arrow(self, rows: Mask) -> Any:
        """See `Content.arrow`. Schema and metadata stay."""
        return self.table.filter(arrow().array(rows))


def _without_views(table: Any) -> Any:
    """Polars writes views of strings, of which pyarrow cannot filter rows."""
    pa = arrow()
    for j, column in enumerate(table.columns):
        plain = {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(column.type))
        if plain is not None:
            table = table.set_column(j, table.field(j).with_type(plain), column.cast(plain))
    return table


def parsed(cells: Any, na_values: tuple[str, ...] = ()) -> tuple[Any, str]:
    """Text as whole numbers, numbers or truth values; or as it is, and why.

    Cells that are among `na_values` are missing, as those of `MISSING` are.
    """
    pa, compute = arrow(), arrow("pyarrow.compute")
    if not na_values and (numbers := _cast(cells)) is not None:  # most columns are clean
        return numbers, ""
    trimmed = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(trimmed, value_set=pa.array((*MISSING, *na_values), trimmed.type))
    present = compute.if_else(missing, pa.scalar(None, trimmed.type), trimmed)
    if (numbers := _cast(present)) is not None:
        return numbers, ""
    wrong = compute.fill_null(compute.invert(compute.match_substring_regex(present, NUMBER)), False)
    count, n = compute.sum(wrong).as_py(), len(cells)
    if not 0 < count * FEW <= n - present.null_count:
        return cells, TEXT
    first = compute.index(wrong, True).as_py()
    are = "is no number" if count == 1 else "are no numbers"
    example = f"the first {cells[first].as_py()!r} in row {first + 1}"
    return cells, f"{count} of {n} cells {are}, {example}"


def _cast(cells: Any) -> Any:
    pa = arrow()
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        try:
            return cells.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def distinct(names: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that differ, and a note if they did not: "a" and "a.1"."""
    out: list[str] = []
    taken = set(names)
    seen: dict[str, int] = {}
    for name in names:
        unique = name
        if name in seen:
            while unique in taken:
                seen[name] += 1
                unique = f"{name}.{seen[name] - 1}"
            taken.add(unique)
        else:
            seen[name] = 1
        out.append(unique)
    changed = [new for old, new in zip(names, out, strict=True) if old != new]
    if not changed:
        return tuple(out), ()
    return tuple(out), (f"Columns of the same name were told apart: {listed(changed)}.",)


def is_numeric(kind: Any) -> bool:
    """Whether values of a type are numbers, or always missing."""
    types = arrow().types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _reason(column: Any) -> str:
    """Why a column holds no numbers, by its type."""
    types, kind = arrow().types, column.type
    if is_numeric(kind):
        return ""
    if types.is_string(kind) or types.is_large_string(kind):
        reason = parsed(column)[1]
        return reason or "text, although its cells are numbers"
    if types.is_temporal(kind):
        return "dates or times"
    if types.is_dictionary(kind):
        return "categories"
    return f"values of type {kind}"
