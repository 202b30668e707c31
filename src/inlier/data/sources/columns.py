"""Columns with types of their own, held by Arrow or streamed; and numbers in columns of text."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces, working_precision
from inlier._internal.typing import Array, Mask
from inlier.data.sources.base import Source, arrow
from inlier.data.sources.content import (
    BLOCK_BYTES,
    TEXT,
    Content,
    ReadOptions,
    Reason,
    ReasonKind,
    holds,
)
from inlier.data.sources.npy import SpooledSource

MISSING = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "None", "none", "#NA", "n.a.", "N.A.", "?"),
)
# A plain pattern, to count cells with; it is the conversion that decides.
NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:nan|inf|infinity))$"
# Cells that are surely of a type, and integers that may be too large for it.
PLAIN_INTEGER, LONG_INTEGER, BIT = r"^-?\d{1,18}$", r"^-?\d{19,}$", "^[01]$"
# 1,234 may be 1.234 or 1234.
THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2},\d{3}\s*$"
AMBIGUOUS = holds("numbers with commas, which may be decimal points or thousands")
# A column is called malformed if at most one in so many cells is not a number.
MALFORMED_SHARE = 10
# Columns of a wide table whose cells are cast together: a call for each takes most of the time.
TOGETHER = 1000
# Rows of a table that is written.
TABLE_BYTES = 1 << 26

Batches = Callable[[list[int] | None], Iterator[Any]]


class Columns(Content):
    """Columns of Arrow, in batches of a `table` in memory or of a file.

    `batches` yields some columns, or all, in record batches; `cells` does, as they were written.
    `reasons` are by column number, where types do not decide. `names` are distinct.
    """

    def __init__(
        self,
        schema: Any,
        n: int,
        names: tuple[str, ...],
        options: ReadOptions,
        batches: Batches,
        *,
        reasons: Mapping[int, Reason | None],
        table: Any = None,
        cells: Batches | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.schema, self.n = without_views(schema), n
        self.names, self.options, self.notes = names, options, notes
        self._table, self._batches, self._cells = table, batches, cells or batches
        self.reasons = tuple(
            reasons[j] if j in reasons else self._reason(j) for j in range(len(names))
        )

    def _reason(self, j: int) -> Reason | None:
        """Return why a column is not used as numbers; text in memory is looked through."""
        reason = reason_of_type(self.schema.types[j])
        if reason is not TEXT or self._table is None:
            return reason
        detector = NumberDetector()
        detector.update(self._table.column(j).cast(self.schema.types[j]))
        return detector.reason or holds("text, although its cells are numbers")

    def numbers(self, columns: list[int]) -> Array | Source:
        """Write those of a file to a temporary one."""
        schema = arrow().schema([self.schema.field(j) for j in columns])
        if self._table is not None:
            return to_numpy(self._table.select(columns), numeric_dtype(schema))
        return spooled(self._batches(columns), schema)

    def words(self, column: int) -> Array:
        """Return a column as text, in which what is missing is empty."""
        return np.concatenate([_words(batch.column(0)) for batch in self._cells([column])])

    def tables(self, rows: Mask) -> Iterator[Any]:
        """Yield some rows with the schema and its metadata."""
        return _gathered(self._batches(None), rows, self.schema)

    def texts(self, rows: Mask) -> Iterator[Any]:
        """Yield some rows as they were written."""
        return _gathered(self._cells(None), rows, None)


def in_batches(table: Any) -> Batches:
    """Return a function that yields the batches of a table in memory."""
    return lambda columns: iter((table if columns is None else table.select(columns)).to_batches())


def _gathered(batches: Iterator[Any], rows: Mask, schema: Any) -> Iterator[Any]:
    """Yield the rows of small batches in larger tables, at least one."""
    pa = arrow()
    held: list[Any] = []
    start = 0
    for batch in batches:
        batch = batch if schema is None or batch.schema == schema else batch.cast(schema)
        kept = batch.filter(pa.array(rows[start : start + len(batch)]))
        start += len(batch)
        if held and sum(part.nbytes for part in (*held, kept)) > TABLE_BYTES:
            yield pa.Table.from_batches(held, schema)
            held = []
        held.append(kept)
    yield pa.Table.from_batches(held, schema)


def without_views(schema: Any) -> Any:
    """Replace views of strings, which Polars writes, and of which pyarrow cannot filter rows."""
    pa = arrow()
    plain = {"string_view": pa.string(), "binary_view": pa.binary()}
    for j, field in enumerate(schema):
        if str(field.type) in plain:
            schema = schema.set(j, field.with_type(plain[str(field.type)]))
    return schema


def numeric_dtype(fields: Any, name: str = "X") -> np.dtype[Any]:
    """Return a floating point type that holds all columns, because entries may be missing."""
    types = arrow().types
    kinds: list[Any] = []
    for field in fields:
        if not is_numeric(field.type):
            raise ValueError(
                f"{name} must hold real numbers, but its column {field.name!r} has type "
                f"{field.type}. Select or encode the numeric columns first."
            )
        odd = types.is_decimal(field.type) or types.is_null(field.type)
        kinds.append(np.float64 if odd else field.type.to_pandas_dtype())
    return working_precision(np.result_type(*kinds).name if kinds else "float64")


def to_numpy(batch: Any, dtype: np.dtype[Any]) -> Array:
    """Return the columns of a batch or a table as one array; missing becomes NaN."""
    kind = arrow().from_numpy_dtype(dtype)
    out = np.empty((batch.num_rows, batch.num_columns), dtype)
    for j, column in enumerate(batch.columns):
        out[:, j] = column.cast(kind, safe=False).to_numpy(zero_copy_only=False)
    return out


def spooled(batches: Iterator[Any], schema: Any, name: str = "X") -> Source:
    """Write the numbers of record batches to a temporary file, and return it as a source."""
    dtype = numeric_dtype(schema, name)
    height = max(1, BLOCK_BYTES // (len(schema) * dtype.itemsize))
    blocks = (
        to_numpy(batch.slice(rows.start, height), dtype)
        for batch in batches
        for rows in pieces(len(batch), height)
    )
    source = SpooledSource(blocks, len(schema), dtype)
    arrow().default_memory_pool().release_unused()
    return source


def _words(cells: Any) -> Array:
    try:
        found = cells.cast(arrow().string()).to_pylist()
    except arrow().ArrowException:  # lists and the like
        found = [None if cell is None else str(cell) for cell in cells.to_pylist()]
    return np.array(["" if cell is None else cell for cell in found], object)


class NumberDetector:
    """Find out, block by block, whether a column of text holds numbers.

    A column holds numbers if all of its cells do: integers, floats or truth values. Cells that are
    in `na_values` are missing, as those of `MISSING` are; with `commas`, a comma may be a decimal
    point. `n` cells were seen so far.
    """

    def __init__(self, na_values: tuple[str, ...] = (), commas: bool = False) -> None:
        self._na_values = na_values
        self._kinds = ["int64", "double", "bool"]
        self._comma_kinds: list[str] | None = [] if not commas else None
        """What fits if commas are decimal points; None as long as there are none."""
        self._thousands = True
        self._n_wrong, self._first = 0, (0, "")
        self.n = self.n_missing = 0

    def update(self, cells: Any) -> None:
        """Look at the next cells."""
        present = cells
        before = self._kinds
        if before and not self._na_values:
            self._kinds = _castable(cells, before)
        if self._na_values or not self._kinds:  # most columns are clean
            present = self._without_missing(cells)
            self.n_missing += present.null_count
            self._kinds = _castable(present, before)
        if not self._kinds:
            self._count_wrong(present)
            if self._comma_kinds is None:
                self._comma_kinds = before
            if self._comma_kinds:
                self._thousands &= _may_be_thousands(cells)
                self._comma_kinds = _castable(_with_points(present), self._comma_kinds)
        self.n += len(cells)

    def accept(self, kinds: tuple[str, ...], n: int, n_missing: int) -> bool:
        """Take n cells that fit some types and no other, if the column may be of one of them."""
        fitting = [kind for kind in self._kinds if kind in kinds]
        if fitting:
            self._kinds, self.n, self.n_missing = fitting, self.n + n, self.n_missing + n_missing
        return bool(fitting)

    def kinds_together(self, columns: list[Any]) -> list[tuple[tuple[str, ...], int]] | None:
        """Return types and missing cells of each column; None if that takes a closer look."""
        pa, compute = arrow(), arrow("pyarrow.compute")
        cells = self._without_missing(pa.concat_arrays(columns))

        def matching(pattern: str, missing: bool) -> Array:
            found = compute.fill_null(compute.match_substring_regex(cells, pattern), missing)
            return np.asarray(found).reshape(len(columns), -1)

        try:
            cells.cast("double")
        except pa.ArrowInvalid:
            return None
        if matching(LONG_INTEGER, missing=False).any():
            return None
        whole, bits = (matching(one, missing=True).all(axis=1) for one in (PLAIN_INTEGER, BIT))
        missing = np.asarray(cells.is_null()).reshape(len(columns), -1).sum(axis=1)
        fitting = {"int64": whole, "double": np.ones_like(whole), "bool": bits}
        kinds = [
            tuple(kind for kind, fits in zip(fitting, flags, strict=True) if fits)
            for flags in zip(*fitting.values(), strict=True)
        ]
        return list(zip(kinds, missing.tolist(), strict=True))

    @property
    def decimal_commas(self) -> bool:
        """Whether the cells are numbers with decimal commas."""
        return not self._kinds and bool(self._comma_kinds) and not self._thousands

    @property
    def kind(self) -> Any:
        """The type of the column."""
        kinds = (self._comma_kinds or []) if self.decimal_commas else self._kinds
        return arrow().type_for_alias(kinds[0] if kinds else "string")

    @property
    def reason(self) -> Reason | None:
        """Why the column is not used as numbers."""
        if self._kinds or self.decimal_commas:
            return None
        if self._comma_kinds:
            return AMBIGUOUS
        n_wrong = self._n_wrong
        if not 0 < n_wrong * MALFORMED_SHARE <= self.n - self.n_missing:
            return TEXT
        row, cell = self._first
        are = "is no number" if n_wrong == 1 else "are no numbers"
        words = f"{n_wrong} of {self.n} cells {are}, the first {cell!r} in row {row + 1}"
        return Reason(ReasonKind.MALFORMED, words, f"in each of them {words}")

    def convert(self, cells: Any) -> Any:
        """Return cells in the type of the column."""
        if self.reason is not None:
            return cells
        present = self._without_missing(cells)
        return (_with_points(present) if self.decimal_commas else present).cast(self.kind)

    def _without_missing(self, cells: Any) -> Any:
        pa, compute = arrow(), arrow("pyarrow.compute")
        trimmed = compute.utf8_trim_whitespace(cells)
        words = pa.array((*MISSING, *self._na_values), trimmed.type)
        missing = compute.is_in(trimmed, value_set=words)
        return compute.if_else(missing, pa.scalar(None, trimmed.type), trimmed)

    def _count_wrong(self, present: Any) -> None:
        compute = arrow("pyarrow.compute")
        number = compute.match_substring_regex(present, NUMBER)
        wrong = compute.fill_null(compute.invert(number), False)
        count = compute.sum(wrong).as_py() or 0
        if count and not self._n_wrong:
            first = compute.index(wrong, True).as_py()
            self._first = (self.n + first, present[first].as_py())
        self._n_wrong += count


def update_all(detectors: list[NumberDetector], batch: Any) -> None:
    """Show each detector its column; those of a wide table are looked at together."""
    n, columns = len(batch), batch.columns
    wide = 0 < n < len(columns)
    for some in pieces(len(columns), TOGETHER):
        found = detectors[some][0].kinds_together(columns[some]) if wide else None
        for i, (detector, column) in enumerate(zip(detectors[some], columns[some], strict=True)):
            if found is None or not detector.accept(found[i][0], n, found[i][1]):
                detector.update(column)


def convert_all(detectors: list[NumberDetector], batch: Any) -> list[Any]:
    """Return columns in their types; those of a wide table are cast together."""
    n, columns, out = len(batch), batch.columns, []
    wide = 0 < n < len(columns)
    for some in pieces(len(columns), TOGETHER):
        own = detectors[some]
        if wide and len({(one.reason, one.decimal_commas, one.kind) for one in own}) == 1:
            cells = own[0].convert(arrow().concat_arrays(columns[some]))
            out += [cells.slice(j * n, n) for j in range(len(own))]
        else:
            out += [one.convert(column) for one, column in zip(own, columns[some], strict=True)]
    return out


def _castable(cells: Any, kinds: list[str]) -> list[str]:
    """Return the types that all cells fit."""
    pa, compute = arrow(), arrow("pyarrow.compute")
    out: list[str] = []
    for kind in kinds:
        try:
            if not (kind == "double" and "int64" in out):
                cells.cast(pa.type_for_alias(kind))
            # Arrow reads 0x1f as an integer.
            if (
                kind != "int64"
                or not compute.any(compute.match_substring_regex(cells, "x|X")).as_py()
            ):
                out.append(kind)
        except pa.ArrowInvalid:
            continue
    return out


def _with_points(cells: Any) -> Any:
    """Replace decimal commas by points, one in each cell."""
    return arrow("pyarrow.compute").replace_substring(cells, ",", ".", max_replacements=1)


def _may_be_thousands(cells: Any) -> bool:
    """Whether three digits follow every comma."""
    compute = arrow("pyarrow.compute")
    with_comma = compute.match_substring(cells, ",")
    three = compute.match_substring_regex(cells, THOUSANDS)
    return not compute.any(compute.and_not(with_comma, three)).as_py()


def is_numeric(kind: Any) -> bool:
    """Whether values of a type are numbers, or always missing."""
    types = arrow().types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def reason_of_type(kind: Any) -> Reason | None:
    """Return why a column of a type is not used as numbers."""
    types = arrow().types
    if is_numeric(kind):
        return None
    if types.is_string(kind) or types.is_large_string(kind):
        return TEXT
    if types.is_temporal(kind):
        return holds("dates or times")
    if types.is_dictionary(kind):
        return holds("categories")
    return holds(f"values of type {kind}")
