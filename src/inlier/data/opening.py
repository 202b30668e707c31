"""Open any kind of data as a table."""

from os import PathLike
from typing import Any

import numpy as np
from scipy.sparse import issparse

from inlier.data.arrays import DenseTable
from inlier.data.base import Table

# Bytes for the blocks of a table that is read from a file, unless the user sets a limit.
MEMORY = 1 << 30
# Libraries whose objects are not in memory.
FILES = ("zarr", "h5py", "pyarrow")
CLUSTERS = ("dask", "dask_expr")


def open_table(X: Any, *, memory: int = MEMORY, client: Any = None, name: str = "X") -> Table:
    """Open data that are not in memory as a table, with options.

    Every function of the package that takes a table also accepts such data directly, and opens them
    with the defaults.

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


def as_table(X: Any) -> Table:
    """Return a table for any kind of data, with its pass counter at zero."""
    if isinstance(X, Table):
        return X.with_new_counter()
    if is_external(X):
        return open_table(X)
    if issparse(X):
        from inlier.data.sparse import SparseTable

        return SparseTable(X)
    return DenseTable(X)


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]
