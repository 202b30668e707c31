"""Open any kind of data as a table, of finite real numbers within the range of its precision."""

import re
from collections.abc import Iterable, Mapping
from copy import copy
from numbers import Number
from os import PathLike
from typing import Any, NoReturn

import numpy as np
from array_api_compat import is_torch_array
from scipy.sparse import issparse

from inlier._internal.arrays import blocks_of, highest, median, pieces
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import (
    are_times,
    as_array,
    check_finite,
    check_rows_of_numbers,
    check_size,
    check_times,
    is_device_array,
)
from inlier.data.arrays import DenseTable, is_wide
from inlier.data.base import PassCounter, Table
from inlier.data.imputed import Gaps, imputed

# Numeric and boolean column types, as pandas, polars and Arrow name them.
NUMBERS = re.compile(r"(u?int\d|float|double|halffloat|decimal|bool)", re.IGNORECASE)

# Bytes for the blocks of a table that is read from a file, unless the user sets a limit.
MEMORY = 1 << 30
# Cells up to which the table of a path is loaded, and treated as any array in memory.
LOADED_CELLS = 1 << 25
# Libraries whose objects are not in memory.
FILES = ("zarr", "h5py", "pyarrow")
CLUSTERS = ("dask", "dask_expr")


def open_table(X: Any, *, memory: int = MEMORY, client: Any = None, name: str = "X") -> Table:
    """Open data that are not in memory as a table, with options.

    Every function of the package that takes a table also accepts such data directly, and opens them
    with the defaults; a path to at most 33 million cells is then loaded, and treated as an array.

    Parameters
    ----------
    X : str, path, memory map, zarr array, HDF5 dataset, Arrow or Parquet data, Dask collection
        A path may lead to a .npy, .npz, .zarr, .h5 (``file.h5::dataset``, if there are several),
        .mat, .parquet, .feather, .csv or any other file that ``inlier fit`` reads, or to a folder
        of .parquet files. Text, Parquet and Arrow files that do not fit into `memory` are written
        once to a temporary file of numbers, in the folder of the environment variable TMPDIR.
    memory : int
        For files: a bound in bytes for blocks and their temporaries. Vectors with an entry for each
        row, and at first a sample of 501 rows, come on top.
    client : distributed.Client or str, optional
        For Dask: the client whose workers run the passes, or the address of its scheduler. By
        default the current client or, if there is none, threads of this process.
    name : str
        Name of the data in messages.
    """
    if _library(X) in CLUSTERS:
        from inlier.data.dask import open_dask

        return open_dask(X, name, client)
    if is_external(X):
        from inlier.data.files import open_file

        return open_file(X, name, memory)
    raise ValueError(
        f"{name} is a {type(X).__name__}, which is in memory already: pass it as it is. open_table "
        "is for paths, memory maps, zarr, HDF5, Arrow and Parquet data, and Dask collections."
    )


def is_external(X: Any) -> bool:
    """Return whether the data are neither in the memory nor on the device of this process."""
    reads = isinstance(X, str | PathLike | np.memmap)
    return reads or _library(X) in (*FILES, *CLUSTERS)


def opened(X: Any, name: str = "X") -> tuple[Any, tuple[str, ...] | None]:
    """Open data that are not in memory; load the table of a path, if it is not large.

    Return the table, or the array as it is stored, and the names of its columns.
    """
    table = open_table(X, name=name)
    n, d = table.shape
    loads = isinstance(X, str | PathLike) and n * d <= LOADED_CELLS
    return (table.loaded() if loads else table), table.columns  # type: ignore[attr-defined]


def as_table(X: Any) -> Table:
    """Return a table for any kind of data, with its pass counter at zero."""
    if isinstance(X, Table):
        table = copy(X)
        table._passes = PassCounter()
        return table
    if is_external(X):
        return open_table(X)
    if issparse(X):
        from inlier.data.sparse import SparseTable

        return SparseTable(X)
    return DenseTable(X)


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def as_rows(X: Any) -> Any:
    """Return one-dimensional data in memory as a table of one column, other data as they are."""
    if isinstance(X, list | tuple):
        return np.reshape(X, (-1, 1)) if all(isinstance(x, Number) for x in X) and X else X
    if len(getattr(X, "shape", ())) != 1 or _library(X) in (*FILES, *CLUSTERS):
        return X
    return X.to_frame() if hasattr(X, "to_frame") else X.reshape(-1, 1)


