"""The interface of published methods: `_estimate` maps a `Run` to an `Answer`.

A run holds the table, a center near the rows and the eigensolver. Beforehand, rows so distant that
their squares would swamp all others are set aside, and a table with few rows and many columns is
rotated into few coordinates.
"""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_number, fit_generator
from inlier.data import Frame, Table, as_table
from inlier.data.checks import check_range
from inlier.estimators.base import MeanEstimator
from inlier.linalg.eigenpairs import Oracle

# Rows farther from the center than this many median distances are outliers by any standard, and
# their squares would swamp all others in double precision.
MAX_DISTANCE_RATIO = 1e6
# Below it, or above its inverse, the square of sigma is out of range.
MIN_SIGMA = 1e-150
TOO_SMALL = "before no variance exceeds sigma^2. Raise sigma, or use RobustMean."
# What a method may need: its meaning, and its limits.
NEEDS: dict[str, tuple[str, dict[str, Any]]] = {
    "alpha": ("the fraction of rows that may be bad", {"at_least": 0.0, "below": 0.5}),
    "sigma": (
        "a bound on the standard deviation of the good rows in any direction",
        {"above": MIN_SIGMA, "below": 1.0 / MIN_SIGMA},
    ),
}


@dataclass(frozen=True)
class MeanResult:
    """A mean, and what became of each row: what every method returns.

    Attributes
    ----------
    location : array of shape (d,)
        The estimate.
    support : boolean array of shape (n,)
        The rows that count: with at least half of the largest weight.
    weights : array of shape (n,)
        In [0, 1]: the location is the mean of the rows with these weights, unless the method states
        otherwise. Methods that judge no rows, such as medians, give all of them weight 1.
    scores : array of shape (n,)
        How bad each row is, by the method; larger is worse.
    n_iter : int
    n_passes : int
        Times that the data were read.
    converged : bool
    message : str
        How it ended and, if not well, what to try.
    """

    location: Any
    support: Array = field(repr=False)
    weights: Array = field(repr=False)
    scores: Array = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    message: str


class Spread(NamedTuple):
    """The largest variance of weighted rows, and the projections onto its direction."""

    mean: Array
    variance: float
    projected: Array  # relative to the mean


@dataclass(frozen=True)
class Answer:
    """The result of a method, in the coordinates of its run."""

    weights: Array  # of any scale
    scores: Array  # outlyingness of each row
    location: Array | None = None  # by default the weighted mean
    n_iter: int = 1
    converged: bool = True
    message: str = ""

    @classmethod
    def of_lowest(cls, scores: Array, count: int) -> Self:
        """Return the answer that keeps the rows with the lowest scores."""
        weights = np.zeros(len(scores))
        weights[np.argsort(scores, kind="stable")[:count]] = 1.0
        return cls(weights, scores)

    @classmethod
    def gave_up(cls, weights: Array, scores: Array, n_iter: int, why: str = TOO_SMALL) -> Self:
        """Return the answer of a filter that would have to remove half of the rows."""
        message = f"Gave up: half of the rows would have to be removed {why}"
        return cls(weights, scores, n_iter=n_iter, converged=False, message=message)


@dataclass
class Run:
    """The input of a method."""

    table: Table
    center: Array  # the coordinate-wise median of a sample of the rows
    random: np.random.Generator
    n_aside: int  # distant rows that were set aside
    frame: Frame  # counts the passes over the data, without those over rotated rows
    distances: Array  # squared, of the rows from the center
    alpha: float  # nan if the method does not need it
    sigma: float  # likewise

    @cached_property
    def oracle(self) -> Oracle:
        """The eigensolver."""
        return Oracle(self.table, self.random)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.table.shape[0]

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.table.shape[1]

    @property
    def n_bad(self) -> int:
        """Number of bad rows if a fraction alpha of all rows, also those set aside, is bad."""
        return max(0, round(self.alpha * (self.n + self.n_aside)) - self.n_aside)

    @staticmethod
    def limit_of(sigma: float) -> float:
        """Return sigma^2 with room for rounding: the good rows alone may attain sigma^2."""
        return sigma**2 * (1.0 + 1e-9)

    def mean(self, weights: Array) -> Array:
        """Return the weighted mean; one pass."""
        return self.table.mean(weights, self.center)

    def spread(self, weights: Array) -> Spread:
        """Return mean and largest variance of weighted rows; two to nine passes."""
        mean = self.mean(weights)
        spectrum = self.oracle.top_rough(mean, weights)
        variance = float(spectrum.values[0]) / float(weights.sum())
        return Spread(mean, variance, spectrum.along(np.array([0]))[0])

    def location_only(self, location: Array, *others: Any) -> Answer:
        """Return an answer with equal weights, rows scored by their distance; one pass."""
        distances = np.sqrt(self.table.sq_distances(location))
        return Answer(np.ones(self.n), distances, location, *others)

    def dense(self) -> Array:
        """Return the rows relative to the center, n x d, in double precision; one pass."""
        if self.d <= self.n:
            rows: Array = self.table.project(self.center, np.eye(self.d)).T
            return rows
        return self.table.combine(self.center, np.eye(self.n))


