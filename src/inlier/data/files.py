"""Tables in files: larger than memory, read block by block, one block ahead.

`FileTable` does the passes, and knows of a file only what its `Source` tells: how to go through all
rows in order, and how to look up a few. A pass reads with one thread while it computes with
another; what it holds is two blocks, and what is made of a cache-sized part of one of them.
"""

from __future__ import annotations

import mmap
import numbers
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from inlier._arrays import double, on_host, pieces, working_precision
from inlier._typing import Array, Mask, Rows
from inlier.data.arrays import SORTED_ELEMENTS, DenseTable, cached_rows, collected
from inlier.data.base import Metric, Table
from inlier.data.blocks import BlockTable
from inlier.data.finite import check_finite
from inlier.data.medians import column_medians
from inlier.data.passes import Histogram, Pass

MEMORY = 1 << 30
# Large enough for a disk, small enough to be in the shared cache still when it is computed with.
READ_BYTES = 1 << 23
# What an entry of a row takes in all: read twice (at most 16 bytes each), and in double precision
# as it is cast, centred, transformed and multiplied.
ENTRY_BYTES = 64
# Of the memory: how many blocks, or how many columns of a Gram matrix, could be held.
SHARES = 6

HDF5 = (".h5", ".hdf5", ".hdf")
PARQUET = (".parquet", ".pq")
KNOWN = "a .npy, .zarr, .h5 or .parquet file, or a folder of .parquet files"


