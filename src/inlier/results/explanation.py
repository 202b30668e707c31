"""Why a row got its score: the directions that see it, and the features that put it there.

A score is a square, a^T M a of a row a seen from a center, with M a sum of the directions that
decide. So it splits by direction, and each direction by feature: feature f adds a_f (M a)_f. A part
below zero belongs to a feature that speaks for the row. The parts add up to the score.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array
from inlier.data import Table
from inlier.verdict import GroupRule, Multiplier, of_budget, squared_parts


class Feature(NamedTuple):
    """One column's part in a score."""

    column: int
    name: str
    value: float
    """Of the row."""
    expected: float
    """Of the center that the row was seen from."""
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
    score, threshold : float
        A row with a score above the threshold is removed.
    pruned : bool
        Whether the row was too far away to be looked at: the score is then the square of its
        distance, in units of the distance that was allowed.
    directions : tuple of Contribution
        Their contributions are not below 0, and add up to the score.
    contributions : array of shape (d,)
        One for each column; they have a sign, and add up to the score.
    values, center : array of shape (d,)
        The row, and where it was seen from.
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

    def features(self, count: int = 10) -> tuple[Feature, ...]:
        """Return the columns with the largest contributions, for or against the row.

        Parameters
        ----------
        count : int
            Most columns.
        """
        size = np.abs(self.contributions)
        count = min(count, max(1, int(np.count_nonzero(size))), len(size))
        largest = np.argpartition(-size, count - 1)[:count] if count else np.empty(0, np.intp)
        missing, aside, found = set(self.missing.tolist()), set(self.set_aside.tolist()), []
        for f in largest[np.lexsort((largest, -size[largest]))].tolist():
            seen = (self.values[f], self.center[f], self.contributions[f])
            value, expected, part = map(float, seen)
            marks = (f in missing, f in aside)
            found.append(Feature(f, named(self.columns, f), value, expected, part, *marks))
        return tuple(found)

    def __str__(self) -> str:
        verdict = "removed" if self.removed else "kept"
        lines = [f"Row {self.row}: score {self.score:.4g}, {verdict} (the cut is at "
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
            others = self.contributions.sum() - sum(f.contribution for f in shown)
            lines.append(f"  {others:+10.4g}  {rest} other columns")
        return "\n".join(lines)


def named(columns: tuple[str, ...] | None, i: int) -> str:
    """Return the name of a column."""
    return f"x{i}" if columns is None else columns[i]


def shortened(name: str, most: int) -> str:
    """Shorten a name in its middle: beginnings and ends tell names apart."""
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[: most - 1 - end]}…{name[-end:]}"


def explain(
    rule: Multiplier | GroupRule,
    row: int,
    values: Array,
    columns: tuple[str, ...] | None = None,
    group: int | None = None,
) -> Explanation:
    """Explain the score that a rule gives a row, which may have left with the group of an index."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # rows too far away score infinity
        if isinstance(rule, GroupRule):
            why = _by_group(rule, row, values, columns, group)
        else:
            why = _by_multiplier(rule, row, values, columns)
    return replace(why, removed=why.score > why.threshold)


def of_cells(why: Explanation, table: Table) -> Explanation:
    """Mark the cells of an explained row that are missing or set aside."""
    gaps = table.gaps
    if gaps is None or table.missing is None:
        return why
    aside = np.sort(gaps.cells[gaps.cells[:, 0] == why.row, 1])
    missing = np.setdiff1d(np.flatnonzero(table.missing[why.row]), aside)
    values = table.observed_row(why.row)
    return replace(why, values=values, missing=missing, set_aside=aside)


def _by_multiplier(
    rule: Multiplier, row: int, values: Array, columns: tuple[str, ...] | None
) -> Explanation:
    from_start = squared_parts(values - rule.start, rule.metric)
    if from_start.sum() > rule.radius**2:
        parts = from_start / rule.radius**2
        score = float(parts.sum())
        away = (Contribution("farther from the start than rows were looked at", score),)
        return Explanation(row, score, 1.0, True, away, parts, values, rule.start, columns)
    offset = values - rule.center
    why: tuple[Contribution, ...]
    if rule.directions is None:
        parts = of_budget(squared_parts(offset, rule.metric), rule.budget)
        if not np.isfinite(rule.budget):  # of which no row takes a part
            parts = np.zeros_like(offset)
        why = (Contribution("distance from the mean", float(parts.sum())),)
    else:
        projected = rule.directions @ offset
        prices = rule.prices / rule.budget
        parts = offset * ((prices * projected) @ rule.directions)
        why = tuple(
            Contribution(f"direction {j + 1}", float(prices[j] * projected[j] ** 2))
            for j in np.argsort(-prices * projected**2, kind="stable")
        )
    score = float(parts.sum())
    return Explanation(row, score, rule.threshold, False, why, parts, values, rule.center, columns)


def _by_group(
    rule: GroupRule, row: int, values: Array, columns: tuple[str, ...] | None, left_with: int | None
) -> Explanation:
    """Explain by the group that the row left with, or else by the one that decides its score."""
    parts_of = [group.parts(values) for group in rule.groups]
    scores = [float(parts.sum()) for parts in parts_of]
    beyond = [i for i, score in enumerate(scores) if score > 1.0]
    i = beyond[0] if beyond else int(np.argmax(scores))
    i = i if left_with is None else left_with
    parts, group = parts_of[i], rule.groups[i]
    score = float(parts.sum())
    inside = left_with is not None or score > rule.threshold
    name = f"group {i + 1}: {group}" if inside else f"nearest to group {i + 1}"
    why = (Contribution(name, score),)
    return Explanation(row, score, rule.threshold, False, why, parts, values, group.center, columns)
