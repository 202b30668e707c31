"""Files of every format, written by other libraries."""

import gzip
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import ipc

from inlier.data import as_table

X = np.random.default_rng(0).normal(size=(7, 3))
NAMES = ("height", "weight", "age")
KEPT = np.array([1, 0, 1, 1, 0, 0, 1], bool)


def text(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    raw = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def to_mat(path: Path, X: np.ndarray) -> None:
    from scipy.io import savemat

    savemat(path, {"table": X, "n": 7, "labels": np.ones((7, 1)), "text": "hello"})


def to_mat73(path: Path, X: np.ndarray) -> None:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        file["table"] = X.T
        file["n"] = [[7.0]]
        file["text"] = np.array([[104], [105]], np.uint16)
        file["text"].attrs["MATLAB_class"] = np.bytes_("char")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))


def to_hdf5(path: Path, X: np.ndarray) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file["inner/table"] = X
        file["ids"] = np.arange(len(X))


def to_zarr(path: Path, X: np.ndarray) -> None:
    import zarr

    store = zarr.storage.ZipStore(path, mode="w") if path.suffix == ".zip" else str(path)
    group = zarr.open_group(store, mode="w")
    group.create_array("table", shape=X.shape, chunks=(2, 2), dtype=X.dtype)[:] = X
    if path.suffix == ".zip":
        store.close()


def to_sqlite(path: Path, X: np.ndarray) -> None:
    with sqlite3.connect(path) as database:
        pd.DataFrame(X, columns=NAMES).to_sql("table", database, index=False)
    database.close()


def to_stream(path: Path, X: np.ndarray) -> None:
    table = pa.table(dict(zip(NAMES, X.T.copy(), strict=True)))
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


WRITERS = {
    "t.csv": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False),
    "t.CSV": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False),
    "t.csv.gz": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False),
    "t.tsv": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False, sep="\t"),
    "t.txt": np.savetxt,
    "t.parquet": lambda path, X: pd.DataFrame(X, columns=NAMES).to_parquet(path),
    "t.feather": lambda path, X: pd.DataFrame(X, columns=NAMES).to_feather(path),
    "t.arrow": to_stream,
    "t.npy": np.save,
    "t.npz": lambda path, X: np.savez(path, table=X, ids=np.arange(7)),
    "t.h5": to_hdf5,
    "t.zarr": to_zarr,
    "t.zarr.zip": to_zarr,
    "t.mat": to_mat,
    "t73.mat": to_mat73,
    "t.sqlite": to_sqlite,
}


GENES = "id,gene_1,gene_2,gene_name,age\nu,1,2,x,3\nv,4,5,y,6\n"


def numbers_of(frame: Any) -> np.ndarray:
    """All rows of a table that was read."""
    return as_table(frame.X).fetch(np.arange(len(frame.rows)))
