"""Rules that decide about rows, also about new ones: a multiplier, or groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
