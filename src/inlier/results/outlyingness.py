"""How far out each row lies: a ranking of all rows, also of those that were kept.

The scores of a fit say how near a row is to being removed, along the directions along which others
were. A ranking has to say how far out a row lies in any direction. That is its robust distance: the
Mahalanobis distance, with center and covariance of the kept rows in the middle, in the units of the
columns (see `inlier.linalg.whitening`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import column_medians, evenly_spaced, namespace, on_host, pieces
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Ellipsoid, Metric, Table
from inlier.data.measures import FARTHEST
from inlier.linalg.whitening import concentrated

# The metric is measured on all kept rows, or on a sample of them: `CELLS` cells but at least `ROWS`
# rows, unless these have more than `MOST_CELLS` cells.
CELLS = 1 << 20
ROWS = 500
MOST_CELLS = 1 << 24
# Directions along which the rows of a sparse table are projected at once.
AT_ONCE = 64
# Outlyingness of a row is above it if the row is removed.
THRESHOLD = 1.0


@dataclass(frozen=True, eq=False)
class RobustDistance:
    """The robust distance of any row, also of one that was not there at the fit."""

    measure: Ellipsoid
    typical: float
    """Median of the distances of the kept rows."""

    @classmethod
    def of(cls, rows: Array) -> RobustDistance:
        """Measure the metric of some rows."""
        measure = _ellipsoid(rows)
        typical = float(np.median(measure(rows)))
        return cls(measure, typical if typical > 0.0 else 1.0)

    def distances(self, table: Table) -> Rows:
        """Compute distances in units of the typical one; one pass, or a few if X is sparse."""
        return measured(table, self.measure) / self.typical


def outlyingness(far: Rows, removed: Rows) -> Rows:
    """Return the outlyingness of rows, by their robust distances.

    Increasing with the distance: 1/2 at the typical one and below 1 for all rows that are kept,
    above 1 for those that are removed.
    """
    xp = namespace(far)
    return xp.where(removed, 2.0 - 1.0 / (2.0 + far), 1.0 - 1.0 / (1.0 + far))


def _ellipsoid(rows: Array) -> Ellipsoid:
    """Measure the metric of some rows, in units of their columns; constant columns do not count."""
    with np.errstate(over="ignore", invalid="ignore"):
        center = column_medians(rows)
        deviations = np.abs(rows - center)
        unit = column_medians(deviations)
        unit = np.where(unit > 0.0, unit, deviations.mean(axis=0))
        unit = np.where((unit > 0.0) & np.isfinite(unit), unit, np.inf)
        varies = np.isfinite(unit)
        if not varies.any():
            return Ellipsoid(center, unit, np.zeros((1, len(unit))), np.ones(1))
        cells = rows[:, varies] - center[varies]
        cells /= unit[varies]
        found = concentrated(np.clip(cells, -FARTHEST, FARTHEST, out=cells))
    center[varies] += found.center * unit[varies]
    directions = np.zeros((len(found.directions), len(unit)))
    directions[:, varies] = found.directions
    return Ellipsoid(center, unit, directions, found.precisions, found.residual)


def sample_of(table: Table, kept: Mask) -> Array:
    """Fetch the rows, or some of them, that give the metric of the kept ones, on the host.

    Of all rows, if none is kept. Which ones does not depend on the order of the rows.
    """
    if not kept.any():
        kept = np.ones_like(kept)
    order = on_host(table.order(fit_generator(0)))
    order = order[kept[order]]
    d = table.shape[1]
    most = max(2, min(ROWS, MOST_CELLS // d), CELLS // d)
    if len(order) > most:
        order = evenly_spaced(order, most)
    return table.fetch(order).astype(np.float64, copy=False)


def measured(table: Table, measure: Ellipsoid) -> Rows:
    """Compute the distances of all rows; one pass, or a few if X is sparse."""
    return _sparse_distances(table, measure) if table.sparse else table.measured(measure)


def _sparse_distances(table: Table, measure: Ellipsoid) -> Rows:
    """Compute distances of the rows of a sparse table: few products at a time, nothing densified.

    A cell that is not stored stays so in units of its column; the center is subtracted afterwards.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = table.in_metric(Metric(np.zeros_like(measure.unit), measure.unit))
        center = measure.center / measure.unit
        squared = np.zeros(table.shape[0])
        outside = scaled.sq_distances(center) if measure.residual else squared
        for part in pieces(len(measure.directions), AT_ONCE):
            along = scaled.project(center, measure.directions[part]) ** 2
            squared = squared + measure.precisions[part] @ along
            outside = outside - along.sum(axis=0)
        squared = squared + measure.residual * np.maximum(outside, 0.0)
    return np.sqrt(np.where(np.isnan(squared), np.inf, squared))  # too far away to square
