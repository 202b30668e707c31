"""The geometric median: a robust starting point that does not depend on the axes."""

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import count, median, namespace, total
from inlier._internal.typing import Array, Rows
from inlier.data import Table

# A row this near, in units of the median distance, coincides with the point: a sparse table
# resolves distances only to the square root of the precision.
COINCIDENT = 1e-8


class GeometricMedianPoint(NamedTuple):
    """The point with the smallest sum of distances, and how it was found."""

    location: Array
    distances: Rows
    """Distances of the rows from the location."""
    residual: float
    """Norm of the smallest subgradient of the mean distance: at most 1, and 0 at the minimum."""
    n_iter: int
    converged: bool


class _Evaluation(NamedTuple):
    """Distances, subgradient and Weiszfeld step at a point: two passes."""

    center: Array
    distances: Rows
    step: Array
    residual: float
    rounding: float
    """Residuals below this are rounding, in the precision of the data."""
    unit: float


def geometric_median(table: Table, tol: float = 1e-8, max_iter: int = 1000) -> GeometricMedianPoint:
    """Minimise the sum of distances to the rows.

    Weiszfeld's iteration with the correction of Vardi and Zhang (2000, section 2) for an iterate
    that coincides with rows; two passes an iteration. It stops when the smallest subgradient of
    the mean distance has norm at most `tol`, or is rounding. The mean distance then exceeds the
    minimum by at most `tol` times the distance to the minimiser.

    Weiszfeld's steps alone can take thousands of iterations near a row. So a nearby row is tested
    itself. Steps are extrapolated from the last few (Anderson 1965) or, where that fails, doubled
    while the sum of distances decreases. Rows whose squared distance overflows have no weight.
    """
    now = _evaluate(table, table.median())
    tested: set[int] = set()
    past: list[_Evaluation] = []
    stretch = 1.0
    n_iter = 1
    while not _is_minimum(now, tol) and n_iter < max_iter and now.unit < np.inf:
        nearest = int(namespace(now.distances).argmin(now.distances))
        # A row this near may be the median itself, which the iterates would only approach.
        near = COINCIDENT < float(now.distances[nearest]) / now.unit < 1e-2
        if near and nearest not in tested:
            tested.add(nearest)
            row = _evaluate(table, table.row(nearest))
            n_iter += 1
            if _is_minimum(row, tol):
                now = row
                break
        past = [*past, now][-6:]
        trials = [_extrapolated(past)] if len(past) > 1 else []
        trials += [now.center + stretch * now.step] if stretch > 1.0 else []
        for trial in trials:
            after = _evaluate(table, trial)
            n_iter += 1
            if _improves(after, now):
                break
            past = []
        else:
            stretch = 1.0
            after = _evaluate(table, now.center + now.step)
            n_iter += 1
        if not past:  # extrapolation failed: rows nearly on a line
            stretch *= 2.0
        now = after
    return GeometricMedianPoint(
        now.center, now.distances, now.residual, n_iter, _is_minimum(now, tol)
    )


def central_point(table: Table) -> tuple[Array, Rows]:
    """Return the geometric median, roughly, and the squared distances of the rows from it."""
    # Tight, because the start of a fit must not depend on the order or the unit of the rows.
    found = geometric_median(table, tol=1e-10, max_iter=200)
    return found.location, found.distances**2


def _evaluate(table: Table, center: Array) -> _Evaluation:
    distances = table.sq_distances(center) ** 0.5
    unit = median(distances)
    # Smaller distances have squares that underflow.
    none = float(np.sqrt(np.finfo(table.dtype).tiny))
    if not none < unit < np.inf:
        # Half of the rows at one point outweigh all others; infinite distances have no median.
        residual = 0.0 if unit <= none else 1.0
        return _Evaluation(center, distances, np.zeros_like(center), residual, 0.0, unit)
    apart = distances > COINCIDENT * unit
    xp = namespace(distances)
    inverse = xp.where(apart, 1.0 / xp.where(apart, distances, 1.0), 0.0)
    pull = table.combine(center, inverse[None, :])[0]
    strength, held = float(np.linalg.norm(pull)), float(count(~apart))
    excess = max(0.0, strength - held)
    step = pull * (excess / (strength * total(inverse))) if excess > 0.0 else 0.0 * pull
    far_off = float(np.linalg.norm(center)) / unit * np.finfo(np.float64).eps
    rounding = 8.0 * (float(np.finfo(table.dtype).eps) + far_off)
    return _Evaluation(center, distances, step, excess / table.shape[0], rounding, unit)


def _is_minimum(at: _Evaluation, tol: float) -> bool:
    return at.residual <= max(tol, at.rounding)


def _improves(new: _Evaluation, old: _Evaluation) -> bool:
    """Return whether the sum of distances is smaller or, within rounding, the residual."""
    xp = namespace(new.distances)
    known = xp.isfinite(new.distances) & xp.isfinite(old.distances)
    # Row by row, because one distant row would round away the differences of the others.
    change = float(xp.mean(new.distances[known] - old.distances[known]))
    noise = old.rounding * old.unit
    return change < -noise or (change <= noise and new.residual < old.residual)


def _extrapolated(past: list[_Evaluation]) -> Array:
    """Return the point at which the steps would vanish if they were linear (Anderson)."""
    points = np.array([at.center for at in past])
    steps = np.array([at.step for at in past])
    differences = np.diff(steps, axis=0)
    mix = np.linalg.lstsq(differences.T, steps[-1], rcond=1e-10)[0]
    extrapolated: Array = points[-1] + steps[-1] - mix @ (np.diff(points, axis=0) + differences)
    return extrapolated
