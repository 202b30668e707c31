"""What there is to report about an answer, and how a fit ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from inlier.verdict.rules import Group


class Kind(Enum):
    """What to report about an answer beyond the numbers of rows, as a sentence with gaps."""

    # The search for bad rows.
    TOO_FEW_ROWS = "Too few rows to judge: at least {count} are needed."
    SEVERAL_GROUPS = (
        "The rows form several groups, none of them more suspect than another; all were kept."
    )
    NOTHING_FOUND = "No row is extreme, and no group is well separated."
    NO_GROUP = "No group is statistically significant."
    TAIL_KEPT = (
        "A surplus of {count} rows on one side looks like the tail of skewed data; it was kept."
    )
    WEAK_SIGNS = "There is weak evidence of one more group (chance {value:.1g}); it was kept."
    NO_CUT = "There is evidence of one more group, but no cut separates it from the others."
    # Why an answer should not be taken on trust.
    REFUSED = (
        "The evidence is contradictory: there are {group}, but hardly fewer than the others, so "
        "nothing shows which of them are good. All were kept. {sigma}"
    )
    REFUSED_FURTHER = (
        "The evidence is contradictory: there is a further group, {group}, but without it hardly "
        "more than half of the rows would be left. The rows form several groups; inspect "
        "{words.groups}, and put one back with {words.keep} if it is good."
    )
    MANY_GROUPS = (
        "The search ended after {count} groups, and there may be more. The rows do not have one "
        "majority."
    )
    UNCLEAR_GROUP = (
        "There is a further group of {count} rows, but it is large and not well separated, so "
        "nothing shows which of them are good. It was kept. {sigma}"
    )
    COINCIDING_ROWS = "Too many rows coincide for a scale to judge the others by. {sigma}"
    LARGE_MINORITY = (
        "{count} of {value:.0f} rows were removed. They are called bad only because they are the "
        "minority: inspect {words.groups}; {words.keep} puts one back."
    )
    TAIL_REMOVED = (
        "{count} of the removed rows lie at the end of a long tail, in one direction. They may be "
        "bad, or the tail of skewed data. Compare with {words.keep}."
    )
    MORE_FOUND = (
        "{count} rows would be removed if that were not known: the fraction may be too small."
    )
    TRUSTED_APART = (
        "The mean is {value:.2g} times as far from that of the trusted rows as chance would have "
        "it: check that these rows are like the good ones."
    )
    TRUSTED_EQUAL = (
        "The trusted rows are all equal, so that they do not tell how far from theirs the mean may "
        "be by chance: trust other rows too."
    )
    # What was given.
    AT_MOST = "As given, at most {value:.3g}% of the rows are bad."
    TAIL_LEFT = (
        "That would be up to {count} rows; those that were kept of them look like the tail of the "
        "others."
    )
    ENOUGH_FOUND = (
        "That would be up to {count} rows; the search finds at least half of them by itself, and "
        "no others were removed."
    )
    TRUSTED = "{count} rows are trusted, as given."
    TRUSTED_BACK = "Sigma alone would have removed {count} of them."
    # The problem with sigma.
    UNDECIDED_BUDGET = (
        "Whether they stay within the budget is not decided: they exceed it by at most {value:.1e} "
        "of it, if at all."
    )
    HALF_REMOVED = (
        "Half of the rows or more were removed: either sigma is too small, or the data cannot be "
        "trusted."
    )
    # Why an answer is not what was asked for.
    NO_ROW_FITS = (
        "No row can be kept within the budget about the center that was reached; the location is "
        "the mean weighted by 1 - h. Either the bound is too small for these data, or the start "
        "was far from most of them: pass a larger sigma or another start{hint}."
    )
    SIGMA_TOO_SMALL = (
        "sigma is too small: half of the rows vary by at least {value:.3g} in some direction about "
        "the center that was reached, so that fewer than half can be kept and none was; the "
        "location is the mean weighted by 1 - h. sigma bounds the deviation in every direction, "
        "not that of a column: pass a larger sigma."
    )
    BUDGET_EXCEEDED = (
        "The kept rows exceed the budget by {value:.1e} of it. The bound may be too small for "
        "these data: pass a larger sigma."
    )
    NOT_SOLVED = (
        "A convex problem of Algorithm 1 was not solved to the tolerance. Raise tol of "
        'inlier.l0.Options, or use algorithm="continuation", which does not need it.'
    )
    NOT_CONVERGED = (
        "Stopped after max_iter={count} iterations while the number of removed rows was still "
        "falling. Raise max_iter of inlier.l0.Options."
    )
    # What was done with an answer.
    NO_VARIATION = "The kept rows do not vary: there is no bound to run Algorithm 1 with."
    PUT_BACK = "Put back: {group}."
    DROPPED = "Dropped: {group}."
    CHOSEN = "Kept {count} of {value:.0f} rows by choice."


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
        Kind.TRUSTED_EQUAL,
    }
)
GIVEN = frozenset({Kind.AT_MOST, Kind.TRUSTED})
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
    def given(self) -> bool:
        """Whether something was given about the bad or the good rows."""
        return bool(self.having(GIVEN))

    @property
    def failed(self) -> bool:
        """Whether the answer is not what was asked for."""
        return bool(self.having(FAILURES))

    @property
    def chosen(self) -> bool:
        """Whether the rows were chosen, and not found by a fit."""
        return bool(self.having(frozenset({Kind.CHOSEN})))
