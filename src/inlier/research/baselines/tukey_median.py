"""The Tukey median: the point of largest halfspace depth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter

# All in units of the median distance. A row within TOLERANCE of the edge of a half-space is in it;
# the linear programme may use a quarter of that, and HiGHS must be more precise still.
TOLERANCE = 1e-9
SLACK = 2.5e-10
SOLVER_TOLERANCE = 1e-10
# Weight of the distance to the coordinate-wise median beside the radius: it only breaks ties.
NEARNESS = 1e-6
INFEASIBLE = 2  # status of scipy.optimize.linprog
MAX_ROUNDS = 200  # linear programmes for one depth; a safeguard
# Default number of random directions, up to the columns for which a programme takes seconds.
DIRECTIONS, MAX_COLUMNS = 500, 100
# In the plane: directions at the start, and added in each round.
FIRST_DIRECTIONS, NEW_DIRECTIONS = 16, 6


class TukeyMedian(Baseline):
    """Maximise the halfspace depth among the rows, exactly up to two columns.

    With three or more columns it is an approximation: the deepest point with respect to random
    directions and the axes, instead of all directions (those of the span of the rows, if there are
    fewer rows than columns). Four passes, and memory for n numbers along each direction.

    The depth of a point is the smallest number of rows in a closed half-space that contains it. In
    one column the deepest point is the median. In two, the points of depth k satisfy u'x <= the
    k-th largest u'y_i for all directions u. k is bisected, and for each k linear programmes over a
    growing set of directions are solved, until an angular sort confirms the depth or there is no
    solution. The center of the largest disc of deepest points is returned, ties broken by the
    distance to the coordinate-wise median. Rows count as collinear within 1e-9 of the median
    distance. With fewer directions than columns all projections can attain their medians; the
    nearest such point to the coordinate-wise median is returned.

    The depth is at least n / (d + 1). The median tolerates that many bad rows, or n / 3 if the good
    rows are symmetric; for Gaussian rows the error is of the order of alpha sigma in any dimension.
    The approximation has no such guarantee, and with many columns it is close to the
    coordinate-wise median. All rows have weight 1 and are scored by their distance from it.

    Parameters
    ----------
    n_directions : int, optional
        Random directions with three or more columns; the axes are added unless there are more
        columns than this. By default 500, but above 100 columns half as many as columns: the linear
        programmes of several hundred columns take half a minute.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the directions.

    References
    ----------
    Tukey (1975), Mathematics and the picturing of data. Donoho and Gasko (1992), Breakdown
    properties of location estimates based on halfspace depth, for what it withstands. Rousseeuw
    and Ruts (1998), Constructing the bivariate Tukey median, bisect over depths too.
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
        location, n_iter, converged = median, 1, True
        if run.d == 1:
            message = ""
        elif unit == 0.0:  # half of the rows are there, so nothing is deeper
            message = "At least half of the rows coincide."
        else:
            found, words = self._deepest(run, median, unit)
            location = median + unit * found.point
            n_iter, converged = found.n_rounds, found.settled
            message = f"Depth {found.depth} of {run.n} rows, {words}."
            if not converged:
                message += (
                    " Some depth was given up, because its linear programmes failed or were more "
                    f"than {MAX_ROUNDS}, so there may be a deeper point. Rows that nearly lie on a "
                    "line are the likely cause: look at them, or take GeometricMedian."
                )
        return run.location_only(location, n_iter, converged, message)

    def _deepest(self, run: Run, center: Array, unit: float) -> tuple[_Deepest, str]:
        if run.d == 2:
            rows = run.table.project(center, np.eye(2)).T / unit
            return _search(_Plane(rows)), "exact"
        n_directions = self.n_directions
        if n_directions is None:
            n_directions = DIRECTIONS if run.d <= MAX_COLUMNS else run.d // 2
        directions = run.random.standard_normal((n_directions, run.d))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        if run.d <= n_directions:
            directions = np.concatenate([np.eye(run.d), directions])
        projected = np.sort(run.table.project(center, directions) / unit, axis=1)
        words = f"approximately: with respect to {len(directions)} directions only"
        if len(directions) < run.d:
            point = np.linalg.lstsq(directions, np.median(projected, axis=1), rcond=None)[0]
            depth = int(_Sample(directions, projected).depths(point, 0.0).min())
            return _Deepest(point, depth, 1, True), words
        return _search(_Sample(directions, projected)), words


