"""What a fit decides, in its working coordinates: rules, what there is to report, the verdict.

A rule decides about rows, also about new ones: a multiplier, or groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import like, namespace, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Frame, Measure, Metric, Place, Table


@dataclass(frozen=True, eq=False)
class Multiplier:
    """Lambda = V^T diag(prices) V / budget: the directions that decide about a row."""

    place: Place
    """The center about which rows are scored, the first center, and the directions V."""
    prices: Array
    budget: float
    threshold: float = 1.0
    """Rows with a higher score are removed. Algorithm 1 as published judges a row by more than its
    score: there it is where the fewest rows of the fit are on the wrong side."""
    radius: float = np.inf
    """Rows farther than this from the first center were pruned: they score infinity."""
    metric: Metric | None = None
    """The metric of distances, if not that of the data."""

    @classmethod
    def about(
        cls,
        center: Array,
        directions: Array | None,
        prices: Array,
        budget: float,
        metric: Metric | None = None,
    ) -> Multiplier:
        """Return a multiplier about a center, which is also the first one."""
        return cls(Place(np.stack([center, center]), directions), prices, budget, metric=metric)

    @classmethod
    def of_budget(cls, center: Array, budget: float, metric: Metric | None = None) -> Multiplier:
        """Return the rule of a fit that removed nothing: whether a row alone exceeds a budget."""
        return cls.about(center, None, np.empty(0), budget, metric)

    @property
    def center(self) -> Array:
        """The center about which rows are scored."""
        return np.asarray(self.place.points[0])

    @property
    def start(self) -> Array:
        """The first center."""
        return np.asarray(self.place.points[1])

    @property
    def directions(self) -> Array | None:
        """V, k x d; orthonormal in the metric.

        None stands for all directions alike, Lambda = I / budget: nothing had to be removed, so a
        row is judged by whether it would break the budget on its own; or, if there is a price,
        their sum, even half of the rows break it.
        """
        return self.place.directions

    def in_data(self, frame: Frame) -> Multiplier:
        """Return the same rule in the coordinates of the data."""
        place = frame.place(self.place.points, self.directions)
        return replace(self, place=place, metric=frame.metric)

    def scores(self, table: Table) -> Rows:
        """Compute q = (y - x)^T Lambda (y - x) for each row y; one pass, two if pruned."""
        q = self.scores_about(self.center, table)
        if np.isfinite(self.radius):
            far = _sq_distances(table, self.start, self.metric) > self.radius**2
            q = namespace(q).where(far, np.inf, q)
        return q

    def scores_about(self, center: Array, table: Table) -> Rows:
        """Compute the scores about any center, without pruning; one pass."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.directions is None:
                return of_budget(_sq_distances(table, center, self.metric), self.budget)
            projected = table.project(center, self.directions) ** 2
            return _known(like(self.prices / self.budget, projected) @ projected)


