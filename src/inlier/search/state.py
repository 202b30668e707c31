"""Where the search stands, and what it may find next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import count, double, namespace
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Frame
from inlier.linalg.eigenpairs import DENSE, PROBES, WARM, Oracle, Spectrum
from inlier.search import thresholds
from inlier.search.pursuit import White
from inlier.search.sample import RowSample
from inlier.search.tests import NOTHING, Cut
from inlier.verdict.rules import Group, Suspect
from inlier.verdict.verdict import Step


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
    notify: Callable[[Step], None] = lambda step: None


@dataclass
class SearchState:
    """What is kept, and how it came to that."""

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
    """A group with evidence that would have left hardly more than half of the rows."""
    doubtful: Cut = NOTHING
    """The clearest sign of a further group that was not enough."""
    tail: int = 0
    """Rows of a surplus that may as well be a tail, and were kept."""
    unclear: int = 0
    """Rows of a large group that is not clear of the others, and was kept."""
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


@dataclass(frozen=True)
class Candidate:
    """A group that may leave: the rows whose size is beyond a cut."""

    kind: str
    cut: Cut
    sizes: Rows
    """Of all rows, those that have left too."""
    center: Array
    direction: Array | None = None
    ratio: float = 0.0
    """How clear of the rest it is, if that is what it left for."""

    def among(self, rows: Rows) -> Rows:
        """Return its members among some rows."""
        return rows & (self.sizes > self.cut.cut)


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
        far = self.distances**0.5
        raised = far * float(np.sqrt((m + 1.0) / max(m - 1.0, 0.5)))
        return namespace(far).where(self.half, raised, far)


class Line(NamedTuple):
    """A direction, where the rows lie along it, seen from some point, and their center there."""

    direction: Array
    rows: Rows
    center: float

    def sizes(self, side: int) -> Rows:
        """Return how far out the rows lie."""
        offsets = self.rows - self.center
        return abs(offsets) if side == 0 else side * offsets


def spectrum_of(oracle: Oracle, mean: Array, kept: Rows) -> Spectrum:
    """Compute the directions in which the kept rows vary most."""
    weights = double(kept)
    if oracle.table.shape[1] <= DENSE:
        return oracle.top(mean, weights, 0.0)

    def settled(values: Array, residuals: Array, bound: float) -> bool:
        return bool(residuals[0] <= 0.05 * values[0] and bound <= 1.2 * values[0])

    return oracle(mean, weights, settled, thresholds.ROUND_PASSES, WARM, PROBES)


def unit(vector: Array) -> Array:
    """Normalise a vector; zero stays zero."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), TINY))
