"""Fit the methods of a trial and measure them, in this process or in workers that can be killed.

A process pool with time limits for each fit: a worker reports when a fit starts, so that only the
fit counts; it is killed with the processes that it started, and another one continues its job.
"""

import math
import numbers
import os
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any, Literal

import numpy as np
from joblib.externals.loky.backend import get_context  # type: ignore[import-untyped]
from joblib.externals.loky.backend.reduction import dumps  # type: ignore[import-untyped]
from scipy.linalg import norm  # does not overflow
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from inlier._internal.typing import Array, Mask
from inlier.research.comparison.plan import NamedMethod, TrialData, check_sample
from inlier.research.comparison.table import ROUNDING, Trial

# Warnings about code, not about the estimate.
IGNORED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
# Enough rows to estimate the length of a row.
LENGTH_ROWS = 1000


@dataclass(frozen=True)
class Job:
    """One trial of some methods; alpha and sigma are as in `Plan`."""

    plan: int  # index of the comparison
    data: TrialData
    trial: int
    seed: int | None
    methods: tuple[NamedMethod, ...]
    alpha: float | None
    sigma: float | None

    def unanswered(self, method: NamedMethod, status: Literal["timeout", "failed"]) -> Trial:
        """Return the record of a fit without an estimate."""
        return Trial(method.name, self.trial, self.seed, status)


@dataclass(frozen=True)
class FitStarted:
    """A fit starts, and with it the clock of its timeout."""

    method: str


@dataclass(frozen=True)
class JobError:
    """A whole job failed."""

    message: str


Event = FitStarted | Trial | JobError


def run_job(job: Job) -> Iterator[Event]:
    """Fit the methods of a job one after the other."""
    try:
        drawn = check_sample(job.data.draw(job.seed))
        known = {"alpha": job.alpha, "sigma": job.sigma}
        for name in {name for method in job.methods for name in method.needs}:
            known[name] = getattr(drawn, name) if known[name] is None else known[name]
    except Exception as error:
        yield JobError(f"Trial {job.trial} of {job.data} cannot be had: {describe(error)}")
        return
    for method in job.methods:
        yield FitStarted(method.name)
        yield _fit(job, method, drawn, known)


def _fit(job: Job, method: NamedMethod, drawn: Any, known: dict[str, float | None]) -> Trial:
    X = _read_only(drawn.X)
    # Single-threaded, or the seconds of parallel trials would not compare.
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        try:
            estimator = method.estimator(known)
            begin = time.perf_counter()
            estimator.fit(X)
            seconds = time.perf_counter() - begin
            location, removed, passes = _attributes(estimator, X)
        except (Exception, SystemExit) as error:
            seconds = time.perf_counter() - begin
            failed = job.unanswered(method, "failed")
            return replace(failed, seconds=seconds, message=describe(error))
    texts = [str(w.message) for w in caught if not issubclass(w.category, IGNORED)]
    labelled = drawn.is_outlier is not None and removed is not None
    return Trial(
        method.name,
        job.trial,
        job.seed,
        "ok",
        error=math.nan if drawn.mean is None else _error(location, drawn.mean, X),
        exact=bool((removed == drawn.is_outlier).all()) if labelled else None,
        removed=None if removed is None else int(removed.sum()),
        passes=passes,
        seconds=seconds,
        message=" ".join(dict.fromkeys(texts)),
        location=location,
    )


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
    if not hasattr(estimator, "location_"):
        raise ValueError("location_ is missing: after fit it should be a point.")
    location = np.asarray(estimator.location_)
    if location.shape != (d,) or location.dtype.kind not in "buif":
        raise ValueError(
            f"location_ has shape {location.shape} and dtype {location.dtype}: after fit it should "
            f"be a point with {d} coordinates."
        )
    if not np.isfinite(location).all():
        raise ValueError("location_ has NaN or infinity: after fit it should be a point.")
    support: Any = getattr(estimator, "support_", None)
    is_mask = isinstance(support, np.ndarray) and support.dtype == np.bool_
    judged = is_mask and support.shape == (n,) and getattr(estimator, "judges_rows", True)
    passes = getattr(getattr(estimator, "result_", None), "n_passes", None)
    passes = int(passes) if isinstance(passes, numbers.Integral) else None
    return location.astype(np.float64), ~support if judged else None, passes


def _error(location: Array, mean: Array, X: Any) -> float:
    """Return the distance to the true mean; 0 if it is rounding error."""
    rows = X[:LENGTH_ROWS]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    typical = np.median([norm(row) for row in rows])
    error = float(norm(location - mean))
    return 0.0 if error <= ROUNDING * float(typical) else error


