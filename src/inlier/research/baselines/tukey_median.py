"""The Tukey median: the point of largest halfspace depth."""

from typing import Any

import numpy as np
from scipy.optimize import linprog

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter

# All in units of the median distance. A row within TOLERANCE of the edge of a half-space is in it;
# the linear programme may use a quarter of that, and HiGHS must be more precise still.
TOLERANCE = 1e-9
SLACK = 2.5e-10
PRECISE: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# Weight of the distance to the coordinate-wise median beside the radius: it only breaks ties.
NEARNESS = 1e-6
MAX_ROUNDS = 200  # linear programmes for one depth; a safeguard


class TukeyMedian(Baseline):
    """Maximise the halfspace depth among the rows, with respect to random directions.

    The depth of a point is the smallest number of rows in a closed half-space that contains it. In
    one column the deepest point is the median. Otherwise it is the deepest point with respect to
    random directions and the axes, instead of all directions (those of the span of the rows, if
    there are fewer rows than columns): the points of depth k have projections between the k-th
    smallest and the k-th largest of the rows. k is bisected, and for each k linear programmes over
    a growing set of directions are solved. The center of the largest ball of deepest points is
    returned, ties broken by the distance to the coordinate-wise median. With fewer directions than
    columns all projections can attain their medians; the nearest such point to the coordinate-wise
    median is returned. Four passes, and memory for n numbers along each direction.

    The depth over all directions is at least n / (d + 1), and its median tolerates that many bad
    rows. The approximation has no such guarantee, and with many columns it is close to the
    coordinate-wise median. All rows have weight 1 and are scored by their distance from it.

    Parameters
    ----------
    n_directions : int, optional
        Random directions; the axes are added unless there are more columns than this. By default
        500, but above 100 columns half as many as columns: the linear programmes of several hundred
        columns take half a minute.

    References
    ----------
    Tukey (1975), Mathematics and the picturing of data. Donoho and Gasko (1992), Breakdown
    properties of location estimates based on halfspace depth, for what it withstands.
    Cuesta-Albertos and Nieto-Reyes (2008), The random Tukey depth, for the approximation.
    """

    name = "tukey-median"
    paper = "Tukey (1975)"
    sets_aside = False
    judges_rows = False

    n_directions: int | None = parameter(None, check_whole)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        median = run.table.median()
        unit = float(np.median(np.sqrt(run.table.sq_distances(median))))
        if run.d == 1:
            return run.location_only(median)
        if unit == 0.0:  # half of the rows are there, so nothing is deeper
            return run.location_only(median, 1, True, "At least half of the rows coincide.")
        n_directions = self.n_directions or (500 if run.d <= 100 else run.d // 2)
        directions = run.random.standard_normal((n_directions, run.d))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        if run.d <= n_directions:
            directions = np.concatenate([np.eye(run.d), directions])
        projected = np.sort(run.table.project(median, directions) / unit, axis=1)
        slabs = _Slabs(directions, projected)
        if len(directions) < run.d:
            point = np.linalg.lstsq(directions, np.median(projected, axis=1), rcond=None)[0]
            depth = int(slabs.depths(point, 0.0).min())
        else:
            point, depth = slabs.search()
        message = (
            f"Depth {depth} of {run.n} rows, with respect to {len(directions)} directions only."
        )
        if slabs.failed:
            message += (
                " Some depth was given up, because its linear programmes failed or were more than "
                f"{MAX_ROUNDS}, so there may be a deeper point. Rows that nearly lie on a line are "
                "the likely cause: look at them, or take GeometricMedian."
            )
        n_iter = max(1, slabs.n_rounds)
        return run.location_only(median + unit * point, n_iter, not slabs.failed, message)


class _Slabs:
    """Constraints of depth k along directions u: projected[k - 1] <= u'x <= projected[n - k].

    `projected` holds the sorted projections of the rows onto u.
    """

    def __init__(self, directions: Array, projected: Array) -> None:
        self.directions, self.projected = directions, projected
        self.used = np.arange(directions.shape[1])  # enough to bound a point
        self.n_rounds = 0
        self.failed = False  # whether a depth was given up

    def depths(self, point: Array, radius: float) -> Array:
        """Return the smaller number of rows on either side of a ball, along each direction."""
        along = (self.directions @ point)[:, None]
        above = (self.projected >= along + radius - TOLERANCE).sum(axis=1)
        below = (self.projected <= along - radius + TOLERANCE).sum(axis=1)
        return np.asarray(np.minimum(above, below))

    def search(self) -> tuple[Array, int]:
        """Bisect over the depth, then maximise the radius of the ball."""
        best = np.zeros(self.directions.shape[1])
        low = int(self.depths(best, 0.0).min())
        # No point is deeper than where the sorted rows and their reverse cross.
        high = int((self.projected <= self.projected[:, ::-1] + SLACK).sum(axis=1).min())
        while low < high:
            k = (low + high + 1) // 2
            found = self._reached(k, whole_ball=False)
            if found is None:
                high = k - 1
            else:
                best, low = found
        found = self._reached(low, whole_ball=True) if low > 0 else None
        return (best if found is None else found[0]), low

    def _reached(self, k: int, whole_ball: bool) -> tuple[Array, int] | None:
        """Return a point of depth at least k, and its depth."""
        for _ in range(MAX_ROUNDS):
            found = self._center(k)
            self.n_rounds += 1
            if found is None:
                return None
            point, radius = found
            depths = self.depths(point, radius if whole_ball else 0.0)
            if depths.min() >= k:
                return point, int(depths.min())
            worst = np.argsort(depths, kind="stable")[: 2 * len(point)]
            self.used = np.union1d(self.used, worst[depths[worst] < k])
        self.failed = True
        return None

    def _center(self, k: int) -> tuple[Array, float] | None:
        """Return center and radius of the largest ball with depth k along the used directions."""
        U = self.directions[self.used]
        low, high = self.projected[self.used, k - 1], self.projected[self.used, -k]
        if (low > high + SLACK).any():
            return None
        d = U.shape[1]
        one, none, eye, zero = np.ones((len(U), 1)), np.zeros(U.shape), np.eye(d), np.zeros((d, 1))
        # Variables: the center, the radius, and the distance from the origin in each column.
        limits = [[U, one, none], [-U, one, none], [eye, zero, -eye], [-eye, zero, -eye]]
        solved = linprog(
            np.concatenate([np.zeros(d), [-1.0], np.full(d, NEARNESS)]),
            A_ub=np.block(limits),
            b_ub=np.concatenate([high + SLACK, SLACK - low, np.zeros(2 * d)]),
            bounds=[(None, None)] * d + [(0.0, None)] * (d + 1),
            method="highs-ds",
            options=PRECISE,
        )
        if solved.status != 0 or solved.x is None:
            self.failed = self.failed or solved.status != 2  # 2: infeasible
            return None
        return solved.x[:d], float(solved.x[d])
