"""The records that a fit leaves: its steps, the points of its path, and a mean."""

from dataclasses import dataclass, field
from typing import Any

from inlier._internal.arrays import namespace
from inlier._internal.typing import Array, Rows
from inlier.data import LazyFields
from inlier.results.certificate import Certificate


class WeakEvidenceWarning(UserWarning):
    """The data do not say clearly which rows are bad; the message says why and what to look at."""


@dataclass(frozen=True)
class Step:
    """One step of a fit.

    Attributes
    ----------
    stage : str
        "selection", "continuation" or "algorithm 1"; other methods have words of their own.
    budget : float
        What `lambda_max` is held against; nan if it is against nothing.
    n_removed : float
        Rows removed; where weights are lowered, rows with less than half of the largest.
    h_sum : float
        ||h||_1: how much weight has gone, in rows.
    rank : int
        In how many directions the budget is contested.
    lambda_max : float
        Largest eigenvalue of the weighted scatter about the center, at the tolerance of the step.
    n_passes : int
        Passes over the data so far.
    """

    stage: str
    budget: float
    n_removed: float
    h_sum: float
    rank: int
    lambda_max: float
    n_passes: int


@dataclass(frozen=True, eq=False)
class PathPoint(LazyFields):
    """One point on the way down in the budget.

    Attributes
    ----------
    budget : float
        B = n sigma^2.
    sigma : float
        Upper bound on the standard deviation of the rows that are kept, in any direction; with
        more than 256 columns `RobustMeanResult.at` finds a closer one.
    price : float
        kappa = B tr(Lambda) / n: the fraction of the rows that has to go for each e-fold of the
        budget. Small while groups leave; it jumps where good rows would have to pay.
    rank : float
        Effective rank of Lambda, tr(Lambda)^2 / tr(Lambda^2).
    share : float
        p / h for the rows that left last; 1 where nothing speaks for their leaving.
    removed : int array
        Indices of the rows that have left.
    location : array of shape (d,)
        The mean of the others, each counted once, in which a missing cell counts as the median of
        its column.
    certificate : Certificate
    """

    budget: float
    sigma: float
    price: float
    rank: float
    share: float
    removed: Rows = field(repr=False)
    location: Array = field(repr=False)
    certificate: Certificate = field(repr=False)


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
        In [0, 1]: the location is the mean of the rows with these weights, unless the method says
        otherwise. Methods that judge no rows, such as medians, give all of them weight 1.
    scores : array of shape (n,)
        How bad each row is, as the method sees it; larger is worse.
    history : tuple of Step
    n_iter : int
    n_passes : int
        Times that the data were read.
    converged : bool
    message : str
        How it ended and, if not well, what to try.
    """

    location: Any
    support: Rows = field(repr=False)
    weights: Rows = field(repr=False)
    scores: Rows = field(repr=False)
    history: tuple[Step, ...] = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    message: str

    @property
    def outliers(self) -> Rows:
        """Indices of the removed rows."""
        return namespace(self.support).nonzero(~self.support)[0]
