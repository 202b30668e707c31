"""Why a row got its score: the directions that see it, and the features that put it there.

A score is a square, a^T M a of a row a relative to a center, with M a sum of the directions that
decide. So it splits by direction, and each direction by feature: feature f adds a_f (M a)_f. A part
below zero belongs to a feature that speaks for the row. The parts add up to the score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array
from inlier.data import Table
from inlier.results.cells import Cell, cells_of, named
from inlier.verdict import Group, GroupRule, Multiplier, of_budget, squared_parts

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult


class Feature(NamedTuple):
    """One column's part in a score."""

    column: int
    name: str
    value: float
    """Of the row."""
    expected: float
    """Of the center that the row is compared with."""
    contribution: float
    missing: bool = False
    """Whether the row has no such cell: the value is then the median of the column."""
    set_aside: bool = False
    """Whether the cell is extreme and was set aside: it has the part of the median."""


class Contribution(NamedTuple):
    """One direction's part in a score."""

    name: str
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """Why a row got its score.

    Attributes
    ----------
    row : int
        Its number, from 0.
    score, threshold : float
        A row with a score above the threshold is removed.
    pruned : bool
        Whether the row was pruned as too far away: the score is then the square of its
        distance, in units of the distance that was allowed.
    directions : tuple of Contribution
        Their contributions are not below 0, and add up to the score.
    contributions : array of shape (d,)
        One for each column; they have a sign, and add up to the score.
    values, center : array of shape (d,)
        The row, and the center it is compared with.
    columns : tuple of str, optional
        The names of the columns.
    removed : bool
        Whether the row was removed: its score is above the threshold, unless it was put on the
        other side by choice.
    cells : tuple of str
        Its extreme cells, in words.
    suspected : str
        The suspect that a row that was kept belongs to, in words; empty if there is none.
    missing : int array
        The columns in which the row has no cell; its value there is the median of the column.
    set_aside : int array
        The columns in which its cell is extreme and was set aside: `values` has the cell, the
        contributions are those of the median of the column.
    label : str
        What the row is called in a data frame; empty if it is its number.
    """

    row: int
    score: float
    threshold: float
    pruned: bool
    directions: tuple[Contribution, ...]
    contributions: Array = field(repr=False)
    values: Array = field(repr=False)
    center: Array = field(repr=False)
    columns: tuple[str, ...] | None = field(default=None, repr=False)
    removed: bool = False
    cells: tuple[str, ...] = ()
    suspected: str = ""
    missing: Array = field(default_factory=lambda: np.empty(0, np.intp), repr=False)
    set_aside: Array = field(default_factory=lambda: np.empty(0, np.intp), repr=False)
    label: str = ""

    def features(self, count: int = 10) -> tuple[Feature, ...]:
        """Return the columns with the largest contributions, for or against the row.

        Parameters
        ----------
        count : int
            Most columns.
        """
        size = np.abs(self.contributions)
        count = min(count, max(1, int(np.count_nonzero(size))))
        missing, aside = set(self.missing.tolist()), set(self.set_aside.tolist())
        return tuple(
            Feature(
                column=f,
                name=named(self.columns, f),
                value=float(self.values[f]),
                expected=float(self.center[f]),
                contribution=float(self.contributions[f]),
                missing=f in missing,
                set_aside=f in aside,
            )
            for f in np.argsort(-size, kind="stable")[:count].tolist()
        )

    def __str__(self) -> str:
        verdict = "removed" if self.removed else "kept"
        lines = [f"Row {self.label or self.row}: score {self.score:.4g}, {verdict} (the cut is at "
                 f"{self.threshold:.4g})."]  # fmt: skip
        lines += [f"  {part.contribution:10.4g}  {part.name}" for part in self.directions]
        lines += [f"  {self.suspected}"] if self.suspected else []
        lines += [f"  {cell}" for cell in self.cells]
        lines.append("Features:")
        shown = self.features()
        for f in shown:
            said = f"is missing, counts as {f.value:.6g}" if f.missing else f"= {f.value:.6g}"
            said += " (set aside)" * f.set_aside
            lines.append(f"  {f.contribution:+10.4g}  {f.name} {said}, expected {f.expected:.6g}")
        rest = len(self.contributions) - len(shown)
        if rest:
            others = np.delete(self.contributions, [f.column for f in shown]).sum()
            lines.append(f"  {others:+10.4g}  {rest} other {'column' if rest == 1 else 'columns'}")
        return "\n".join(lines)


