"""Nothing is known: groups of rows leave while there is evidence, and what is left fixes sigma."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import count, double, every, highest, namespace, on_host, some, total
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import Fences, Measure, Rotation, Table
from inlier.data.checks import check_range, largest_distance
from inlier.linalg.centers import central_point
from inlier.linalg.eigenpairs import Oracle
from inlier.results.certificate import Certificate, spectrum_of_kept
from inlier.results.result import (
    PathPoint,
    RobustMeanResult,
    Step,
)
from inlier.results.rules import Group, Multiplier, Suspect, rule_of
from inlier.unknown_sigma import (
    LARGE,
    LOG_LEVEL,
    MOST_GROUPS,
    Candidate,
    SearchState,
    begun,
    below_the_edge,
    clear,
    removed,
    select,
    settled,
)
from inlier.unknown_sigma.caution import (
    FEWEST_ROWS,
    RowSample,
    clear_groups,
    gross,
    is_noise,
    tested_rows,
)
from inlier.unknown_sigma.clear import Clear, clearness
from inlier.unknown_sigma.significance import Cut

# A few rows so many times farther out than half of them leave before anything else. By Chebyshev's
# inequality at most one row in a million lies a thousand standard deviations out.
ABSURD = 1e3
FEW = 0.05
# However many there are: their squares would cost the others their precision.
HOPELESS = 1e6
# A sign of a further group that is weaker than the level, but stronger than this, is mentioned.
DOUBTFUL = np.log(1e-2)


def fit_without_sigma(
    whole: Table,
    start: Array,
    central: bool,
    random: np.random.Generator,
    metric: bool,
    assume: str,
    callback: Callable[[Step], object] | None,
) -> tuple[RobustMeanResult, bool]:
    """The answer without a bound and without a fraction of outliers, and whether it is in doubt.

    Parameters
    ----------
    whole : Table
    start : array of shape (d,)
        Any robust centre.
    central : bool
        Whether a better one may be found in the coordinates of the rows.
    random : numpy.random.Generator
    metric : bool
        Whether to look in the metric of the rows as well.
    assume : {"auto", "symmetric", "nothing"}
        What is assumed of the good rows.
    callback : callable, optional
    """
    n = whole.shape[0]
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
    all_near = every(near)
    table = whole
    if not all_near:
        table, distances = whole.take(near), distances[near]
    apart = some(distances > 0.0)
    rotation = Rotation.of(table, start) if apart and Rotation.pays(table) else None
    working = table if rotation is None else rotation.rotated
    oracle = Oracle(working, random)
    first = start if rotation is None else np.zeros(working.shape[1])
    if rotation is not None and central:
        first, distances = central_point(working)
    noise = float(np.finfo(whole.dtype).eps) * (float(np.linalg.norm(start)) + typical)
    turned = sample is None and rotation is not None and n >= FEWEST_ROWS
    if turned:  # so many columns that only the rows' own coordinates can be looked at
        sample = RowSample(np.flatnonzero(on_host(near)), _coordinates(working))
    symmetric = assume == "symmetric" or (assume == "auto" and n >= FEWEST_ROWS)
    found = select(oracle, first, distances, random, noise, metric, notify, symmetric)
    suspects: list[Suspect] = []
    # Of a table too large to sample nothing else is known.
    unknown = sample is None and n >= FEWEST_ROWS and assume == "auto"
    cautious = assume != "symmetric" and not unknown and not _is_noise(found, near, sample)
    several = False
    if cautious:
        if found.groups:
            found = begun(oracle, found.mean, noise, notify)
        if sample is not None:
            judged = _Judged(table, near, None if turned else rotation, oracle, sample)
            suspects, several = judged.remove_clear_groups(found, notify)
    found = settled(oracle, found, notify)
    below = below_the_edge(oracle, found)
    path = found.path if below is None else [*found.path, below]
    groups = found.groups
    # A row that differs by rounding alone breaks no budget.
    least = n * found.least_variance
    scores: Rows = None
    if rotation is not None:
        if all_near:  # the same there, without another look at all columns
            chosen = path[len(groups)]
            there = rule_of(tuple(groups), chosen.location, max(chosen.budget, least))
            scores = there.scores(working)
        groups, path = _restored_groups(groups, rotation), _restored_path(path, rotation)
        restored = _restored_groups([suspect.group for suspect in suspects], rotation)
        suspects = [replace(s, group=g) for s, g in zip(suspects, restored, strict=True)]
    if not all_near:
        groups, path, suspects = _with_early(whole, near, start, early, groups, path, suspects)
    chosen = path[len(groups)]
    support = whole.to_device(_mask(n, on_host(chosen.removed)))
    weights = double(support)
    # Once more from the data: what was carried along has seen distant rows come and go.
    location = whole.mean(weights, start if rotation is not None else chosen.location)
    rule = rule_of(tuple(groups), location, max(chosen.budget, least))
    outcome = Outcome(
        assume=assume, cautious=cautious, several=several, too_few=n < FEWEST_ROWS, found=found
    )
    remark, reason = _remark(outcome, groups, suspects), _distrust(outcome, groups, n)
    message = _said(
        _counts(groups, chosen.certificate),
        remark,
        chosen.certificate.statement(),
        reason,
    )
    result = RobustMeanResult(
        location=whole.to_device(location.astype(whole.dtype)),
        support=support,
        weights=weights,
        indicator=1.0 - weights,
        scores=rule.scores(whole) if scores is None else scores,
        sigma=chosen.sigma,
        budget=chosen.budget,
        certificate=chosen.certificate,
        rule=rule,
        history=tuple(steps),
        n_iter=len(found.path),
        n_passes=whole.n_passes + (table.n_passes if table is not whole else 0),
        converged=True,
        message=message,
        remarks=_said(remark, reason),
        groups=tuple(groups),
        suspects=tuple(suspects),
        path=tuple(path),
    )
    return result, bool(reason)


class Outcome(NamedTuple):
    """How a fit went, for the words about it."""

    assume: str
    cautious: bool
    """Whether nothing was assumed of the good rows in the end."""
    several: bool
    """Whether the rows fall into several groups."""
    too_few: bool
    """Whether there are too few rows to tell anything."""
    found: SearchState


class _Early(NamedTuple):
    """Rows that leave before the search."""

    kind: str
    members: Rows
    cut: float
    log_p: float
    measure: Measure | None


def _early(
    whole: Table,
    start: Array,
    distances: Rows,
    typical: float,
    sample: RowSample | None,
    assume: str,
) -> list[_Early]:
    """Rows too far away to compute with, and gross ones where nothing is assumed."""
    n = whole.shape[0]
    largest = largest_distance(whole.dtype)
    far = min(HOPELESS * typical, largest) if typical > 0.0 else largest
    if assume == "symmetric" and typical > 0.0:
        absurd = min(ABSURD * typical, largest)
        if count(distances > absurd**2) <= FEW * n:
            far = absurd
    early = []
    gone = distances < 0.0
    for rule in [] if sample is None else gross(whole, sample):
        members = ~gone & (whole.measured(rule.measure) > rule.cut)
        kind = "cells" if isinstance(rule.measure, Fences) else "length"
        if some(members):
            early.append(_Early(kind, members, rule.cut, rule.log_p, rule.measure))
            gone = gone | members
    hopeless = ~gone & (distances > far**2)
    if some(hopeless):
        chance = float(min(0.0, np.log(n / (far / max(typical, far / 1e150)) ** 2)))
        early.append(_Early("apart", hopeless, far, chance, None))
    return early


def _is_noise(found: SearchState, near: Rows, sample: RowSample | None) -> bool:
    """Whether the groups that were found lie beside noise about one centre."""
    if not found.groups or sample is None:
        return False
    kept = on_host(near).copy()
    kept[kept] = on_host(found.kept)
    most = tested_rows(sample.values.shape[1])
    near_rows = np.flatnonzero(on_host(near))
    groups = []
    for group in found.groups:
        members = ~_mask(len(kept), near_rows[on_host(group.rows)])
        groups.append((group.size, sample.on_their_own(members, most)))
    return is_noise(sample.on_their_own(kept, most), len(kept), int(kept.sum()), groups)


@dataclass(frozen=True)
class _Judged:
    """A table whose rows are judged with nothing assumed of the good ones."""

    table: Table
    """Without the rows that have left already."""
    near: Rows
    rotation: Rotation | None
    """From the coordinates of the sample to those of the search, if they differ."""
    oracle: Oracle
    sample: RowSample

    def remove_clear_groups(
        self, found: SearchState, notify: Callable[[Step], None]
    ) -> tuple[list[Suspect], bool]:
        """Take out the groups that are clear of the rest; the suspects, and whether several."""
        near = on_host(self.near)
        rows, values = self.sample.among(near, clear.SETTINGS.sample)
        numbers = np.cumsum(near) - 1  # of the rows in the table
        whole_in_proportion = round(len(near) * len(rows) / max(1, int(near.sum())))
        judged = clear_groups(numbers[rows], values, whole_in_proportion)
        for group, among in judged.leaving:
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
        """How far the mean moves without a group, in standard errors in that direction."""
        m = count(kept)
        offset = (mean - group.mean) * (group.size / (m - group.size))
        length = float(np.linalg.norm(offset))
        if length == 0.0:
            return 0.0
        along = self.oracle.table.project(mean, offset[None] / length)[0, :]
        deviation = float(np.sqrt(total(double(kept) * along**2) / m))
        return length * float(np.sqrt(m)) / max(deviation, float(np.finfo(np.float64).tiny))

    def _found(self, found: SearchState, group: Clear, rows: Array) -> Candidate | None:
        """A group of the sample as one of all rows, cut off in the widest gap along its way."""
        direction = group.direction[None]
        if self.rotation is not None:
            projected = on_host(self.table.project(self.rotation.center, direction))
            direction = projected @ self.rotation.mixing.T
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
        ratio = clearness(t[kept], members[kept])
        if ratio <= 1.0 and len(rows) != kept.sum():
            return None
        middle = float(np.median(t[kept & ~members]))
        point = found.mean + middle * direction
        return Candidate(
            "clear", Cut(group.log_p, cut - middle, 1, 0.0), along - middle, point, direction,
            group.ratio,
        )  # fmt: skip


def _coordinates(table: Table) -> Array:
    """All rows of a small table, on the host."""
    r = table.shape[1]
    return np.ascontiguousarray(on_host(table.project(np.zeros(r), np.eye(r))).T)


def _mask(n: int, removed: Array) -> Mask:
    """Of all rows but those."""
    kept = np.ones(n, dtype=np.bool_)
    kept[removed] = False
    return kept


def _restored_groups(groups: list[Group], rotation: Rotation) -> list[Group]:
    """From the coordinates of the rows' span to those of the data."""
    if not groups:
        return []
    n, k = rotation.rotated.shape[0], len(groups)
    means = np.zeros((k, n))  # as combinations of the rows: nothing is rounded on the way
    for own, group in zip(means, groups, strict=True):
        own[on_host(group.rows)] = 1.0 / group.size
    centers = np.stack([group.center for group in groups]) @ rotation.mixing
    there = rotation.spanned(np.concatenate([means, centers]))
    ways = rotation.directions(np.stack([group.direction for group in groups]))
    return [
        replace(group, mean=there[i], center=there[k + i], direction=ways[i])
        for i, group in enumerate(groups)
    ]


