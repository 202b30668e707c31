"""Where the search stands: the kept rows, and how a group of them is removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import count, double, namespace, nth_smallest
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Frame, Place
from inlier.linalg.eigenpairs import DENSE, PROBES, WARM, Oracle, Spectrum
from inlier.search import thresholds
from inlier.search.pursuit import White
from inlier.search.sample import RowSample
from inlier.search.tests import NOTHING, Cut
from inlier.verdict import Group, Step, Suspect


class Task(NamedTuple):
    """What a strategy works on: the rows of a frame, and a sample of them on the host."""

    frame: Frame
    oracle: Oracle
    random: np.random.Generator
    sample: RowSample | None = None
    axes: Array | None = None
    """The directions of the sample's coordinates in those of the frame; None if the sample is in
    the coordinates of the data."""
    metric: bool = True
    """Whether to search in the metric of the rows as well."""
    tails: bool = True
    """Whether the end of a tail that points one way is removed; if not, it ends the search."""
    notify: Callable[[Step], None] = lambda step: None


@dataclass
class SearchState:
    """The kept rows, the groups that were removed, and what else was found."""

    kept: Rows
    mean: Array
    spectrum: Spectrum
    """Of the kept rows about their mean."""
    near: Near
    """Distances from the mean of the nearest half of the kept rows."""
    groups: list[Group] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    """What led to the groups."""
    white: White | None = None
    """The kept rows in their own metric, once it was measured."""
    noise: float = 0.0
    """What rounding adds to the coordinates of a row."""
    refused: Group | None = None
    """A group with evidence whose removal would keep hardly more than half of the rows."""
    doubtful: Cut = NOTHING
    """The clearest sign of a further group that was not enough."""
    tail: int = 0
    """Rows of a surplus that may as well be a tail, and were kept."""
    skewed: bool = False
    """Whether there is a tail that points one way: good rows may not be symmetric then."""
    unclear: int = 0
    """Rows of a large group that is not well separated, and was kept."""
    coincide: bool = False
    """Whether too many rows coincide for a scale to judge the others by."""
    suspects: list[Suspect] = field(default_factory=list)
    """Well separated groups that were kept."""
    several: bool = False
    """Whether the rows form several groups."""

    @property
    def least_variance(self) -> float:
        """Below it a direction holds nothing but rounding."""
        return (thresholds.NOISE_ROUNDINGS * self.noise) ** 2

    def copy(self) -> SearchState:
        """Return a state from which groups may be removed, while this one stays as it is."""
        return replace(self, groups=list(self.groups), candidates=list(self.candidates))

    def doubt(self, cut: Cut) -> None:
        """Remember a sign that was not enough."""
        if cut.log_p < self.doubtful.log_p:
            self.doubtful = cut

    def candidate(
        self, kind: str, direction: Array, rows: Rows, center: float, cut: Cut, ratio: float = 0.0
    ) -> Candidate:
        """Return the group beyond a cut along a direction, about a center of the projected rows."""
        offsets = rows - center
        sizes = abs(offsets) if cut.side == 0 else cut.side * offsets
        return Candidate(kind, cut, sizes, self.mean + center * direction, direction, ratio)


class Candidate(NamedTuple):
    """A group that may be removed: the rows whose size is beyond a cut."""

    kind: str
    cut: Cut
    sizes: Rows
    """Of all rows, including removed ones."""
    center: Array
    direction: Array | None = None
    ratio: float = 0.0
    """How well separated it is, if it is removed for that."""

    def among(self, rows: Rows) -> Rows:
        """Return its members among some rows."""
        return rows & (self.sizes > self.cut.cut)

    def with_log_p(self, log_p: float) -> Candidate:
        """Return the same group with other evidence."""
        return self._replace(cut=replace(self.cut, log_p=log_p))


class Near(NamedTuple):
    """How far the rows lie from the mean of the nearest half of them."""

    center: Array
    half: Rows
    distances: Rows
    """Squared, from the center."""

    def sizes(self) -> Rows:
        """Return how far out the rows lie.

        With many columns a row is near to a mean merely because it is one of the rows in it. Of m
        independent rows its squared distance is (m - 1) / m of a row's own length, and that of
        another row (m + 1) / m.
        """
        m = count(self.half)
        far, factor = self.distances**0.5, float(np.sqrt((m + 1.0) / max(m - 1.0, 0.5)))
        if isinstance(far, np.ndarray):  # without another copy
            return np.multiply(far, factor, out=far, where=self.half)
        return namespace(far).where(self.half, far * factor, far)

    def updated(self, oracle: Oracle, kept: Rows) -> Near:
        """Measure distances from the mean of the nearest half of the kept rows."""
        farthest = nth_smallest(self.distances[kept], max(1, count(kept) // 2))
        half = kept & (self.distances <= farthest)
        center = oracle.table.mean(double(half), self.center)
        return Near(center, half, oracle.table.sq_distances(center))


def start_search(task: Task, start: Array, distances: Rows, noise: float = 0.0) -> SearchState:
    """Return the state before any group is removed.

    The search begins at any robust center, relative to which the rows have these squared distances;
    `noise` is what rounding adds to their coordinates.
    """
    oracle, kept = task.oracle, distances >= 0.0
    near = Near(start, kept, distances)
    for _ in range(2):  # the nearest half forgets a start that is off by sqrt(d)
        near = near.updated(oracle, kept)
    mean = oracle.table.mean(double(kept), near.center)
    state = SearchState(kept, mean, spectrum_of(oracle, mean, kept), near, noise=noise)
    _report(task, state)
    return state


def remove(task: Task, found: SearchState, group: Candidate) -> Group | None:
    """Remove a group and return it; None if hardly a majority would be left."""
    oracle, members = task.oracle, group.among(found.kept)
    size = count(members)
    left = count(found.kept) - size
    # Relative to the center of the others, which rows that are still there do not draw.
    summed = oracle.table.combine(group.center, double(members)[None, :])[0]
    mean = group.center + summed / size
    offset = mean - found.mean
    direction = group.direction if group.direction is not None else unit(offset)
    record = Group(
        kind=group.kind,
        rows=namespace(members).nonzero(members)[0],
        place=Place(np.stack([mean, group.center]), direction[None]),
        cut=group.cut.cut,
        side=group.cut.side,
        log_p=group.cut.log_p,
        share=group.cut.share,
        ratio=group.ratio,
    )
    # Of all rows: extreme ones have been removed before.
    if left < thresholds.KEPT_SHARE * task.frame.whole.shape[0] - 1e-9:
        found.refused = record
        return None
    found.groups.append(record)
    found.candidates.append(group)
    found.kept, found.white = found.kept & ~members, None
    found.mean = found.mean - offset * (size / left)
    found.spectrum = spectrum_of(oracle, found.mean, found.kept)
    # What rounding has left of the removed rows, which may have been far out.
    rest = found.spectrum.drift / left
    found.mean = found.mean + rest
    if left * float(rest @ rest) > 1e-6 * float(found.spectrum.values[0]):
        found.spectrum = spectrum_of(oracle, found.mean, found.kept)
    _report(task, found)
    return record


def _report(task: Task, found: SearchState) -> None:
    """Report a step of the search."""
    n, m = found.kept.shape[0], count(found.kept)
    top = found.spectrum.bound
    gone, rank, n_passes = float(n - m), len(found.groups), task.oracle.table.n_passes
    task.notify(Step("selection", max(top * n / m, TINY), gone, gone, rank, top, n_passes))


def spectrum_of(oracle: Oracle, mean: Array, kept: Rows) -> Spectrum:
    """Compute the directions in which the kept rows vary most, in a few passes."""
    weights = double(kept)
    if oracle.table.shape[1] <= DENSE:
        return oracle.top(mean, weights, 0.0)

    def settled(values: Array, residuals: Array, bound: float) -> bool:
        return bool(residuals[0] <= 0.05 * values[0] and bound <= 1.2 * values[0])

    return oracle(mean, weights, settled, 4, WARM, PROBES)


def unit(vector: Array) -> Array:
    """Normalise a vector; zero stays zero."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), TINY))
