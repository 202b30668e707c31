"""Where Algorithm 1 may start: the coordinate-wise median or the geometric median."""

from __future__ import annotations

import numpy as np

from inlier._typing import Array
from inlier.data import Table


def geometric_median(table: Table, tol: float = 1e-8, max_iter: int = 200) -> Array:
    """The point with the smallest sum of distances to the rows.

    Weiszfeld's iteration with the correction of Vardi and Zhang (2000) for an iterate that
    coincides with rows; two passes an iteration, stopped when a step is shorter than `tol` times
    the mean distance.
    """
    center = table.median()
    for _ in range(max_iter):
        distances = np.sqrt(table.sq_distances(center))
        mean_distance = float(distances.mean())
        if mean_distance == 0.0:
            break
        apart = distances > tol * mean_distance
        inverse = np.where(apart, 1.0 / np.where(apart, distances, 1.0), 0.0)
        pull = table.combine(center, inverse[None])[0]
        here = float((~apart).sum())
        strength = float(np.linalg.norm(pull))
        if strength <= here:  # the rows at the iterate hold it against the pull of all others
            break
        step = (1.0 - here / strength) * pull / float(inverse.sum())
        center = center + step
        if np.linalg.norm(step) <= tol * mean_distance:
            break
    return center