def check_table(
    X: Any,
    name: str = "X",
    least_rows: int = 2,
    wide_later: bool = False,
    missing: str = "error",
    columns: Any = None,
    gaps: Gaps = Gaps(),  # noqa: B008  (immutable)
) -> Any:
    """Return a two-dimensional table, array or sparse matrix of finite real numbers, not copied.

    With `wide_later` wide tables are not checked for NaN: a fit finds it in the Gram matrix. If
    `missing` is "auto", an array in memory may have missing cells: they are filled in a copy, by
    the medians of the columns or as in other `gaps`, whose cells and columns do not count either.
    The names of the `columns` are for messages; a data frame brings its own.
    """
    if isinstance(X, Table):
        return X
    if is_external(X):
        X, columns = opened(X, name)
        if isinstance(X, Table):
            return X
        X = check_table(X, name, least_rows, wide_later, missing, columns, gaps)
        return as_table(X).named(columns, None)
    if issparse(X):
        X = X.tocsr()  # type: ignore[attr-defined]
    elif not is_device_array(X):
        if _is_frame(X):  # of pandas or polars
            columns = X.columns if columns is None else columns
            X = _of_frame(X, name)
        if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
            if missing == "error":
                raise ValueError(
                    f"{name} has masked entries. Fill them, or drop their rows, before the fit."
                )
            X = without_mask(X)
        _check_kind(X, name)
        X = as_array(X, name)
    else:
        _check_device_array(X, name)
        if hasattr(X, "detach"):  # a fit is not differentiated
            X = X.detach()
    check_rows_of_numbers(X, name)
    check_size(X, name, least_rows)
    if missing == "auto" and isinstance(X, np.ndarray):
        where = find_missing(X, name)
        names = None if columns is None else tuple(str(column) for column in columns)
        if where is None and (len(gaps.ignored) or len(gaps.cells)):
            where = np.zeros(X.shape, np.bool_)
        if where is None:
            return X
        return imputed(X, where, name, names, gaps)
    if issparse(X) or not (wide_later and is_wide(X.shape)):
        _check_finite(X, name)
    if len(gaps.cells) and not issparse(X):  # an array of another library
        return imputed(X, np.zeros(X.shape, np.bool_), name, gaps=gaps)
    return X


def named_table(table: Table, X: Any, columns: Any = None, names: Any = None) -> Table:
    """Return a table of X with names for its columns and rows; data frames bring their own."""
    index = getattr(X, "index", None)
    is_pandas = type(index).__module__.partition(".")[0] == "pandas"
    if names is None and is_pandas and not counts_rows(index):
        names = index
    if columns is None:
        # The columns of an Arrow table are its data.
        columns = getattr(X, "column_names", getattr(X, "columns", None))
    return table.named(columns, names)


