"""`compare`: run methods on the same data.

`plan` and `carry_out` are its two halves, for many comparisons with the same workers.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import numpy as np

from inlier.research.comparison.plan import Plan, check_n_jobs, check_timeout, plan
from inlier.research.comparison.store import Store, key_of
from inlier.research.comparison.table import Comparison, Trial
from inlier.research.comparison.workers import Job, JobError, run_in_process, run_in_workers

# Called with the number of fits done, their total number, and the method being fitted.
Watch = Callable[[int, int, str], object]


def compare(
    data: Any,
    methods: Any = None,
    *,
    trials: int | None = None,
    alpha: float | None = None,
    sigma: float | None = None,
    n_jobs: int = 1,
    timeout: float | None = 60.0,
    store: str | os.PathLike[str] | None = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool | None = None,
) -> Comparison:
    """Compare the errors and running times of methods on the same data.

    If the true mean is known, methods are compared with it, otherwise with each other. A method
    that fails or times out is recorded as such, and the others continue.

    Parameters
    ----------
    data : table, Sample or model
        Rows, as for `robust_mean`; a `Sample` of `inlier.datasets`, whose true mean is known; or a
        model with ``sample(seed)``, from which each trial draws new rows.
    methods : iterable, mapping or str, optional
        Names in `inlier.research.methods()`, their `Method` objects, or estimators with `fit` and
        `location_`; a mapping gives them other names. By default all registered methods.
    trials : int, optional
        By default 20 for a model, otherwise 1: on the same rows, more trials only repeat timings.
    alpha : float, optional
        Fraction of bad rows, for methods that need it. By default the true one of each sample or,
        if unknown, the fraction that `robust_mean` removes.
    sigma : float, optional
        Largest standard deviation of the good rows in any direction, for methods that need it. By
        default the true one or, if unknown, the estimate of `robust_mean`.
    n_jobs : int, default=1
        Number of parallel trials, each in its own process; -1 for one on each core. Only seconds
        depend on it.
    timeout : float or None, default=60
        Seconds for one fit. With None and ``n_jobs=1`` everything runs in this process.
    store : path, optional
        A file that keeps each finished fit. With the same store only missing fits are run: new
        data, parameters or versions of inlier, failures, and timeouts with a shorter limit. It does
        not detect changes in the code of your own estimators or models: use another store then.
        Stored seconds are those of the original run.
    random_state : int, Generator or None, default=0
        Trial i is drawn with the seed ``random_state + i``, whatever `n_jobs` is. A generator or
        None draws the first seed at random. Methods have their own seeds.
    progress : bool, optional
        Whether to show progress on the standard error; by default on a terminal only.

    Returns
    -------
    Comparison
        `print` shows a table; see also `records`, `summary`, `distances`, `to_pandas`, `to_csv` and
        `plot`.

    Notes
    -----
    Seconds are those of `fit` alone, on one thread. All methods of a trial run in the same process,
    one after the other, except after a fit that was killed.

    Examples
    --------
    >>> import inlier
    >>> model = inlier.research.datasets.SettingB(n=500, d=100, alpha=0.2)
    >>> comparison = inlier.research.compare(model, ["mean", "inlier"], trials=3, timeout=None)
    >>> [row.method for row in comparison.summary()]
    ['inlier', 'mean']
    >>> comparison.summary()[0].exact
    3
    """
    # Check everything before the first fit.
    n_jobs, timeout = check_n_jobs(n_jobs), check_timeout(timeout)
    if store is not None:
        with Store(store):
            pass
    planned = plan(
        data, methods, trials=trials, alpha=alpha, sigma=sigma, random_state=random_state
    )
    with closing(Progress(progress)) as shown:
        (found,) = carry_out([planned], n_jobs=n_jobs, timeout=timeout, store=store, watch=shown)
    return found


def carry_out(
    plans: Sequence[Plan],
    *,
    n_jobs: int = 1,
    timeout: float | None = 60.0,
    store: str | os.PathLike[str] | None = None,
    watch: Watch = lambda done, total, method: None,
) -> list[Comparison]:
    """Run planned comparisons, and return them in this order; see `compare` for the parameters."""
    n_jobs, timeout = check_n_jobs(n_jobs), check_timeout(timeout)
    jobs = [
        Job(i, p.data, trial, seed, p.methods, p.alpha, p.sigma)
        for i, p in enumerate(plans)
        for trial, seed in enumerate(p.seeds)
    ]
    fits = [(job, method) for job in jobs for method in job.methods]
    # By index of the plan, trial and name of the method.
    records: dict[tuple[int, int, str], Trial] = {}
    keys: dict[tuple[int, int, str], str] = {}
    with ExitStack() as stack:
        kept = None if store is None else stack.enter_context(Store(store))
        if kept is not None:
            identities = [p.data.identity() for p in plans]
            for job, method in fits:
                place = (job.plan, job.trial, method.name)
                keys[place] = key_of(identities[job.plan], job, method)
                done = kept.get(keys[place], method, job, timeout)
                if done is not None:
                    records[place] = done
        missing = []
        for job in jobs:
            left = [m for m in job.methods if (job.plan, job.trial, m.name) not in records]
            if left:
                missing.append(replace(job, methods=tuple(left)))
        watch(len(records), len(fits), "")
        if timeout is None and n_jobs == 1:
            events = run_in_process(missing)
        else:
            events = run_in_workers(missing, n_jobs, timeout)
        # Closing ends the workers, also after Ctrl-C.
        for its_job, event in stack.enter_context(closing(events)):
            if isinstance(event, JobError):
                raise RuntimeError(event.message)
            assert its_job is not None
            if isinstance(event, Trial):
                place = (its_job.plan, event.trial, event.method)
                records[place] = event
                if kept is not None:
                    kept.put(keys[place], str(its_job.data), event, timeout)
            watch(len(records), len(fits), event.method)
    found = []
    for i, p in enumerate(plans):
        of_plan = (records[i, trial, m.name] for trial in range(len(p.seeds)) for m in p.methods)
        found.append(Comparison(tuple(of_plan), str(p.data), p.note, p.data.truth_known))
    return found


class Progress:
    """Progress of a comparison in one line on the standard error; None: on a terminal only."""

    def __init__(self, shown: bool | None) -> None:
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.begin = time.monotonic()
        self.found: int | None = None
        self.width = 0

    def __call__(self, done: int, total: int, method: str) -> None:
        """Show the number of fits done and the current method."""
        if self.found is None:  # fits from the store
            self.found = done
        self._write(f"compare {done}/{total}  {method}{self._remaining(done, total)}")

    def close(self) -> None:
        """Clear the line."""
        self._write("")

    def _remaining(self, done: int, total: int) -> str:
        fitted = done - (self.found or 0)
        if not fitted:
            return ""
        left = (time.monotonic() - self.begin) / fitted * (total - done)
        if left < 100.0:
            return f"  about {left:.0f} s left"
        return f"  about {left / 60.0:.0f} min left"

    def _write(self, text: str) -> None:
        if not self.shown:
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        end = "" if text else "\r"
        sys.stderr.write(f"\r{text.ljust(self.width)}{end}")
        sys.stderr.flush()
        self.width = len(text)
