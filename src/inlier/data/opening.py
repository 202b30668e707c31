"""Open any kind of data as a table."""

from __future__ import annotations

from copy import copy
from os import PathLike
from typing import Any

import numpy as np
from scipy.sparse import issparse

from inlier.data.arrays import DenseTable
from inlier.data.base import MEMORY, Table

# What has to be read from somewhere, by the library that it is from.
FILES = ("zarr", "h5py", "pyarrow")
CLUSTERS = ("dask", "dask_expr")


def open_table(X: Any, *, memory: int = MEMORY, client: Any = None, name: str = "X") -> Table:
    """A table that is read where it is, for those who want to say how.

    Every function of the package that takes a table takes data of these kinds as they are, and
    opens them with the defaults.

    Parameters
    ----------
    X : str, path, memory map, zarr array, HDF5 dataset, Arrow or Parquet data, Dask collection
        A path may lead to a .npy, .npz, .zarr, .h5 (``file.h5::dataset``, if there are several),
        .mat, .parquet, .feather, .csv or SQLite file, or to a folder of .parquet files. Text,
        Parquet and Arrow files that do not fit into `memory` are written once to a temporary file
        of numbers, in the folder of the environment variable TMPDIR.
    memory : int
        For files: a bound in bytes for the blocks that are held, and for what is made of them.
        Vectors with an entry for each row come on top, and at first a sample of 501 rows.
    client : distributed.Client or str, optional
        For Dask: whose workers do the passes, or the address of its scheduler. By default the
        current client or, if there is none, threads of this process.
    name : str
        What messages call it.
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
    """Whether the data are not in this process's memory, nor on its device."""
    reads = isinstance(X, str | PathLike | np.memmap)
    return reads or _library(X) in (*FILES, *CLUSTERS)


def as_table(X: Any) -> Table:
    """The table that knows how to pass over this kind of data; it has not been read yet."""
    if isinstance(X, Table):
        unread = copy(X)
        unread.n_passes = 0
        return unread
    if is_external(X):
        return open_table(X)
    if issparse(X):
        from inlier.data.sparse import SparseTable

        return SparseTable(X)
    return DenseTable(X)


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]