def counts_rows(index: Any) -> bool:
    """Return whether an index of pandas counts the rows from 0, and so names none of them."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def check_index(values: Any, X: Any, name: str) -> None:
    """Raise if a Series of pandas has other labels than X, or in another order."""
    if hasattr(values, "iloc") and hasattr(X, "iloc") and not values.index.equals(X.index):
        raise ValueError(
            f"{name} has another index than X, but goes by the order of the rows. Pass "
            f"{name}.loc[X.index], or {name}.to_numpy() if its order is that of X."
        )


def without_mask(X: Any) -> Any:
    """Replace the masked entries of a masked array by NaN."""
    if not np.ma.isMaskedArray(X) or X.dtype.kind not in "buif":
        return X
    return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else np.float64), np.nan)


def check_columns(X: Any, name: str = "X") -> None:
    """Raise if columns are not numeric, although scikit-learn may convert them.

    Converted to microseconds, dates and durations would dominate all other columns.
    """
    if _is_frame(X):
        if other_columns(X):
            _of_frame(X, name)
    elif isinstance(X, np.ndarray | list | tuple):
        check_times(np.asarray(X), name)


def _of_frame(X: Any, name: str) -> Any:
    """Convert a data frame to an array; the error names columns that are not numeric."""
    others = other_columns(X)
    try:
        columns = X.iloc if hasattr(X, "iloc") else X
        cells = [np.asarray(columns[:, j]) for j in others]
        if not any(map(are_times, cells)) and not any(map(_has_text, cells)):
            return _frame_array(X)
    except (TypeError, ValueError):
        if not others:
            raise
    refuse_columns(X, others, name)


def refuse_columns(X: Any, others: list[int], name: str) -> NoReturn:
    """Raise for columns of a data frame that are not numeric."""
    shown = ", ".join(repr(X.columns[j]) for j in others[:5]) + (", ..." if others[5:] else "")
    # pandas counts durations as numbers.
    pandas = 'select_dtypes("number", exclude="timedelta")'
    how = pandas if hasattr(X, "select_dtypes") else "select(polars.selectors.numeric())"
    raise ValueError(
        f"{name} must be a table of numbers, but has columns of other types: {shown}. Select "
        f"the numeric ones with {name}.{how}, or convert or encode the others."
    )


def _check_kind(X: Any, name: str) -> None:
    """Raise if an object is no table, and say how it becomes one."""
    if isinstance(X, list | tuple | np.ndarray) or np.asarray(X, dtype=object).ndim:
        return
    how = "an array, a data frame, a list of rows or the path of a file"
    if isinstance(X, Mapping):
        how = f"pandas.DataFrame({name})"
    elif hasattr(X, "collect"):
        how = f"{name}.collect()"
    elif isinstance(X, Iterable) and not isinstance(X, bytes):
        how = f"list({name})"
    raise ValueError(
        f"{name} must be a table with rows and columns, but is of type {type(X).__name__}. "
        f"Pass {how}."
    )


def _has_text(cells: Array) -> bool:
    return cells.dtype.kind in "SU" or any(isinstance(cell, str) for cell in cells.flat)


def _is_frame(X: Any) -> bool:
    return all(hasattr(X, attribute) for attribute in ("to_numpy", "columns", "dtypes"))


def other_columns(X: Any) -> list[int]:
    """Return the columns of a data frame that are not numeric or boolean."""
    return [j for j, dtype in enumerate(X.dtypes) if not NUMBERS.match(str(dtype))]


def _frame_array(X: Any) -> Any:
    array = X.to_numpy()
    if array.dtype.kind not in "OSU":
        return array
    if hasattr(X, "select_dtypes"):
        return X.to_numpy(dtype=np.float64, na_value=np.nan)
    return array.astype(np.float64)


def _check_device_array(X: Any, name: str) -> None:
    """Raise if a torch tensor holds no data, or is not strided."""
    if not is_torch_array(X):
        return
    if X.is_meta:
        raise ValueError(
            f"{name} is a tensor on the device 'meta', which holds no numbers. Make it with data, "
            "on a device that has memory."
        )
    layout = str(X.layout).rpartition(".")[2]
    if layout != "strided":
        raise ValueError(
            f"{name} is a torch tensor with the layout {layout}, which is not read. Pass a sparse "
            f"matrix of scipy, or {name}.to_dense()."
        )


def _check_finite(X: Any, name: str) -> None:
    if issparse(X):
        stored: Any = X
        for part in blocks_of(stored.nnz, 1):
            finite = np.isfinite(stored.data[part])
            if not finite.all():  # name the row and the column of the first one that is not
                place = part.start + int(np.argmin(finite))
                row = int(np.searchsorted(stored.indptr, place, side="right")) - 1
                check_finite(stored[[row]].toarray(), name, row)
        return
    on_host = isinstance(X, np.ndarray)
    height = max(1, DenseTable.device_elements // X.shape[1])
    for part in blocks_of(*X.shape) if on_host else pieces(X.shape[0], height):
        check_finite(X[part, :], name, part.start)


def largest_distance(dtype: np.dtype[Any]) -> float:
    """Return the largest distance whose fourth powers can be summed without overflow."""
    return min(float(np.finfo(dtype).max ** 0.42), 1e70)


def check_center(center: Array, dtype: np.dtype[Any], name: str) -> None:
    """Raise if distances from the first center would overflow."""
    largest = float(np.abs(center).max())
    if not largest < largest_distance(dtype) / np.sqrt(len(center)):
        raise ValueError(
            f"{name} is out of range: numbers of the size of {largest:.3g} lie so far from zero "
            "that squares of distances overflow. Measure them in other units, or "
            "from another origin."
        )


def check_range(table: Table, center: Array, distances: Rows, reach: float = 0.0) -> float:
    """Return the median distance; raise if squared `distances` overflow or underflow.

    `reach` is the largest distance from the mean that a given sigma allows a single row. Smaller
    distances may underflow.
    """
    typical = float(np.sqrt(median(distances)))
    if not typical < 1e-4 * largest_distance(table.dtype):
        raise ValueError(
            "X is out of range: half of its rows lie so far from the others, or from the start, "
            "that the squares of their distances overflow. Measure X in other units."
        )
    smallest = float(np.sqrt(np.finfo(table.dtype).tiny)) * 1e4
    if reach >= smallest:
        return typical
    farthest = float(np.sqrt(highest(distances)))
    if farthest == 0.0:  # equal rows, or squares that underflow
        # Random integer weights: products do not underflow, and distinct rows do not cancel.
        weights = np.random.default_rng(0).integers(1, 1000, table.shape[0]).astype(np.float64)
        farthest = float(np.abs(table.combine(center, table.to_device(weights)[None, :])).max())
    if farthest > 0.0 and reach > 0.0:
        raise ValueError(
            f"sigma is out of range: it allows for distances of {reach:.3g}, and the squares of "
            f"those underflow in the precision of X, {table.dtype}. Measure X and "
            "sigma in other units."
        )
    if 0.0 < farthest < smallest:
        raise ValueError(
            "X is out of range: its rows lie so near to each other that the squares of their "
            "distances underflow. Measure X in other units."
        )
    return typical


def find_missing(X: Array, name: str) -> Mask | None:
    """Return the mask of NaN cells, or None if there are none; raise for infinity."""
    if X.dtype.kind != "f":
        return None
    found: Mask | None = None
    for part in blocks_of(*X.shape):
        block = X[part]
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(block.sum()):  # cheap and sufficient
                continue
        empty = np.isnan(block)
        check_finite(np.where(empty, 0.0, block), name, part.start)
        if empty.any():
            found = np.zeros(X.shape, np.bool_) if found is None else found
            found[part] = empty
    return found
