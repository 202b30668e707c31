"""Groups that are well separated from the rest.

The separation ratio r of a group is the distance of its nearest row over the distance of the
farthest of the others on either side, both from the median of the others, along the difference of
the means. A chain is a group together with fewer rows that lead to it, which fill the gap.

Nothing is assumed of the good rows: they may be skewed, heavy-tailed, rounded, in different units
and in classes. Works on a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import (
    count,
    double,
    on_host,
    total,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.search import thresholds
from inlier.search.noise import bimodality_ratio, is_class, skewness_ratio
from inlier.search.splits import coordinate_systems, extent, parts_apart, project_on_axes
from inlier.search.state import Candidate, SearchState, Task, remove
from inlier.search.tests import Cut
from inlier.verdict import Group, Suspect


class Separated(NamedTuple):
    """A group that is well separated from the rest."""

    members: Mask
    direction: Array
    """In the coordinates of the data."""
    ratio: float
    log_p: float
    chained: bool
    """Whether fewer of its rows lead to the others."""
    rows: Array | None = None
    """The indices of the rows in which it was found."""


def separated(task: Task, first: SearchState) -> SearchState:
    """Remove the groups that are well separated, with nothing assumed of the good rows."""
    found, frame = first.copy(), task.frame
    if task.sample is None:
        return found
    near = on_host(frame.near)
    rows, values, _ = task.sample.among(near, thresholds.SEPARATED_ROWS)
    numbers = rows if frame.complete else (np.cumsum(near) - 1)[rows]  # of the rows in the frame
    whole_in_proportion = round(len(near) * len(rows) / max(1, int(near.sum())))
    removed, suspected, found.several = separated_groups(
        numbers, values, whole_in_proportion, frame.whole.to_gpu
    )
    for group in removed:
        candidate = _extended(task, found, group)
        if candidate is None or remove(task, found, candidate) is None:
            return found
    aside = replace(found, groups=[], candidates=[])
    silent = task._replace(notify=lambda step: None)
    for group in suspected:
        candidate = _extended(task, aside, group)
        record = None if candidate is None else remove(silent, aside, candidate)
        if record is None:
            break
        shift = _shift(task, found, record)
        found.suspects.append(Suspect(record, shift, "the other rows are skewed"))
    return found


def _extended(task: Task, found: SearchState, group: Separated) -> Candidate | None:
    """Extend a group of the sample to all rows, cut in the widest gap along its direction."""
    rows = group.rows
    assert rows is not None
    direction = group.direction[None]
    direction = task.frame.directions(direction) if task.axes is None else direction @ task.axes
    length = float(np.linalg.norm(direction))
    if not 0.0 < length < np.inf:
        return None
    direction = direction[0] / length
    along = task.oracle.table.project(found.mean, direction[None])[0, :]
    t, kept = on_host(along), on_host(found.kept)
    low, high = float(t[rows[~group.members]].max()), float(t[rows[group.members]].min())
    if low >= high and not group.chained:
        return None
    low, high = min(low, high), max(low, high)
    between = np.sort(t[kept & (t >= low) & (t <= high)])
    widest = int(np.argmax(np.diff(between)))
    cut = float(between[widest] + between[widest + 1]) / 2.0
    members = kept & (t > cut)
    if extent(t[kept], members[kept])[0] <= 1.0 and len(rows) != kept.sum():
        return None
    middle = float(np.median(t[kept & ~members]))
    beyond = Cut(group.log_p, cut - middle, 1, 0.0)
    kind = "chain" if group.chained else "clear"
    return found.candidate(kind, direction, along, middle, beyond, group.ratio)


def _shift(task: Task, found: SearchState, group: Group) -> float:
    """Return how far the mean moves without a group, in standard errors."""
    kept, mean = found.kept, found.mean
    m = count(kept)
    offset = (mean - group.mean) * (group.size / (m - group.size))
    length = float(np.linalg.norm(offset))
    if length == 0.0:
        return 0.0
    along = task.oracle.table.project(mean, offset[None] / length)[0, :]
    deviation = float(np.sqrt(total(double(kept) * along**2) / m))
    return length * float(np.sqrt(m)) / max(deviation, TINY)


# -- groups of a sample ---------------------------------------------------------------------------


def separated_groups(
    rows: Array, values: Array, n: int, to_gpu: Callable[[Array], Rows] = np.asarray
) -> tuple[list[Separated], list[Separated], bool]:
    """Find the groups to remove, suspected groups, and whether there are several modes.

    All groups are removed only if the rest is symmetric and has one mode; otherwise only a few
    obvious rows. The others are suspected, unless the rows fall into several groups, of which none
    is more suspect than another. `rows` are the indices of some rows and `values` their cells; n is
    the number of rows before extreme ones were removed, in proportion to these.
    """
    found: list[Separated] = []
    several = False
    with np.errstate(all="ignore"):
        for _ in range(thresholds.ROUNDS):
            varies = np.ptp(values, axis=0) > 0.0
            if len(values) < thresholds.FEWEST_ROWS or not varies.any():
                break
            varying = values if varies.all() else values[:, varies]
            group, several = best_separated(to_gpu(varying), n)
            if group is None:
                break
            members = group.members
            share = members.sum() / n
            similar = share > thresholds.CLASS_SHARE and is_class(values[members], values[~members])
            if similar or share >= thresholds.LARGE or is_level(values[:, varies], members):
                several = True
                break
            direction = np.zeros(len(varies))
            direction[varies] = group.direction
            found.append(group._replace(direction=direction, rows=rows))
            rows, values = rows[~members], values[~members]
        if not found:
            return [], [], several
        n_found = sum(int(group.members.sum()) for group in found)
        varies = np.ptp(values, axis=0) > 0.0
        if not varies.any():  # equal rows have no unit to judge others by
            return [], [], several
        projected = project_on_axes(to_gpu(values[:, varies]))
        if n_found > thresholds.FEW_SHARE * n:
            several |= bimodality_ratio(projected, thresholds.STRICT_LEVEL) > 1.0
        if not several and skewness_ratio(projected, strict=False) <= 1.0:
            return found, [], several

    def surely(ratio: float) -> Callable[[Separated], bool]:
        return lambda group: group.ratio >= ratio and group.log_p <= thresholds.LARGE_LOG_P

    # Each group is separated only from what remains without the ones before.
    obvious = list(takewhile(surely(thresholds.OBVIOUS_RATIO), found))
    others = takewhile(surely(thresholds.LARGE_RATIO), found[len(obvious) :])
    return obvious, [] if several else list(others), several


def is_level(values: Array, members: Mask) -> bool:
    """Return whether one column alone sets a group apart, in which its values are repeated.

    If the group is a class in all other columns, it is a level of this one, such as a region or
    "none": whether these values are extreme, the law of the column tells.
    """
    group, rest = values[members], values[~members]
    apart = ((group.mean(axis=0) - rest.mean(axis=0)) / values.std(axis=0)) ** 2
    column = int(apart.argmax())
    alone = apart[column] >= thresholds.ONE_COLUMN * apart.sum()
    if not alone or 3 * len(np.unique(group[:, column])) > len(group):
        return False
    return is_class(np.delete(group, column, axis=1), np.delete(rest, column, axis=1))


def best_separated(X: Rows, n: int) -> tuple[Separated | None, bool]:
    """Find the best separated group, and whether there is one that is too large to be removed.

    If there is neither, or the gap is small, the best chain. n is the number of rows before any
    group was removed, in proportion to those of X.
    """
    m, d = X.shape
    groups: list[tuple[float, Separated]] = []
    chains: list[tuple[float, Separated]] = []
    blocked = False
    if d < 2:  # the cells of one column are judged by its law
        return None, False
    for space, n_tested in coordinate_systems(X):
        for members, ratio, spread, way, between in parts_apart(space, n_tested):
            k = int(members.sum())
            few = k <= thresholds.FEW_SHARE * n
            if ratio < (thresholds.FEW_RATIO if few else thresholds.LARGE_RATIO):
                continue
            # Any of the members may be the ones between.
            chosen = k * np.log(2.0) if between else 0.0
            beyond = (k - between) * np.log(ratio)
            log_p = n_tested + chosen - thresholds.TAIL_INDEX * beyond
            obvious = ratio >= thresholds.OBVIOUS_RATIO
            # A group that spreads wider than the gap before it is the tail of skewed rows.
            lenient = not between and (obvious or (few and spread <= ratio))
            if log_p > (thresholds.FEW_LOG_P if lenient else thresholds.LARGE_LOG_P):
                continue
            one = Separated(members, space.of_data(way[None])[0], ratio, log_p, between > 0)
            natural = k > thresholds.FEW_SHARE * n and d < thresholds.MINORITY_COLUMNS
            if between:
                if obvious and k < thresholds.LARGE * n:
                    chains.append((beyond, one))
            elif m - k < thresholds.KEPT_SHARE * n or (natural and not obvious):
                blocked = True
            else:
                groups.append((beyond * np.log(ratio), one))
    group, chain = (
        max(found, key=itemgetter(0))[1] if found else None for found in (groups, chains)
    )
    if chain is None or blocked:
        return group, blocked
    # A group with a gap is judged by it, unless the gap is small beside the chain.
    small = group is None or chain.ratio >= thresholds.OBVIOUS_RATIO * group.ratio
    return chain if small else group, blocked
