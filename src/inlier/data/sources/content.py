"""Contents of a file: named columns, those of numbers and the others."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from inlier._internal.arrays import working_precision
from inlier._internal.typing import Array
from inlier._internal.validation import check_rows_of_numbers
from inlier.data.sources.base import (
    Source,
    arrow,
    as_source,
    blocks_of,
    listed,
    spooled,
)
from inlier.data.sources.location import Location
from inlier.data.sources.numbers import TextColumn, as_number, notes_on, settle
from inlier.data.sources.options import LABELS, TEXT, ReadOptions, Reason

# A table that is loaded is held as an array, and in what a fit makes of it.
COPIES = 4
# Memory for the name of a column.
NAME_BYTES = 100
NUMERIC = ("integer", "floating", "boolean", "decimal", "null")

Stored = Callable[[list[int]], Iterable[Sequence[Any]]]
"""Yields some columns in blocks of rows."""


class Content:
    """Named columns of a file, some of which are numbers. They are read again whenever asked.

    `stored` yields some columns as arrays of Arrow. Those that `texts` lists are text, and hold
    numbers if all of their cells do; they are looked through at once. `label` is the number of the
    column with the labels of the rows, such as the index of a data frame, which is used as numbers
    only if asked for.
    """

    def __init__(
        self,
        location: Location,
        options: ReadOptions,
        schema: Any,
        stored: Stored,
        *,
        n: int = 0,
        texts: Iterable[int] = (),
        label: int | None = None,
        notes: Iterable[str] = (),
        first_line: int | None = None,
    ) -> None:
        self.location, self.options, self.stored = location, options, stored
        self.first_line = first_line
        """The line of a text in which the first row is."""
        self.unseen: Collection[str] = ()
        """Markers of missing values that occur nowhere, once the numbers were read."""
        self.array: Source | None = None
        self.notes, titles = [*notes], schema.names
        if any(titles) and not titles[0]:
            label = 0
            self.notes.append(
                "The first column has no name: it was taken for the labels of the rows."
            )
        self.label, self.titled = label, any(titles)
        unnamed = [f"x{j}" for j, title in enumerate(titles) if not title and j != label]
        if unnamed and any(titles):
            self.notes.append(f"Columns without a name in the header are called {listed(unnamed)}.")
        # Labels without a name stay so, also in what is written.
        named = [name or f"x{j}" * (j != label) for j, name in enumerate(titles)]
        self.names = distinct(named)
        if changed := [new for new, old in zip(self.names, named, strict=True) if new != old]:
            self.notes.append(f"Columns of the same name were renamed: {listed(changed)}.")
        self.texts = {j: TextColumn(options) for j in texts}
        for block in stored(list(self.texts)) if self.texts else ():
            for column, cells in zip(self.texts.values(), block, strict=True):
                column.update(cells)
                n = column.n
        self.n = n
        self.reasons = [
            None if j in self.texts else reason_of(kind) for j, kind in enumerate(schema.types)
        ]
        """For each column, why it is not used as numbers."""
        found = settle(list(self.texts.values()), options.delimiter == ";")
        for (j, column), reason in zip(self.texts.items(), found, strict=True):
            ends = options.delimiter and j == len(titles) - 1 > 0 and not titles[j]
            if ends and column.n_missing == n:
                reason = Reason("nothing: the lines end in a delimiter")
            self.reasons[j] = reason
        if label is not None and self.reasons[label] is None:
            self.reasons[label] = LABELS
        pa = arrow()
        fields = [field.with_name(name) for field, name in zip(schema, self.names, strict=True)]
        for j, column in self.texts.items():
            fields[j] = fields[j].with_type(pa.type_for_alias(column.kind))
        self.schema = pa.schema(fields, schema.metadata)
        self.notes += notes_on({self.names[j]: column for j, column in self.texts.items()})

    @classmethod
    def of_array(cls, array: Source, location: Location, options: ReadOptions) -> "Content":
        """Return the columns of an array, which stays where it is."""
        check_rows_of_numbers(array, location.label, stored=True)
        n, d = array.shape
        location.check_size(d * (array.dtype.itemsize + NAME_BYTES))  # a header may announce any d
        # Of the floating point types, Arrow knows those of at most 8 bytes.
        dtype = np.dtype(np.float64) if array.dtype.itemsize > 8 else array.dtype
        kind = arrow().from_numpy_dtype(dtype)

        def stored(columns: list[int]) -> Iterator[list[Any]]:
            for block in blocks_of(array):
                own = np.ascontiguousarray(block.T[columns], dtype)
                yield [arrow().array(column) for column in own]

        content = cls(location, options, arrow().schema([("", kind)] * d), stored, n=n)
        content.array = array
        return content

    def numbers(self, columns: list[int]) -> Array | Source:
        """Return some columns as floating point numbers, or as a source; missing is NaN."""
        dtype = self.dtype(columns)
        large = COPIES * self.n * len(columns) * dtype.itemsize > self.location.max_bytes
        if large and self.array is not None and columns == list(range(len(self.names))):
            return self.array
        if large:
            return spooled(self.blocks(columns, dtype), len(columns), dtype)
        out, start = np.empty((self.n, len(columns)), dtype), 0
        for block in self.blocks(columns, dtype):
            out[start : start + len(block)] = block
            start += len(block)
        return out

    def dtype(self, columns: list[int]) -> np.dtype[Any]:
        """Return a floating point type that holds all columns, because entries may be missing."""
        types, kinds = arrow().types, self.schema.types
        dtypes = {
            np.float64 if types.is_decimal(kind) or types.is_null(kind) else kind.to_pandas_dtype()
            for kind in {kinds[j] for j in columns}
        }
        return working_precision(np.result_type(*dtypes).name)

    def blocks(self, columns: list[int], dtype: np.dtype[Any]) -> Iterator[Array]:
        """Yield the numbers of some columns in blocks of rows."""
        if self.array is not None:
            yield from (block[:, columns].astype(dtype) for block in blocks_of(self.array))
            return
        markers, kind = self.options.na_values or (), arrow().from_numpy_dtype(dtype)
        values = {m: value for m in markers if (value := as_number(m)) is not None}
        seen = {marker for column in self.texts.values() for marker in column.seen}
        for part in self.stored(columns):
            block = np.empty((len(part[0]), len(columns)), dtype)
            for k, (j, cells) in enumerate(zip(columns, part, strict=True)):
                numbers = self.typed(j, cells)
                if numbers.type != kind:  # a call less for each of very many columns
                    numbers = numbers.cast(kind, safe=False)
                block[:, k] = numbers.to_numpy(zero_copy_only=False)
            for marker, value in values.items():
                same = block == dtype.type(value)
                if same.any():
                    seen.add(marker)
                    block[same] = np.nan
            yield block
        self.unseen = set(markers) - seen

    def typed(self, j: int, cells: Any) -> Any:
        """Return the cells of a column in its type."""
        return self.texts[j].cast(cells) if j in self.texts else cells

    def words(self, column: int) -> Array:
        """Return a column as text, in which what is missing is empty."""
        words = (word or "" for part in self.stored([column]) for word in as_words(part[0]))
        return np.array(list(words), object)

    def source(self, name: str) -> Source:
        """Return all columns as a source, but that with the labels of the rows."""
        for j, (column, reason) in enumerate(zip(self.names, self.reasons, strict=True)):
            if reason is not None and j != self.label:
                raise ValueError(
                    f"{name} must hold real numbers, but column {column!r} does not: it holds "
                    f"{reason.what}{reason.example}. Select or encode the numeric columns first."
                )
        used = [j for j, reason in enumerate(self.reasons) if reason is None]
        X = self.numbers(used)
        source = X if isinstance(X, Source) else as_source(X)
        source.columns = tuple(self.names[j] for j in used) if self.titled else None
        return source


def reason_of(kind: Any) -> Reason | None:
    """Return why a column of a type is not used as numbers."""
    types = arrow().types
    if any(getattr(types, f"is_{name}")(kind) for name in NUMERIC):
        return None
    if str(kind) in ("string", "large_string", "string_view"):
        return TEXT
    if types.is_temporal(kind):
        return Reason("dates or times")
    return Reason("categories" if types.is_dictionary(kind) else f"values of type {kind}")


def as_words(cells: Any) -> Sequence[str | None]:
    """Return the cells of a column as text; None for those that are missing."""
    try:
        found: list[str | None] = cells.cast(arrow().string()).to_pylist()
        return found
    except arrow().ArrowException:  # lists and the like
        return [None if cell is None else str(cell) for cell in cells.to_pylist()]


def distinct(names: list[str]) -> tuple[str, ...]:
    """Make names differ, such as "a" and "a.1"."""
    taken, out = set(names), []
    numbers: dict[str, int] = {}
    for name in names:
        unique = name
        if name in numbers:
            while (unique := f"{name}.{numbers[name]}") in taken:
                numbers[name] += 1
            taken.add(unique)
        numbers.setdefault(name, 1)
        out.append(unique)
    return tuple(out)
