"""How a fit ended, as fields: every sentence about it is made of these, in `wording`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inlier.results.rules import Group


class Kind(Enum):
    """What there is to say about an answer beyond the numbers of rows."""

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
    # The problem with sigma.
    UNDECIDED_BUDGET = auto()
    HALF_REMOVED = auto()
    # Why an answer is not what was asked for.
    NO_ROW_FITS = auto()
    BUDGET_EXCEEDED = auto()
    NOT_SOLVED = auto()
    NOT_CONVERGED = auto()
    # What was done with an answer.
    NO_VARIATION = auto()
    SOLVED_AGAIN = auto()
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
    }
)
FAILURES = frozenset({Kind.NO_ROW_FITS, Kind.BUDGET_EXCEEDED, Kind.NOT_SOLVED, Kind.NOT_CONVERGED})


@dataclass(frozen=True)
class Finding:
    """One thing to say."""

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
        """Whether the data do not say clearly which rows are bad."""
        return bool(self.having(DOUBTS))

    @property
    def failed(self) -> bool:
        """Whether the answer is not what was asked for."""
        return bool(self.having(FAILURES))

    @property
    def chosen(self) -> bool:
        """Whether the rows were chosen, and not found by a fit."""
        return bool(self.having(frozenset({Kind.CHOSEN})))
