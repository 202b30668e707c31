"""The data of a comparison, and the plan of its fits."""

import copy
import difflib
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from inlier._internal.validation import check_number, check_random_state, check_whole
from inlier.api import robust_mean
from inlier.data.checks import check_table
from inlier.linalg.metrics import UNEVEN, unevenness
from inlier.research.comparison.registry import Method
from inlier.research.comparison.registry import methods as registered
from inlier.research.datasets import Sample


@dataclass(frozen=True, eq=False)
class FixedRows:
    """The same rows in every trial; `mean` and `is_outlier` are None without labels."""

    sample: Any

    trials = 1

    @property
    def truth_known(self) -> bool:
        """Whether the rows have labels."""
        return self.sample.mean is not None

    def draw(self, seed: int | None) -> Any:
        """Return the rows."""
        return self.sample

    def identity(self) -> str:
        """Return the same text for the same rows and labels."""
        s = self.sample
        return str(joblib.hash((s.X, s.mean, s.is_outlier) if self.truth_known else s.X))

    def __str__(self) -> str:
        n, d = self.sample.X.shape
        return repr(self.sample) if self.truth_known else f"a table of {n} x {d}"


@dataclass(frozen=True, eq=False)
class Model:
    """New rows in every trial."""

    model: Any

    trials = 20
    truth_known = True

    def draw(self, seed: int | None) -> Any:
        """Draw the sample of a seed."""
        return self.model.sample(seed)

    def identity(self) -> str:
        """Return all parameters."""
        kind = type(self.model)
        if "__repr__" not in {name for base in kind.__mro__[:-1] for name in vars(base)}:
            raise ValueError(
                f"{kind.__name__} cannot be kept in a store: its repr does not say which model it "
                "is. Make it a dataclass, or give it a __repr__ with all parameters."
            )
        with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
            return f"{kind.__module__}.{self.model!r}"

    def __str__(self) -> str:
        return f"{self.model}"


TrialData = FixedRows | Model


def check_sample(drawn: Any) -> Any:
    """Return a draw whose mean and labels fit its rows."""
    n, d = drawn.X.shape
    for name, shape in (("mean", (d,)), ("is_outlier", (n,))):
        value = getattr(drawn, name)
        if value is not None and np.shape(value) != shape:
            raise ValueError(f"{name} of the sample has shape {np.shape(value)}, not {shape}.")
    return drawn


def as_trial_data(data: Any) -> TrialData:
    """Interpret the first argument of `compare`."""
    if isinstance(data, Sample):
        check_table(data.X, "data.X")
        return FixedRows(data)
    # A data frame has a method `sample` as well.
    is_table = issparse(data) or hasattr(data, "to_numpy") or hasattr(data, "__array__")
    if not is_table and callable(getattr(data, "sample", None)):
        if isinstance(data, type):
            raise ValueError(
                f"data is the class {data.__name__}: give a model with its parameters, such as "
                "SettingA(n=1000, d=50, alpha=0.1)."
            )
        return Model(data)
    return FixedRows(SimpleNamespace(X=check_table(data, "data"), mean=None, is_outlier=None))


# Enough rows to estimate the scale of columns.
SCALE_ROWS = 10_000
# The largest integer of SQLite.
MAX_SEED = 2**63 - 1
# Methods require alpha < 1/2.
MAX_ALPHA = 0.49


@dataclass(frozen=True)
class NamedMethod:
    """A `Method` or an estimator, which is copied before each fit, and its name in the table."""

    name: str
    method: Any

    @property
    def needs(self) -> tuple[str, ...]:
        """Required parameters, of "alpha" and "sigma"."""
        return self.method.needs if isinstance(self.method, Method) else ()

    def estimator(self, known: dict[str, float | None]) -> Any:
        """Make a new estimator with the parameters that it needs."""
        if isinstance(self.method, Method):
            return self.method.make(**known)
        has_params = hasattr(self.method, "get_params")
        return clone(self.method) if has_params else copy.deepcopy(self.method)


@dataclass(frozen=True)
class Plan:
    """A planned comparison."""

    data: TrialData
    methods: tuple[NamedMethod, ...]
    seeds: tuple[int | None, ...]  # one for each trial
    alpha: float | None  # None stands for the truth of each trial
    sigma: float | None  # likewise
    note: str