def _restored_path(path: list[PathPoint], rotation: Rotation) -> list[PathPoint]:
    """The points of a path in the coordinates of the data; their directions in one pass."""
    n = rotation.rotated.shape[0]
    kept = np.stack([_mask(n, on_host(point.removed)) for point in path]).astype(np.float64)
    locations = rotation.spanned(kept / kept.sum(axis=1, keepdims=True))
    multipliers = [point.certificate.multiplier for point in path]
    stacked = [m.deciding for m in multipliers]
    ways = rotation.directions(np.concatenate(stacked))
    restored, first = [], 0
    for i, (point, multiplier, own) in enumerate(zip(path, multipliers, stacked, strict=True)):
        part = slice(first, first := first + len(own))
        multiplier = replace(
            multiplier,
            center=locations[i],
            start=locations[i],
            directions=None if multiplier.directions is None else ways[part],
        )
        certificate = replace(point.certificate, multiplier=multiplier)
        restored.append(replace(point, location=locations[i], certificate=certificate))
    return restored


def _with_early(
    whole: Table,
    near: Rows,
    start: Array,
    early: list[_Early],
    groups: list[Group],
    path: list[PathPoint],
    suspects: list[Suspect],
) -> tuple[list[Group], list[PathPoint], list[Suspect]]:
    """The rows that left early as first groups, and all row numbers those of the whole table."""
    xp, n = namespace(near), near.shape[0]
    rows = xp.nonzero(near)[0]
    gone = xp.nonzero(~near)[0]
    first_groups: list[Group] = []
    points: list[PathPoint] = []
    kept = xp.ones_like(near)
    for group in early:
        points.append(_point_before(whole, kept, start, 0.0 if points else 1.0))
        first_groups.append(_early_group(whole, start, group, points[-1].certificate.bound))
        kept = kept & ~group.members
    path = [replace(path[0], share=0.0), *path[1:]]
    for point in path:
        all_gone = xp.sort(xp.concat([gone, xp.take(rows, point.removed)]))
        budget = point.budget * n / (n - gone.shape[0])
        certificate = replace(
            point.certificate,
            budget=budget,
            n=n,
            n_removed=point.certificate.n_removed + gone.shape[0],
            most_kept=point.certificate.multiplier.most_kept(whole, point.location, budget),
            removed=all_gone,
        )
        points.append(replace(point, removed=all_gone, budget=budget, certificate=certificate))

    def renumbered(group: Group) -> Group:
        return replace(group, rows=xp.take(rows, group.rows))

    groups = first_groups + [renumbered(group) for group in groups]
    return groups, points, [replace(s, group=renumbered(s.group)) for s in suspects]


