"""What there is to report about an answer, as sentences with gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from inlier.verdict.rules import Group

PASS_SIGMA = "Pass sigma if you know how much good rows vary."


class Doubt(str):
    """A sentence about why an answer should not be taken on trust."""


class Given(str):
    """A sentence about what a user knows of the bad or the good rows."""


class Failure(str):
    """A sentence about why an answer is not what was asked for."""


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
    REFUSED = Doubt(
        "The evidence is contradictory: there are {group}, but hardly fewer than the others, so "
        "nothing shows which of them are good. All were kept. {sigma}"
    )
    REFUSED_FURTHER = Doubt(
        "The evidence is contradictory: there is a further group, {group}, but without it hardly "
        "more than half of the rows would be left. The rows form several groups; inspect "
        "result.groups, and put one back with result.keep if it is good."
    )
    MANY_GROUPS = Doubt(
        "The search ended after {count} groups, and there may be more. The rows do not have one "
        "majority."
    )
    UNCLEAR_GROUP = Doubt(
        "There is a further group of {count} rows, but it is large and not well separated, so "
        "nothing shows which of them are good. It was kept. {sigma}"
    )
    COINCIDING_ROWS = Doubt("Too many rows coincide for a scale to judge the others by. {sigma}")
    LARGE_MINORITY = Doubt(
        "{count} of {value:.0f} rows were removed. They are called bad only because they are the "
        "minority: inspect result.groups; result.keep puts one back."
    )
    TAIL_REMOVED = Doubt(
        "{count} of the removed rows lie at the end of a long tail, in one direction. They may be "
        "bad, or the tail of skewed data. Compare with result.keep."
    )
    MORE_FOUND = Doubt(
        "{count} rows would be removed if that were not known: the fraction may be too small."
    )
    TRUSTED_APART = Doubt(
        "The mean is {value:.2g} times as far from that of the trusted rows as chance would have "
        "it: check that these rows are like the good ones."
    )
    TRUSTED_EQUAL = Doubt(
        "The trusted rows are all equal, so that they do not tell how far from theirs the mean may "
        "be by chance: trust other rows too."
    )
    AT_MOST = Given("As given, at most {value:.3g}% of the rows are bad.")
    TAIL_LEFT = (
        "That would be up to {count} rows; those that were kept of them look like the tail of the "
        "others."
    )
    ENOUGH_FOUND = (
        "That would be up to {count} rows; the search finds at least half of them by itself, and "
        "no others were removed."
    )
    TRUSTED = Given("{count} rows are trusted, as given.")
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
    NO_ROW_FITS = Failure(
        "No row can be kept within the budget about the center that was reached; the location is "
        "the mean weighted by 1 - h. Either the bound is too small for these data, or the start "
        "was far from most of them: pass a larger sigma or another start{hint}."
    )
    SIGMA_TOO_SMALL = Failure(
        "sigma is too small: half of the rows vary by at least {value:.3g} in some direction about "
        "the center that was reached, so that fewer than half can be kept and none was; the "
        "location is the mean weighted by 1 - h. sigma bounds the deviation in every direction, "
        "not that of a column: pass a larger sigma."
    )
    BUDGET_EXCEEDED = Failure(
        "The kept rows exceed the budget by {value:.1e} of it. The bound may be too small for "
        "these data: pass a larger sigma."
    )
    NOT_SOLVED = Failure(
        "A convex problem of Algorithm 1 was not solved to the tolerance. Raise tol of "
        'inlier.l0.Options, or use algorithm="continuation", which does not need it.'
    )
    NOT_CONVERGED = Failure(
        "Stopped after max_iter={count} iterations while the number of removed rows was still "
        "falling. Raise max_iter of inlier.l0.Options."
    )
    # What was done with an answer.
    NO_VARIATION = "The kept rows do not vary: there is no bound to run Algorithm 1 with."
    PUT_BACK = "Put back: {group}."
    DROPPED = "Dropped: {group}."
    CHOSEN = "Kept {count} of {value:.0f} rows by choice."


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

    def __str__(self) -> str:
        hint = ', or use algorithm="continuation"' if self.count else ""
        given = {"count": self.count, "value": self.value, "group": self.group, "hint": hint}
        return str(self.kind.value.format(**given, sigma=PASS_SIGMA))


@dataclass(frozen=True)
class Outcome:
    """How a fit ended."""

    searched: bool = False
    """Whether bad rows were searched for without sigma."""
    findings: tuple[Finding, ...] = ()

    def with_findings(self, *more: Finding) -> Outcome:
        """Return the same outcome with more to report."""
        return replace(self, findings=(*self.findings, *more))

    def having(self, *kinds: type[str] | Kind) -> tuple[Finding, ...]:
        """Return the findings of some kinds, or of all kinds with such a sentence."""
        return tuple(f for f in self.findings if f.kind in kinds or type(f.kind.value) in kinds)

    @property
    def weak(self) -> bool:
        """Whether the data do not show clearly which rows are bad."""
        return bool(self.having(Doubt))