class Source(ABC):
    """Where the rows come from.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy dtype
        Of the blocks, in any byte order.
    stored : tuple of int
        How many rows and columns are stored in one piece that can only be read as a whole.
    by_columns : bool
        Whether `some` reads only the columns that are asked for.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stored = (1, 1)
    by_columns = True

    @abstractmethod
    def blocks(self, height: int) -> Generator[Array]:
        """All rows in order, in blocks of at most so many rows.

        A block may be overwritten as soon as the next but one is asked for. What was opened is
        closed with the generator.
        """

    @abstractmethod
    def some(self, rows: Array, columns: slice) -> Array:
        """A few rows, by their numbers, which increase."""


class FileTable(BlockTable):
    """Rows of a file, or of anything else that is read in blocks; nothing is kept in memory.

    Vectors with an entry for each row are numpy arrays; they, and the answers of the passes, come
    on top of the memory for the blocks.

    Parameters
    ----------
    source : Source
    name : str
        What the data are called in messages.
    memory : int
        Upper bound, in bytes, for the blocks that are held and for what is made of them.
    """

    def __init__(self, source: Source, name: str = "X", memory: int = MEMORY) -> None:
        n, d = _checked_shape(source, name)
        super().__init__((n, d), working_precision(source.dtype.newbyteorder("=").name))
        self._source = source
        self._name = name
        self._memory = _checked_memory(memory, d, name)
        self._kept: Mask | None = None
        self._metrics: tuple[Metric, ...] = ()
        # Shared with the tables that `take` and `in_metric` make of this one.
        self._checked = [False]

    def _run(self, work: Pass, *inputs: Any, width: int = 1) -> tuple[Rows, list[Array]]:
        """See `BlockTable._run`."""
        self.n_passes += 1
        # Fewer rows than bins are dwarfed by their counts.
        least = work.n_bins if isinstance(work, Histogram) else 1
        with closing(self._blocks(self._part_rows(width, least))) as blocks:
            return collected(blocks, self.shape[0], work, inputs)

    def _part_rows(self, width: int = 1, least: int = 1) -> int:
        """How many rows of a block are computed with at a time."""
        height = max(least, cached_rows(self.shape[1], width))
        # If few are kept, as many more are looked at.
        height = height * self._source.shape[0] // max(1, self.shape[0])
        return max(1, min(height, self._memory // (ENTRY_BYTES * self.shape[1])))

    def _blocks(self, height: int) -> Generator[tuple[slice, Array]]:
        """The rows that are kept, in the new coordinates, from at most `height` rows at a time."""
        start = 0
        with closing(self._read_ahead()) as read:
            for first, block in read:
                for part in pieces(len(block), height):
                    piece = self._native(block[part])
                    if not self._checked[0]:
                        check_finite(piece, self._name, first + part.start)
                    if self._kept is not None:
                        inside = self._kept[first + part.start : first + part.stop]
                        piece = piece if inside.all() else piece[inside]
                    if len(piece):
                        yield slice(start, start + len(piece)), self._seen(piece)
                        start += len(piece)
        self._checked[0] = True

    def _read_ahead(self) -> Generator[tuple[int, Array]]:
        """The blocks as they are stored, with the number of their first row.

        While one is looked at, the next is read by a thread, which ends with this generator.
        """
        blocks = self._source.blocks(self._block_rows())
        reader = ThreadPoolExecutor(1, thread_name_prefix="inlier-read")
        first = 0
        try:
            following = reader.submit(next, blocks, None)
            while (block := following.result()) is not None:
                following = reader.submit(next, blocks, None)
                yield first, block
                first += len(block)
        finally:
            reader.shutdown(wait=True, cancel_futures=True)
            blocks.close()
        if first != self._source.shape[0]:
            raise RuntimeError(
                f"{self._name} had {self._source.shape[0]} rows when it was opened, and {first} "
                "when it was read. Do not change it while it is in use."
            )

    def _block_rows(self) -> int:
        """How many rows are read at a time: whole pieces of what is stored, if they fit."""
        n, d = self._source.shape
        row = d * self._source.dtype.itemsize
        most = max(1, self._memory // SHARES // row)
        height = max(1, min(most, READ_BYTES // row))
        stored = self._source.stored[0]
        if stored <= most:
            height = max(stored, height // stored * stored)
        return min(n, height)

    def _native(self, block: Array) -> Array:
        return block if block.dtype.isnative else block.astype(block.dtype.newbyteorder("="))

    def _seen(self, rows: Array) -> Array:
        """Rows of the file in the coordinates of this table."""
        if not self._metrics:
            return rows
        seen = double(rows)
        for metric in self._metrics:
            seen = metric.seen(seen)
        return np.asarray(seen, self.dtype)

    def _look(self, rows: Array, columns: slice) -> Array:
        """Rows of the file by their numbers, checked."""
        wanted, places = np.unique(rows, return_inverse=True)
        found = self._native(self._source.some(wanted, columns))
        if not (self._checked[0] or _all_finite(found)):
            self._complain()
        return found if np.array_equal(wanted, rows) else found[places]

    def _complain(self) -> None:
        """Go through the rows from the first on, to name the first entry that is not finite."""
        for _ in self._blocks(self._part_rows()):
            pass

    def some(self, rows: Array) -> Array:
        """See `Table.some`."""
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        return self._seen(self._look(rows, slice(None)))

    def median(self, sample: np.random.Generator | None = None) -> Array:
        """See `Table.median`."""
        n, d = self.shape
        if sample is None and n * d <= min(SORTED_ELEMENTS, self._memory // ENTRY_BYTES):
            self.n_passes += 1
            return column_medians(self._columns(slice(0, d)))
        return super().median(sample)

    def take(self, rows: Rows) -> Table:
        """See `Table.take`. Rows that are not kept are dropped after they were read."""
        kept: Mask = np.array(on_host(rows), bool)
        if self._kept is not None:
            among_all = self._kept.copy()
            among_all[self._kept] = kept
            kept = among_all
        return self._again(kept, self._metrics)

    def in_metric(self, metric: Metric) -> Table:
        """See `Table.in_metric`. Rows are transformed after they were read, in each pass."""
        return self._again(self._kept, (*self._metrics, metric))

    def _again(self, kept: Mask | None, metrics: tuple[Metric, ...]) -> FileTable:
        table = FileTable(self._source, self._name, self._memory)
        table._kept, table._metrics, table._checked = kept, metrics, self._checked
        if kept is not None:
            table.shape = (int(kept.sum()), self.shape[1])
        return table

    def gram(self, center: Array) -> Array:
        """See `Table.gram`. The rows are looked up in groups of columns, if the file allows."""
        n, d = self.shape
        looked_up = self._source.by_columns and all(m.factor.ndim == 1 for m in self._metrics)
        self.n_passes += looked_up
        out = np.zeros((n, n))
        for columns in pieces(d, self._group_columns()):
            self.n_passes += not looked_up
            rows = self._look_up(columns) if looked_up else self._columns(columns)
            out += DenseTable(rows).gram(center[columns])
        return out

    def _group_columns(self) -> int:
        """How many columns of all rows are held at a time: whole pieces, if they fit."""
        most = max(1, self._memory // ENTRY_BYTES // self.shape[0])
        stored = self._source.stored[1]
        return most // stored * stored if stored <= most else most

    def _look_up(self, columns: slice) -> Array:
        """Some columns of all rows, where each column has coordinates of its own."""
        n = self._source.shape[0]
        numbers = np.arange(n) if self._kept is None else np.flatnonzero(self._kept)
        rows = self._look(numbers, columns)
        if not self._metrics:
            return rows
        for metric in self._metrics:
            rows = Metric(metric.origin[columns], metric.factor[columns]).seen(double(rows))
        return rows.astype(self.dtype)

    def _columns(self, columns: slice) -> Array:
        """Some columns of all rows, from a read of the whole file."""
        n, width = self.shape[0], columns.stop - columns.start
        out = np.empty((n, width), self.dtype)
        with closing(self._blocks(self._part_rows())) as blocks:
            for rows, block in blocks:
                out[rows] = block[:, columns]
        return out


def open_file(X: Any, name: str = "X", memory: int = MEMORY) -> FileTable:
    """A table that is read block by block.

    Parameters
    ----------
    X : path, numpy.memmap, or object of zarr, h5py or pyarrow
        A path leads to a `.npy`, `.zarr`, HDF5 (`file.h5`, or `file.h5::dataset`) or Parquet file,
        or to a folder of Parquet files.
    name : str
        What the data are called in messages.
    memory : int
        Upper bound, in bytes, for the blocks that are held and for what is made of them.
    """
    return FileTable(_source(X, name), name, memory)


def _source(X: Any, name: str) -> Source:
    if isinstance(X, str | os.PathLike):
        return _at_path(X, name)
    if isinstance(X, np.memmap):
        return _of_map(X)
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow":
        return _of_arrow(X, name)
    if library in ("zarr", "h5py"):
        X = X if hasattr(X, "shape") else _only_table(X, name)
        return SlicedSource(lambda: nullcontext(X))
    raise TypeError(f"{name} must be {KNOWN}, but is of type {type(X).__name__}.")


def _at_path(X: str | os.PathLike[str], name: str) -> Source:
    text, key = os.fspath(X), ""
    if not os.path.exists(text):
        text, _, key = text.partition("::")
    path = Path(text)
    if not path.exists():
        raise FileNotFoundError(
            f"{name}={text!r}: there is no such file. Give the path of {KNOWN}."
        )
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _of_npy(path, name)
    if suffix == ".zarr":
        return _of_zarr(path, key, name)
    if suffix in HDF5:
        return _of_hdf5(path, key, name)
    if suffix in PARQUET or path.is_dir():
        return _of_parquet(path, name)
    raise ValueError(
        f"{name}={text!r} ends in {suffix!r}, which is not read block by block. Give {KNOWN}, or "
        "load it into memory."
    )


def _package(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f'To read {name}, the package {package} is needed: pip install "inlier[files]"'
        ) from None


def _checked_shape(source: Source, name: str) -> tuple[int, int]:
    if len(source.shape) != 2:
        raise ValueError(
            f"{name} must be a table with rows and columns, but has shape {source.shape}. Store it "
            "with two dimensions."
        )
    n, d = source.shape
    if n < 2 or d < 1:
        raise ValueError(
            f"{name} must have at least 2 rows and 1 column, but has {n} rows and {d} columns."
        )
    if source.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must hold real numbers, but has dtype {source.dtype}. Select or encode the "
            "numeric columns first."
        )
    return n, d


def _checked_memory(memory: Any, d: int, name: str) -> int:
    right = isinstance(memory, numbers.Integral) and not isinstance(memory, bool | np.bool_)
    if not right or memory < 1:
        raise ValueError(f"memory must be a whole number of bytes >= 1, but is {memory!r}.")
    if memory < ENTRY_BYTES * d:
        raise ValueError(
            f"memory={memory} is too little to compute with one row of {name}, which has {d} "
            f"columns: allow at least {ENTRY_BYTES * d} bytes."
        )
    return int(memory)


def _all_finite(block: Array) -> bool:
    return block.dtype.kind != "f" or bool(np.isfinite(block).all())


# ---- numpy ---------------------------------------------------------------------------------------


class RawSource(Source):
    """Rows one after the other in a file, as numpy writes them.

    They are read into two buffers in turn: a memory map would have to find each page first, and
    keeps what it has seen.

    Parameters
    ----------
    path : path
    shape : tuple of int
    dtype : numpy dtype
    offset : int
        Where the first row begins.
    """

    def __init__(
        self, path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int
    ) -> None:
        self.path = path
        self.shape = shape
        self.dtype = dtype
        self.offset = offset

    def blocks(self, height: int) -> Generator[Array]:
        """See `Source.blocks`."""
        n, d = self.shape
        buffers = [np.empty((height, d), self.dtype) for _ in range(2)]
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.offset)
            for i, rows in enumerate(pieces(n, height)):
                block = buffers[i % 2][: rows.stop - rows.start]
                self._fill(file, block)
                yield block

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`."""
        d = self.shape[1]
        start, stop, _ = columns.indices(d)
        out = np.empty((len(rows), stop - start), self.dtype)
        with open(self.path, "rb", buffering=0) as file:
            for row, values in zip(rows.tolist(), out, strict=True):
                file.seek(self.offset + (row * d + start) * self.dtype.itemsize)
                self._fill(file, values)
        return out

    def _fill(self, file: Any, block: Array) -> None:
        raw = block.reshape(-1).view(np.uint8)
        while len(raw):  # no system reads more than 2 GB at once
            read = file.readinto(raw)
            if not read:
                raise ValueError(f"{str(self.path)!r} has become shorter since it was opened.")
            raw = raw[read:]