def plan(
    data: Any,
    methods: Any = None,
    *,
    trials: int | None = None,
    alpha: float | None = None,
    sigma: float | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Plan:
    """Plan a comparison; see `compare` for the parameters."""
    source, named = as_trial_data(data), _named(methods)
    trials = source.trials if trials is None else check_whole(trials, "trials")
    if alpha is not None:
        alpha = check_number(alpha, "alpha", at_least=0.0, below=0.5)
    if sigma is not None:
        sigma = check_number(sigma, "sigma")
    first = _first_seed(random_state, trials)
    seeds = tuple(first + i if isinstance(source, Model) else None for i in range(trials))
    alpha, sigma, note = _known_parameters(source, named, alpha, sigma)
    if not source.truth_known:
        note += _scale_note(source.draw(None).X)
    if trials > 1 and not isinstance(source, Model):
        note.append(f"The rows are the same in all {trials} trials: only seconds vary.")
    return Plan(source, named, seeds, alpha, sigma, " ".join(note))


def _named(methods: Any) -> tuple[NamedMethod, ...]:
    known = registered()
    if methods is None:
        methods = known
    if isinstance(methods, Mapping):
        pairs = [(str(name), _check_method(value, known)) for name, value in methods.items()]
    else:
        single = isinstance(methods, str) or not isinstance(methods, Iterable)
        checked = [_check_method(value, known) for value in ([methods] if single else methods)]
        pairs = [(str(getattr(value, "name", type(value).__name__)), value) for value in checked]
    if not pairs:
        raise ValueError("methods is empty: name at least one of inlier.research.methods().")
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"methods has {twice[0]!r} more than once: give a mapping from names of your choice."
        )
    return tuple(NamedMethod(name, value) for name, value in pairs)


def _check_method(value: Any, known: dict[str, Method]) -> Any:
    if isinstance(value, Method):
        return value
    if isinstance(value, str):
        if value in known:
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
    return value


def _known_parameters(
    data: TrialData, methods: tuple[NamedMethod, ...], alpha: float | None, sigma: float | None
) -> tuple[float | None, float | None, list[str]]:
    """Return alpha and sigma, None for the truth of each trial, and notes about them."""
    needed = sorted({name for method in methods for name in method.needs})
    known = {"alpha": alpha, "sigma": sigma}
    absent = [name for name in needed if known[name] is None]
    given = [f"{name} = {value:.4g}" for name, value in known.items() if value is not None]
    note = [f"Methods that need it were given {' and '.join(given)}."] if given and needed else []
    if absent and data.truth_known:
        note.append(f"Methods that need it were given the true {' and '.join(absent)}.")
    elif absent:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = robust_mean(data.draw(None).X)
        found = {"alpha": min(float((~result.support).mean()), MAX_ALPHA), "sigma": result.sigma}
        known |= {name: found[name] for name in absent}
        texts = [f"{name} = {found[name]:.4g}" for name in absent]
        note.append(
            f"Methods that need it were given {' and '.join(texts)}, as found by robust_mean: "
            "pass your own if you know them."
        )
        note += dict.fromkeys(str(warning.message) for warning in caught)
    return known["alpha"], known["sigma"], note


def _scale_note(X: Any) -> list[str]:
    """Return a warning if the scales of columns differ greatly."""
    ratio = 0.0 if issparse(X) else unevenness(X[:SCALE_ROWS].astype(np.float64))
    if ratio < UNEVEN:
        return []
    return [
        f"Some columns vary {ratio:.0e} times as much as others: distances, and most methods, see "
        "little but those. Measure columns in like units, for example by "
        "sklearn.preprocessing.RobustScaler, before you compare."
    ]


def check_n_jobs(n_jobs: Any) -> int:
    """Return a number of processes."""
    if n_jobs == -1 and not isinstance(n_jobs, bool):
        return int(joblib.cpu_count())
    try:
        return check_whole(n_jobs, "n_jobs")
    except ValueError as error:
        raise ValueError(f"{error} -1 stands for all cores.") from None


def check_timeout(timeout: Any) -> float | None:
    """Return seconds, or None for no limit."""
    if timeout is None:
        return None
    return check_number(timeout, "timeout", hint=" Give None for no limit.")


def _first_seed(random_state: Any, trials: int) -> int:
    if isinstance(random_state, int | np.integer):
        first = check_whole(random_state, "random_state", 0)
        if first + trials > MAX_SEED:
            raise ValueError(f"random_state must be below 2**63 - trials, but is {random_state}.")
        return first
    return int(check_random_state(random_state).integers(2**31))