class _Deepest(NamedTuple):
    point: Array
    depth: int
    n_rounds: int
    settled: bool


class _Slabs(ABC):
    """Constraints of depth k along directions u: projected[k - 1] <= u'x <= projected[n - k].

    `projected` holds the sorted projections of the rows onto u.
    """

    directions: Array
    projected: Array
    used: Array
    """Indices of the directions in the linear programme."""
    failed: bool = False
    """Whether a linear programme failed."""

    @abstractmethod
    def cut(self, point: Array, radius: float, k: int) -> int:
        """Return the depth of a ball; if it is below k, add directions that show it."""

    def depths(self, point: Array, radius: float) -> Array:
        """Return the smaller number of rows on either side of a ball, along each direction."""
        along = (self.directions @ point)[:, None]
        above = (self.projected >= along + radius - TOLERANCE).sum(axis=1)
        below = (self.projected <= along - radius + TOLERANCE).sum(axis=1)
        return np.asarray(np.minimum(above, below))

    def center(self, k: int) -> tuple[Array, float] | None:
        """Return center and radius of the largest ball with depth k along the used directions."""
        U = self.directions[self.used]
        low, high = self.projected[self.used, k - 1], self.projected[self.used, -k]
        if (low > high + SLACK).any():
            return None
        d = U.shape[1]
        one, none, eye = np.ones((len(U), 1)), np.zeros((len(U), d)), np.eye(d)
        # Variables: the center, the radius, and the distance from the origin in each column.
        zero = np.zeros((d, 1))
        limits = [[U, one, none], [-U, one, none], [eye, zero, -eye], [-eye, zero, -eye]]
        solved = linprog(
            np.concatenate([np.zeros(d), [-1.0], np.full(d, NEARNESS)]),
            A_ub=np.block(limits),
            b_ub=np.concatenate([high + SLACK, SLACK - low, np.zeros(2 * d)]),
            bounds=[(None, None)] * d + [(0.0, None)] * (d + 1),
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": SOLVER_TOLERANCE,
                "dual_feasibility_tolerance": SOLVER_TOLERANCE,
            },
        )
        if solved.status not in (0, INFEASIBLE):
            self.failed = True
        if solved.status != 0 or solved.x is None:
            return None
        return solved.x[:d], float(solved.x[d])


