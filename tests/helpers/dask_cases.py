"""Kinds of Dask collections, and their passes beside those over the same numbers in memory."""

from collections.abc import Callable
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from inlier.data.arrays import DenseTable
from inlier.data.dask import DaskTable, open_dask
from libraries import Verbs

SHAPE = N, D = 300, 7
# One chunk of a single row, and two without any.
UNEVEN = ((100, 1, 0, 99, 80, 20, 0), (3, 4))


def frame(X: np.ndarray, n_partitions: int = 4) -> Any:
    columns = [f"c{j}" for j in range(X.shape[1])]
    return dd.from_pandas(pd.DataFrame(X, columns=columns), npartitions=n_partitions)


def unknown_lengths(X: np.ndarray) -> Any:
    array = frame(X).to_dask_array()
    assert np.isnan(array.shape[0])
    return array


# Name of the kind -> the data as a user would hold them, from an array.
KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "uneven": lambda X: da.from_array(X, chunks=UNEVEN),
    "float32": lambda X: da.from_array(X.astype(np.float32), chunks=UNEVEN),
    "far float32": lambda X: da.from_array((X + 30.0).astype(np.float32), chunks=(64, D)),
    "int8": lambda X: da.from_array((30 * X).astype(np.int8), chunks=(77, 2)),
    "one chunk": lambda X: da.from_array(X, chunks=X.shape),
    "Fortran": lambda X: da.from_array(np.asfortranarray(X), chunks=(128, D)),
    "dataframe": frame,
    "unknown lengths": unknown_lengths,
}


def check_all(data: Any) -> DaskTable:
    """Open data of Dask, and check every pass against the same numbers in memory."""
    table = open_dask(data)
    Y = np.asarray(data.compute(scheduler="synchronous"))
    verbs = Verbs(Y, Y)
    # In memory the distances of a few rows come with their Gram matrix.
    verbs.counts = False
    verbs.mask[:120] = False  # all rows of the first chunk
    dense = DenseTable(Y)
    verbs.check_all(table, dense)
    assert table.n_passes == dense.n_passes + 1
    return table
