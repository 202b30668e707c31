"""Convert Dask arrays and dataframes to arrays in chunks of rows."""

from typing import Any

import numpy as np

from inlier._internal.arrays import is_real
from inlier._internal.typing import Array
from inlier._internal.validation import check_finite
from inlier.data.dask.table import DaskTable
from inlier.data.dask.workers import Workers, da, dask


def open_dask(X: Any, name: str = "X", client: Any = None) -> DaskTable:
    """Open a Dask array or dataframe of real numbers as a table; see `inlier.open_table`.

    Chunks may have any number of rows; about 100 MB each are best. The data are loaded once into
    the memory of the workers, and checked there.
    """
    workers = Workers(client)
    chunks = workers.persist(_in_one_column(_as_array(X, name), name))
    rows = chunks.to_delayed()[:, 0]
    lengths = chunks.chunks[0]
    if any(np.isnan(x) for x in lengths):
        lengths = tuple(workers.compute([dask.delayed(len)(block) for block in rows]))
        known = (lengths, chunks.chunks[1])
        chunks = da.Array(chunks.__dask_graph__(), chunks.name, known, meta=chunks._meta)
    if sum(lengths) < 2:
        raise ValueError(f"{name} must have at least 2 rows, but has {sum(lengths)}.")
    check, firsts = dask.delayed(_complaint), np.cumsum((0, *lengths)).tolist()
    complaints = [check(block, name, first) for block, first in zip(rows, firsts, strict=False)]
    for complaint in workers.compute(complaints):
        if complaint is not None:
            raise ValueError(complaint)
    return DaskTable(chunks, workers)


def _complaint(block: Array, name: str, first: int) -> str | None:
    """Return the message that a chunk holds NaN or infinity, if it does."""
    try:
        check_finite(block, name, first)
    except ValueError as error:
        return str(error)
    return None


def _as_array(X: Any, name: str) -> Any:
    """Return a Dask array of real numbers with two axes."""
    if isinstance(X, da.Array):
        array = X
    elif hasattr(X, "to_dask_array") and getattr(X, "ndim", 0) == 2:
        array = _common_dtype(X, name).to_dask_array()
    else:
        raise ValueError(
            f"{name} must be a two-dimensional Dask array or a Dask dataframe, but is a "
            f"{type(X).__name__}. Convert a column with to_frame(), a bag with to_dataframe()."
        )
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a table with rows and columns, but has shape {array.shape}. For a "
            f"single column pass {name}.reshape(-1, 1)."
        )
    if not is_real(array):
        raise ValueError(
            f"{name} must hold real numbers, but has dtype {array.dtype}. Select or encode the "
            "numeric columns first."
        )
    return array


def _common_dtype(frame: Any, name: str) -> Any:
    """Cast all columns of a dataframe to one dtype."""
    dtypes = [_numpy_dtype(x) for x in frame.dtypes]
    wrong = [
        f"{column!r} ({dtype})"
        for column, dtype, known in zip(frame.columns, frame.dtypes, dtypes, strict=True)
        if known is None
    ]
    if wrong:
        raise ValueError(
            f"{name} must hold real numbers, but has columns that do not: {', '.join(wrong)}. Drop "
            "or encode them first."
        )
    common = np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
    return frame if all(x == common for x in frame.dtypes) else frame.astype(common)


def _numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    """Return the dtype that holds a column, if that holds real numbers."""
    known = getattr(dtype, "numpy_dtype", dtype)
    if not isinstance(known, np.dtype) or known.kind not in "biuf":
        return None
    return known if known is dtype else np.dtype(np.float64)  # which has room for missing values


def _in_one_column(X: Any, name: str) -> Any:
    """Rechunk along the rows only."""
    if X.shape[1] == 0 or np.isnan(X.shape[1]):
        raise ValueError(
            f"{name} must have at least 1 column, and a known number of them, but has shape "
            f"{X.shape}. Call {name}.compute_chunk_sizes(), if it is not known."
        )
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