def _early_group(whole: Table, start: Array, early: _Early, bound: float) -> Group:
    """Rows that left early, with a direction that points to them."""
    weights = double(early.members) / count(early.members)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = np.nan_to_num(whole.combine(start, weights[None, :])[0].astype(np.float64))
        size = float(np.abs(offset).max())
        direction = offset / size if size > 0.0 else np.zeros_like(offset)
        mean = start + offset
    direction /= max(float(np.linalg.norm(direction)), float(np.finfo(np.float64).tiny))
    return Group(
        kind=early.kind,
        rows=namespace(early.members).nonzero(early.members)[0],
        mean=mean,
        direction=direction,
        center=start if early.measure is None else early.measure.center,
        cut=early.cut,
        side=0,
        log_p=early.log_p,
        share=0.0,
        budget=bound,
        measure=early.measure,
    )


def _point_before(whole: Table, kept: Rows, start: Array, share: float) -> PathPoint:
    """A point of the path at which some rows are still there that leave early."""
    n, m = kept.shape[0], count(kept)
    with np.errstate(over="ignore", invalid="ignore"):
        combined = whole.combine(start, (double(kept) / m)[None, :])[0]
        mean = start + np.nan_to_num(combined.astype(np.float64))
        far = highest(namespace(kept).where(kept, whole.sq_distances(mean), 0.0))
    low, high, failure = np.inf, np.inf, 0.0
    if far <= largest_distance(whole.dtype) ** 2:  # else their squares are no numbers
        spectrum = spectrum_of_kept(whole, double(kept), mean, None)
        low, high, failure = max(0.0, float(spectrum.values[0])), spectrum.bound, spectrum.failure
    removed = namespace(kept).nonzero(~kept)[0]
    budget = max(high * n / m, float(np.finfo(np.float64).tiny))
    certificate = Certificate(
        budget=budget,
        lambda_max=low,
        bound=high,
        failure=failure,
        n=n,
        n_removed=n - m,
        most_kept=float(n),
        removed=removed,
        multiplier=Multiplier(mean, None, np.empty(0), 1.0, 1.0, mean),
    )
    return PathPoint(
        budget=budget,
        sigma=certificate.sigma_kept,
        price=0.0,
        rank=0.0,
        share=share,
        removed=removed,
        location=mean,
        certificate=certificate,
    )


