"""`compare`: run methods on the same data."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np

from inlier._internal.progress import bar
from inlier._internal.validation import check_number, check_whole
from inlier.research.comparison.fits import Fit, measure, run_here, run_in_workers
from inlier.research.comparison.plan import Plan, plan
from inlier.research.comparison.table import Comparison, Trial

# Called with the number of fits done, their total number, and the method of the last one.
Watch = Callable[[int, int, str], object]
# A fit of a plan: the index of the plan, the trial, and the name of the method.
Place = tuple[int, int, str]


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
        Rows, as for `robust_mean`; a `Sample` of `inlier.research.datasets`, whose true mean is
        known; or a model with ``sample(seed)``, from which each trial draws new rows.
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
        Number of parallel fits, each in its own process; -1 for one on each core. Only seconds
        depend on it.
    timeout : float or None, default=60
        Seconds for one fit. With None and ``n_jobs=1`` everything runs in this process.
    store : path, optional
        A folder that keeps each finished fit (`joblib.Memory`). With the same store only missing
        fits are run: new rows, parameters or versions of inlier, failures and timeouts. It does not
        detect changes in the code of your own estimators: use another store then. Stored seconds
        are those of the original run.
    random_state : int, Generator or None, default=0
        Trial i is drawn with the seed ``random_state + i``. A generator or None draws the first
        seed at random. Methods have their own seeds.
    progress : bool, optional
        Whether to show progress on the standard error; by default on a terminal only.

    Returns
    -------
    Comparison
        `print` shows a table; see also `records`, `summary`, `distances` and `to_pandas`.

    Notes
    -----
    Seconds are those of `fit` alone, on one thread.

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
    planned = plan(
        data, methods, trials=trials, alpha=alpha, sigma=sigma, random_state=random_state
    )
    options: dict[str, Any] = {"n_jobs": n_jobs, "timeout": timeout, "store": store}
    with bar(sys.stderr.isatty() if progress is None else progress) as update:

        def watch(done: int, total: int, method: str) -> None:
            update(f"compare {method}", done / total)

        return carry_out([planned], **options, watch=watch)[0]


def carry_out(
    plans: Sequence[Plan],
    *,
    n_jobs: int = 1,
    timeout: float | None = 60.0,
    store: str | os.PathLike[str] | None = None,
    watch: Watch = lambda done, total, method: None,
) -> list[Comparison]:
    """Run planned comparisons, and return them in this order; see `compare` for the parameters."""
    n_jobs = check_n_jobs(n_jobs)
    if timeout is not None:
        timeout = check_number(timeout, "timeout", hint=" Give None for no limit.")
    places = [
        (i, trial, method.name)
        for i, p in enumerate(plans)
        for trial in range(len(p.seeds))
        for method in p.methods
    ]
    records: dict[Place, Trial] = {}

    def missing() -> Iterator[Fit]:
        """Yield the fits that the store does not have."""
        for fit in _fits(plans, stored):
            if stored is None or not stored.check_call_in_cache(*fit.arguments):
                yield fit
            else:
                keep(fit, fit.run())

    def keep(fit: Fit, trial: Trial) -> None:
        records[fit.plan, fit.trial, trial.method] = trial
        watch(len(records), len(places), trial.method)

    stored = None if store is None else _stored(store)
    watch(0, len(places), "")
    here = timeout is None and n_jobs == 1
    fits = run_here(missing()) if here else run_in_workers(missing(), n_jobs, timeout)
    with closing(fits):  # ends the workers, also after Ctrl-C
        for fit, trial in fits:
            keep(fit, trial)
    found: list[list[Trial]] = [[] for _ in plans]
    for place in places:
        found[place[0]].append(records[place])
    return [
        Comparison(tuple(of_plan), str(p.data), p.note, p.data.truth_known)
        for p, of_plan in zip(plans, found, strict=True)
    ]


def _stored(store: str | os.PathLike[str]) -> Any:
    """Return `measure` as it is kept in a store."""
    if Path(store).is_file():
        raise ValueError(f"store={str(store)!r} is a file: give the name of a folder.")
    return joblib.Memory(store, verbose=0).cache(measure, ignore=["method", "known", "drawn"])


def _fits(plans: Sequence[Plan], stored: Any) -> Iterator[Fit]:
    """Draw the rows of each trial, and yield its fits, with keys for a store if there is one."""
    key = ""
    for i, p in enumerate(plans):
        for trial, seed in enumerate(p.seeds):
            drawn = p.data.draw(seed)
            rows = SimpleNamespace(X=drawn.X, mean=drawn.mean, is_outlier=drawn.is_outlier)
            # Trials of a fixed table differ in seconds alone.
            about = (vars(rows), None if p.data.is_model else trial, version("inlier"))
            digest = "" if stored is None else joblib.hash(about)
            needed = {name for method in p.methods for name in method.needs}
            truth = {n: getattr(drawn, n) for n in needed if p.known[n] is None}
            for method in p.methods:
                known = {name: {**p.known, **truth}[name] for name in method.needs}
                if stored is not None:
                    key = joblib.hash((digest, method.name, method.identity(), known))
                yield Fit(i, trial, seed, method, (key, method, known, rows), stored or measure)


def check_n_jobs(n_jobs: Any) -> int:
    """Return a number of processes."""
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return int(joblib.cpu_count())
    try:
        return check_whole(n_jobs, "n_jobs")
    except ValueError as error:
        raise ValueError(f"{error} -1 stands for all cores.") from None
