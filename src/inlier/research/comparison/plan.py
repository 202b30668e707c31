"""The plan of a comparison: its data, its methods, and what the methods are given."""

import copy
import difflib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from inlier._internal.validation import check_number, check_random_state, check_whole
from inlier.api import robust_mean
from inlier.data.checks import check_table
from inlier.research.comparison.registry import Method
from inlier.research.comparison.registry import methods as registered
from inlier.research.datasets.base import Sample

# Methods require alpha < 1/2.
MAX_ALPHA = 0.49


@dataclass(frozen=True, eq=False)
class TrialData:
    """What each trial is fitted to: a new draw of a model, or always the same rows.

    The mean and the labels of rows without truth are None.
    """

    source: Any
    is_model: bool

    @classmethod
    def of(cls, data: Any) -> "TrialData":
        """Interpret the first argument of `compare`."""
        if isinstance(data, Sample):
            check_table(data.X, "data.X")
            return cls(data, False)
        # A data frame has a method `sample` as well.
        is_table = issparse(data) or hasattr(data, "to_numpy") or hasattr(data, "__array__")
        if not is_table and callable(getattr(data, "sample", None)):
            if isinstance(data, type):
                raise ValueError(
                    f"data is the class {data.__name__}: give a model with its parameters, such as "
                    "SettingA(n=1000, d=50, alpha=0.1)."
                )
            return cls(data, True)
        rows = SimpleNamespace(X=check_table(data, "data"), mean=None, is_outlier=None)
        return cls(rows, False)

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
        if self.is_model:
            return f"{self.source}"
        n, d = self.source.X.shape
        return repr(self.source) if self.truth_known else f"a table of {n} x {d}"


@dataclass(frozen=True)
class NamedMethod:
    """A `Method` or an estimator, which is copied before each fit, and its name in the table."""

    name: str
    method: Any

    @property
    def needs(self) -> tuple[str, ...]:
        """Required parameters, of "alpha" and "sigma"."""
        return self.method.needs if isinstance(self.method, Method) else ()

    def identity(self) -> Any:
        """Return what tells methods apart in a store: the class and its parameters."""
        if isinstance(self.method, Method):
            return self.method
        own = self.method
        parameters = own.get_params(deep=False) if hasattr(own, "get_params") else vars(own)
        return type(own).__module__, type(own).__qualname__, parameters

    def estimator(self, known: Mapping[str, float | None]) -> Any:
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
    known: Mapping[str, float | None]  # alpha and sigma; None stands for the truth of each trial
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
    source, named = TrialData.of(data), _named(methods)
    default = 20 if source.is_model else 1
    trials = default if trials is None else check_whole(trials, "trials")
    if alpha is not None:
        alpha = check_number(alpha, "alpha", at_least=0.0, below=0.5)
    if sigma is not None:
        sigma = check_number(sigma, "sigma")
    if isinstance(random_state, int | np.integer):
        first = check_whole(random_state, "random_state", 0)
    else:
        first = int(check_random_state(random_state).integers(2**31))
    seeds = tuple(first + i if source.is_model else None for i in range(trials))
    known, note = _known_parameters(source, named, alpha, sigma)
    if trials > 1 and not source.is_model:
        note.append(f"The rows are the same in all {trials} trials: only seconds vary.")
    return Plan(source, named, seeds, known, " ".join(note))


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
    if not isinstance(value, Method) and not callable(getattr(value, "fit", None)):
        raise ValueError(
            f"methods has {value!r}, which is neither a name in inlier.research.methods(), nor a "
            "Method, nor an estimator with fit and location_."
        )
    return value


def _known_parameters(
    data: TrialData, methods: tuple[NamedMethod, ...], alpha: float | None, sigma: float | None
) -> tuple[Mapping[str, float | None], list[str]]:
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
    return known, note