class _Plane(_Slabs):
    """All directions of the plane, added as they are needed."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.directions, self.projected = np.empty((0, 2)), np.empty((0, len(rows)))
        self._use(np.pi * np.arange(FIRST_DIRECTIONS) / FIRST_DIRECTIONS)

    def _use(self, angles: Array) -> None:
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        self.directions = np.concatenate([self.directions, directions])
        self.projected = np.concatenate([self.projected, np.sort(directions @ self.rows.T, axis=1)])
        self.used = np.arange(len(self.directions))

    def cut(self, point: Array, radius: float, k: int) -> int:
        """See `_Slabs.cut`: sweep over the angles at which a row enters or leaves."""
        away = self.rows - point
        length = np.hypot(away[:, 0], away[:, 1])
        at = np.arctan2(away[:, 1], away[:, 0])
        # A row is in the half-plane at an angle if it is within this width of it. The 1e-13
        # prevents gaps by rounding between rows that are exactly opposite each other.
        cosine = (radius - TOLERANCE) / np.maximum(length, TOLERANCE / 2.0) - 1e-13
        width = np.arccos(np.clip(cosine, -1.0, 1.0))
        always = cosine <= -1.0
        turning = ~always & (cosine < 1.0)
        enter = (at - width)[turning] % (2.0 * np.pi)
        leave = (at + width)[turning] % (2.0 * np.pi)
        angles = np.concatenate([enter, leave])
        if not len(angles):
            return int(always.sum())
        order = np.argsort(angles, kind="stable")
        change = np.where(order < len(enter), 1, -1)
        # Rows whose interval contains the angle zero are in from the start.
        count = int(always.sum() + (enter > leave).sum()) + np.cumsum(change)
        start = angles[order]
        end = np.append(start[1:], start[0] + 2.0 * np.pi)
        count[end - start <= 0.0] = len(self.rows)  # no angle lies between
        depth = int(count.min())
        if depth < k:
            self._close(count < k, count, 0.5 * (start + end), k)
        return depth

    def _close(self, open_: Array, count: Array, middle: Array, k: int) -> None:
        """Add directions for the worst gaps, one of each run of open angles."""
        runs = np.cumsum(np.diff(open_.astype(int), prepend=0) == 1) * open_
        worst = np.lexsort((count, runs))
        first = np.unique(runs[worst], return_index=True)[1]
        chosen = worst[first][~(runs[worst[first]] == 0)]
        chosen = chosen[np.argsort(count[chosen], kind="stable")[:NEW_DIRECTIONS]]
        self._use(np.concatenate([self._edges(angle, k) for angle in middle[chosen]]))

    def _edges(self, angle: float, k: int) -> Array:
        """Return the two angles next to this one at which its line passes through two rows.

        The half-planes of depth k between them turn about one row, so these two imply the others.
        Only finitely many such angles bound a level, so the search terminates.
        """
        along = self.rows @ np.array([np.cos(angle), np.sin(angle)])
        pivot = self.rows[np.argpartition(along, -k)[-k]]
        away = self.rows - pivot
        apart = np.hypot(away[:, 0], away[:, 1]) > TOLERANCE
        if not apart.any():
            return np.array([angle])
        at = np.arctan2(away[apart, 1], away[apart, 0])
        turn = (at + 0.5 * np.pi - angle) % np.pi
        forward, backward = float(turn.min()), float(np.pi - turn.max())
        edges = [angle + forward, angle - backward]
        # Of half-planes that are nearly opposite, the one between is not implied.
        return np.array(edges if forward + backward < 3.0 else [*edges, angle])


class _Sample(_Slabs):
    """A fixed sample of directions, used as they are needed."""

    def __init__(self, directions: Array, projected: Array) -> None:
        self.directions, self.projected = directions, projected
        self.used = np.arange(directions.shape[1])  # enough to bound a point

    def cut(self, point: Array, radius: float, k: int) -> int:
        """See `_Slabs.cut`."""
        depths = self.depths(point, radius)
        worst = np.argsort(depths, kind="stable")[: 2 * len(point)]
        self.used = np.union1d(self.used, worst[depths[worst] < k])
        return int(depths.min())


def _search(slabs: _Slabs) -> _Deepest:
    """Bisect over the depth, then maximise the radius of the ball."""
    n_rounds, settled = 0, True

    def reached(k: int, whole_ball: bool) -> tuple[Array, int] | None:
        """Return a point of depth at least k, and its depth."""
        nonlocal n_rounds, settled
        for _ in range(MAX_ROUNDS):
            found = slabs.center(k)
            n_rounds += 1
            if found is None:
                return None
            point, radius = found
            depth = slabs.cut(point, radius if whole_ball else 0.0, k)
            if depth >= k:
                return point, depth
        settled = False
        return None

    origin = np.zeros(slabs.directions.shape[1])
    best, low = origin, slabs.cut(origin, 0.0, 0)
    # No point is deeper than where the sorted rows and their reverse cross.
    high = int((slabs.projected <= slabs.projected[:, ::-1] + SLACK).sum(axis=1).min())
    while low < high:
        k = (low + high + 1) // 2
        found = reached(k, whole_ball=False)
        if found is None:
            high = k - 1
        else:
            best, low = found
    if low > 0:
        found = reached(low, whole_ball=True)
        if found is not None:
            best = found[0]
    return _Deepest(best, low, n_rounds, settled and not slabs.failed)
