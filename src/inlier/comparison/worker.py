"""Fits of one trial, measured: in this process, or in one that can be killed."""

from __future__ import annotations

import copy
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
from sklearn.base import clone
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from inlier._internal.typing import Array, Mask
from inlier.comparison.registry import Method
from inlier.comparison.source import checked
from inlier.comparison.table import ROUNDING, Trial

# About the code and not about the answer.
UNIMPORTANT = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


@dataclass(frozen=True)
class Contender:
    """A method under the name that it has in the table.

    Attributes
    ----------
    name : str
    maker : Method or estimator
        An estimator is copied before each fit.
    """

    name: str
    maker: Any

    @property
    def needs(self) -> tuple[str, ...]:
        """What it has to be told: of "alpha" and "sigma"."""
        return self.maker.needs if isinstance(self.maker, Method) else ()

    def estimator(self, told: dict[str, float | None]) -> Any:
        """A new one."""
        if isinstance(self.maker, Method):
            return self.maker.make(**told)
        return clone(self.maker) if hasattr(self.maker, "get_params") else copy.deepcopy(self.maker)


@dataclass(frozen=True)
class Job:
    """One trial of some methods.

    Attributes
    ----------
    plan : int
        Which comparison it belongs to.
    source : Rows, Known or Model
        See `inlier.comparison.source`.
    trial : int
    seed : int or None
    contenders : tuple of Contender
    alpha, sigma : float or None
        What the user knows; if None, the truth is told.
    """

    plan: int
    source: Any
    trial: int
    seed: int | None
    contenders: tuple[Contender, ...]
    alpha: float | None
    sigma: float | None

    def unanswered(self, contender: Contender, status: Literal["timeout", "failed"]) -> Trial:
        """The record of a fit without an answer."""
        return Trial(contender.name, self.trial, self.seed, status)


@dataclass(frozen=True)
class Begins:
    """A fit begins, and with it the clock of its timeout."""

    method: str


@dataclass(frozen=True)
class Trouble:
    """A job cannot be done at all."""

    message: str


Event = Begins | Trial | Trouble

# Nobody waits for ever, and the operating system for no more than some days.
LONGEST_WAIT = 3600.0
# So many rows say how long a row is.
TYPICAL = 1000

# What a worker says when it wants a job.
READY = None


def perform(job: Job) -> Iterator[Event]:
    """The fits of a job, one after the other."""
    try:
        drawn = checked(job.source.draw(job.seed))
        told = {"alpha": job.alpha, "sigma": job.sigma}
        for name in {name for contender in job.contenders for name in contender.needs}:
            told[name] = getattr(drawn, name) if told[name] is None else told[name]
    except Exception as error:
        yield Trouble(f"Trial {job.trial} of {job.source} cannot be had: {_in_words(error)}")
        return
    for contender in job.contenders:
        yield Begins(contender.name)
        yield _measured(job, contender, drawn, told)


def _measured(job: Job, contender: Contender, drawn: Any, told: dict[str, float | None]) -> Trial:
    failed = job.unanswered(contender, "failed")
    X = _read_only(drawn.X)
    # Single-threaded, or the figures of parallel trials would not compare.
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        try:
            estimator = contender.estimator(told)
            begin = time.perf_counter()
            estimator.fit(X)
            seconds = time.perf_counter() - begin
            location, removed, passes = _read(estimator, X)
        except (Exception, SystemExit) as error:
            seconds = time.perf_counter() - begin
            return replace(failed, seconds=seconds, message=_in_words(error))
    texts = [str(w.message) for w in caught if not issubclass(w.category, UNIMPORTANT)]
    message = " ".join(dict.fromkeys(texts))
    known = drawn.is_outlier is not None and removed is not None
    return Trial(
        contender.name,
        job.trial,
        job.seed,
        "ok",
        error=math.nan if drawn.mean is None else _error(location, drawn.mean, X),
        exact=bool((removed == drawn.is_outlier).all()) if known else None,
        removed=None if removed is None else int(removed.sum()),
        passes=passes,
        seconds=seconds,
        message=message,
        location=location,
    )


def _read_only(X: Any) -> Any:
    """The rows for a method that might write into them: the next one sees the same."""
    if isinstance(X, np.ndarray):
        X = X.view()
        X.flags.writeable = False
    elif hasattr(X, "tocsr"):  # a sparse table cannot be closed
        X = X.copy()
    return X


def _read(estimator: Any, X: Any) -> tuple[Array, Mask | None, int | None]:
    """What a fitted estimator says: location, removed rows and passes."""
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
    if not isinstance(support, np.ndarray) or support.shape != (n,) or support.dtype != np.bool_:
        support = None
    if not getattr(estimator, "judges_rows", True):
        support = None
    passes = getattr(getattr(estimator, "result_", None), "n_passes", None)
    return (
        location.astype(np.float64),
        None if support is None else ~support,
        int(passes) if isinstance(passes, numbers.Integral) else None,
    )