def shortened(name: str, most: int) -> str:
    """Shorten a name in its middle: beginnings and ends tell names apart."""
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[: most - 1 - end]}…{name[-end:]}"


def explained(result: RobustMeanResult, rows: Array) -> list[Explanation]:
    """Explain the scores of some rows, by the groups that they were removed with."""
    rule = result._rule
    suspects = [suspect.group for suspect in result.suspects]

    def decisive(i: int, values: Array) -> Parts:
        # By the groups of the rule: another threshold leaves it as it is, and groups without some
        # rows.
        left_with = _group_with(rule.groups, i) if isinstance(rule, GroupRule) else None
        return parts_by(rule, values, left_with)

    found = []
    for why in explanations(result._known_data(), rows, result.cells, decisive):
        i, suspect = why.row, _group_with(suspects, why.row)
        said = "" if suspect is None else f"suspect {suspect + 1}: {result.suspects[suspect]}"
        found.append(replace(why, removed=not bool(result.support[i]), suspected=said))
    return found


def explanations(
    table: Table,
    rows: Array,
    cells: Sequence[Cell],
    decisive: Callable[[int, Array], Parts],
) -> list[Explanation]:
    """Explain the scores of some rows of a table by the parts that are decisive for each."""
    found = []
    for i, values in zip(rows.tolist(), table.fetch(rows).astype(np.float64), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):  # rows too far away score infinity
            part = decisive(i, values)
            score = float(part.contributions.sum())
        why = Explanation(
            row=i,
            score=score,
            threshold=part.threshold,
            pruned=part.pruned,
            directions=part.directions,
            contributions=part.contributions,
            values=values,
            center=part.center,
            columns=table.columns,
            removed=score > part.threshold,
            cells=tuple(cell.name + cell.words for cell in cells_of(cells, i)),
        )
        if table.gaps is not None and table.missing is not None:
            aside = np.sort(table.gaps.cells[table.gaps.cells[:, 0] == i, 1])
            missing = np.setdiff1d(np.flatnonzero(table.missing[i]), aside)
            why = replace(why, values=table.observed_row(i), missing=missing, set_aside=aside)
        found.append(why)
    return found


def _group_with(groups: Sequence[Group], row: int) -> int | None:
    """Return the index of the group that contains a row."""
    return next((i for i, group in enumerate(groups) if (on_host(group.rows) == row).any()), None)


class Parts(NamedTuple):
    """A score by direction and by column, relative to a center."""

    directions: tuple[Contribution, ...]
    contributions: Array
    center: Array
    threshold: float
    pruned: bool = False


def parts_by(rule: Multiplier | GroupRule, values: Array, left_with: int | None = None) -> Parts:
    """Split the score of a row; `left_with` is the group that it was removed with."""
    if isinstance(rule, GroupRule):
        # By the group of the row, or else by the one that decides its score.
        parts_of = [group.parts(values) for group in rule.groups]
        scores = [float(parts.sum()) for parts in parts_of]
        beyond = [i for i, score in enumerate(scores) if score > 1.0]
        i = beyond[0] if beyond else int(np.argmax(scores))
        i = i if left_with is None else left_with
        inside = left_with is not None or scores[i] > rule.threshold
        name = f"group {i + 1}: {rule.groups[i]}" if inside else f"nearest to group {i + 1}"
        why = [Contribution(name, scores[i])]
        return Parts(tuple(why), parts_of[i], rule.groups[i].center, rule.threshold)
    from_start = squared_parts(values - rule.start, rule.metric)
    if from_start.sum() > rule.radius**2:
        parts = from_start / rule.radius**2
        name = "farther from the start than the pruning radius"
        return Parts((Contribution(name, float(parts.sum())),), parts, rule.start, 1.0, True)
    offset = values - rule.center
    if rule.directions is None:
        parts = of_budget(squared_parts(offset, rule.metric), rule.budget)
        if not np.isfinite(rule.budget):  # of which no row takes a part
            parts = np.zeros_like(offset)
        why = [Contribution("distance from the mean", float(parts.sum()))]
    else:
        projected = rule.directions @ offset
        prices = rule.prices / rule.budget
        parts = offset * ((prices * projected) @ rule.directions)
        why = [
            Contribution(f"direction {j + 1}", float(prices[j] * projected[j] ** 2))
            for j in np.argsort(-prices * projected**2, kind="stable")
        ]
    return Parts(tuple(why), parts, rule.center, rule.threshold)