def is_minority(weights: Array) -> bool:
    """Return whether less than half of the rows are left: outliers cannot be the majority."""
    return float(weights.sum()) < len(weights) / 2.0


@dataclass_transform(eq_default=False)
class Baseline(MeanEstimator, ABC):
    """Base class of published methods. Each subclass becomes a dataclass of its parameters.

    Parameters of many methods are `alpha`, the fraction of rows that may be bad (0 <= alpha < 1/2),
    and `sigma`, a bound on the standard deviation of the good rows in any direction, which must be
    given where they are needed, and `random_state`, the seed of random choices and of the
    eigensolver's starting vectors.
    """

    name: ClassVar[str]  # in the registry
    needs: ClassVar[tuple[str, ...]]  # those of alpha and sigma that are parameters
    paper: ClassVar[str]
    rotates: ClassVar[bool] = True  # rotation equivariant: it may run in fewer coordinates
    sets_aside: ClassVar[bool] = True  # whether extremely distant rows are left out
    judges_rows: ClassVar[bool] = True  # whether its weights classify rows

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(eq=False, repr=False)(cls)
        cls.needs = tuple(item.name for item in fields(cls) if item.name in NEEDS)

    @abstractmethod
    def _estimate(self, run: Run) -> Answer:
        """Run the method."""

    def _check(self, n: int, d: int) -> None:
        """Check n and d, and parameters that depend on them."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the mean, and return the estimator.

        Single precision stays single precision; `y` is ignored. A `ConvergenceWarning` names what
        to try if the method did not converge.
        """
        table = as_table(self._validated(X, fitting=True)).on_host()
        n, d = table.shape
        needs = self._checked_needs()
        self._check(n, d)
        random = fit_generator(getattr(self, "random_state", 0))
        center = table.median(random)
        distances = table.sq_distances(center)
        check_range(table, center, distances)
        near = np.ones(n, dtype=np.bool_)
        if self.sets_aside:
            limit = MAX_DISTANCE_RATIO**2 * float(np.median(distances))
            # Where most rows coincide there is no unit of distance.
            near = np.asarray(distances <= limit if limit > 0.0 else np.isfinite(distances))
        frame = Frame.of(table, near, center, self.rotates)
        n_aside = n - int(near.sum())
        distances = frame.of_near_rows(distances)
        run = Run(frame.table, frame.center, random, n_aside, frame, distances, *needs)
        result = self._result(frame, run, self._estimate(run))
        return self._copied(result, result.weights, result.n_iter)

    def _checked_needs(self) -> tuple[float, float]:
        """Return alpha and sigma, nan for those the method does not need."""
        checked = dict.fromkeys(NEEDS, np.nan)
        for name in self.needs:
            value, (meaning, limits) = getattr(self, name), NEEDS[name]
            if value is None:
                raise ValueError(
                    f"{type(self).__name__} needs {name}, {meaning}: pass {name}=..., or use "
                    "RobustMean, which needs neither."
                )
            checked[name] = check_number(value, name, **limits)
        return checked["alpha"], checked["sigma"]

    def _result(self, frame: Frame, run: Run, answer: Answer) -> MeanResult:
        if answer.location is None:
            location = frame.near_rows.mean(answer.weights, frame.origin)
        else:
            location = frame.mean(np.zeros(1), answer.location)
        n = frame.whole.shape[0]
        largest = max(float(answer.weights.max()), np.finfo(float).tiny)
        weights = frame.of_all_rows(answer.weights / largest, 0.0)
        scores = frame.of_all_rows(answer.scores, np.inf)
        support = weights >= 0.5
        parts = [f"Kept {int(support.sum())} of {n} rows."] if self.judges_rows else []
        if run.n_aside:
            parts.append(
                f"Rows more than {MAX_DISTANCE_RATIO:g} times as far from the center as the median "
                f"row were set aside beforehand: {run.n_aside}."
            )
        parts += [answer.message] if answer.message else []
        message = " ".join(parts) or "No row is judged."
        if not answer.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(f"{type(self).__name__}: {message}", ConvergenceWarning, stacklevel=3)
        return MeanResult(
            location=location.astype(frame.whole.dtype, copy=False),
            support=support,
            weights=weights,
            scores=scores,
            n_iter=answer.n_iter,
            n_passes=frame.whole.n_passes,
            converged=answer.converged,
            message=message,
        )