def _error(location: Array, mean: Array, X: Any) -> float:
    """Distance to the truth; 0 where it is what summing the rows leaves."""
    rows = X[:TYPICAL]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    typical = np.median([norm(row) for row in rows])
    error = float(norm(location - mean))
    return 0.0 if error <= ROUNDING * float(typical) else error


def _in_words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # an exception that cannot say what it is
        return type(error).__name__


def here(jobs: Iterable[Job]) -> Generator[tuple[Job | None, Event], None, None]:
    """All jobs in this process."""
    _warm_up()
    for job in jobs:
        for event in perform(job):
            yield job, event


def serve(connection: Connection) -> None:
    """What a worker process does until nobody asks any more."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # it is killed with its children; Ctrl-C reaches the parent alone
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _warm_up()
    try:
        while True:
            connection.send(READY)
            content = connection.recv_bytes()
            try:
                job = pickle.loads(content)
            except Exception as error:
                trouble = f"A worker process cannot read its task: {_in_words(error)}"
                connection.send(Trouble(trouble))
                continue
            for event in perform(job):
                connection.send(event)
    except (EOFError, OSError):  # the parent is gone
        return


def _end_with(parent: int) -> None:
    """A fit without an end must not outlive who could stop it."""
    while os.getppid() == parent:
        time.sleep(1.0)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _warm_up() -> None:
    """Load what the first fit would load, or its seconds would not compare."""
    from inlier.api import robust_mean

    rows = np.random.default_rng(0).standard_normal((20, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robust_mean(rows)
        robust_mean(rows, sigma=1.0)


class Worker:
    """A process that does jobs, as its parent sees it.

    Attributes
    ----------
    pipe : Connection
        Events come out of it.
    job : Job or None
    left : deque of Contender
        Of the job; the first is the one at work.
    deadline : float
        When it has to be done, on the clock `time.monotonic`.
    """

    def __init__(self) -> None:
        # Unlike those of multiprocessing, processes of loky do not import the user's script.
        context = get_context("loky")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,))
        self.process.start()
        theirs.close()
        self.job: Job | None = None
        self.left: deque[Contender] = deque()
        self.deadline = math.inf

    def take(self, job: Job) -> None:
        """Send a job to the worker, which has to be ready."""
        self.job, self.left = job, deque(job.contenders)
        try:
            content = dumps(job)
        except Exception as error:
            raise ValueError(
                f"A method or the data cannot be sent to another process ({_in_words(error)}): "
                "pass n_jobs=1 and timeout=None, which needs none."
            ) from error
        with suppress(OSError):  # it has died, which `receive` will say
            self.pipe.send_bytes(content)

    def receive(self) -> Event | None:
        """The next event, or READY; a worker that died failed at its fit."""
        try:
            event: Event | None = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            if self.job is None or not self.left:
                return Trouble(f"A worker process ended by itself (exit code {code}).")
            why = "Out of memory?" if code == -signal.SIGKILL else ""
            message = f"The process ended during the fit (exit code {code}). {why}".rstrip()
            return replace(self.job.unanswered(self.left[0], "failed"), message=message)
        return event

    def rest(self) -> Job | None:
        """What is left of the job after the contender at work."""
        self.left.popleft()
        assert self.job is not None
        return replace(self.job, contenders=tuple(self.left)) if self.left else None

    def kill(self) -> None:
        """End the process and those that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError):  # Windows, or it has only just started
            self.process.terminate()
        self.process.join()
        self.pipe.close()


def in_workers(
    jobs: Iterable[Job], n_jobs: int, timeout: float | None
) -> Generator[tuple[Job | None, Event], None, None]:
    """All jobs, each in one of `n_jobs` processes.

    A fit that takes too long is killed with its process; another one takes up the rest of its job.
    Events come with the job that they are about; with None, if it is about the worker itself.
    """
    waiting, crew = deque(jobs), set[Worker]()
    limit = math.inf if timeout is None else timeout
    try:
        while waiting or crew:
            free = sum(worker.job is None for worker in crew)
            for _ in range(min(n_jobs - len(crew), len(waiting) - free)):
                crew.add(Worker())
            nearest = min(worker.deadline for worker in crew)
            patience = min(max(0.0, nearest - time.monotonic()), LONGEST_WAIT)
            heard = wait([worker.pipe for worker in crew], patience)
            for worker in list(crew):
                if worker.pipe in heard:
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
                        worker.take(waiting.popleft())
                    else:
                        alive = False
                else:
                    worker.deadline = math.inf
                    if isinstance(event, Begins):
                        worker.deadline = time.monotonic() + limit
                    elif isinstance(event, Trial):
                        rest = worker.rest()
                        if rest is not None and not alive:
                            waiting.appendleft(rest)
                    yield worker.job, event
                if not alive:
                    crew.discard(worker)
                    worker.kill()
    finally:
        for worker in crew:
            worker.kill()