@dataclass(frozen=True, eq=False)
class Group:
    """Rows that were removed together.

    Attributes
    ----------
    kind : str
        How it was found: "apart" (far from every other row), "distance" (more rows far out than
        near, and in the same direction), "tail" (the same, but they may be the long tail of skewed
        rows), "direction" (on one side of a direction of large variance), "metric" (the same in
        the metric of the rows); where nothing is assumed of the good rows, "cells" (a cell beyond
        what the tail of its column can reach), "length" (the same for a row as a whole), "clear"
        (well separated along a direction) and "chain" (the same but for fewer rows between, which
        belong to it); "given" (the outermost of the other rows, as many as were given to be bad).
    rows : int array
        Indices of the rows.
    cut, side
        The rule behind it, see `sizes`: rows with a size above the cut belong to the group.
        With a scatter matrix, sizes and the cut are in its units.
    log_p : float
        Natural logarithm of the chance that good rows alone would show such a group. Of the kinds
        "cells", "length", "clear" and "chain" it orders groups by their evidence and is no chance,
        because it depends on how the tails of good rows fall.
    share : float
        p / h: the expected fraction of good rows in the group, judged by their mirror image.
    ratio : float
        Of a well separated group: how far out its nearest row lies over the farthest other row,
        in a chain the nearest but for the fewer rows between; 0 for groups of other kinds.
    measure : Measure, optional
        Gives the sizes of rows that were removed for their own cells.
    metric : Metric, optional
        The metric of distances, if not that of the data.
    """

    kind: str
    rows: Rows = field(repr=False)
    place: Place = field(repr=False)
    cut: float
    side: int
    log_p: float
    share: float
    ratio: float = 0.0
    measure: Measure | None = field(default=None, repr=False)
    metric: Metric | None = field(default=None, repr=False)

    @property
    def mean(self) -> Array:
        """Mean of these rows."""
        return np.asarray(self.place.points[0])

    @property
    def center(self) -> Array:
        """The point relative to which the sizes are measured."""
        return np.asarray(self.place.points[1])

    @property
    def direction(self) -> Array:
        """The direction along which the group lies, of length one."""
        vector = self._vector
        return np.asarray(vector / max(float(np.linalg.norm(vector)), TINY))

    @property
    def _vector(self) -> Array:
        """The direction in the units of the cut."""
        assert self.place.directions is not None
        return np.asarray(self.place.directions[0])

    def in_data(self, frame: Frame) -> Group:
        """Return the same group in the coordinates of the data, with the indices of all rows.

        Parameters
        ----------
        frame : Frame
            In whose coordinates the group is.
        """
        place = frame.place(self.place.points, self.place.directions, on_host(self.rows))
        rows = self.rows
        if not frame.complete:
            xp = namespace(frame.near)
            rows = xp.take(xp.nonzero(frame.near)[0], rows)
        return replace(self, rows=rows, place=place, metric=frame.metric)

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    @property
    def p_value(self) -> float:
        """The chance that good rows alone would show such a group, bounded from above.

        Not a number where it cannot be stated: see `log_p`.
        """
        stated = self.kind not in ("cells", "length", "clear", "chain") and self.log_p <= np.log(
            0.05
        )
        return float(np.exp(self.log_p)) if stated else float("nan")

    @property
    def by_distance(self) -> bool:
        """Whether the distance from the center decides, and not one direction."""
        return self.kind in ("apart", "distance", "tail", "cells", "length", "given")

    def sizes(self, table: Table) -> Rows:
        """Compute how far out each row of a table lies, as this group measures it; one pass.

        Parameters
        ----------
        table : Table
            Rows with the columns of the fit.
        """
        if self.measure is not None:
            there = table if self.metric is None else table.in_metric(self.metric)
            return there.measured(self.measure)
        if self.by_distance:
            return _sq_distances(table, self.center, self.metric) ** 0.5
        projected = table.project(self.center, self._vector[None])[0, :]
        return abs(projected) if self.side == 0 else self.side * projected

    def parts(self, values: Array) -> Array:
        """Split the score of a row, (size / cut)^2, into the parts of its columns.

        Parameters
        ----------
        values : array of shape (d,)
            The row.
        """
        if self.measure is not None:
            there = values if self.metric is None else self.metric.transform(values[None])[0]
            return self.measure.parts(there) / self.cut**2
        offset = values - self.center
        if self.by_distance:
            return squared_parts(offset, self.metric) / self.cut**2
        projected = float(self._vector @ offset)
        if self.side * projected < 0.0:  # on the other side of the center
            return np.zeros_like(offset)
        return offset * self._vector * (projected / self.cut**2)

    def __repr__(self) -> str:
        return f"<Group of {self}>"

    @property
    def description(self) -> str:
        """How many rows there are, and how they differ from the others."""
        sides = "one side" if self.side else "both sides"
        how = {
            "cells": "with extreme values",
            "length": "extreme overall, by the units and tails of their columns",
            "clear": f"well separated: {self.ratio:.3g} times as far out as any other row",
            "chain": f"in a chain, most of them {self.ratio:.3g} times as far out as any other row",
            "apart": "far from every other row",
            "distance": "far out, in the same direction",
            "tail": "far out, in the same direction, at the end of a tail",
            "direction": f"on {sides} of the others",
            "given": "farthest out of the others",
            "metric": f"on {sides} of the others, in a low-variance direction",
        }[self.kind]
        return f"{self.size} {'row' if self.size == 1 else 'rows'} {how}"

    def __str__(self) -> str:
        if np.isnan(self.p_value):
            return self.description
        exponent = max(self.log_p / np.log(10.0), -300.0)
        return f"{self.description} (chance below 1e{np.ceil(exponent):.0f})"