def _said(*sentences: str) -> str:
    """Those that say something, one after the other."""
    return " ".join(sentence for sentence in sentences if sentence)


def _counts(groups: list[Group], certificate: Certificate) -> str:
    """What was kept, and what was removed.

    Suspects are left out: nothing shows that they are mostly bad (docs/no-knobs.md).
    """
    n, removed = certificate.n, certificate.n_removed
    said = f"Kept all {n} rows."
    if groups:
        listed = "; ".join(str(group) for group in groups)
        said = f"Kept {n - removed} of {n} rows. Removed: {listed}."
        if certificate.l0_lower_bound:
            said += f" At this sigma at least {certificate.l0_lower_bound} had to go."
    return said


def _remark(outcome: Outcome, groups: list[Group], suspects: list[Suspect]) -> str:
    """What the numbers of rows do not say."""
    found = outcome.found
    if outcome.too_few and outcome.assume != "symmetric":
        return f"So few rows do not tell which of them are bad: it takes {FEWEST_ROWS}."
    if outcome.cautious and outcome.several:
        return (
            "The rows fall into several groups, of which none is more suspect than another; they "
            "were kept."
        )
    if outcome.cautious:
        nothing = not groups and not suspects
        return "No row is gross, and no group is clear of the others." if nothing else ""
    if found.tail:
        return (
            f"There is a surplus on one side, {found.tail} rows, that looks like the tail of "
            "skewed data; it was kept."
        )
    if LOG_LEVEL <= found.doubtful.log_p < DOUBTFUL:
        chance = np.exp(found.doubtful.log_p)
        return f"There are weak signs (chance {chance:.1g}) of one more group; it was kept."
    if found.doubtful.log_p < LOG_LEVEL and found.refused is None and not found.unclear:
        return "There are signs of one more group, but no cut that tells it from the others."
    if not groups and not found.unclear and not found.coincide and found.refused is None:
        return "No group of them shows more than chance would."
    return ""


