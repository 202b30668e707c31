"""Finished fits in an SQLite file, so that a comparison can be resumed."""

import importlib.metadata
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import joblib  # type: ignore[import-untyped]
import numpy as np

from inlier._internal.atomic import check_place
from inlier.research.comparison.plan import Model, NamedMethod
from inlier.research.comparison.registry import Method
from inlier.research.comparison.table import MEASURED, Trial
from inlier.research.comparison.workers import Job

# The application id of the file format, at byte 68 of the file.
APPLICATION = 0x696E6C72  # "inlr"

# Wait for other processes that are writing.
PATIENCE_SECONDS = 60.0


TABLE = """
CREATE TABLE IF NOT EXISTS fits (
    key TEXT PRIMARY KEY, data TEXT, method TEXT, seed INTEGER, timeout REAL,
    status TEXT, error REAL, exact INTEGER, removed INTEGER, passes INTEGER, seconds REAL,
    message TEXT, location BLOB, finished TEXT DEFAULT CURRENT_TIMESTAMP
)
"""


class Store:
    """A file with one row for each finished fit, created if needed; no other file is touched."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ValueError(f"store must be the name of a file, but is {path!r}.")
        self.path = Path(os.fspath(path))
        _check_file(self.path)
        with self._named():
            self._file = sqlite3.connect(
                self.path, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._file.execute("BEGIN IMMEDIATE")
            self._file.execute(f"PRAGMA application_id = {APPLICATION}")
            self._file.execute(TABLE)
            self._file.execute("COMMIT")

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in errors of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            raise ValueError(
                f"store={str(self.path)!r} cannot be used ({error}): move it away, or give another "
                "name."
            ) from error

    def get(self, key: str, method: NamedMethod, job: Job, timeout: float | None) -> Trial | None:
        """Return a finished fit; not one that failed, or timed out with a shorter limit."""
        with self._named():
            row = self._file.execute(
                f"SELECT {', '.join(MEASURED)}, location, timeout FROM fits WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        *values, location, given = row
        found = dict(zip(MEASURED, values, strict=True))
        late = found["status"] == "timeout" and (timeout is None or given < timeout)
        if found["status"] == "failed" or late:
            return None
        for name in ("error", "seconds"):
            found[name] = np.nan if found[name] is None else found[name]
        found["exact"] = None if found["exact"] is None else bool(found["exact"])
        if location is not None:
            found["location"] = np.frombuffer(location, dtype="<f8").copy()
        return Trial(method.name, job.trial, job.seed, **found)

    def put(self, key: str, data: str, record: Trial, timeout: float | None) -> None:
        """Store a fit and commit."""
        location = record.location
        values = {
            "key": key,
            "data": data,
            "timeout": timeout,
            "location": None if location is None else location.astype("<f8").tobytes(),
            **{name: getattr(record, name) for name in ("method", "seed", *MEASURED)},
        }
        marks = ", ".join(f":{name}" for name in values)
        with self._named():
            self._file.execute(
                f"INSERT OR REPLACE INTO fits ({', '.join(values)}) VALUES ({marks})", values
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def key_of(identity: str, job: Job, method: NamedMethod) -> str:
    """Return the same text for the same rows, method, parameters and version."""
    # Trials of a fixed table differ in seconds alone.
    drawn = ("seed", job.seed) if isinstance(job.data, Model) else ("trial", job.trial)
    known = {name: getattr(job, name) for name in method.needs}
    try:
        fit = (method.name, _parameters(method.method), known)
        return str(joblib.hash((identity, drawn, fit, importlib.metadata.version("inlier"))))
    except Exception as error:  # whatever pickle raises for a parameter
        raise ValueError(
            f"The method {method.name!r} cannot be kept in a store, since a parameter has no "
            f"content that could be compared ({error}). Pass store=None."
        ) from error


def _parameters(method: Any) -> Any:
    if isinstance(method, Method):
        return _name(method.estimator), method.fixed
    own = method.get_params(deep=False) if hasattr(method, "get_params") else vars(method)
    return _name(type(method)), own


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _check_file(path: Path) -> None:
    check_place(path, "store")
    if not path.exists() or path.stat().st_size == 0:
        return
    with open(path, "rb") as file:
        head = file.read(72)
    if head[:16] != b"SQLite format 3\0" or int.from_bytes(head[68:72], "big") != APPLICATION:
        raise ValueError(
            f"store={str(path)!r} is not a store of inlier.research.compare. It was left as it "
            "is: give another name."
        )
