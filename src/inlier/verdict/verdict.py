"""What a fit returns: a verdict in its working coordinates, its steps, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from inlier._internal.typing import Array, Rows
from inlier.verdict.rules import Group, Multiplier, Suspect


class Kind(Enum):
    """What to report about an answer beyond the numbers of rows."""

    # The search for bad rows.
    TOO_FEW_ROWS = auto()
    SEVERAL_GROUPS = auto()
    NOTHING_FOUND = auto()
    NO_GROUP = auto()
    TAIL_KEPT = auto()
    WEAK_SIGNS = auto()
    NO_CUT = auto()
    # Why an answer should not be taken on trust.
    REFUSED = auto()
    REFUSED_FURTHER = auto()
    MANY_GROUPS = auto()
    UNCLEAR_GROUP = auto()
    COINCIDING_ROWS = auto()
    LARGE_MINORITY = auto()
    TAIL_REMOVED = auto()
    MORE_FOUND = auto()
    TRUSTED_APART = auto()
    # What was told.
    AT_MOST = auto()
    TAIL_LEFT = auto()
    ENOUGH_FOUND = auto()
    TRUSTED = auto()
    TRUSTED_BACK = auto()
    # The problem with sigma.
    UNDECIDED_BUDGET = auto()
    HALF_REMOVED = auto()
    # Why an answer is not what was asked for.
    NO_ROW_FITS = auto()
    SIGMA_TOO_SMALL = auto()
    BUDGET_EXCEEDED = auto()
    NOT_SOLVED = auto()
    NOT_CONVERGED = auto()
    # What was done with an answer.
    NO_VARIATION = auto()
    PUT_BACK = auto()
    DROPPED = auto()
    CHOSEN = auto()


DOUBTS = frozenset(
    {
        Kind.REFUSED,
        Kind.REFUSED_FURTHER,
        Kind.MANY_GROUPS,
        Kind.UNCLEAR_GROUP,
        Kind.COINCIDING_ROWS,
        Kind.LARGE_MINORITY,
        Kind.TAIL_REMOVED,
        Kind.MORE_FOUND,
        Kind.TRUSTED_APART,
    }
)
TOLD = frozenset({Kind.AT_MOST, Kind.TRUSTED})
FAILURES = frozenset(
    {
        Kind.NO_ROW_FITS,
        Kind.SIGMA_TOO_SMALL,
        Kind.BUDGET_EXCEEDED,
        Kind.NOT_SOLVED,
        Kind.NOT_CONVERGED,
    }
)


class WeakEvidenceWarning(UserWarning):
    """The data do not show clearly which rows are bad; the message states why and what to check."""


@dataclass(frozen=True)
class Finding:
    """One thing to report."""

    kind: Kind
    count: int = 0
    """Of rows, groups or iterations."""
    value: float = 0.0
    """A chance, a sigma, or by how much the budget is exceeded, as a fraction of it."""
    group: Group | None = None


@dataclass(frozen=True)
class Outcome:
    """How a fit ended."""

    searched: bool = False
    """Whether bad rows were searched for without sigma."""
    paper: bool = False
    """Whether Algorithm 1 was run as published."""
    findings: tuple[Finding, ...] = ()

    def having(self, kinds: frozenset[Kind]) -> tuple[Finding, ...]:
        """Return the findings of some kinds."""
        return tuple(finding for finding in self.findings if finding.kind in kinds)

    @property
    def weak(self) -> bool:
        """Whether the data do not show clearly which rows are bad."""
        return bool(self.having(DOUBTS))

    @property
    def told(self) -> bool:
        """Whether the user has told something of the bad or of the good rows."""
        return bool(self.having(TOLD))

    @property
    def failed(self) -> bool:
        """Whether the answer is not what was asked for."""
        return bool(self.having(FAILURES))

    @property
    def chosen(self) -> bool:
        """Whether the rows were chosen, and not found by a fit."""
        return bool(self.having(frozenset({Kind.CHOSEN})))


@dataclass(frozen=True)
class Step:
    """One step of a fit.

    Attributes
    ----------
    stage : str
        "selection", "continuation" or "algorithm 1"; other methods have words of their own.
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
