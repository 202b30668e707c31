"""Finished fits in an SQLite file, so that a comparison can go on where it stopped."""

from __future__ import annotations

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
from inlier.comparison.registry import Method
from inlier.comparison.source import Model, Source
from inlier.comparison.table import Trial
from inlier.comparison.worker import Contender, Job

# SQLite keeps it at byte 68 of the file, for tools that ask whose a file is.
APPLICATION = 0x696E6C72  # "inlr"

# Other processes may be writing.
PATIENCE_SECONDS = 60.0

TABLE = """
CREATE TABLE IF NOT EXISTS fits (
    key TEXT PRIMARY KEY, data TEXT, method TEXT, seed INTEGER, timeout REAL,
    status TEXT, error REAL, exact INTEGER, removed INTEGER, passes INTEGER, seconds REAL,
    message TEXT, location BLOB, finished TEXT DEFAULT CURRENT_TIMESTAMP
)
"""


class Store:
    """A file with one line for each fit that is done.

    Parameters
    ----------
    path : path
        Made if it does not exist. A file that is something else is not touched.
    """

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
        """What SQLite says does not name the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise ValueError(
                f"store={str(self.path)!r} cannot be used ({error}): move it away, or give another "
                "name."
            ) from error

    def get(self, key: str, contender: Contender, job: Job, timeout: float | None) -> Trial | None:
        """A finished fit; not one that failed, or was given less time than it would be now."""
        with self._named():
            found = self._file.execute(
                "SELECT status, error, exact, removed, passes, seconds, message, location, timeout "
                "FROM fits WHERE key = ?",
                (key,),
            ).fetchone()
        if found is None:
            return None
        status, error, exact, removed, passes, seconds, message, location, given = found
        if status == "failed" or (status == "timeout" and (timeout is None or given < timeout)):
            return None
        return Trial(
            contender.name,
            job.trial,
            job.seed,
            status,
            error=np.nan if error is None else error,
            exact=None if exact is None else bool(exact),
            removed=removed,
            passes=passes,
            seconds=np.nan if seconds is None else seconds,
            message=message,
            location=None if location is None else np.frombuffer(location, dtype="<f8").copy(),
        )

    def put(self, key: str, data: str, record: Trial, timeout: float | None) -> None:
        """Keep a fit, at once and for good."""
        location = record.location
        values = {
            "key": key,
            "data": data,
            "method": record.method,
            "seed": record.seed,
            "timeout": timeout,
            "status": record.status,
            "error": record.error,
            "exact": record.exact,
            "removed": record.removed,
            "passes": record.passes,
            "seconds": record.seconds,
            "message": record.message,
            "location": None if location is None else location.astype("<f8").tobytes(),
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


def key_of(source: Source, identity: str, job: Job, contender: Contender) -> str:
    """The same for the same fit: rows, method, all its parameters, what it is told, version."""
    # A table is the same in all trials, which differ in seconds alone.
    drawn = ("seed", job.seed) if isinstance(source, Model) else ("trial", job.trial)
    told = {name: getattr(job, name) for name in contender.needs}
    try:
        method = (contender.name, _parameters(contender.maker), told)
        return str(joblib.hash((identity, drawn, method, importlib.metadata.version("inlier"))))
    except Exception as error:  # whatever pickle says about a parameter
        raise ValueError(
            f"The method {contender.name!r} cannot be kept in a store, since a parameter has no "
            f"content that could be compared ({error}). Pass store=None."
        ) from error


def _parameters(maker: Any) -> Any:
    if isinstance(maker, Method):
        return _name(maker.estimator), maker.fixed
    own = maker.get_params(deep=False) if hasattr(maker, "get_params") else vars(maker)
    return _name(type(maker)), own


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
            f"store={str(path)!r} is not a store of inlier.compare. It was left as it is: give "
            "another name."
        )