def _distrust(outcome: Outcome, groups: list[Group], n: int) -> str:
    """Why the answer should not be taken on trust, if there is a reason."""
    found, removed = outcome.found, sum(group.size for group in groups)
    if outcome.cautious:
        return _numbers_alone(removed, n)
    if found.refused is not None and not groups:
        return (
            f"The evidence is contradictory: there are {found.refused}, but hardly fewer than the "
            "others, so nothing says which of them are good. All were kept. Pass sigma if you know "
            "how much good rows vary."
        )
    if found.refused is not None:
        return (
            f"The evidence is contradictory: a further group, {found.refused}, shows as well, but "
            "without it hardly more than half of the rows would be left. The rows fall into "
            "several groups; look at result.groups, and put one back with result.keep if it is "
            "good."
        )
    if len(found.looks) >= MOST_GROUPS:
        return (
            f"The search ended after {len(found.looks)} groups, and there may be more. The rows do "
            "not have one majority."
        )
    if found.unclear:
        return (
            f"A further group of {found.unclear} rows shows, but it is large and not clear of the "
            "others, so nothing says which of them are good. It was kept. Pass sigma if you know "
            "how much good rows vary."
        )
    if found.coincide:
        return (
            "So many rows coincide that there is no scale to judge the others by. Pass sigma if "
            "you know how much good rows vary."
        )
    if removed >= LARGE * n:
        return _numbers_alone(removed, n)
    tails = sum(group.size for group in groups if group.kind == "tail")
    if tails:
        return (
            f"{tails} of the removed rows lie at the end of a long tail, in one direction. They "
            "may be bad; skewed data look like that too. Compare with result.keep."
        )
    return ""


def _numbers_alone(removed: int, n: int) -> str:
    if removed < LARGE * n:
        return ""
    return (
        f"{removed} of {n} rows were removed. They are called bad only because they are the "
        "minority: look at result.groups; result.keep puts one back."
    )
