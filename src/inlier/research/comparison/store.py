"""Finished fits in an SQLite file, so that a comparison can be resumed."""

import importlib.metadata
import os
import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]

from inlier._internal.atomic import check_place
from inlier.research.comparison.plan import NamedMethod, Plan
from inlier.research.comparison.registry import Method
from inlier.research.comparison.table import Trial

# Seconds to wait for other processes that are writing.
PATIENCE = 60.0
TABLE = "CREATE TABLE IF NOT EXISTS fits (key TEXT PRIMARY KEY, timeout REAL, trial BLOB)"


class Store:
    """A file with one row for each finished fit, created if needed."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ValueError(f"store must be the name of a file, but is {path!r}.")
        self.path = Path(path)
        check_place(self.path, "store")
        with self._named():
            self._file = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            self._file.execute(TABLE)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in errors of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            raise ValueError(
                f"store={str(self.path)!r} is not a store of inlier.research.compare ({error}): "
                "give another name."
            ) from error

    def get(self, key: str, timeout: float | None) -> Trial | None:
        """Return a finished fit; not one that failed, or timed out with a shorter limit."""
        with self._named():
            row = self._file.execute(
                "SELECT timeout, trial FROM fits WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        given, found = row[0], pickle.loads(row[1])
        late = found.status == "timeout" and (timeout is None or given < timeout)
        return None if found.status == "failed" or late else found

    def put(self, key: str, trial: Trial, timeout: float | None) -> None:
        """Store a fit and commit."""
        values = (key, timeout, pickle.dumps(trial))
        with self._named():
            self._file.execute("INSERT OR REPLACE INTO fits VALUES (?, ?, ?)", values)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def key_of(identity: str, plan: Plan, trial: int, method: NamedMethod) -> str:
    """Return the same text for the same rows, method, parameters and version."""
    # Trials of a fixed table differ in seconds alone.
    drawn = ("seed", plan.seeds[trial]) if plan.data.is_model else ("trial", trial)
    known = {name: plan.known[name] for name in method.needs}
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
