"""What the rivals share: a method sees a `Run` and gives an `Answer`; the rest is done here.

A run holds the table, through which alone a method sees the data, a centre near the rows, and the
oracle for eigenvectors. Before a method sees them, rows so far away that their squares swamp all
others are set aside, and a table with few rows and many columns is rotated into few coordinates.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_number, fit_generator
from inlier.data import HostTable, Table, WorkingFrame, as_table
from inlier.data.checks import check_range
from inlier.estimators.base import MeanEstimator
from inlier.linalg.eigenpairs import Oracle
from inlier.results.records import MeanResult, Step

# A row that is so many times as far from the centre as the median row is bad, whoever judges, and
# beside its square nothing else is seen in double precision.
ABSURD = 1e6
MEANING = {
    "alpha": "the fraction of rows that may be bad",
    "sigma": "a bound on the standard deviation of the good rows in any direction",
}
# Below it, or beyond its inverse, the square of sigma is no number any more.
SMALLEST = 1e-150


class Spread(NamedTuple):
    """How weighted rows vary about their mean."""

    mean: Array
    variance: float
    """The largest in any direction."""
    direction: Array
    projected: Array
    """The rows along that direction, seen from the mean."""


@dataclass(frozen=True)
class Answer:
    """What a method found, in the coordinates of its run.

    Attributes
    ----------
    weights : array of shape (n,)
        Of any scale.
    scores : array of shape (n,)
        How bad each row is; larger is worse.
    location : array of shape (d,), optional
        Where it is not the weighted mean.
    n_iter : int
    converged : bool
    message : str
        If there is more to say than how many rows count.
    """

    weights: Array
    scores: Array
    location: Array | None = None
    n_iter: int = 1
    converged: bool = True
    message: str = ""


@dataclass
class Run:
    """One call of a method.

    Attributes
    ----------
    table : Table
    center : array of shape (d,)
        Near the rows: the coordinate-wise median of a sample of them.
    random : numpy.random.Generator
    n_aside : int
        Rows that were set aside: they are bad, and the method does not see them.
    frame : WorkingFrame
        Counts the passes over the data; reading rotated rows does not count.
    distances : array of shape (n,)
        Squared, of the rows from the centre.
    alpha, sigma : float
        What the method was told; nan, if it was not.
    history : list of Step
    """

    table: Table
    center: Array
    random: np.random.Generator
    n_aside: int
    frame: WorkingFrame
    distances: Array
    alpha: float
    sigma: float
    history: list[Step] = field(default_factory=list)

    @cached_property
    def oracle(self) -> Oracle:
        """Finds the directions of largest variance."""
        return Oracle(self.table, self.random)

    @property
    def n(self) -> int:
        """Rows that the method sees."""
        return self.table.shape[0]

    @property
    def d(self) -> int:
        """Columns that the method sees."""
        return self.table.shape[1]

    @property
    def n_bad(self) -> int:
        """How many of the rows may be bad, if a fraction alpha of all rows is."""
        return max(0, round(self.alpha * (self.n + self.n_aside)) - self.n_aside)

    def mean(self, weights: Array) -> Array:
        """Of weighted rows; one pass."""
        return self.table.mean(weights, self.center)

    def spread(self, weights: Array) -> Spread:
        """Mean and largest variance of weighted rows; two passes, with many columns up to nine."""
        mean = self.mean(weights)
        spectrum = self.oracle.closely(mean, weights)
        variance = float(spectrum.values[0]) / float(weights.sum())
        return Spread(mean, variance, spectrum.vectors[0], spectrum.projections[0])

    def located(
        self, location: Array, n_iter: int = 1, converged: bool = True, message: str = ""
    ) -> Answer:
        """An answer that judges no rows: they are scored by their distance from it; one pass."""
        distances = np.sqrt(self.table.sq_distances(location))
        return Answer(np.ones(self.n), distances, location, n_iter, converged, message)

    def dense(self) -> Array:
        """The rows seen from the centre, n x d: a copy in double precision, in one pass."""
        if self.d <= self.n:
            rows: Array = self.table.project(self.center, np.eye(self.d)).T
            return rows
        return self.table.combine(self.center, np.eye(self.n))

    def record(self, stage: str, weights: Array, variance: float, limit: float = np.nan) -> None:
        """Keep one step for the history; `limit` is what the variance is held against."""
        total, top = float(weights.sum()), float(weights.max())
        self.history.append(
            Step(
                stage=stage,
                budget=limit * total,
                n_removed=float((weights < top / 2.0).sum()),
                h_sum=max(0.0, len(weights) - total / top) if top > 0.0 else float(len(weights)),
                rank=1,
                lambda_max=variance * total,
                n_passes=self.frame.whole.n_passes,
            )
        )


def _near(distances: Array) -> Mask:
    """Rows that are not absurdly far away, by their squared distances."""
    limit = ABSURD**2 * float(np.median(distances))
    # Where most rows coincide there is no unit of distance.
    return np.asarray(distances <= limit if limit > 0.0 else np.isfinite(distances))


def variance_limit(sigma: float) -> float:
    """sigma^2 and a little: the variance of just the good rows may be sigma^2 itself."""
    return sigma**2 * (1.0 + 1e-9)


def gave_up(
    weights: Array,
    scores: Array,
    n_iter: int,
    why: str = "before no variance exceeds sigma^2. Raise sigma, or use RobustMean.",
) -> Answer:
    """The answer of a filter that would have to remove half of the rows."""
    message = f"Gave up: half of the rows would have to leave {why}"
    return Answer(weights, scores, n_iter=n_iter, converged=False, message=message)


def gone(weights: Array, n: int) -> bool:
    """Whether more than half of the rows have left: bad rows cannot be the majority."""
    return float(weights.sum()) < n / 2.0


class Baseline(MeanEstimator, ABC):
    """A method of others.

    Class attributes say what it is: `name` in the registry, `needs` (of "alpha", the fraction of
    bad rows, and "sigma", the largest standard deviation of the good rows in any direction),
    `paper`, `rotates`: whether it may see the rows in other axes, where these are fewer,
    `sets_aside`: whether absurdly distant rows are left out, and `judges_rows`: whether its weights
    say which rows are bad.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    paper: ClassVar[str]
    rotates: ClassVar[bool] = True
    sets_aside: ClassVar[bool] = True
    judges_rows: ClassVar[bool] = True

    @abstractmethod
    def _estimate(self, run: Run) -> Answer:
        """The method itself."""

    def _check(self, n: int, d: int) -> None:
        """Parameters that `needs` does not name, and whether n x d is a table for this method."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the mean.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Single precision stays single precision.
        y : ignored

        Returns
        -------
        Baseline
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the method did not reach what it aims at; the message says what to try.
        """
        table = HostTable(as_table(self._validated(X, fitting=True)))
        n, d = table.shape
        told = self._checked_needs()
        self._check(n, d)
        random = fit_generator(getattr(self, "random_state", 0))
        center = table.median(random)
        distances = table.sq_distances(center)
        check_range(table, center, distances)
        near = _near(distances) if self.sets_aside else np.ones(n, dtype=np.bool_)
        frame = WorkingFrame.of(table, near, center, self.rotates)
        n_aside = n - int(near.sum())
        distances = frame.of_near_rows(distances)
        run = Run(frame.table, frame.center, random, n_aside, frame, distances, *told)
        return self._copied(self._result(frame, run, self._estimate(run)))

    def _checked_needs(self) -> tuple[float, float]:
        """What the method is told: alpha and sigma, nan for what it does not need."""
        told = {"alpha": np.nan, "sigma": np.nan}
        for name in self.needs:
            value = getattr(self, name)
            if value is None:
                raise ValueError(
                    f"{type(self).__name__} needs {name}, {MEANING[name]}: pass {name}=..., or use "
                    "RobustMean, which needs neither."
                )
            if name == "alpha":
                told[name] = check_number(value, name, at_least=0.0, below=0.5)
            else:
                told[name] = check_number(value, name, above=SMALLEST, below=1.0 / SMALLEST)
        return told["alpha"], told["sigma"]

    def _result(self, frame: WorkingFrame, run: Run, answer: Answer) -> MeanResult:
        if answer.location is None:
            location = frame.near_rows.mean(answer.weights, frame.origin)
        else:
            location = frame.point(answer.location)
        n = frame.whole.shape[0]
        largest = max(float(answer.weights.max()), np.finfo(float).tiny)
        weights = frame.of_all_rows(answer.weights / largest, 0.0)
        scores = frame.of_all_rows(answer.scores, np.inf)
        support = weights >= 0.5
        judged = f"Kept {int(support.sum())} of {n} rows." if self.judges_rows else ""
        aside = (
            f"Rows more than {ABSURD:g} times as far from the centre as the median row were set "
            f"aside beforehand: {run.n_aside}."
        )
        parts = (judged, aside if run.n_aside else "", answer.message)
        message = " ".join(part for part in parts if part) or "No row is judged."
        if not answer.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(f"{type(self).__name__}: {message}", ConvergenceWarning, stacklevel=3)
        return MeanResult(
            location=location.astype(frame.whole.dtype, copy=False),
            support=support,
            weights=weights,
            scores=scores,
            history=tuple(run.history),
            n_iter=answer.n_iter,
            n_passes=frame.whole.n_passes,
            converged=answer.converged,
            message=message,
        )
