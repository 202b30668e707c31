"""Nothing is known: groups of rows leave while there is evidence, and what is left fixes sigma."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import count, double, mask_of, on_host, some, total
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Fences, Table, WorkingFrame
from inlier.data.checks import check_range, largest_distance
from inlier.linalg.centers import central_point
from inlier.linalg.eigenpairs import Oracle
from inlier.results.outcome import Finding, Kind, Outcome
from inlier.results.records import PathPoint, Step
from inlier.results.result import RobustMeanResult
from inlier.results.rules import Group, Suspect, rule_of
from inlier.search import (
    Candidate,
    SearchState,
    begun,
    below_the_edge,
    removed,
    select,
    settled,
    thresholds,
)
from inlier.search.extremes import extreme_rules
from inlier.search.mapping import Early, MappedAnswer, mapped_back
from inlier.search.sample import RowSample
from inlier.search.separated import Separated, separated_groups, separation_ratio
from inlier.search.symmetric import is_noise, tested_rows
from inlier.search.tests import Cut


def fit_without_sigma(
    whole: Table,
    start: Array,
    central: bool,
    random: np.random.Generator,
    metric: bool,
    assume: str,
    callback: Callable[[Step], object] | None,
) -> RobustMeanResult:
    """Fit without a bound and without a fraction of outliers.

    `start` is any robust center, and `central` says whether a better one may be found in the
    coordinates of the rows; `metric`, whether to look in the metric of the rows as well.
    """
    steps: list[Step] = []

    def notify(step: Step) -> None:
        steps.append(step)
        if callback is not None:
            callback(step)

    distances = whole.sq_distances(start)
    typical = check_range(whole, start, distances)
    sample = None if assume == "symmetric" else RowSample.of(whole)
    early = _early(whole, start, distances, typical, sample, assume)
    near = distances >= 0.0
    for group in early:
        near = near & ~group.members
    frame = WorkingFrame.of(whole, near, start, rotates=some(near & (distances > 0.0)))
    noise = float(np.finfo(whole.dtype).eps) * (float(np.linalg.norm(start)) + typical)
    search = _search(frame, distances, central, random, noise, metric, assume, sample, notify)
    answer = mapped_back(frame, search.found, search.suspects, search.below, early)

    n, chosen = whole.shape[0], answer.path[len(answer.groups)]
    support = ~mask_of(chosen.removed, n)
    if isinstance(support, np.ndarray):  # of rows whose span was searched on the host
        support = whole.to_device(support)
    weights = double(support)
    # Once more from the data: the search has carried the mean along as distant rows left.
    known = start if frame.rotation is not None else chosen.location
    location = whole.mean(weights, known)
    rule = rule_of(answer.groups, location, max(chosen.budget, answer.least_budget))
    return RobustMeanResult(
        location=whole.to_device(location.astype(whole.dtype)),
        support=support,
        weights=weights,
        indicator=1.0 - weights,
        scores=rule.scores(whole) if answer.scores is None else answer.scores,
        sigma=chosen.sigma,
        budget=chosen.budget,
        certificate=chosen.certificate,
        rule=rule,
        history=tuple(steps),
        n_iter=len(search.found.path),
        n_passes=whole.n_passes,
        converged=True,
        outcome=Outcome(searched=True, findings=tuple(_findings(search, answer, n, assume))),
        groups=answer.groups,
        suspects=answer.suspects,
        path=answer.path,
    )


class _Search(NamedTuple):
    """How the search for groups ended, in the coordinates of the frame."""

    found: SearchState
    suspects: list[Suspect]
    cautious: bool
    """Whether nothing was assumed of the good rows in the end."""
    several: bool
    """Whether the rows fall into several groups."""
    below: PathPoint | None
    """A point of the path below the budget of the kept rows."""


def _search(
    frame: WorkingFrame,
    distances: Rows,
    central: bool,
    random: np.random.Generator,
    noise: float,
    metric: bool,
    assume: str,
    sample: RowSample | None,
    notify: Callable[[Step], None],
) -> _Search:
    """Search for groups: by symmetry and, unless the rest is noise about one center, with caution.

    `distances` are the squared ones of all rows from the first center, `noise` is what rounding
    adds to the coordinates of a row, and `sample` is None where only symmetry is tested or none
    fits.
    """
    n = frame.whole.shape[0]
    enough = n >= thresholds.FEWEST_ROWS
    table, first = frame.table, frame.center
    distances = frame.of_near_rows(distances)
    if frame.rotation is not None and central:
        first, distances = central_point(table)
    oracle = Oracle(table, random)
    axes = None
    if sample is None and frame.rotation is not None and enough:
        # So many columns that only the coordinates of the rows' span can be examined. The frame's
        # center may be a row, which has a direction of its own there: take the principal ones.
        r = table.shape[1]
        coordinates = on_host(table.project(np.zeros(r), np.eye(r))).T
        coordinates = coordinates - coordinates.mean(axis=0)
        axes = np.linalg.svd(coordinates, full_matrices=False)[2]
        sample = RowSample(np.flatnonzero(on_host(frame.near)), coordinates @ axes.T)
    symmetric = assume == "symmetric" or (assume == "auto" and enough)
    found = select(oracle, first, distances, random, noise, metric, notify, symmetric)
    suspects: list[Suspect] = []
    several = False
    # Nothing else can be tested in a table that is too large to sample.
    untestable = sample is None and enough and assume == "auto"
    cautious = assume != "symmetric" and not untestable
    cautious = cautious and not _is_noise(found, frame, sample)
    if cautious:
        if found.groups:
            found = begun(oracle, found.mean, noise, notify)
        if sample is not None:
            judged = _Judged(frame, axes, oracle, sample)
            suspects, several = judged.remove_clear_groups(found, notify)
    found = settled(oracle, found, notify)
    return _Search(found, suspects, cautious, several, below_the_edge(oracle, found))


def _early(
    whole: Table,
    start: Array,
    distances: Rows,
    typical: float,
    sample: RowSample | None,
    assume: str,
) -> list[Early]:
    """Find the rows that are too far away to compute with, and the gross ones."""
    n = whole.shape[0]
    largest = largest_distance(whole.dtype)
    far = min(thresholds.HOPELESS * typical, largest) if typical > 0.0 else largest
    if assume == "symmetric" and typical > 0.0:
        absurd = min(thresholds.ABSURD * typical, largest)
        if count(distances > absurd**2) <= thresholds.ABSURD_SHARE * n:
            far = absurd
    early = []
    gone = distances < 0.0
    for rule in [] if sample is None else extreme_rules(whole, sample):
        members = ~gone & (whole.measured(rule.measure) > rule.cut)
        kind = "cells" if isinstance(rule.measure, Fences) else "length"
        if some(members):
            early.append(Early(kind, members, rule.cut, rule.log_p, rule.measure))
            gone = gone | members
    hopeless = ~gone & (distances > far**2)
    if some(hopeless):
        chance = float(min(0.0, np.log(n / (far / max(typical, far / 1e150)) ** 2)))
        early.append(Early("apart", hopeless, far, chance, None))
    return early


def _is_noise(found: SearchState, frame: WorkingFrame, sample: RowSample | None) -> bool:
    """Return whether the rows beside the groups that were found are noise about one center."""
    if not found.groups or sample is None:
        return False
    n, n_kept = frame.whole.shape[0], count(found.kept)
    most = tested_rows(sample.values.shape[1])

    def some_of(rows: Rows) -> Array:
        return sample.among(frame.of_all_rows(rows, False), most).refilled()

    m = found.kept.shape[0]
    groups = [(group.size, some_of(mask_of(group.rows, m))) for group in found.groups]
    return is_noise(some_of(found.kept), n, n_kept, groups, frame.whole.to_gpu)


@dataclass(frozen=True)
class _Judged:
    """A table whose rows are judged with nothing assumed of the good ones."""

    frame: WorkingFrame
    axes: Array | None
    """The directions of the sample's coordinates in those of the search; None if it is in those of
    the data."""
    oracle: Oracle
    sample: RowSample

    def remove_clear_groups(
        self, found: SearchState, notify: Callable[[Step], None]
    ) -> tuple[list[Suspect], bool]:
        """Remove the groups that are clear of the rest; return suspects, and whether several."""
        near = on_host(self.frame.near)
        rows, values, _ = self.sample.among(near, thresholds.SEPARATED_ROWS)
        numbers = np.cumsum(near) - 1  # of the rows in the table
        whole_in_proportion = round(len(near) * len(rows) / max(1, int(near.sum())))
        to_gpu = self.frame.whole.to_gpu
        judged = separated_groups(numbers[rows], values, whole_in_proportion, to_gpu)
        for group, among in judged.removed:
            candidate = self._found(found, group, among)
            if candidate is None or removed(self.oracle, found, candidate, notify) is None:
                return [], judged.several
        suspects = []
        aside = replace(found, groups=[], path=[], looks=[])
        kept, mean = found.kept, found.mean
        for group, among in judged.suspected:
            candidate = self._found(aside, group, among)
            if candidate is None:
                break
            record = removed(self.oracle, aside, candidate, lambda step: None)
            if record is None:
                break
            shift = self._shift(kept, mean, record)
            suspects.append(Suspect(record, shift, "the other rows are skewed"))
        return suspects, judged.several

    def _shift(self, kept: Rows, mean: Array, group: Group) -> float:
        """Return how far the mean moves without a group, in standard errors."""
        m = count(kept)
        offset = (mean - group.mean) * (group.size / (m - group.size))
        length = float(np.linalg.norm(offset))
        if length == 0.0:
            return 0.0
        along = self.oracle.table.project(mean, offset[None] / length)[0, :]
        deviation = float(np.sqrt(total(double(kept) * along**2) / m))
        return length * float(np.sqrt(m)) / max(deviation, TINY)

    def _found(self, found: SearchState, group: Separated, rows: Array) -> Candidate | None:
        """Extend a group of the sample to all rows, cut in the widest gap along its direction."""
        direction = group.direction[None]
        if self.axes is None:
            direction = self.frame.directions(direction)
        else:
            direction = direction @ self.axes
        length = float(np.linalg.norm(direction))
        if not 0.0 < length < np.inf:
            return None
        direction = direction[0] / length
        along = self.oracle.table.project(found.mean, direction[None])[0, :]
        t, kept = on_host(along), on_host(found.kept)
        inner, outer = t[rows[~group.members]], t[rows[group.members]]
        low, high = float(inner.max()), float(outer.min())
        if low >= high:
            return None
        between = np.sort(t[kept & (t >= low) & (t <= high)])
        widest = int(np.argmax(np.diff(between)))
        cut = float(between[widest] + between[widest + 1]) / 2.0
        members = kept & (t > cut)
        ratio = separation_ratio(t[kept], members[kept])
        if ratio <= 1.0 and len(rows) != kept.sum():
            return None
        middle = float(np.median(t[kept & ~members]))
        point = found.mean + middle * direction
        return Candidate(
            "clear", Cut(group.log_p, cut - middle, 1, 0.0), along - middle, point, direction,
            group.ratio,
        )  # fmt: skip


def _findings(search: _Search, answer: MappedAnswer, n: int, assume: str) -> list[Finding]:
    """Return what the numbers of rows do not say, and why the answer may not be trusted."""
    found, cautious, groups = search.found, search.cautious, answer.groups
    removed = sum(group.size for group in groups)
    minority = Finding(Kind.LARGE_MINORITY, removed, float(n))
    doubts = [minority] if removed >= thresholds.LARGE * n else []
    if n < thresholds.FEWEST_ROWS and assume != "symmetric":
        findings = [Finding(Kind.TOO_FEW_ROWS, thresholds.FEWEST_ROWS)]
    elif cautious and search.several:
        findings = [Finding(Kind.SEVERAL_GROUPS)]
    elif cautious:
        findings = [Finding(Kind.NOTHING_FOUND)] if not groups and not answer.suspects else []
    else:
        findings = _weak_signs(found, bool(groups))
    if not cautious:
        tails = sum(group.size for group in groups if group.kind == "tail")
        if found.refused is not None:
            kind = Kind.REFUSED_FURTHER if groups else Kind.REFUSED
            doubts = [Finding(kind, group=found.refused)]
        elif len(found.looks) >= thresholds.MOST_GROUPS:
            doubts = [Finding(Kind.MANY_GROUPS, len(found.looks))]
        elif found.unclear:
            doubts = [Finding(Kind.UNCLEAR_GROUP, found.unclear)]
        elif found.coincide:
            doubts = [Finding(Kind.COINCIDING_ROWS)]
        elif not doubts and tails:
            doubts = [Finding(Kind.TAIL_REMOVED, tails)]
    return [*findings, *doubts]


def _weak_signs(found: SearchState, left: bool) -> list[Finding]:
    """Return what was seen and not removed, where good rows are symmetric."""
    log_p, unclear = found.doubtful.log_p, bool(found.unclear)
    if found.tail:
        return [Finding(Kind.TAIL_KEPT, found.tail)]
    if thresholds.LOG_LEVEL <= log_p < np.log(thresholds.DOUBTFUL_LEVEL):
        return [Finding(Kind.WEAK_SIGNS, value=float(np.exp(log_p)))]
    if log_p < thresholds.LOG_LEVEL and found.refused is None and not unclear:
        return [Finding(Kind.NO_CUT)]
    if not left and not unclear and not found.coincide and found.refused is None:
        return [Finding(Kind.NO_GROUP)]
    return []
