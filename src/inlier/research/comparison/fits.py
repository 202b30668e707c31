"""Fit a method and measure it, in this process or in others that can be stopped."""

import math
import numbers
import os
import pickle
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib.externals.loky.backend import get_context  # type: ignore[import-untyped]
from joblib.externals.loky.backend.reduction import dumps  # type: ignore[import-untyped]
from scipy.linalg import norm  # does not overflow
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from inlier._internal.optional import optional
from inlier._internal.typing import Array, Mask
from inlier.api import robust_mean
from inlier.research.comparison.registry import Method
from inlier.research.comparison.table import ROUNDING

# Warnings about code, not about the estimate.
IGNORED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
# Enough rows to estimate the length of a row.
LENGTH_ROWS = 1000

# A line of `Comparison.records`, or a part of it.
Record = dict[str, Any]
UNKNOWN: Record = {"error": math.nan, "exact": None, "removed": None, "passes": None}


class FitError(Exception):
    """A fit that failed; an exception, so that no store keeps it."""


@dataclass(frozen=True, eq=False)
class Fit:
    """One fit of a plan: the beginning of its record, and the arguments of `measure`."""

    plan: int
    begun: Record  # method, trial and seed
    arguments: tuple[Any, ...]
    measure: Callable[..., Record]  # or what caches it

    def run(self) -> Record:
        """Measure the fit, or find it in the store."""
        begin = time.perf_counter()
        try:
            return self.begun | self.measure(*self.arguments)
        except FitError as error:
            return self.unanswered("failed", time.perf_counter() - begin, str(error))

    def unanswered(self, status: str, seconds: float, message: str) -> Record:
        """Return the record of a fit without an estimate."""
        about = {"status": status, "seconds": seconds, "message": message, "location": None}
        return self.begun | UNKNOWN | about


def measure(key: str, method: Method, known: dict[str, Any], drawn: Any) -> Record:
    """Fit a method on one thread: the seconds of parallel fits would not compare otherwise.

    `drawn` has the rows X and, if they are known, their mean and is_outlier; `key` identifies all
    arguments and the version of inlier for a store.
    """
    X, labels = _read_only(drawn.X), drawn.is_outlier
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator = method.make(**known)
            begin = time.perf_counter()
            estimator.fit(X)
            seconds = time.perf_counter() - begin
            location, removed, passes = _attributes(estimator, X)
        except (Exception, SystemExit) as error:
            raise FitError(f"{type(error).__name__}: {error}") from None
    texts = [str(w.message) for w in caught if not issubclass(w.category, IGNORED)]
    found = {"status": "ok", **UNKNOWN, "passes": passes, "seconds": seconds}
    found |= {"message": " ".join(dict.fromkeys(texts)), "location": location}
    if drawn.mean is not None:
        found["error"] = _error(location, drawn.mean, X)
    if removed is not None:
        found["removed"] = int(removed.sum())
        found["exact"] = None if labels is None else bool((removed == labels).all())
    return found


def _read_only(X: Any) -> Any:
    """Protect the rows from methods that write into them."""
    if isinstance(X, np.ndarray):
        X = X.view()
        X.flags.writeable = False
    elif hasattr(X, "tocsr"):  # a sparse table cannot be made read-only
        X = X.copy()
    return X


def _attributes(estimator: Any, X: Any) -> tuple[Array, Mask | None, int | None]:
    """Return location, removed rows and passes of a fitted estimator."""
    n, d = X.shape
    location = np.asarray(estimator.location_)
    is_point = location.shape == (d,) and location.dtype.kind in "buif"
    if not is_point or not np.isfinite(location).all():
        raise ValueError(
            f"location_ should be a point with {d} finite coordinates after fit, but has shape "
            f"{location.shape} and dtype {location.dtype}, or NaN or infinity."
        )
    support: Any = getattr(estimator, "support_", None)
    is_mask = isinstance(support, np.ndarray) and support.dtype == np.bool_
    judged = is_mask and support.shape == (n,) and getattr(estimator, "judges_rows", True)
    result = getattr(estimator, "result_", None)
    passes = getattr(getattr(result, "details", result), "n_passes", None)
    passes = int(passes) if isinstance(passes, numbers.Integral) else None
    return location.astype(np.float64), ~support if judged else None, passes


def _error(location: Array, mean: Array, X: Any) -> float:
    """Return the distance to the true mean; 0 if it is rounding error."""
    rows = X[:LENGTH_ROWS]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    typical = np.median([norm(row) for row in rows])
    error = float(norm(location - mean))
    return 0.0 if error <= ROUNDING * float(typical) else error


def run_here(fits: Iterable[Fit]) -> Generator[tuple[Fit, Record], None, None]:
    """Run fits one after the other in this process."""
    warm_up()
    for fit in fits:
        yield fit, fit.run()


def run_in_workers(
    fits: Iterable[Fit], n_jobs: int, timeout: float | None
) -> Generator[tuple[Fit, Record], None, None]:
    """Run fits in `n_jobs` processes, and stop those that take longer than `timeout` seconds."""
    pebble = optional("pebble", "To stop a fit that takes too long", "research")
    # Unlike multiprocessing, loky does not import the user's script.
    pool = pebble.ProcessPool(
        n_jobs, initializer=_start_worker, initargs=(os.getpid(),), context=get_context("loky")
    )
    running: dict[Future[Record], Fit] = {}

    def finished() -> Generator[tuple[Fit, Record], None, None]:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            fit = running.pop(future)
            try:
                yield fit, future.result()
            except TimeoutError:
                seconds = timeout or math.nan
                yield fit, fit.unanswered("timeout", seconds, f"stopped after {seconds:g} seconds")
            except pebble.ProcessExpired as error:
                message = f"The process ended during the fit (exit code {error.exitcode})."
                yield fit, fit.unanswered("failed", math.nan, message)

    try:
        for fit in fits:
            running[pool.schedule(_run_pickled, (_pickled(fit),), timeout=timeout)] = fit
            if len(running) > n_jobs:  # one more than workers, so that none waits
                yield from finished()
        while running:
            yield from finished()
    finally:  # also after Ctrl-C
        pool.stop()
        pool.join()


def _pickled(fit: Fit) -> bytes:
    """Pickle a fit, with classes that are defined in the user's script."""
    try:
        return bytes(dumps(fit))
    except Exception as error:
        raise ValueError(
            f"A method or the data cannot be sent to another process ({error}): pass n_jobs=1 and "
            "timeout=None, which needs none."
        ) from error


def _run_pickled(content: bytes) -> Record:
    fit: Fit = pickle.loads(content)
    return fit.run()


def _start_worker(parent: int) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    warm_up()


def _end_with(parent: int) -> None:
    """End this process when its parent ends, even during a fit."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def warm_up() -> None:
    """Import what the first fit would import, or its seconds would not compare."""
    rows = np.random.default_rng(0).standard_normal((20, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robust_mean(rows)
        robust_mean(rows, sigma=1.0)
