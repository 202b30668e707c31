"""Where the rows of a table in a file come from; one file for each way of storing them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from inlier.data.sources import arrow, chunked, npy
from inlier.data.sources.base import KNOWN, Source

__all__ = ["Source", "open_source"]


def open_source(X: Any, name: str) -> Source:
    """The source of what `inlier.data.files.open_file` takes."""
    if isinstance(X, str | os.PathLike):
        return _at_path(X, name)
    if isinstance(X, np.memmap):
        return npy.of_map(X)
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow":
        return arrow.of_arrow(X, name)
    if library in ("zarr", "h5py"):
        return chunked.of_chunks(X, name)
    raise TypeError(f"{name} must be {KNOWN}, but is of type {type(X).__name__}.")


def _at_path(X: str | os.PathLike[str], name: str) -> Source:
    text, key = os.fspath(X), ""
    if not os.path.exists(text):
        text, _, key = text.partition("::")
    path = Path(text)
    where = f"{name}={text!r}"
    if not path.exists():
        raise FileNotFoundError(f"{where}: there is no such file. Give the path of {KNOWN}.")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return npy.open_npy(path, where)
    if suffix == ".zarr":
        return chunked.open_zarr(path, key, where)
    if suffix in chunked.HDF5:
        return chunked.open_hdf5(path, key, where)
    if suffix in arrow.PARQUET or path.is_dir():
        return arrow.open_parquet(path, where)
    raise ValueError(
        f"{where} ends in {suffix!r}, which is not read block by block. Give {KNOWN}, or load it "
        "into memory."
    )
