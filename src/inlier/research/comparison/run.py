"""`compare`: run methods on the same data."""

import difflib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib  # type: ignore[import-untyped]
from scipy.sparse import issparse
from sklearn.base import clone

from inlier._internal.optional import optional
from inlier._internal.progress import bar
from inlier._internal.validation import check_number, check_whole
from inlier.api import robust_mean
from inlier.data.checks import check_table
from inlier.datasets import Sample
from inlier.research.comparison.fits import Fit, Record, measure, run_here, run_in_workers
from inlier.research.comparison.registry import Method
from inlier.research.comparison.registry import methods as registered
from inlier.research.comparison.table import Comparison

# Called with the number of fits done, their total number, and the method of the last one.
Watch = Callable[[int, int, str], object]
# Methods require alpha < 1/2.
MAX_ALPHA = 0.49


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
    random_state: int = 0,
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
    random_state : int, default=0
        Trial i is drawn with the seed ``random_state + i``. Methods have their own seeds.
    progress : bool, optional
        Whether to show progress on the standard error; by default on a terminal only.

    Returns
    -------
    Comparison
        `print` shows a table; `records`, `summary()` and `distances()` are data frames.

    Notes
    -----
    Seconds are those of `fit` alone, on one thread.

    Examples
    --------
    >>> import inlier
    >>> model = inlier.research.datasets.SettingB(n=500, d=100, alpha=0.2)
    >>> comparison = inlier.research.compare(model, ["mean", "inlier"], trials=3, timeout=None)
    >>> comparison.summary()["exact"]
    method
    inlier    3.0
    mean      0.0
    Name: exact, dtype: float64
    """
    planned = plan(
        data, methods, trials=trials, alpha=alpha, sigma=sigma, random_state=random_state
    )
    options: dict[str, Any] = {"n_jobs": n_jobs, "timeout": timeout, "store": store}
    with bar(sys.stderr.isatty() if progress is None else progress) as update:

        def watch(done: int, total: int, method: str) -> None:
            update(f"compare {method}", done / total)

        return carry_out([planned], **options, watch=watch)[0]


# Plans --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """A planned comparison."""

    source: Any  # a model, a `Sample`, or rows whose mean and labels are None
    methods: Mapping[str, Method]
    seeds: tuple[int | None, ...]  # one for each trial; None for rows that are always the same
    known: Mapping[str, float | None]  # alpha and sigma; None stands for the truth of each trial
    note: str

    @property
    def is_model(self) -> bool:
        """Whether each trial draws new rows."""
        return hasattr(self.source, "sample")

    @property
    def truth_known(self) -> bool:
        """Whether the true mean is known."""
        return self.is_model or self.source.mean is not None

    def draw(self, seed: int | None) -> Any:
        """Return the rows of a trial."""
        if not self.is_model:
            return self.source
        try:
            return self.source.sample(seed)
        except Exception as error:
            raise RuntimeError(
                f"{self} cannot be drawn with seed {seed}: {type(error).__name__}: {error}"
            ) from error

    def __str__(self) -> str:
        if self.truth_known:
            return str(self.source)
        return "a table of {} x {}".format(*self.source.X.shape)


def plan(
    data: Any,
    methods: Any = None,
    *,
    trials: int | None = None,
    alpha: float | None = None,
    sigma: float | None = None,
    random_state: int = 0,
) -> Plan:
    """Plan a comparison; see `compare` for the parameters."""
    source, named = _source(data), _named(methods)
    is_model = source is data and not isinstance(data, Sample)
    trials = (20 if is_model else 1) if trials is None else check_whole(trials, "trials")
    if alpha is not None:
        alpha = check_number(alpha, "alpha", at_least=0.0, below=0.5)
    if sigma is not None:
        sigma = check_number(sigma, "sigma")
    first = check_whole(random_state, "random_state", 0)
    seeds = tuple(first + i if is_model else None for i in range(trials))
    known, note = _known_parameters(source, named, alpha, sigma)
    if trials > 1 and not is_model:
        note.append(f"The rows are the same in all {trials} trials: only seconds vary.")
    return Plan(source, named, seeds, known, " ".join(note))


def _source(data: Any) -> Any:
    """Interpret the first argument of `compare`."""
    if isinstance(data, Sample):
        check_table(data.X, "data.X")
        return data
    # A data frame has a method `sample` as well.
    is_table = issparse(data) or hasattr(data, "to_numpy") or hasattr(data, "__array__")
    if not is_table and callable(getattr(data, "sample", None)):
        if isinstance(data, type):
            raise ValueError(
                f"data is the class {data.__name__}: give a model with its parameters, such as "
                "SettingA(n=1000, d=50, alpha=0.1)."
            )
        return data
    return SimpleNamespace(X=check_table(data, "data"), mean=None, is_outlier=None)


def _named(methods: Any) -> dict[str, Method]:
    """Interpret the second argument of `compare`."""
    if methods is None:
        return registered()
    if isinstance(methods, Mapping):
        pairs = [(str(name), _checked(value)) for name, value in methods.items()]
    else:
        single = isinstance(methods, str) or not isinstance(methods, Iterable)
        found = [_checked(value) for value in ([methods] if single else methods)]
        pairs = [(method.name, method) for method in found]
    if not pairs:
        raise ValueError("methods is empty: name at least one of inlier.research.methods().")
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"methods has {twice[0]!r} more than once: give a mapping from names of your choice."
        )
    return dict(pairs)


def _checked(value: Any) -> Method:
    """Return a method that is named, given, or makes copies of an estimator."""
    if isinstance(value, Method):
        return value
    if isinstance(value, str):
        if value in (known := registered()):
            return known[value]
        near = difflib.get_close_matches(value, known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
        raise ValueError(
            f"methods has {value!r}, which is not in inlier.research.methods(). {hint}"
        )
    if isinstance(value, type):
        raise ValueError(
            f"methods has the class {value.__name__}: give an instance, {value.__name__}(...)."
        )
    if not callable(getattr(value, "fit", None)):
        raise ValueError(
            f"methods has {value!r}, which is neither a name in inlier.research.methods(), nor a "
            "Method, nor an estimator with fit and location_."
        )
    name = str(getattr(value, "name", type(value).__name__))
    return Method(name, (), "", "", partial(clone, value, safe=False))


def _known_parameters(
    source: Any, methods: Mapping[str, Method], alpha: float | None, sigma: float | None
) -> tuple[Mapping[str, float | None], list[str]]:
    """Return alpha and sigma, None for the truth of each trial, and notes about them."""
    needed = sorted({name for method in methods.values() for name in method.needs})
    known = {"alpha": alpha, "sigma": sigma}
    absent = [name for name in needed if known[name] is None]
    given = [f"{name} = {value:.4g}" for name, value in known.items() if value is not None]
    note = [f"Methods that need it were given {' and '.join(given)}."] if given and needed else []
    if absent and getattr(source, "mean", source) is not None:
        note.append(f"Methods that need it were given the true {' and '.join(absent)}.")
    elif absent:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = robust_mean(source.X)
        found = {"alpha": min(float((~result.support).mean()), MAX_ALPHA), "sigma": result.sigma}
        known |= {name: found[name] for name in absent}
        texts = [f"{name} = {found[name]:.4g}" for name in absent]
        note.append(
            f"Methods that need it were given {' and '.join(texts)}, as found by robust_mean: "
            "pass your own if you know them."
        )
        note += dict.fromkeys(str(warning.message) for warning in caught)
    return known, note


# Carrying them out --------------------------------------------------------------------------------


def carry_out(
    plans: Sequence[Plan],
    *,
    n_jobs: int = 1,
    timeout: float | None = 60.0,
    store: str | os.PathLike[str] | None = None,
    watch: Watch = lambda done, total, method: None,
) -> list[Comparison]:
    """Run planned comparisons, and return them in this order; see `compare` for the parameters."""
    pandas = optional("pandas", "To compare methods", "research")
    n_jobs = check_n_jobs(n_jobs)
    if timeout is not None:
        timeout = check_number(timeout, "timeout", hint=" Give None for no limit.")
    if store is not None and Path(store).is_file():
        raise ValueError(f"store={str(store)!r} is a file: give the name of a folder.")
    kept = joblib.Memory(store, verbose=0).cache(measure, ignore=["method", "known", "drawn"])
    stored = None if store is None else kept
    total = sum(len(p.seeds) * len(p.methods) for p in plans)
    records: list[list[Record]] = [[] for _ in plans]

    def missing() -> Iterator[Fit]:
        """Yield the fits that the store does not have."""
        for fit in _fits(plans, stored):
            if stored is None or not stored.check_call_in_cache(*fit.arguments):
                yield fit
            else:
                keep(fit, fit.run())

    def keep(fit: Fit, record: Record) -> None:
        records[fit.plan].append(record)
        watch(sum(map(len, records)), total, record["method"])

    watch(0, total, "")
    here = timeout is None and n_jobs == 1
    fits = run_here(missing()) if here else run_in_workers(missing(), n_jobs, timeout)
    with closing(fits):  # ends the workers, also after Ctrl-C
        for fit, record in fits:
            keep(fit, record)
    found = []
    for p, of_plan in zip(plans, records, strict=True):
        place = {name: i for i, name in enumerate(p.methods)}
        of_plan.sort(key=lambda record: (record["trial"], place[record["method"]]))
        types = dict.fromkeys(("seed", "removed", "passes"), "Int64") | {"exact": "boolean"}
        frame = pandas.DataFrame(of_plan).astype(types)
        found.append(Comparison(frame, str(p), p.note, p.truth_known))
    return found


def _fits(plans: Sequence[Plan], stored: Any) -> Iterator[Fit]:
    """Draw the rows of each trial, and yield its fits, with keys for a store if there is one."""
    key = ""
    for i, p in enumerate(plans):
        for trial, seed in enumerate(p.seeds):
            drawn = p.draw(seed)
            rows = SimpleNamespace(X=drawn.X, mean=drawn.mean, is_outlier=drawn.is_outlier)
            # Trials of a fixed table differ in seconds alone.
            about = vars(rows), None if p.is_model else trial, version("inlier")
            digest = "" if stored is None else joblib.hash(about)
            needed = {name for method in p.methods.values() for name in method.needs}
            truth = {name: getattr(drawn, name) for name in needed if p.known[name] is None}
            for name, method in p.methods.items():
                known = {need: {**p.known, **truth}[need] for need in method.needs}
                if stored is not None:
                    made = method.make(**known)
                    kind = type(made).__module__, type(made).__qualname__
                    key = joblib.hash((digest, name, kind, vars(made)))
                begun = {"method": name, "trial": trial, "seed": seed}
                yield Fit(i, begun, (key, method, known, rows), stored or measure)


def check_n_jobs(n_jobs: Any) -> int:
    """Return a number of processes."""
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return int(joblib.cpu_count())
    try:
        return check_whole(n_jobs, "n_jobs")
    except ValueError as error:
        raise ValueError(f"{error} -1 stands for all cores.") from None
