"""The steps of a fit, and what it decides in the end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from inlier._internal.typing import Array, Rows
from inlier.verdict.findings import Finding, Outcome
from inlier.verdict.rules import Group, Multiplier, Suspect


@dataclass(frozen=True)
class Step:
    """One step of a fit.

    Attributes
    ----------
    stage : str
        "selection", "continuation", "algorithm 1" or "rounding"; other methods have words of
        their own.
    budget : float
        What `lambda_max` is compared with; nan if with nothing.
    n_removed : float
        Rows removed; where weights are lowered, rows with less than half of the largest.
    h_sum : float
        ||h||_1: the total weight that was removed, in rows.
    rank : int
        Number of directions in which the budget is contested.
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
class Verdict:
    """What a fit decides about the rows of its frame, in the coordinates of the frame."""

    kept: Rows
    """Mask of the rows of the frame."""
    mean: Array
    """Of the kept rows."""
    lambda_max: float
    bound: float
    failure: float
    """Lower and upper bound on the largest eigenvalue of their scatter, and the chance that the
    upper one does not hold."""
    sigma: float
    budget: float
    dual: Multiplier
    """Bounds how many rows can be kept within the budget."""
    outcome: Outcome
    steps: tuple[Step, ...] = field(repr=False)
    n_iter: int
    converged: bool = True
    most_kept: float | None = None
    """That bound, where it is known without another pass."""
    given: bool = False
    """Whether sigma was given; then the dual is also the rule that decides about rows."""
    rounded: bool = False
    """Whether rounding in the coordinates of the frame requires a certificate from the data."""
    least_budget: float = 0.0
    """A row that differs by rounding alone does not exceed it."""
    indicator: Rows | None = None
    """h: 0 for the kept rows, in (0, 1] for the removed ones; None if it is 0 or 1."""
    scores: Rows | None = None
    """Of the rows of the frame, where they are known without another pass."""
    early: tuple[Group, ...] = ()
    """Rows that were set aside before the search, in the coordinates of the data."""
    groups: tuple[Group, ...] = ()
    suspects: tuple[Suspect, ...] = ()

    def with_findings(self, *more: Finding) -> Verdict:
        """Return the same verdict with more to report."""
        return replace(self, outcome=self.outcome.with_findings(*more))