@dataclass(frozen=True, eq=False)
class Suspect:
    """A group that was kept, although there is evidence against it."""

    group: Group
    """Its rows, and the rule that separates them from the others."""
    shift: float
    """How far the mean, with each row counted once, would move without it: in standard errors of
    the mean in that direction."""
    why: str
    """Why it was not removed."""

    @property
    def rows(self) -> Rows:
        """Indices of the rows."""
        return self.group.rows

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.group.size

    def __str__(self) -> str:
        moves = f"the mean moves by {self.shift:.2g} standard errors"
        return f"{self.group}; without it {moves}; kept, because {self.why}"


@dataclass(frozen=True, eq=False)
class GroupRule:
    """A row is bad if it lies beyond the cut of a group: its (size / cut)^2 is above 1.

    The first such group decides, which is the one it was removed with; for a good row, the nearest.
    """

    groups: tuple[Group, ...]
    threshold: float = 1.0

    @property
    def metric(self) -> Metric | None:
        """The metric of distances, if not that of the data."""
        return self.groups[0].metric

    def scores(self, table: Table) -> Rows:
        """Compute the score of each row; one pass for each group."""
        score = table.constant(0.0)
        xp = namespace(score)
        for group in self.groups:
            with np.errstate(over="ignore", invalid="ignore"):
                ratio = xp.clip(_known(group.sizes(table)), 0.0, None) / group.cut
                score = xp.where(score > 1.0, score, xp.maximum(score, ratio**2))
        return score


def rule_of(
    groups: tuple[Group, ...], location: Array, budget: float, metric: Metric | None = None
) -> Multiplier | GroupRule:
    """Return the rule of some groups; without groups, whether a row alone exceeds the budget."""
    return GroupRule(groups) if groups else Multiplier.of_budget(location, budget, metric)


def of_budget(squared: Rows, budget: float) -> Rows:
    """Divide squared distances by a budget; zero over a budget of zero is zero."""
    if budget > 0.0:
        return squared / budget
    return namespace(squared).where(squared > 0.0, np.inf, 0.0 * squared)


def _known(far: Rows) -> Rows:
    """Return infinity for rows whose distance is not a number."""
    xp = namespace(far)
    return xp.where(xp.isnan(far), np.inf, far)


def _sq_distances(table: Table, center: Array, metric: Metric | None) -> Rows:
    if metric is None:
        return table.sq_distances(center)
    return table.in_metric(metric).sq_distances(metric.transform(center[None])[0])


def squared_parts(offset: Array, metric: Metric | None) -> Array:
    """Split a squared distance into the parts of its columns."""
    if metric is None:
        return offset * offset
    there = metric.transform((metric.origin + offset)[None])
    return np.asarray(offset * metric.directions(there)[0])


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
        "{words.groups}, and put one back with {words.keep} if it is good."
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
        "minority: inspect {words.groups}; {words.keep} puts one back."
    )
    TAIL_REMOVED = Doubt(
        "{count} of the removed rows lie at the end of a long tail, in one direction. They may be "
        "bad, or the tail of skewed data. Compare with {words.keep}."
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


class Remedies(NamedTuple):
    """What a reader can do, in the words of where the sentence is read."""

    groups: str = "result.groups"
    keep: str = "result.keep"
    sigma: str = "Pass sigma"


PYTHON = Remedies()
COMMAND_LINE = Remedies(groups="the groups", keep="--keep", sigma="Give --sigma")


@dataclass(frozen=True)
class Finding:
    """One thing to report."""

    kind: Kind
    count: int = 0
    """Of rows, groups or iterations."""
    value: float = 0.0
    """A chance, a sigma, or by how much the budget is exceeded, as a fraction of it."""
    group: Group | None = None

    def sentence(self, words: Remedies = PYTHON) -> str:
        """Return the finding in words."""
        said: str = self.kind.value.format(
            count=self.count,
            value=self.value,
            group=self.group,
            words=words,
            sigma=f"{words.sigma} if you know how much good rows vary.",
            hint=', or use algorithm="continuation"' if self.count else "",
        )
        return said


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
