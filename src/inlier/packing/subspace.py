"""The engine: the weighted projection onto the packing set, and the cutting planes around it.

    project(t, s):   min_w  1/2 sum_i s_i (w_i - t_i)^2   s.t.  w in W(x, B)

The dual optimum has low rank, so a problem is solved within a subspace of few directions, where it
costs no pass; then an oracle looks for a direction of the whole space in which the answer breaks
the budget. If there is one it joins the subspace and the problem is solved again. A subspace
relaxes the constraint: what cannot be kept there cannot be kept at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from inlier._internal.arrays import among, highest, like, namespace, on_host, some, total
from inlier._internal.typing import Array, Rows
from inlier.linalg.eigenpairs import Draw, Oracle, Spectrum
from inlier.packing import interior_point as interior
from inlier.packing.problem import Projection, Subspace, scores, second_moment

# A row this many times (in square) farther out than the budget allows for one row has no weight.
HOPELESS = 1e8
# One proximal step this long solves the packing SDP to a relative error of 1 / (2 LONG).
LONG = 1e7
# Of more rows than these a sketch stands for all: what it says of the k x k multiplier is as
# precise as the search needs, and the search looks at all rows. A problem that need not be solved
# closely makes do with fewer, so many for each direction.
SKETCH_ROWS = 1 << 12
SKETCH_LOOSELY = 1 << 10
LOOSE = 1e-3
# Less than the error of a sketch; relative to the objective at w = 0.
SKETCH_GAP = 5e-3
# Above the budget by this much, the multiplier that a sketch gave is raised.
SKETCH_SLACK = 1e-3
# To within this part of itself. By hand, because scipy's root finders leave a cycle of references
# behind that keeps what they looked at in the memory of a device.
SKETCH_RAISE = 5e-3


@dataclass(frozen=True)
class SubspaceSolution:
    """The solution of a problem within a subspace."""

    weights: Rows
    S: Array
    """k x k multiplier of the matrix constraint."""
    iterate: interior.Iterate | None = None
    """Where the solution of a similar problem may start."""


@dataclass(frozen=True)
class Sketch:
    """A few rows that stand for all of them, each for as many as it takes to be fair."""

    rows: Rows
    """Their indices."""
    copies: Array
    """How many rows each stands for."""

    @classmethod
    def of(cls, size: Rows, count: int, draw: Draw | None = None) -> Sketch:
        """Rows drawn one by one from strata; half of the chance is in proportion to their size.

        So a row that takes much of the budget is there, however few are like it, and the sketch of
        a sum of sizes has a relative error of about one over the root of the count. In the order
        of a draw, the same rows are chosen in whatever order they come.
        """
        if draw is None:
            draw = Draw(0, namespace(size).argsort(size))
        xp = namespace(size)
        n = size.shape[0]
        whole = xp.clip(xp.sum(size), float(np.finfo(np.float64).tiny), None)
        chance = 0.5 / n + size * (0.5 / whole)
        edges = xp.cumulative_sum(xp.take(chance, draw.order))
        points = (np.arange(count) + np.random.default_rng(draw.seed).random(count)) / count
        places = xp.searchsorted(edges, like(points, size) * edges[-1])
        rows = xp.take(draw.order, xp.clip(places, 0, n - 1))
        return cls(rows, 1.0 / (count * on_host(xp.take(chance, rows))))

    def sampled(self, *rows: Rows) -> Array:
        """What belongs to the sketched rows, on the host: waits once for all."""
        xp = namespace(rows[0])
        return on_host(xp.concat([xp.take(x, self.rows, axis=-1) for x in rows], axis=0))

    def problem(self, problem: Projection) -> Projection:
        """The problem that these rows are left with."""
        t, s = self.sampled(problem.t[None, :], problem.s[None, :])
        return Projection(t, s * self.copies)


# The duality gap that a problem may be left with, given the weights where it starts, if any.
Gap = Callable[[Projection, Rows | None], float]


class SubspaceSolver:
    """Solves problems over the packing set of the rows P that are seen along k directions.

    Parameters
    ----------
    P : Rows of shape (k, n)
        In units of the budget.
    tol : float
        Duality gap, relative to the objective at w = 0. With more than `SKETCH_ROWS` rows it is the
        gap of a sketch, whose answer meets the budget of all rows and may be short of the optimum.
    exactly : bool
        Look at all rows, however many there are. A proximal step of full length always does:
        where it ends hangs on every row.
    draw : callable
        Asked how to draw the rows that stand for all, if it comes to that.
    """

    def __init__(
        self,
        P: Rows,
        tol: float,
        exactly: bool = False,
        draw: Callable[[], Draw | None] = lambda: None,
    ) -> None:
        self.P, self.tol, self.exactly, self.draw = P, tol, exactly, draw
        xp = namespace(P)
        self.ones = xp.ones_like(P[0, :]) if P.shape[0] else xp.sum(P, axis=0) + 1.0
        self.last: SubspaceSolution | None = None
        self._size = xp.sum(P * P, axis=0)

    def packing(self, u: Rows, tau: float = LONG) -> SubspaceSolution:
        """The packing SDP with weights u: one proximal step of length tau from w = 1."""
        problem = Projection.proximal(u, self.ones, tau)
        gap = self.tol * total(u)
        return self._project(problem, lambda *_: gap, None, self.exactly or tau >= LONG)

    def least_squares(self, u: Rows, loosely: bool = False) -> SubspaceSolution:
        """The constrained least squares with weights u, from where the last one ended."""
        problem = Projection.least_squares(u)
        tol = max(self.tol, 1e-2) if loosely else self.tol
        least = 1e-3 * u.shape[0]

        def gap(solved: Projection, w: Rows | None) -> float:
            value = solved.scale if w is None else solved.objective(w)
            return float(tol * max(value, least))

        self.last = self._project(problem, gap, self.last, self.exactly)
        return self.last

    def project(self, t: Rows, s: Rows) -> SubspaceSolution:
        """The weighted projection of t in the metric s."""
        return self._project(
            Projection(t, s), lambda solved, _: self.tol * solved.scale, None, self.exactly
        )

    @cached_property
    def _sketch(self) -> Sketch:
        """The rows that stand for all."""
        k = max(2, self.P.shape[0])
        enough = SKETCH_LOOSELY * k if self.tol >= LOOSE else SKETCH_ROWS
        return Sketch.of(self._size, min(SKETCH_ROWS, enough), self.draw())

    @cached_property
    def _sketched(self) -> Array:
        """P of these rows."""
        return self._sketch.sampled(self.P) * np.sqrt(self._sketch.copies)

    @cached_property
    def _hopeless(self) -> Rows | None:
        """The rows that are too far out for any weight, if there are some."""
        hopeless = self._size > HOPELESS
        return hopeless if some(hopeless) else None

    def _project(
        self, problem: Projection, gap: Gap, start: SubspaceSolution | None, exactly: bool
    ) -> SubspaceSolution:
        xp, k = namespace(self.P), self.P.shape[0]
        if k == 0:
            return SubspaceSolution(xp.clip(problem.t, 0.0, 1.0), np.empty((0, 0)))
        if self._hopeless is not None:
            return self._without(self._hopeless, problem, gap, exactly)
        if k == 1:
            return self._along(problem, gap, start)
        warm = None if start is None else start.iterate
        known = None if warm is None else warm.weights()
        if exactly or self.ones.shape[0] <= SKETCH_ROWS:
            few = Projection(on_host(problem.t), on_host(problem.s))
            iterate = interior.solve(on_host(self.P), few, gap(few, known), warm)
            return SubspaceSolution(like(iterate.weights(), self.P), iterate.S, iterate)
        few = self._sketch.problem(problem)
        gap_tol = max(gap(few, known), SKETCH_GAP * few.scale)
        iterate = interior.solve(self._sketched, few, gap_tol, warm)
        return SubspaceSolution(*self._lifted(problem, iterate.S), iterate)

    def _along(
        self, problem: Projection, gap: Gap, start: SubspaceSolution | None
    ) -> SubspaceSolution:
        """One direction: the exact solution, from that of the sketch if there is one."""
        first = 1.0 if start is None else float(start.S[0, 0])
        gap_tol = gap(problem, None if start is None else start.weights)
        if self.ones.shape[0] > SKETCH_ROWS:
            size = self._sketched[0] ** 2
            first, _ = _root(size, self._sketch.problem(problem), gap_tol, first)
        multiplier, w = _root(self._size, problem, gap_tol, first)
        return SubspaceSolution(w, np.array([[multiplier]]))

    def _lifted(self, problem: Projection, S: Array) -> tuple[Rows, Array]:
        """All weights under the multiplier of a sketch, which is raised to meet the budget."""
        q = scores(self.P, S)

        def excess(factor: float) -> float:
            w = problem.weights(factor * q)
            return float(np.linalg.eigvalsh(second_moment(self.P, w))[-1]) - 1.0

        low, high = 1.0, 1.0
        while excess(high) > SKETCH_SLACK:
            low, high = high, 1.1 * high
        while high - low > SKETCH_RAISE * low:
            middle = (low + high) / 2.0
            low, high = (middle, high) if excess(middle) > SKETCH_SLACK else (low, middle)
        return problem.weights(high * q), high * S

    def _without(
        self, hopeless: Rows, problem: Projection, gap: Gap, exactly: bool
    ) -> SubspaceSolution:
        """Solve for the other rows; then price the hopeless ones out, at next to no cost to those.

        A direction p p^T / |p|^4 gives the row p a score of 1 and others about |p|^-2 of that.
        """
        xp = namespace(self.P)
        rest = SubspaceSolver(xp.where(hopeless, 0.0, self.P), self.tol, draw=self.draw)
        target = Projection(xp.where(hopeless, 0.0, problem.t), problem.s)
        answer = rest._project(target, gap, None, exactly)
        far = among(self.P, hopeless)
        far = far / xp.sum(far * far, axis=0)
        price = 2.0 * max(1.0, highest(scores(rest.P, answer.S)))
        weights = xp.where(hopeless, 0.0, answer.weights)
        return SubspaceSolution(weights, answer.S + price * on_host(far @ far.T))


def _root(p2: Rows, problem: Projection, gap_tol: float, first: float) -> tuple[float, Rows]:
    """One direction: the root of the decreasing  sum_i p_i^2 clip(t_i - x p_i^2 / s_i, 0, 1) - 1.

    Newton's method inside a bracket; the function is piecewise linear.
    """
    xp = namespace(p2)
    steep = p2 / problem.s
    low, high = 0.0, np.inf
    x = first if first > 0.0 else 1.0
    for _ in range(200):
        free = problem.t - x * steep
        w = xp.clip(free, 0.0, 1.0)
        curvature = xp.where(w == free, p2 * steep, 0.0)
        spent, slope = on_host(xp.stack([p2 @ w, xp.sum(curvature)])).tolist()  # one wait for both
        over = spent - 1.0
        newton = x + over / slope if slope > 0.0 else np.inf
        # Of the duality gap only the complementarity |over| x is not zero.
        settled = abs(over) * x <= gap_tol and over <= interior.FEASIBLE
        if over < 0.0 and low == 0.0 and (settled or not 0.0 < newton < x):
            free = xp.clip(problem.t, 0.0, 1.0)
            if float(p2 @ free) <= 1.0:  # the constraint binds nothing
                return 0.0, free
        if settled:
            break
        low, high = (x, high) if over > 0.0 else (low, x)
        if not low < newton < min(high, 10.0 * x):
            newton = 10.0 * x if high == np.inf else (low + high) / 2.0
        if newton in (low, high):
            break
        x = newton
    return x, w


@dataclass(frozen=True)
class Solved:
    """A problem solved in the whole space, as closely as the oracle was asked to look."""

    weights: Rows
    S: Array
    """Multiplier in the subspace; diagonal."""
    subspace: Subspace
    checked: Rows
    """The weights for which the budget was checked, and their spectrum."""
    spectrum: Spectrum


def cutting_planes(
    reduced: Callable[[Rows], SubspaceSolution],
    oracle: Oracle,
    center: Array,
    budget: float,
    subspace: Subspace,
    *,
    first: SubspaceSolution | None = None,
    checked: Callable[[Rows, SubspaceSolution], Rows] = lambda P, answer: answer.weights,
    slack: float,
    max_passes: int,
    max_rounds: int,
    trim: float = 1e-6,
) -> Solved:
    """Solve within a subspace, extend it by what breaks the budget, until nothing does.

    Parameters
    ----------
    reduced : callable
        Solves the problem for given rows P.
    oracle : Oracle
    center, budget
        The packing set W(center, budget).
    subspace : Subspace
        The first directions.
    first : SubspaceSolution, optional
        The answer within these, if it is known.
    checked : callable
        The weights for which the budget has to hold, given the rows P and the answer.
    slack : float
        The relative amount by which the budget may be exceeded.
    max_passes : int
        The most passes that the oracle may take for one answer.
    max_rounds : int
        The most times that the problem is solved.
    trim : float
        Directions whose share of the multiplier is below it leave the subspace.
    """
    limit = budget * (1.0 + slack)

    def settled(values: Array, residuals: Array, bound: float) -> bool:
        theta, residual = float(values[0]), float(residuals[0])
        if theta > limit:
            return residual <= 0.5 * (theta - budget)
        # What has not been found yet lies above theta by about residual^2 / gap.
        gap = max(theta - float(values[-1]), residual)
        room = max(limit - theta, slack * budget)
        return theta + residual < limit or residual**2 <= 0.3 * room * gap

    for n_round in range(1, max_rounds + 1):
        P = subspace.seen_from(center, budget)
        answer = reduced(P) if first is None or n_round > 1 else first
        weights = checked(P, answer)
        spectrum = oracle(center, weights, settled, max_passes)
        trimmed, S = subspace.trimmed(answer.S, P, trim)
        if spectrum.values[0] <= limit or n_round == max_rounds:
            break
        subspace = trimmed.extended(spectrum, spectrum.values > budget, center)
    return Solved(answer.weights, S, trimmed, weights, spectrum)
