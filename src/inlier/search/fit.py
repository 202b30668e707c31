"""With nothing given: search for groups of bad rows; what is left fixes sigma."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from inlier._internal.arrays import any_true, count, double, mask_of, namespace, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Fences, Frame, Measure, Metric, Place, Table, as_table
from inlier.data.checks import check_range, largest_distance
from inlier.l0.problem import budget_tolerance
from inlier.l0.surrogates import dual_in
from inlier.linalg.centers import central_point
from inlier.linalg.eigenpairs import DENSE, EXCESS, Oracle, spectrum_before_rotation
from inlier.search import thresholds
from inlier.search.extremes import extreme_rules
from inlier.search.noise import is_noise
from inlier.search.sample import RowSample
from inlier.search.separated import separated
from inlier.search.state import SearchState, Task, spectrum_of, start_search
from inlier.search.symmetric import symmetric
from inlier.verdict import Finding, Group, Kind, Multiplier, Outcome, Step, Verdict


def fit_without_sigma(
    whole: Table,
    metric: Metric | None,
    start: Array,
    central: bool,
    random: np.random.Generator,
    in_metric: bool,
    assume: str,
    callback: Callable[[Step], object] | None,
) -> tuple[Frame, Verdict]:
    """Fit without a bound and without a fraction of outliers; return frame and verdict.

    `start` is any robust center, and `central` tells whether a better one may be found in the
    coordinates of the rows; `in_metric`, whether to search in the metric of the rows as well.
    """
    steps: list[Step] = []

    def notify(step: Step) -> None:
        steps.append(step)
        if callback is not None:
            callback(step)

    distances = whole.sq_distances(start)
    typical = check_range(whole, start, distances)
    sample = None if assume == "symmetric" else RowSample.of(whole)
    early, near = _early(whole, metric, start, distances, typical, sample, assume)
    rotates = any_true(near & (distances > 0.0))
    frame = Frame.of(whole, near, start, rotates, metric)
    oracle = Oracle(frame.table, random)
    first, distances = frame.center, frame.of_near_rows(distances)
    if frame.rotation is not None and central:
        first, distances = central_point(frame.table)
    sample, axes = _sample_of_span(frame, sample)
    # Without a sample nothing else can be tested.
    tails = assume == "symmetric" or sample is None
    task = Task(frame, oracle, random, sample, axes, in_metric, tails, notify)
    # Rows are rounded in the coordinates of the data, whose origin may be elsewhere in the metric.
    origin = 0.0 if metric is None else metric.transform(np.zeros_like(start)[None])[0]
    noise = float(np.finfo(whole.dtype).eps) * (float(np.linalg.norm(start - origin)) + typical)
    state = start_search(task, first, distances, noise)
    del distances, near  # as large as a column
    found, cautious = search(task, state, first, assume)
    # What is as large as some columns is needed no more.
    found.candidates.clear()
    spectrum = found.spectrum = replace(found.spectrum, along=lambda _: None)
    del state
    n, m = whole.shape[0], count(found.kept)
    if spectrum.bound > (1.0 + EXCESS) * float(spectrum.values[0]) and len(found.mean) > DENSE:
        spectrum = oracle.bound_top(found.mean, double(found.kept))
    tolerance = budget_tolerance(whole.dtype)
    again = spectrum_before_rotation(frame, double(found.kept), found.mean, spectrum, tolerance)
    spectrum = again or spectrum
    needed = max(spectrum.bound * found.kept.shape[0] / m, TINY)
    dual, most_kept = Multiplier.of_budget(found.mean, needed), float(found.kept.shape[0])
    if found.groups:
        directions = np.stack([group.direction for group in found.groups])
        dual, most_kept = dual_in(oracle, directions, found.mean, needed)
    findings = _findings(found, early, cautious, n, assume)
    return frame, Verdict(
        kept=found.kept,
        mean=found.mean,
        lambda_max=max(0.0, float(spectrum.values[0])),
        bound=spectrum.bound,
        failure=spectrum.failure,
        sigma=float(np.sqrt(spectrum.bound / m)),
        budget=max(spectrum.bound * n / m, TINY),
        dual=dual,
        most_kept=most_kept,
        outcome=Outcome(searched=True, findings=tuple(findings)),
        steps=tuple(steps),
        n_iter=len(found.groups) + 1,
        least_budget=n * found.least_variance,
        early=tuple(early),
        groups=tuple(found.groups),
        suspects=tuple(found.suspects),
        rounded=again is not None,
    )


def search(task: Task, first: SearchState, start: Array, assume: str) -> tuple[SearchState, bool]:
    """Search for groups: by symmetry or, unless the rest is noise about one center, by separation.

    `start` is the center from which the first state was found. Return also whether nothing was
    assumed of the good rows in the end.
    """
    enough = task.frame.whole.shape[0] >= thresholds.FEWEST_ROWS
    if assume == "symmetric":
        return symmetric(task, first), False
    if assume == "auto" and enough and not _rehearsal_fails(task, start, first.noise):
        found = symmetric(task, first)
        usable = bool(found.groups) and not found.skewed
        if task.sample is None or (usable and _is_noise(task, found)):
            return found, False
        if found.groups and len(first.mean) > DENSE:
            # Bring the eigensolver, which starts where it ended last, back to all rows.
            first = replace(first, spectrum=spectrum_of(task.oracle, first.mean, first.kept))
    return separated(task, first), True


def _rehearsal_fails(task: Task, start: Array, noise: float) -> bool:
    """Return whether the search by symmetry is in vain, as one on a sample in memory shows.

    It is if it finds a tail; if it removes groups and what it leaves is no noise; or if it finds
    nothing in all rows: a sample may not show a small group.
    """
    frame, sample = task.frame, task.sample
    if sample is None or task.axes is not None or frame.rotation is not None:
        return False
    some = sample.among(frame.near, _n_tested(sample))
    if len(some.rows) < thresholds.FEWEST_ROWS:
        return False
    table, random = as_table(some.values), fit_generator(0)
    distances = table.sq_distances(start)
    alone = some._replace(rows=np.arange(len(some.rows)))
    inside = Frame.of(table, distances >= 0.0, start, rotates=False)
    rehearsed = Task(inside, Oracle(table, random), random, alone, None, task.metric, task.tails)
    found = symmetric(rehearsed, start_search(rehearsed, start, distances, noise))
    if found.skewed:
        return True
    if not found.groups:
        return len(some.rows) == frame.whole.shape[0]
    # By the rows alone: how large a group is, all rows tell better.
    left = alone.among(found.kept, len(some.rows)).refilled()
    return not is_noise(left, len(left), len(left), (), frame.whole.to_gpu)


def _n_tested(sample: RowSample) -> int:
    """Return how many rows of a sample tell whether they are noise."""
    most, fewest = thresholds.AT_ONCE, thresholds.SEPARATED_ROWS
    return int(np.clip(most // sample.values.shape[1], fewest, thresholds.MOST_NOISE_ROWS))


def _is_noise(task: Task, found: SearchState) -> bool:
    """Return whether the rows beside the groups that were found are noise about one center."""
    frame, sample = task.frame, task.sample
    assert sample is not None
    n_tested = _n_tested(sample)

    def some_of(rows: Rows) -> Array:
        return sample.among(frame.of_all_rows(rows, False), n_tested).refilled()

    m = found.kept.shape[0]
    groups = [(group.size, some_of(mask_of(group.rows, m))) for group in found.groups]
    n, n_kept = frame.whole.shape[0], count(found.kept)
    return is_noise(some_of(found.kept), n, n_kept, groups, frame.whole.to_gpu)


def _sample_of_span(
    frame: Frame, sample: RowSample | None
) -> tuple[RowSample | None, Array | None]:
    """Return the sample or, in a table too large for one, the rows in the axes of their span.

    The center of the frame may be a row, which has a direction of its own there: the axes are the
    principal ones.
    """
    rotation = frame.rotation
    if sample is not None or rotation is None or frame.whole.shape[0] < thresholds.FEWEST_ROWS:
        return sample, None
    r = frame.table.shape[1]
    coordinates = on_host(frame.table.project(np.zeros(r), np.eye(r))).T
    coordinates = coordinates - coordinates.mean(axis=0)
    axes = np.linalg.svd(coordinates, full_matrices=False)[2]
    return RowSample(np.flatnonzero(on_host(frame.near)), coordinates @ axes.T), axes


def _early(
    whole: Table,
    metric: Metric | None,
    start: Array,
    distances: Rows,
    typical: float,
    sample: RowSample | None,
    assume: str,
) -> tuple[list[Group], Rows]:
    """Find the extreme rows, and those too far away to compute with; return the others too."""
    n = whole.shape[0]
    largest = largest_distance(whole.dtype)
    far = min(thresholds.FAR * typical, largest) if typical > 0.0 else largest
    if assume == "symmetric" and typical > 0.0:
        absurd = min(thresholds.ABSURD * typical, largest)
        if count(distances > absurd**2) <= thresholds.ABSURD_SHARE * n:
            far = absurd
    groups: list[Group] = []
    near = distances >= 0.0

    def found(kind: str, members: Rows, cut: float, log_p: float, measure: Measure | None) -> None:
        nonlocal near
        if not any_true(members):
            return
        near = near & ~members
        center = start if measure is None else measure.center
        mean, direction = _towards(whole, start, members)
        place = Place(np.stack([mean, center]), direction[None], metric)
        rows = namespace(members).nonzero(members)[0]
        groups.append(
            Group(kind, rows, place, cut, 0, log_p, share=0.0, measure=measure, metric=metric)
        )

    for rule in [] if sample is None else extreme_rules(whole, sample):
        members = near & (whole.measured(rule.measure) > rule.cut)
        kind = "cells" if isinstance(rule.measure, Fences) else "length"
        found(kind, members, rule.cut, rule.log_p, rule.measure)
    chance = float(min(0.0, np.log(n / (far / max(typical, far / 1e150)) ** 2)))
    found("apart", near & (distances > far**2), far, chance, None)
    return groups, near


def _towards(whole: Table, start: Array, members: Rows) -> tuple[Array, Array]:
    """Return the mean of some rows, as far as it is a number, and the direction towards it."""
    weights = double(members) / count(members)
    with np.errstate(over="ignore", invalid="ignore"):
        combined = whole.combine(start, weights[None, :])[0]
        offset = np.nan_to_num(np.asarray(combined, np.float64))
        size = float(np.abs(offset).max())
        direction = offset / size if size > 0.0 else np.zeros_like(offset)
        return start + offset, direction / max(float(np.linalg.norm(direction)), TINY)


def _findings(
    found: SearchState, early: list[Group], cautious: bool, n: int, assume: str
) -> list[Finding]:
    """Return what the numbers of rows do not show, and why the answer may not be trusted."""
    groups = [*early, *found.groups]
    removed = sum(group.size for group in groups)
    minority = Finding(Kind.LARGE_MINORITY, removed, float(n))
    doubts = [minority] if removed >= thresholds.LARGE * n else []
    if n < thresholds.FEWEST_ROWS and assume != "symmetric":
        findings = [Finding(Kind.TOO_FEW_ROWS, thresholds.FEWEST_ROWS)]
    elif cautious and found.several:
        findings = [Finding(Kind.SEVERAL_GROUPS)]
    elif cautious:
        findings = [Finding(Kind.NOTHING_FOUND)] if not groups and not found.suspects else []
    elif found.tail:
        findings = [Finding(Kind.TAIL_KEPT, found.tail)]
    elif thresholds.LOG_LEVEL <= found.doubtful.log_p < np.log(thresholds.LEVEL):
        findings = [Finding(Kind.WEAK_SIGNS, value=float(np.exp(found.doubtful.log_p)))]
    elif found.refused is not None or found.unclear:
        findings = []
    elif found.doubtful.log_p < thresholds.LOG_LEVEL:
        findings = [Finding(Kind.NO_CUT)]
    else:
        findings = [] if groups or found.coincide else [Finding(Kind.NO_GROUP)]
    if not cautious:
        tails = sum(group.size for group in groups if group.kind == "tail")
        if found.refused is not None:
            kind = Kind.REFUSED_FURTHER if groups else Kind.REFUSED
            doubts = [Finding(kind, group=found.refused)]
        elif len(found.groups) >= thresholds.MOST_GROUPS:
            doubts = [Finding(Kind.MANY_GROUPS, len(found.groups))]
        elif found.unclear:
            doubts = [Finding(Kind.UNCLEAR_GROUP, found.unclear)]
        elif found.coincide:
            doubts = [Finding(Kind.COINCIDING_ROWS)]
        elif not doubts and tails:
            doubts = [Finding(Kind.TAIL_REMOVED, tails)]
    return [*findings, *doubts]