def describe(error: BaseException) -> str:
    """Return type and message of an exception."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its __str__ fails
        return type(error).__name__


# Seconds; select() refuses more than some days.
LONGEST_WAIT = 3600.0
# Sent by a worker that asks for a job.
READY = None


def run_in_process(jobs: Iterable[Job]) -> Generator[tuple[Job | None, Event], None, None]:
    """Run all jobs in this process."""
    _warm_up()
    for job in jobs:
        for event in run_job(job):
            yield job, event


def worker_main(connection: Connection) -> None:
    """Run jobs in a worker process until the connection closes."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # killed with its children; Ctrl-C reaches the parent alone
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with, args=(os.getppid(),), daemon=True).start()
    _warm_up()
    with suppress(EOFError, OSError):  # the parent is gone
        while True:
            connection.send(READY)
            content = connection.recv_bytes()
            try:
                job = pickle.loads(content)
            except Exception as error:
                message = f"A worker process cannot read its task: {describe(error)}"
                connection.send(JobError(message))
                continue
            for event in run_job(job):
                connection.send(event)


def _exit_with(parent: int) -> None:
    """End this process when its parent ends, even during a fit."""
    while os.getppid() == parent:
        time.sleep(1.0)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _warm_up() -> None:
    """Import what the first fit would import, or its seconds would not compare."""
    from inlier.api import robust_mean

    rows = np.random.default_rng(0).standard_normal((20, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robust_mean(rows)
        robust_mean(rows, sigma=1.0)


class Worker:
    """The parent's handle of a worker process, whose events its pipe receives."""

    def __init__(self) -> None:
        # Unlike multiprocessing, loky does not import the user's script.
        context = get_context("loky")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=worker_main, args=(theirs,))
        self.process.start()
        theirs.close()
        self.job: Job | None = None
        # Methods of the job that are not finished; the first is being fitted.
        self.left: deque[NamedMethod] = deque()
        self.deadline = math.inf  # of the current fit, on the clock `time.monotonic`

    def send(self, job: Job) -> None:
        """Send a job to a worker that is ready."""
        self.job, self.left = job, deque(job.methods)
        try:
            content = dumps(job)
        except Exception as error:
            raise ValueError(
                f"A method or the data cannot be sent to another process ({describe(error)}): "
                "pass n_jobs=1 and timeout=None, which needs none."
            ) from error
        with suppress(OSError):  # it has died, as `receive` will find
            self.pipe.send_bytes(content)

    def receive(self) -> Event | None:
        """Return the next event, or READY; if the worker died, its fit failed."""
        try:
            event: Event | None = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            if self.job is None or not self.left:
                return JobError(f"A worker process ended by itself (exit code {code}).")
            why = "Out of memory?" if code == -signal.SIGKILL else ""
            message = f"The process ended during the fit (exit code {code}). {why}".rstrip()
            return replace(self.job.unanswered(self.left[0], "failed"), message=message)
        return event

    def rest(self) -> Job | None:
        """Remove the finished method, and return the rest of the job."""
        self.left.popleft()
        assert self.job is not None
        return replace(self.job, methods=tuple(self.left)) if self.left else None

    def kill(self) -> None:
        """Kill the process and those that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError):  # Windows, or it has only just started
            self.process.terminate()
        self.process.join()
        self.pipe.close()


def run_in_workers(
    jobs: Iterable[Job], n_jobs: int, timeout: float | None
) -> Generator[tuple[Job | None, Event], None, None]:
    """Run all jobs in `n_jobs` processes; yield events with their jobs, None if about a worker."""
    waiting, workers = deque(jobs), set[Worker]()
    limit = math.inf if timeout is None else timeout
    try:
        while waiting or workers:
            free = sum(worker.job is None for worker in workers)
            for _ in range(min(n_jobs - len(workers), len(waiting) - free)):
                workers.add(Worker())
            nearest = min(worker.deadline for worker in workers)
            patience = min(max(0.0, nearest - time.monotonic()), LONGEST_WAIT)
            ready = wait([worker.pipe for worker in workers], patience)
            for worker in list(workers):
                if worker.pipe in ready:
                    event, alive = worker.receive(), worker.process.is_alive()
                elif time.monotonic() >= worker.deadline and worker.job is not None:
                    late = worker.job.unanswered(worker.left[0], "timeout")
                    message = f"stopped after {limit:g} seconds"
                    event, alive = replace(late, seconds=limit, message=message), False
                else:
                    continue
                if event is READY:
                    worker.job = None
                    if waiting:
                        worker.send(waiting.popleft())
                    else:
                        alive = False
                else:
                    started = isinstance(event, FitStarted)
                    worker.deadline = time.monotonic() + limit if started else math.inf
                    if isinstance(event, Trial):
                        rest = worker.rest()
                        if rest is not None and not alive:
                            waiting.appendleft(rest)
                    yield worker.job, event
                if not alive:
                    workers.discard(worker)
                    worker.kill()
    finally:
        for worker in workers:
            worker.kill()
