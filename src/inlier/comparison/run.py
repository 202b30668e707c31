"""`compare`: validates, lists what is to be done, and keeps what comes back.

`plan` and `carry_out` are its two halves, for many comparisons with the same workers.
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from scipy.sparse import issparse

from inlier._internal.validation import check_number, check_random_state, check_whole
from inlier.api import robust_mean
from inlier.comparison.progress import Progress
from inlier.comparison.registry import Method
from inlier.comparison.registry import methods as registered
from inlier.comparison.source import Model, Source, UnlabelledRows, source_of
from inlier.comparison.store import Store, key_of
from inlier.comparison.table import Comparison, Trial
from inlier.comparison.worker import Contender, Job, Trouble, here, in_workers
from inlier.linalg.metrics import UNEVEN, unevenness

# So many rows tell how much columns vary.
MOST_ROWS = 10_000
# What a store can hold.
MOST_SEED = 2**63 - 1
# Methods that need it ask for less than half.
MOST_ALPHA = 0.49

# Told how many fits are done, of how many, and which method is at work.
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
    """How well, and how fast, methods find the mean of the good rows, on the same data.

    Where the truth is known, methods are compared with it; otherwise with each other. A method
    that fails or takes too long is recorded as such, and the others go on.

    Parameters
    ----------
    data : table, Sample or model
        Rows, as `robust_mean` takes them; a `Sample` of `inlier.datasets`, whose truth is known;
        or a model with ``sample(seed)``, from which each trial draws anew.
    methods : iterable, mapping or str, optional
        Names in `inlier.methods()`, their `Method` objects, or estimators with `fit` and
        `location_`; a mapping gives them other names. All of `inlier.methods()`, if not given.
    trials : int, optional
        20 for a model, otherwise 1: on the same rows, further trials only repeat the timing.
    alpha : float, optional
        The fraction of bad rows that methods are told if they need it. If it is not given, they
        are told the true one of each sample or, where there is no truth, the fraction that
        `robust_mean` removes.
    sigma : float, optional
        The same for the largest standard deviation of the good rows in any direction; where there
        is no truth, that which `robust_mean` finds.
    n_jobs : int, default=1
        Trials at a time, each in a process of its own; -1 for one on each core. Only seconds
        depend on it.
    timeout : float or None, default=60
        Seconds that one fit may take. With None and ``n_jobs=1`` everything runs in this process.
    store : path, optional
        A file that keeps each fit as soon as it is done. With the same store, only what is missing
        is done: other data, parameters or versions of inlier, what failed, and what timed out in
        less time. It does not see that the code of your own estimators or models changed: take
        another store then. Seconds from the store are those of the machine and the day of the fit.
    random_state : int, Generator or None, default=0
        Trial i is drawn with the seed ``random_state + i``, whatever `n_jobs` is. A generator or
        None picks the first seed at random. Methods keep their own.
    progress : bool, optional
        Whether to show one line on the standard error; if not given, on a terminal only.

    Returns
    -------
    Comparison
        `print` shows a table; `records`, `summary`, `distances`, `to_pandas`, `to_csv` and `plot`
        give the rest.

    Notes
    -----
    Seconds are those of `fit` alone, on one thread. All methods of a trial run in the same process,
    one after the other, apart from what comes after a fit that was killed.

    Examples
    --------
    >>> import inlier
    >>> model = inlier.datasets.SettingB(n=500, d=100, alpha=0.2)
    >>> comparison = inlier.compare(model, ["mean", "inlier"], trials=3, timeout=None)
    >>> [row.method for row in comparison.summary()]
    ['inlier', 'mean']
    >>> comparison.summary()[0].exact
    3
    """
    # Before anything is fitted.
    n_jobs, timeout = check_n_jobs(n_jobs), _check_timeout(timeout)
    if store is not None:
        with Store(store):
            pass
    planned = plan(
        data, methods, trials=trials, alpha=alpha, sigma=sigma, random_state=random_state
    )
    with closing(Progress(progress)) as shown:
        (found,) = carry_out([planned], n_jobs=n_jobs, timeout=timeout, store=store, watch=shown)
    return found


@dataclass(frozen=True)
class Plan:
    """A comparison that is to be done.

    Attributes
    ----------
    source : Rows, Known or Model
    contenders : tuple of Contender
    seeds : tuple of int or None
        One for each trial.
    alpha, sigma : float or None
        What methods are told; if None, the truth.
    note : str
    """

    source: Source
    contenders: tuple[Contender, ...]
    seeds: tuple[int | None, ...]
    alpha: float | None
    sigma: float | None
    note: str

    @property
    def n_fits(self) -> int:
        """Of all methods in all trials."""
        return len(self.seeds) * len(self.contenders)


def plan(
    data: Any,
    methods: Any = None,
    *,
    trials: int | None = None,
    alpha: float | None = None,
    sigma: float | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Plan:
    """What `compare` would do; its parameters."""
    source = source_of(data)
    contenders = _contenders(methods)
    trials = source.trials if trials is None else check_whole(trials, "trials")
    if alpha is not None:
        alpha = check_number(alpha, "alpha", at_least=0.0, below=0.5)
    if sigma is not None:
        sigma = check_number(sigma, "sigma")
    first = _first_seed(random_state, trials)
    seeds = tuple(first + i if isinstance(source, Model) else None for i in range(trials))
    alpha, sigma, note = _told(source, contenders, alpha, sigma)
    if isinstance(source, UnlabelledRows):
        note += _about_scales(source)
    if trials > 1 and not isinstance(source, Model):
        note.append(f"The rows are the same in all {trials} trials: only seconds vary.")
    return Plan(source, contenders, seeds, alpha, sigma, " ".join(note))


def carry_out(
    plans: Sequence[Plan],
    *,
    n_jobs: int = 1,
    timeout: float | None = 60.0,
    store: str | os.PathLike[str] | None = None,
    watch: Watch = lambda done, total, method: None,
) -> list[Comparison]:
    """The comparisons that were planned, in this order; for the parameters see `compare`."""
    n_jobs, timeout = check_n_jobs(n_jobs), _check_timeout(timeout)
    with ExitStack() as stack:
        kept = None if store is None else stack.enter_context(Store(store))
        jobs = [
            Job(place, p.source, i, seed, p.contenders, p.alpha, p.sigma)
            for place, p in enumerate(plans)
            for i, seed in enumerate(p.seeds)
        ]
        records: dict[tuple[int, int, str], Trial] = {}
        keys: dict[tuple[int, int, str], str] = {}
        if kept is not None:
            identities = [p.source.identity() for p in plans]
            for job in jobs:
                for contender in job.contenders:
                    key = key_of(job.source, identities[job.plan], job, contender)
                    keys[job.plan, job.trial, contender.name] = key
                    done = kept.get(key, contender, job, timeout)
                    if done is not None:
                        records[job.plan, job.trial, contender.name] = done
        missing = [
            replace(job, contenders=left)
            for job in jobs
            if (
                left := tuple(
                    c for c in job.contenders if (job.plan, job.trial, c.name) not in records
                )
            )
        ]

        total = sum(p.n_fits for p in plans)
        watch(len(records), total, "")
        alone = timeout is None and n_jobs == 1
        events = here(missing) if alone else in_workers(missing, n_jobs, timeout)
        # Closing ends the workers, also after Ctrl-C.
        for its_job, event in stack.enter_context(closing(events)):
            if isinstance(event, Trouble):
                raise RuntimeError(event.message)
            assert its_job is not None
            if isinstance(event, Trial):
                place = (its_job.plan, event.trial, event.method)
                records[place] = event
                if kept is not None:
                    kept.put(keys[place], str(its_job.source), event, timeout)
            watch(len(records), total, event.method)
    return [_comparison(place, p, records) for place, p in enumerate(plans)]


def _comparison(place: int, p: Plan, records: dict[tuple[int, int, str], Trial]) -> Comparison:
    ordered = tuple(records[place, i, c.name] for i in range(len(p.seeds)) for c in p.contenders)
    return Comparison(ordered, str(p.source), p.note, not isinstance(p.source, UnlabelledRows))


def _contenders(methods: Any) -> tuple[Contender, ...]:
    known = registered()
    if methods is None:
        methods = known
    if isinstance(methods, Mapping):
        pairs = [(name, _maker(value, known)) for name, value in methods.items()]
    else:
        single = isinstance(methods, str) or not isinstance(methods, Iterable)
        makers = [_maker(value, known) for value in ([methods] if single else methods)]
        pairs = [(getattr(maker, "name", type(maker).__name__), maker) for maker in makers]
    if not pairs:
        raise ValueError("methods is empty: name at least one of inlier.methods().")
    names = [str(name) for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"methods has {twice[0]!r} more than once: give a mapping from names of your choice."
        )
    return tuple(Contender(name, maker) for name, (_, maker) in zip(names, pairs, strict=True))


def _maker(value: Any, known: dict[str, Method]) -> Any:
    if isinstance(value, Method):
        return value
    if isinstance(value, str):
        if value in known:
            return known[value]
        near = difflib.get_close_matches(value, known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
        raise ValueError(f"methods has {value!r}, which is not in inlier.methods(). {hint}")
    if isinstance(value, type):
        raise ValueError(
            f"methods has the class {value.__name__}: give an instance, {value.__name__}(...)."
        )
    if not callable(getattr(value, "fit", None)):
        raise ValueError(
            f"methods has {value!r}, which is neither a name in inlier.methods(), nor a Method, "
            "nor an estimator with fit and location_."
        )
    return value


def _told(
    source: Source, contenders: tuple[Contender, ...], alpha: float | None, sigma: float | None
) -> tuple[float | None, float | None, list[str]]:
    """What methods are told, and the same in words; None stands for the truth of each trial."""
    needed = {name for contender in contenders for name in contender.needs}
    if not needed:
        return alpha, sigma, []
    given = {"alpha": alpha, "sigma": sigma}
    absent = [name for name in sorted(needed) if given[name] is None]
    texts = [f"{name} = {value:.4g}" for name, value in given.items() if value is not None]
    note = [f"Methods that need it were told {' and '.join(texts)}."] if texts else []
    if not absent:
        return alpha, sigma, note
    if not isinstance(source, UnlabelledRows):
        note.append(f"Methods that need it were told the true {' and '.join(absent)}.")
        return alpha, sigma, note
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = robust_mean(source.X)
    found = {"alpha": min(float((~result.support).mean()), MOST_ALPHA), "sigma": result.sigma}
    texts = [f"{name} = {found[name]:.4g}" for name in absent]
    note.append(
        f"Methods that need it were told {' and '.join(texts)}, as found by robust_mean, since "
        "nobody knows: give your own if you do."
    )
    note += dict.fromkeys(str(warning.message) for warning in caught)
    told = {name: found[name] if name in absent else given[name] for name in given}
    return told["alpha"], told["sigma"], note


def _about_scales(source: UnlabelledRows) -> list[str]:
    """A word of warning if some columns vary far more than others."""
    if issparse(source.X):
        return []
    ratio = unevenness(source.X[:MOST_ROWS].astype(np.float64))
    if ratio < UNEVEN:
        return []
    return [
        f"Some columns vary {ratio:.0e} times as much as others: distances, and most methods, see "
        "little but those. Measure columns in like units, for example by "
        "sklearn.preprocessing.RobustScaler, before you compare."
    ]


def check_n_jobs(n_jobs: Any) -> int:
    """A number of processes."""
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return int(joblib.cpu_count())
    try:
        return check_whole(n_jobs, "n_jobs")
    except ValueError as error:
        raise ValueError(f"{error} -1 stands for all cores.") from None


def _check_timeout(timeout: Any) -> float | None:
    if timeout is None:
        return None
    return check_number(timeout, "timeout", hint=" Give None for no limit.")


def _first_seed(random_state: Any, trials: int) -> int:
    if isinstance(random_state, int | np.integer):
        first = check_whole(random_state, "random_state", 0)
        if first + trials > MOST_SEED:
            raise ValueError(f"random_state must be below 2**63 - trials, but is {random_state}.")
        return first
    return int(check_random_state(random_state).integers(2**31))