def _of_npy(path: Path, name: str) -> Source:
    try:
        with open(path, "rb") as file:
            shape, in_columns, dtype = _npy_header(file)
            offset = file.tell()
    except ValueError as error:
        raise ValueError(f"{name}={str(path)!r} is not a file of numpy.save: {error}") from None
    needed = offset + int(np.prod(shape)) * dtype.itemsize
    if not dtype.hasobject and path.stat().st_size < needed:
        raise ValueError(
            f"{name}={str(path)!r} is cut off: {needed} bytes are announced, and "
            f"{path.stat().st_size} are there. Write it again."
        )
    if in_columns and len(shape) == 2:
        return SlicedSource(
            lambda: nullcontext(np.memmap(path, dtype, "r", offset, shape, order="F"))
        )
    return RawSource(path, shape, dtype, offset)


def _npy_header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"version {version} of the format is for named columns only.")


def _of_map(X: np.memmap[Any, Any]) -> Source:
    """A memory map: through its file, if it is certain to hold the same numbers."""
    # A part of a map keeps its file's name, but not where in the file it begins, and a map that
    # is copied as it is written to (mode "c") differs from its file.
    whole = isinstance(X.base, mmap.mmap) and X.flags.c_contiguous and X.mode != "c"
    if whole and X.filename is not None and os.path.isfile(X.filename):
        path = Path(X.filename)
        if path.stat().st_size >= X.offset + X.nbytes:
            return RawSource(path, X.shape, X.dtype, X.offset)
    return SlicedSource(lambda: nullcontext(X))


