"""Verdicts on rows, also on rows that were not there at the fit: by a multiplier, or by groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from inlier._internal.arrays import like, namespace
from inlier._internal.typing import Array, Rows
from inlier.data import LazyFields, Measure, Metric, Table
from inlier.l0.problem import packing_bound
from inlier.l0.surrogates import ReweightedL2


@dataclass(frozen=True)
class Reweighting(LazyFields):
    """The re-weightings of Algorithm 1 before the last, each with a multiplier of its own.

    A row that they have sent away stays away at a score at which another one is kept. So a score
    alone does not say on which side a row is; followed through all of them, it does.
    """

    surrogate: ReweightedL2
    directions: Array
    """Those of all multipliers, one after the other, k x d."""
    prices: tuple[Array, ...]
    """For each multiplier, those of its directions."""

    def removed_from(self, projected: Callable[[Array], Rows], budget: float) -> Rows:
        """Return the score under the last multiplier above which rows count as removed.

        `projected` tells how far out the rows lie along some directions, k x n or k.
        """
        first = np.cumsum([0, *(len(prices) for prices in self.prices)])
        earlier = []
        for i, prices in zip(first, self.prices, strict=False):
            squared = projected(self.directions[i : i + len(prices)]) ** 2
            earlier.append(like(prices / budget, squared) @ squared)
        return self.surrogate.removed_from(earlier)


@dataclass(frozen=True)
class Multiplier(LazyFields):
    """Lambda = V^T diag(prices) V / budget: the directions that decide about a row."""

    center: Array
    """The center about which rows are scored."""
    directions: Array | None
    """Orthonormal rows V, k x d. None stands for all directions alike, Lambda = I / budget: nothing
    had to leave, so a row is judged by whether it would break the budget on its own."""
    prices: Array
    budget: float
    threshold: float
    """Rows with a higher score are removed. The verdict of re-weighted l1 as published hangs on
    more than the score: there it is where the fewest rows of the fit are on the wrong side."""
    start: Array
    """The first center."""
    radius: float = np.inf
    """Rows farther than this from the start were pruned: they score infinity."""
    metric: Metric | None = None
    """In which distances are measured, if not as the data are."""
    reweighting: Reweighting | None = None
    """If there is one, scores are in units of that at which a row counts as removed, which is not
    the same for all rows."""

    @property
    def deciding(self) -> Array:
        """The directions that decide about a row, k x d; none, if all count alike."""
        return np.empty((0, len(self.center))) if self.directions is None else self.directions

    def scores(self, table: Table) -> Rows:
        """Compute q = (y - x)^T Lambda (y - x) for each row y; one pass, two if pruned.

        One more for each re-weighting before the last.
        """
        q = self._unpruned(table, self.center)
        if self.reweighting is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                unit = self.reweighting.removed_from(
                    partial(table.project, self.center), self.budget
                )
                q = _known(q / unit)
        if np.isfinite(self.radius):
            far = _sq_distances(table, self.start, self.metric) > self.radius**2
            q = namespace(q).where(far, np.inf, q)
        return q

    def turned(self, directions: Callable[[Array], Any], **changes: Any) -> Multiplier:
        """Return the same rule in other coordinates."""
        before = self.reweighting
        if before is not None:
            before = replace(before, directions=directions(before.directions))
        own = None if self.directions is None else directions(self.directions)
        return replace(self, directions=own, reweighting=before, **changes)

    def most_kept(self, table: Table, center: Array, budget: float) -> float:
        """Bound sum(w) over all w in [0, 1]^n within a budget about a center; one pass.

        From the dual of the l1 problem: any multiple of Lambda is a multiplier, at any center.
        """
        if self.directions is None:
            return float(table.shape[0])
        q = self._unpruned(table, center)
        price = float(self.prices.sum()) * budget / self.budget
        return packing_bound(table.constant(1.0), q, price)

    def _unpruned(self, table: Table, center: Array) -> Rows:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.directions is None:
                return of_budget(_sq_distances(table, center, self.metric), self.budget)
            projected = table.project(center, self.directions) ** 2
            return _known(like(self.prices / self.budget, projected) @ projected)


@dataclass(frozen=True, eq=False)
class Group(LazyFields):
    """Rows that left together.

    Attributes
    ----------
    kind : str
        How it showed: "apart" (far from every other row), "distance" (more rows far out than near,
        and pointing the same way), "tail" (so too, but they may as well be the long end of skewed
        rows), "direction" (on one side of a direction of large variance), "metric" (the same in
        the metric of the rows); where nothing is assumed of the good rows, "cells" (a cell beyond
        what the tail of its column can reach), "length" (the same for a row as a whole) and
        "clear" (clear of all others along a direction).
    rows : int array
        Indices of the rows.
    mean : array of shape (d,)
        Of these rows.
    direction : array of shape (d,)
        Of length one: along which the group lies.
    center, cut, side
        The rule behind it, see `sizes`: rows with a size above the cut belong to the group.
    log_p : float
        Natural logarithm of the chance that good rows alone would show such a group.
    share : float
        p / h: the share of the group that good rows account for, judged by their mirror image.
    lambda_max_before : float
        Largest eigenvalue of the scatter of the rows that were kept before the group left.
    metric : Metric, optional
        In which the group was looked for, if not as the data are; its distances are measured there.
    measure : Measure, optional
        What gives the sizes, of rows that left for their own cells.
    ratio : float
        Of a group that is clear of the rest: how far out its nearest row lies over the farthest
        other; 0 for groups of other kinds.
    """

    kind: str
    rows: Rows = field(repr=False)
    mean: Array = field(repr=False)
    direction: Array = field(repr=False)
    center: Array = field(repr=False)
    cut: float
    side: int
    log_p: float
    share: float
    lambda_max_before: float
    metric: Metric | None = field(default=None, repr=False)
    measure: Measure | None = field(default=None, repr=False)
    ratio: float = 0.0

    @property
    def size(self) -> int:
        """How many rows left."""
        return int(self.rows.shape[0])

    @property
    def p_value(self) -> float:
        """The chance that good rows alone would show such a group, bounded from above."""
        return float(np.exp(self.log_p))

    @property
    def by_distance(self) -> bool:
        """Whether the distance from the center decides, and not one direction."""
        return self.kind in ("apart", "distance", "tail", "cells", "length")

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
        projected = table.project(self.center, self.direction[None])[0, :]
        return abs(projected) if self.side == 0 else self.side * projected

    def __repr__(self) -> str:
        return f"<Group of {self}>"

    @property
    def description(self) -> str:
        """How many rows there are, and how they differ from the others."""
        sides = "one side" if self.side else "both sides"
        how = {
            "cells": "with gross values",
            "length": "gross as a whole, by the units and tails of their columns",
            "clear": f"clear of all others: the nearest lies {self.ratio:.3g} times as far out",
            "apart": "far from every other row",
            "distance": "far out, in the same direction",
            "tail": "far out, in the same direction, at the end of a tail",
            "direction": f"on {sides} of the others",
            "metric": f"on {sides} of the others, for how little these vary there",
        }[self.kind]
        return f"{self.size} {'row' if self.size == 1 else 'rows'} {how}"

    def __str__(self) -> str:
        exponent = max(self.log_p / np.log(10.0), -300.0)
        return f"{self.description} (chance below 1e{np.ceil(exponent):.0f})"


@dataclass(frozen=True, eq=False)
class Suspect:
    """A group that was kept, although there is evidence against it."""

    group: Group
    """Its rows, and the rule that tells them from the others."""
    shift: float
    """How far the mean would move without it, in standard errors of the mean in that direction; not
    a number if no other row has a weight."""
    why: str
    """Why it was not removed."""

    @property
    def rows(self) -> Rows:
        """Indices of the rows."""
        return self.group.rows

    @property
    def size(self) -> int:
        """How many rows there are."""
        return self.group.size

    def __str__(self) -> str:
        moves = f"the mean moves by {self.shift:.2g} standard errors"
        moves = "no row has a weight" if np.isnan(self.shift) else moves
        return f"{self.group}; without it {moves}; kept, because {self.why}"


@dataclass(frozen=True, eq=False)
class GroupRule:
    """A row is bad if it lies beyond the cut of a group: its (size / cut)^2 is above 1.

    The first such group decides, which is the one it left with; for a good row, the nearest.
    """

    groups: tuple[Group, ...]
    threshold: float = 1.0

    @property
    def metric(self) -> Metric | None:
        """In which distances are measured, if not as the data are."""
        return self.groups[0].metric

    @property
    def deciding(self) -> Array:
        """The directions that decide about a row, k x d."""
        return np.stack([group.direction for group in self.groups])

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
    if groups:
        return GroupRule(groups)
    return Multiplier(location, None, np.empty(0), budget, 1.0, location, metric=metric)


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
