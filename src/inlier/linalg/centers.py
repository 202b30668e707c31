"""Where a fit may start, beside the coordinate-wise median: the geometric median."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import count, median, namespace, total
from inlier._internal.typing import Array, Rows
from inlier.data import Table

# Rows nearer than this to a point, in median distances, are taken to be at it: sparse tables know
# distances only to the square root of the precision.
AT = 1e-8
# A row this near may be the median itself, which the iterates would only approach.
NEAR = 1e-2
# A start need not be good, but must not depend on the order or the unit of the rows.
START_TOL = 1e-10
START_ITER = 200
# Past steps that an extrapolated one is made of.
MEMORY = 5


class GeometricMedianPoint(NamedTuple):
    """The point with the smallest sum of distances, and how it was found."""

    location: Array
    distances: Rows
    """Of the rows from it."""
    residual: float
    """Norm of the smallest subgradient of the mean distance at the location: at most 1, and 0 at
    the minimum."""
    n_iter: int
    converged: bool


class _Look(NamedTuple):
    """What a pair of passes says about a point."""

    center: Array
    distances: Rows
    step: Array
    residual: float
    rounding: float
    """What the residual cannot be told from zero below, in the precision of the data."""
    unit: float


def geometric_median(table: Table, tol: float = 1e-8, max_iter: int = 1000) -> GeometricMedianPoint:
    """The point with the smallest sum of distances to the rows.

    Weiszfeld's iteration with the correction of Vardi and Zhang (2000, section 2) for
    an iterate that coincides with rows; two passes an iteration. It is stopped by the condition
    for a minimum: the mean of the unit vectors to all rows, less what rows at the point can hold,
    is at most `tol` long, or as short as the precision of the data can tell. The mean distance is
    then within `tol` times the distance to the minimiser of the smallest.

    Weiszfeld's steps alone can take thousands of iterations near a row. So a row that an iterate
    comes near to is tested itself, and steps are extrapolated from the last few (Anderson 1965) or,
    where that does not help, made longer and longer, as long as the sum of distances falls. Rows
    too far away to square pull nowhere.
    """
    now = _look(table, table.median())
    tested: set[int] = set()
    past: list[_Look] = []
    stretch = 1.0
    n_iter = 1
    while not _done(now, tol) and n_iter < max_iter and now.unit < np.inf:
        nearest = int(namespace(now.distances).argmin(now.distances))
        if AT < float(now.distances[nearest]) / now.unit < NEAR and nearest not in tested:
            tested.add(nearest)
            row = _look(table, table.some(np.array([nearest]))[0].astype(np.float64))
            n_iter += 1
            if _done(row, tol):
                now = row
                break
        past = [*past, now][-MEMORY - 1 :]
        trials = [_extrapolated(past)] if len(past) > 1 else []
        trials += [now.center + stretch * now.step] if stretch > 1.0 else []
        for trial in trials:
            after = _look(table, trial)
            n_iter += 1
            if _better(after, now):
                break
            past = []
        else:
            stretch = 1.0
            after = _look(table, now.center + now.step)
            n_iter += 1
        if not past:  # steps are too uneven to extrapolate, or too short: rows nearly on a line
            stretch *= 2.0
        now = after
    return GeometricMedianPoint(now.center, now.distances, now.residual, n_iter, _done(now, tol))


def central_point(table: Table) -> tuple[Array, Rows]:
    """Where to start among few rows: their geometric median, roughly, and squared distances."""
    found = geometric_median(table, START_TOL, START_ITER)
    return found.location, found.distances**2


def _look(table: Table, center: Array) -> _Look:
    distances = table.sq_distances(center) ** 0.5
    unit = median(distances)
    # Distances whose squares have lost their digits count as none.
    none = float(np.sqrt(np.finfo(table.dtype).tiny))
    if not none < unit < np.inf:
        # Half of the rows at one point outweigh all others; of rows too far to square nothing is
        # known.
        residual = 0.0 if unit <= none else 1.0
        return _Look(center, distances, np.zeros_like(center), residual, 0.0, unit)
    apart = distances > AT * unit
    xp = namespace(distances)
    inverse = xp.where(apart, 1.0 / xp.where(apart, distances, 1.0), 0.0)
    pull = table.combine(center, inverse[None, :])[0]
    strength, held = float(np.linalg.norm(pull)), float(count(~apart))
    excess = max(0.0, strength - held)
    step = pull * (excess / (strength * total(inverse))) if excess > 0.0 else 0.0 * pull
    far_off = float(np.linalg.norm(center)) / unit * np.finfo(np.float64).eps
    rounding = 8.0 * (float(np.finfo(table.dtype).eps) + far_off)
    return _Look(center, distances, step, excess / table.shape[0], rounding, unit)


def _done(look: _Look, tol: float) -> bool:
    return look.residual <= max(tol, look.rounding)


def _better(new: _Look, old: _Look) -> bool:
    """Whether the sum of distances is smaller; where rounding hides that, the residual."""
    xp = namespace(new.distances)
    known = xp.isfinite(new.distances) & xp.isfinite(old.distances)
    # Row by row, because beside one distant row the sum does not show the others.
    change = float(xp.mean(new.distances[known] - old.distances[known]))
    noise = old.rounding * old.unit
    return change < -noise or (change <= noise and new.residual < old.residual)


def _extrapolated(past: list[_Look]) -> Array:
    """Where the steps would vanish, if they were linear in the point."""
    points = np.array([look.center for look in past])
    steps = np.array([look.step for look in past])
    differences = np.diff(steps, axis=0)
    mix = np.linalg.lstsq(differences.T, steps[-1], rcond=1e-10)[0]
    extrapolated: Array = points[-1] + steps[-1] - mix @ (np.diff(points, axis=0) + differences)
    return extrapolated