# ---- arrays in chunks ----------------------------------------------------------------------------


class SlicedSource(Source):
    """Anything that can be opened and sliced: zarr arrays, HDF5 datasets, memory maps.

    Parameters
    ----------
    opened : callable
        Makes a context in which the array is open.
    """

    def __init__(self, opened: Callable[[], AbstractContextManager[Any]]) -> None:
        self.opened = opened
        with opened() as X:
            self.shape = tuple(X.shape or ())
            self.dtype = np.dtype(X.dtype)
            # A shard of zarr holds many chunks, and is written and found as a whole.
            stored = getattr(X, "shards", None) or getattr(X, "chunks", None)
        if stored and len(stored) == 2:
            self.stored = (int(stored[0]), int(stored[1]))

    def blocks(self, height: int) -> Generator[Array]:
        """See `Source.blocks`."""
        with self.opened() as X:
            for rows in pieces(self.shape[0], height):
                yield _sliced(X, rows, slice(None))

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`. Rows of one stored piece are read together."""
        borders = np.flatnonzero(np.diff(rows // self.stored[0])) + 1
        with self.opened() as X:
            return np.concatenate(
                [
                    _sliced(X, slice(int(near[0]), int(near[-1]) + 1), columns)[near - near[0]]
                    for near in np.split(rows, borders)
                    if len(near)
                ]
            )


def _sliced(X: Any, rows: slice, columns: slice) -> Array:
    block = np.asarray(X[rows, columns])
    return block.copy() if isinstance(X, np.memmap) else block  # it is now that a map is read


def _of_zarr(path: Path, key: str, name: str) -> Source:
    zarr = _package("zarr", name)
    try:
        found = zarr.open(str(path), mode="r")
    except (OSError, ValueError) as error:
        raise ValueError(f"{name}={str(path)!r} is not a folder of zarr: {error}") from None
    if key and key not in _tables(found):
        raise ValueError(f"{name}={str(path)!r} has no table {key!r}, but {_tables(found)}.")
    return _source(found[key] if key else found, name)


def _of_hdf5(path: Path, key: str, name: str) -> Source:
    h5py = _package("h5py", name)
    try:
        with h5py.File(path, "r") as file:
            if key and not isinstance(file.get(key), h5py.Dataset):
                raise ValueError(
                    f"{name}={str(path)!r} has no dataset {key!r}, but {_tables(file)}."
                )
            key = key or _only_table(file, name).name
    except OSError as error:
        raise ValueError(f"{name}={str(path)!r} is not an HDF5 file: {error}") from None

    @contextmanager
    def opened() -> Iterator[Any]:
        with h5py.File(path, "r") as file:
            yield file[key]

    return SlicedSource(opened)


def _only_table(group: Any, name: str) -> Any:
    """The array with two dimensions of a group of zarr or HDF5."""
    tables = _tables(group)
    if len(tables) != 1:
        raise ValueError(
            f"{name} is a group that holds {len(tables)} tables: {tables}. Name one of them, as in "
            "'file.h5::table'."
        )
    return group[tables[0]]


def _tables(group: Any) -> list[str]:
    """The names of the arrays with two dimensions in a group."""
    if hasattr(group, "shape"):
        return []
    names: list[str] = []

    def look(key: str, item: Any) -> None:
        if len(getattr(item, "shape", None) or ()) == 2:
            names.append(key)

    if hasattr(group, "visititems"):
        group.visititems(look)
    else:
        for key, item in group.members(max_depth=None):
            look(key, item)
    return sorted(names)


# ---- columns of Arrow ----------------------------------------------------------------------------


class ArrowSource(Source):
    """Tables and datasets of pyarrow, each column of which has a type of its own.

    Parameters
    ----------
    data : pyarrow.Table or pyarrow.dataset.Dataset
    n : int
        How many rows there are.
    name : str
        What the data are called in messages.
    """

    by_columns = False

    def __init__(self, data: Any, n: int, name: str) -> None:
        self.data = data
        self.dtype = _arrow_dtype(data.schema, name)
        self.shape = (n, len(data.schema))

    def blocks(self, height: int) -> Generator[Array]:
        """See `Source.blocks`."""
        if hasattr(self.data, "num_rows"):
            batches = iter(self.data.to_batches(max_chunksize=height))
        else:  # pyarrow would read 16 batches of 4 files ahead
            batches = self.data.to_batches(
                batch_size=height, batch_readahead=1, fragment_readahead=1
            )
        for batch in batches:
            if len(batch):
                yield self._numbers(batch)

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`."""
        return self._numbers(self.data.take(rows))[:, columns]

    def _numbers(self, batch: Any) -> Array:
        return _numbers(batch, self.dtype)


class ParquetSource(Source):
    """Parquet files one after the other, each opened when it is its turn.

    Parameters
    ----------
    files : sequence of callable
        Each makes a context in which a `pyarrow.parquet.ParquetFile` is open.
    name : str
        What the data are called in messages.
    """

    by_columns = False

    def __init__(
        self, files: Sequence[Callable[[], AbstractContextManager[Any]]], name: str
    ) -> None:
        self.files = files
        self.groups: list[tuple[int, int, int]] = []
        """File, number in the file and length of each group of rows that is stored in one piece."""
        schemas = []
        for i, opened in enumerate(files):
            with opened() as file:
                schemas.append(file.schema_arrow)
                self.groups += [
                    (i, j, file.metadata.row_group(j).num_rows)
                    for j in range(file.metadata.num_row_groups)
                ]
        for schema in schemas:
            if schema.names != schemas[0].names:
                raise ValueError(
                    f"{name} is a folder of Parquet files with different columns: "
                    f"{schemas[0].names} and {schema.names}. Write them with the same."
                )
        self.dtype = np.result_type(*[_arrow_dtype(schema, name) for schema in schemas])
        self.shape = (sum(length for *_, length in self.groups), len(schemas[0]))

    def blocks(self, height: int) -> Generator[Array]:
        """See `Source.blocks`."""
        for opened in self.files:
            with opened() as file:
                for batch in file.iter_batches(batch_size=height):
                    yield _numbers(batch, self.dtype)

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`. Groups of rows in which none is wanted are not read."""
        found: list[Array] = []
        start = 0
        for i, j, length in self.groups:
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + length)]
            if len(inside):
                with self.files[i]() as file:
                    found += self._of_group(file, j, inside - start)
            start += length
        return np.concatenate(found)[:, columns]

    def _of_group(self, file: Any, group: int, rows: Array) -> Iterator[Array]:
        """Rows of a group by their numbers in it, without holding all of it."""
        height = max(1, READ_BYTES // (self.shape[1] * self.dtype.itemsize))
        start = 0
        for batch in file.iter_batches(batch_size=height, row_groups=[group]):
            low, high = np.searchsorted(rows, [start, start + len(batch)])
            if low < high:
                yield _numbers(batch.take(rows[low:high] - start), self.dtype)
            start += len(batch)


def _of_arrow(X: Any, name: str) -> Source:
    parquet = _package("pyarrow.parquet", name)
    dataset = _package("pyarrow.dataset", name)
    if isinstance(X, parquet.ParquetFile):
        return ParquetSource([lambda: nullcontext(X)], name)
    if isinstance(X, dataset.Dataset):
        return ArrowSource(X, X.count_rows(), name)
    if hasattr(X, "to_batches") and hasattr(X, "num_rows"):
        return ArrowSource(X, X.num_rows, name)
    raise TypeError(
        f"{name} must be a Table, a Dataset or a ParquetFile of pyarrow, but is of type "
        f"{type(X).__name__}."
    )


def _of_parquet(path: Path, name: str) -> Source:
    parquet = _package("pyarrow.parquet", name)
    paths = sorted(p for p in path.iterdir() if p.suffix in PARQUET) if path.is_dir() else [path]
    if not paths:
        raise ValueError(f"{name}={str(path)!r} is a folder without .parquet files. Give {KNOWN}.")

    def opener(path: Path) -> Callable[[], AbstractContextManager[Any]]:
        # Through a small buffer: otherwise the compressed columns of a group are held as a whole.
        return lambda: parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 16)

    try:
        return ParquetSource([opener(p) for p in paths], name)
    except import_module("pyarrow").ArrowInvalid as error:
        raise ValueError(f"{name}={str(path)!r} is not a Parquet file: {error}") from None


def _arrow_dtype(schema: Any, name: str) -> np.dtype[Any]:
    """A floating point type that holds all columns, because entries may be missing."""
    types = import_module("pyarrow").types
    kinds: list[Any] = []
    for field in schema:
        if types.is_decimal(field.type):
            kinds.append(np.float64)
        elif types.is_integer(field.type) or types.is_floating(field.type):
            kinds.append(field.type.to_pandas_dtype())
        elif types.is_boolean(field.type):
            kinds.append(np.bool_)
        else:
            raise ValueError(
                f"{name} must hold real numbers, but its column {field.name!r} has type "
                f"{field.type}. Select or encode the numeric columns first."
            )
    return working_precision(np.result_type(*kinds).name if kinds else "float64")


def _numbers(batch: Any, dtype: np.dtype[Any]) -> Array:
    """The columns of a batch as one array; what is missing becomes NaN."""
    pyarrow = import_module("pyarrow")
    kind = pyarrow.from_numpy_dtype(dtype)
    out = np.empty((batch.num_columns, batch.num_rows), dtype)
    for values, column in zip(out, batch.columns, strict=True):
        values[:] = column.cast(kind, safe=False).to_numpy(zero_copy_only=False)
    return out.T
