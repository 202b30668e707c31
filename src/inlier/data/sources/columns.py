"""Columns of Arrow: with types of their own, or of text that is read as numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces, working_precision
from inlier._internal.typing import Array
from inlier.data.sources.base import BLOCK_BYTES, arrow
from inlier.data.sources.content import (
    LABELS,
    TEXT,
    Content,
    ReadOptions,
    Reason,
    distinct,
    holds,
)
from inlier.data.sources.location import Location
from inlier.data.sources.numbers import NumberReader, as_number

TRAILING = holds("nothing: the lines end in a delimiter")
NUMERIC = ("integer", "floating", "boolean", "decimal", "null")

Batches = Callable[[list[int]], Iterator[Any]]


class Columns(Content):
    """Columns in record batches of a file, or of a table in memory.

    `batches` yields some columns. Those whose numbers are in `untyped` are text, and numbers if all
    of their cells are; they are looked through at once. `label` is the number of the column with
    the labels of the rows, which is used as numbers only if asked for.
    """

    def __init__(
        self,
        schema: Any,
        batches: Batches,
        location: Location,
        options: ReadOptions,
        *,
        n: int = 0,
        untyped: Iterable[int] = (),
        titles: Iterable[str] | None = None,
        label: int | None = None,
        notes: Iterable[str] = (),
        first_line: int | None = None,
    ) -> None:
        pa = arrow()
        self.location, self.options, self.label = location, options, label
        self.first_line = first_line
        self._stored = batches
        self._untyped = {j: k for k, j in enumerate(untyped)}
        titles = schema.names if titles is None else list(titles)
        # Labels without a name stay so, also in what is written.
        named = [name or f"x{j}" * (j != label) for j, name in enumerate(titles)]
        self.names, renamed = distinct(named)
        self._reader = reader = NumberReader(len(self._untyped), options)
        for batch in batches(list(self._untyped)) if self._untyped else ():
            reader.update(batch.columns)
        self.n = reader.n if self._untyped else n
        reasons = [reason_of_type(kind) for kind in schema.types]
        fields = [field.with_name(name) for field, name in zip(schema, self.names, strict=True)]
        found = zip(self._untyped, reader.settle(options.delimiter == ";"), strict=True)
        for k, (j, reason) in enumerate(found):
            reasons[j] = reason
            fields[j] = pa.field(self.names[j], pa.type_for_alias(reader.kinds[k]))
            if options.delimiter and j == len(titles) - 1 > 0 and not titles[j]:
                reasons[j] = TRAILING if reader.n_missing[k] == reader.n else reason
        if label is not None and reasons[label] is None:
            reasons[label] = LABELS
        self.reasons = tuple(reasons)
        self.schema = without_views(pa.schema(fields, schema.metadata))
        untyped_names = tuple(self.names[j] for j in self._untyped)
        self.notes = (*notes, *renamed, *reader.notes(untyped_names))

    def batches(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns in their types."""
        pa = arrow()
        schema = pa.schema([self.schema.field(j) for j in columns], self.schema.metadata)
        text = [k for k, j in enumerate(columns) if j in self._untyped]
        which = [self._untyped[columns[k]] for k in text]
        for batch in self._stored(columns):
            arrays = dict(enumerate(batch.columns))
            converted = self._reader.convert([arrays[k] for k in text], which)
            arrays |= dict(zip(text, converted, strict=True))
            typed = [_as(arrays[k], kind) for k, kind in enumerate(schema.types)]
            yield pa.RecordBatch.from_arrays(typed, schema=schema)

    def blocks(self, columns: list[int]) -> tuple[np.dtype[Any], Iterator[Array]]:
        dtype = numeric_dtype([self.schema.field(j).type for j in columns])
        return dtype, self._without_markers(number_blocks(self.batches(columns), dtype))

    def _without_markers(self, blocks: Iterator[Array]) -> Iterator[Array]:
        """Replace the numbers that stand for missing values."""
        markers = self.options.na_values or ()
        values = {m: value for m in markers if (value := as_number(m)) is not None}
        seen = set(self._reader.seen)
        for block in blocks:
            for marker, value in values.items():
                same = block == block.dtype.type(value)
                if same.any():
                    seen.add(marker)
                    block[same] = np.nan
            yield block
        self.unseen = set(markers) - seen

    def cells(self, columns: list[int]) -> Iterator[Any]:
        return self._stored(columns)

    def decimal(self, column: int) -> str:
        style = self._reader.chosen[self._untyped[column]]
        return "." if style is None else style.decimal


def in_batches(table: Any) -> Batches:
    """Return a function that yields the batches of a table in memory."""
    return lambda columns: iter(table.select(columns).to_batches())


def without_views(schema: Any) -> Any:
    """Replace views of strings, which Polars writes, and of which pyarrow cannot filter rows."""
    pa = arrow()
    plain = {"string_view": pa.string(), "binary_view": pa.binary()}
    fields = (field.with_type(plain.get(str(field.type), field.type)) for field in schema)
    return pa.schema(list(fields), schema.metadata)


def numeric_dtype(kinds: Iterable[Any]) -> np.dtype[Any]:
    """Return a floating point type that holds all columns, because entries may be missing."""
    types = arrow().types
    dtypes = {
        np.float64 if types.is_decimal(kind) or types.is_null(kind) else kind.to_pandas_dtype()
        for kind in set(kinds)
    }
    return working_precision(np.result_type(*dtypes).name)


def number_blocks(batches: Iterator[Any], dtype: np.dtype[Any]) -> Iterator[Array]:
    """Yield the numbers of record batches in blocks of rows; missing becomes NaN."""
    kind = arrow().from_numpy_dtype(dtype)
    for batch in batches:
        height = max(1, BLOCK_BYTES // (batch.num_columns * dtype.itemsize))
        for rows in pieces(len(batch), height):
            part = batch.slice(rows.start, height)
            block = np.empty(part.shape, dtype)
            for j, column in enumerate(part.columns):
                block[:, j] = _as(column, kind).to_numpy(zero_copy_only=False)
            yield block
    arrow().default_memory_pool().release_unused()


def _as(column: Any, kind: Any) -> Any:
    """Return a column in a type; a call less for each of very many columns."""
    return column if column.type == kind else column.cast(kind, safe=False)


def reason_of_type(kind: Any) -> Reason | None:
    """Return why a column of a type is not used as numbers."""
    types = arrow().types
    if any(getattr(types, f"is_{name}")(kind) for name in NUMERIC):
        return None
    if str(kind) in ("string", "large_string", "string_view"):
        return TEXT
    if types.is_temporal(kind):
        return holds("dates or times")
    if types.is_dictionary(kind):
        return holds("categories")
    return holds(f"values of type {kind}")
