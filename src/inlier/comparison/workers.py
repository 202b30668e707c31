"""Run jobs in this process, or in worker processes that can be killed.

A process pool with time limits for each fit: a worker reports when a fit starts, so that only the
fit counts; it is killed with the processes that it started, and another one continues its job.
"""

import math
import os
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait

import numpy as np
from joblib.externals.loky.backend import get_context  # type: ignore[import-untyped]
from joblib.externals.loky.backend.reduction import dumps  # type: ignore[import-untyped]

from inlier.comparison.fit import Event, FitStarted, Job, JobError, describe, run_job
from inlier.comparison.plan import NamedMethod
from inlier.comparison.table import Trial

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
