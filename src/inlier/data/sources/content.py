"""Contents of a file: named columns, those of numbers and the others."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from inlier._internal.arrays import working_precision
from inlier._internal.typing import Array
from inlier.data.sources.base import (
    Source,
    arrow,
    as_source,
    blocks_of,
    check_table,
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

    A column has a type of Arrow or of numpy, and comes in arrays of that library. If it has none,
    it comes as cells of text, and holds numbers if all of them do; such columns are looked through
    at once. `label` is the number of the column with the labels of the rows, such as the index of a
    data frame, which is used as numbers only if asked for.
    """

    def __init__(
        self,
        location: Location,
        options: ReadOptions,
        titles: Sequence[str],
        types: Sequence[Any],
        stored: Stored,
        *,
        n: int = 0,
        label: int | None = None,
        notes: Iterable[str] = (),
        first_line: int | None = None,
        schema: Any = None,
    ) -> None:
        self.location, self.options, self.types, self.stored = location, options, types, stored
        self.label, self._schema = label, schema
        self.first_line = first_line
        """The line of a text in which the first row is."""
        self.unseen: Collection[str] = ()
        """Markers of missing values that occur nowhere, once the numbers were read."""
        self.array: Source | None = None
        # Labels without a name stay so, also in what is written.
        self.names, renamed = distinct(
            [name or f"x{j}" * (j != label) for j, name in enumerate(titles)]
        )
        self.texts = {j: TextColumn(options) for j, kind in enumerate(types) if kind is None}
        texts = list(self.texts.values())
        for block in stored(list(self.texts)) if texts else ():
            for column, cells in zip(texts, block, strict=True):
                column.update(cells)
        self.n = texts[0].n if texts else n
        found = dict(zip(self.texts, settle(texts, options.delimiter == ";"), strict=True))
        reasons = [found[j] if j in found else reason_of(kind) for j, kind in enumerate(types)]
        last = len(reasons) - 1
        is_empty = last in self.texts and self.texts[last].n_missing == self.n
        if options.delimiter and last > 0 and is_empty and not titles[last]:
            reasons[last] = Reason("nothing: the lines end in a delimiter")
        if label is not None and reasons[label] is None:
            reasons[label] = LABELS
        self.reasons = reasons
        """For each column, why it is not used as numbers."""
        said = notes_on({self.names[j]: column for j, column in self.texts.items()})
        self.notes = (*notes, *renamed, *said)

    @classmethod
    def of_array(cls, array: Source, location: Location, options: ReadOptions) -> "Content":
        """Return the columns of an array, which stays where it is."""
        check_table(array, location.label)
        n, d = array.shape
        location.check_size(d * (array.dtype.itemsize + NAME_BYTES))  # a header may announce any d

        def stored(columns: list[int]) -> Iterator[list[Array]]:
            return ([block[:, j] for j in columns] for block in blocks_of(array))

        content = cls(location, options, [""] * d, [array.dtype] * d, stored, n=n)
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
        kinds = {self.types[j] for j in columns}
        return working_precision(np.result_type(*map(_numpy_type, kinds)).name)

    def blocks(self, columns: list[int], dtype: np.dtype[Any]) -> Iterator[Array]:
        """Yield the numbers of some columns in blocks of rows."""
        markers = self.options.na_values or ()
        values = {m: value for m in markers if (value := as_number(m)) is not None}
        seen = {marker for column in self.texts.values() for marker in column.seen}
        for part in self.stored(columns):
            block = np.empty((len(part[0]), len(columns)), dtype)
            for k, (j, cells) in enumerate(zip(columns, part, strict=True)):
                cells = self.typed(j, cells)
                if not isinstance(cells, np.ndarray):
                    cells = cells.cast(str(dtype), safe=False).to_numpy(zero_copy_only=False)
                block[:, k] = cells
            for marker, value in values.items():
                same = block == dtype.type(value)
                if same.any():
                    seen.add(marker)
                    block[same] = np.nan
            yield block
        self.unseen = set(markers) - seen

    def words(self, column: int) -> Array:
        """Return a column as text, in which what is missing is empty."""
        cells = (as_words(as_arrow(block[0])) for block in self.stored([column]))
        return np.concatenate(
            [np.array(["" if c is None else c for c in own], object) for own in cells]
        )

    def decimal(self, column: int) -> str:
        """Return the decimal mark of a column."""
        style = self.texts[column].style if column in self.texts else None
        return "." if style is None else style.decimal

    @property
    def schema(self) -> Any:
        """The schema of what is written as Arrow; that of the file if it has one."""
        pa = arrow()
        if self._schema is not None:
            fields = [
                field.with_name(name) for field, name in zip(self._schema, self.names, strict=True)
            ]
            return pa.schema(fields, self._schema.metadata)
        return pa.schema(
            (name, self.texts[j].kind if kind is None else _arrow_type(kind))
            for j, (name, kind) in enumerate(zip(self.names, self.types, strict=True))
        )

    def typed(self, j: int, cells: Any) -> Any:
        """Return the cells of a column as an array of Arrow."""
        return self.texts[j].cast(cells) if j in self.texts else cells

    def source(self, name: str) -> Source:
        """Return all columns as a source, but those with the labels of the rows."""
        for column, reason in zip(self.names, self.reasons, strict=True):
            if reason is not None and reason is not LABELS:
                raise ValueError(
                    f"{name} must hold real numbers, but column {column!r} does not: it holds "
                    f"{reason.what}. Select or encode the numeric columns first."
                )
        X = self.numbers([j for j, reason in enumerate(self.reasons) if reason is None])
        return X if isinstance(X, Source) else as_source(X)


def reason_of(kind: Any) -> Reason | None:
    """Return why a column of a type is not used as numbers."""
    if isinstance(kind, np.dtype):
        return None
    types = arrow().types
    if any(getattr(types, f"is_{name}")(kind) for name in NUMERIC):
        return None
    if str(kind) in ("string", "large_string", "string_view"):
        return TEXT
    if types.is_temporal(kind):
        return Reason("dates or times")
    return Reason("categories" if types.is_dictionary(kind) else f"values of type {kind}")


def _numpy_type(kind: Any) -> np.dtype[Any]:
    """Return the type of numpy of a column's numbers, in native byte order."""
    if isinstance(kind, np.dtype):
        # Of the floating point types, Arrow knows those of at most 8 bytes.
        return np.dtype(np.float64) if kind.itemsize > 8 else kind.newbyteorder("=")
    if kind is None or arrow().types.is_decimal(kind) or arrow().types.is_null(kind):
        return np.dtype(np.float64)
    return np.dtype(kind.to_pandas_dtype())


def _arrow_type(kind: Any) -> Any:
    return arrow().from_numpy_dtype(_numpy_type(kind)) if isinstance(kind, np.dtype) else kind


def as_arrow(cells: Any) -> Any:
    """Return the cells of a column as an array of Arrow."""
    if isinstance(cells, np.ndarray):
        return arrow().array(np.ascontiguousarray(cells, _numpy_type(cells.dtype)))
    return cells


def as_words(cells: Any) -> Sequence[str | None]:
    """Return the cells of a column as text; None for those that are missing."""
    try:
        return cells.cast(arrow().string()).to_pylist()
    except arrow().ArrowException:  # lists and the like
        return [None if cell is None else str(cell) for cell in cells.to_pylist()]


def distinct(names: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Make names differ, such as "a" and "a.1"; and a note if they did not."""
    taken, changed = set(names), []
    counts: dict[str, int] = {}
    out = []
    for name in names:
        unique = name
        if name in counts:
            while unique in taken:
                counts[name] += 1
                unique = f"{name}.{counts[name]}"
            taken.add(unique)
            changed.append(unique)
        counts.setdefault(name, 0)
        out.append(unique)
    notes = (f"Columns of the same name were renamed: {listed(changed)}.",) if changed else ()
    return tuple(out), notes
