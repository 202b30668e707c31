"""The weighted projection onto the packing set within a subspace, and cutting planes around it.

    project(t, s):   min_w  1/2 sum_i s_i (w_i - t_i)^2   s.t.  w in W(x, B)

The dual optimum has low rank, so a problem is solved within a subspace of few directions, at the
cost of no pass. Then an oracle searches the whole space for a direction in which the solution
violates the budget. A violating direction joins the subspace, and the problem is solved again. A
subspace relaxes the constraint: rows that cannot be kept there cannot be kept at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from inlier._internal.arrays import (
    among,
    any_true,
    constant_like,
    highest,
    like,
    namespace,
    on_host,
    total,
)
from inlier._internal.typing import Array, Rows
from inlier.l0 import interior_point as interior
from inlier.l0.problem import Projection, Subspace, parts, scores, second_moment
from inlier.linalg.eigenpairs import Oracle, RowSampling, Spectrum

# A row whose squared norm exceeds the budget by this factor has no weight: it would spoil the
# arithmetic of the others.
EXCLUDED = 1e8
# A proximal step this long solves the packing SDP to a relative error of half its inverse.
FULL_STEP = 1e7
# Above this number of rows, solve on a weighted subsample; the budget is still checked on all rows.
SKETCH_ROWS = 1 << 12
# Above this number of directions, rough solutions have linear constraints, if there are enough rows
# for what is left of them to have these principal directions too.
FEW_DIRECTIONS, ROWS_PER_DIRECTION = 6, 16
# Relative precision of what a subsample gives, below its sampling error: its duality gap, and the
# factor by which its multiplier is scaled.
SKETCH_PRECISION = 5e-3
# Excess over the budget on all rows above which the multiplier of a subsample is raised, and
# shortfall below which it is lowered: too large a multiplier would cost good rows.
SKETCH_SLACK = 1e-3


@dataclass(frozen=True)
class SubspaceSolution:
    """Solution of a problem within a subspace."""

    weights: Rows
    S: Array
    """k x k multiplier of the matrix constraint."""
    iterate: interior.Iterate | None = None
    """Warm start for a similar problem."""


@dataclass(frozen=True)
class Sketch:
    """A subsample of the rows, with inverse probabilities as weights."""

    rows: Rows
    """Indices of the sampled rows."""
    copies: Array
    """Number of rows that each represents."""

    @classmethod
    def of(cls, size: Rows, count: int, draw: RowSampling | None = None) -> Sketch:
        """Sample one row from each stratum; half of its probability is proportional to its size.

        So a row that takes much of the budget is sampled even if few rows are like it, and a sum of
        sizes has a relative error of about 1 / sqrt(count). The sample does not depend on the
        order of the rows.
        """
        xp, n = namespace(size), size.shape[0]
        if draw is None:
            draw = RowSampling(0, xp.argsort(size))
        whole = xp.clip(xp.sum(size), float(np.finfo(np.float64).tiny), None)
        chance = 0.5 / n + size * (0.5 / whole)
        edges = xp.cumulative_sum(xp.take(chance, draw.order))
        points = (np.arange(count) + np.random.default_rng(draw.seed).random(count)) / count
        places = xp.searchsorted(edges, like(points, size) * edges[-1])
        rows = xp.take(draw.order, xp.clip(places, 0, n - 1))
        return cls(rows, 1.0 / (count * on_host(xp.take(chance, rows))))

    def sampled(self, *rows: Rows) -> Array:
        """Gather entries of the sampled rows on the host, with one device synchronisation."""
        xp = namespace(rows[0])
        return on_host(xp.concat([xp.take(x, self.rows, axis=-1) for x in rows], axis=0))

    def problem(self, problem: Projection) -> Projection:
        """Restrict a problem to the subsample."""
        t, s = self.sampled(problem.t[None, :], problem.s[None, :])
        return Projection(t, s * self.copies)


# Tolerance on the duality gap, given the problem and the weights of its warm start, if any.
Gap = Callable[[Projection, Rows | None], float]


class SubspaceSolver:
    """Solve problems over the packing set of rows P, projected onto k directions.

    To a duality gap of `tol`, relative to the objective at w = 0. Above `SKETCH_ROWS` rows it is
    the gap of a subsample, which `draw` is called for; the solution satisfies the budget of all
    rows and may be short of the optimum. With `exactly`, and in a full proximal step, all rows are
    always used; with `roughly`, many directions have linear constraints instead of a matrix.
    """

    def __init__(
        self,
        P: Rows,
        tol: float,
        exactly: bool = False,
        draw: Callable[[], RowSampling | None] = lambda: None,
        roughly: bool = False,
    ) -> None:
        self.P, self.tol, self.exactly, self.draw = P, tol, exactly, draw
        k, n = P.shape
        self.roughly = roughly and k > FEW_DIRECTIONS and n >= ROWS_PER_DIRECTION * k
        xp = namespace(P)
        self.ones = constant_like(P[0, :], 1.0) if P.shape[0] else xp.sum(P, axis=0) + 1.0
        self.last: SubspaceSolution | None = None

    def packing(self, u: Rows, tau: float = FULL_STEP) -> SubspaceSolution:
        """Solve the packing SDP with weights u by one proximal step of length tau from w = 1."""
        problem = Projection.proximal(u, self.ones, tau)
        gap = self.tol * total(u)
        exactly = self.exactly or tau >= FULL_STEP
        return self._project(problem, lambda *_: gap, None, exactly)

    def l1(self, tau: float) -> SubspaceSolution:
        """Approach the l1 solution by a short proximal step."""
        return self.packing(self.ones, tau)

    def least_squares(self, u: Rows, loosely: bool = False) -> SubspaceSolution:
        """Solve the constrained least squares with weights u, warm-started from the last one."""
        problem = Projection.least_squares(u)
        tol = max(self.tol, 1e-2) if loosely else self.tol
        least = 1e-3 * u.shape[0]  # below this objective, gaps are no longer relative to it

        def gap(solved: Projection, w: Rows | None) -> float:
            value = solved.scale if w is None else solved.objective(w)
            return float(tol * max(value, least))

        self.last = self._project(problem, gap, self.last, self.exactly, lowered=True)
        return self.last

    def project(self, t: Rows, s: Rows) -> SubspaceSolution:
        """Project t onto the packing set in the metric s."""
        return self._project(
            Projection(t, s), lambda solved, _: self.tol * solved.scale, None, self.exactly
        )

    @cached_property
    def _size(self) -> Rows:
        """Squared norms."""
        return namespace(self.P).sum(self.P * self.P, axis=0)

    @cached_property
    def _sketch(self) -> Sketch:
        # A loose problem takes fewer rows for each direction: `make bench-scale` measured both.
        enough = (1 << 10) * max(2, self.P.shape[0]) if self.tol >= 1e-3 else SKETCH_ROWS
        most = SKETCH_ROWS // 2 if self.roughly else SKETCH_ROWS
        return Sketch.of(self._size, min(most, enough), self.draw())

    @cached_property
    def _sketched(self) -> Array:
        """P of the subsample."""
        return self._sketch.sampled(self.P) * np.sqrt(self._sketch.copies)

    @cached_property
    def _excluded(self) -> Rows | None:
        """The rows too far out for any weight, if there are any."""
        excluded = self._size > EXCLUDED
        return excluded if any_true(excluded) else None

    def _project(
        self,
        problem: Projection,
        gap: Gap,
        start: SubspaceSolution | None,
        exactly: bool,
        lowered: bool = False,
    ) -> SubspaceSolution:
        xp, k = namespace(self.P), self.P.shape[0]
        if k == 0:
            return SubspaceSolution(xp.clip(problem.t, 0.0, 1.0), np.empty((0, 0)))
        if self._excluded is not None:
            return self._without(self._excluded, problem, gap, exactly)
        if k == 1:
            return self._scalar(problem, gap, start)
        warm = None if start is None else start.iterate
        known = None if warm is None else warm.weights()
        if self.roughly:
            return self._rough(problem, gap)
        if exactly or self.ones.shape[0] <= SKETCH_ROWS:
            host = Projection(on_host(problem.t), on_host(problem.s))
            iterate = interior.solve(on_host(self.P), host, gap(host, known), warm)
            return SubspaceSolution(like(iterate.weights(), self.P), iterate.S, iterate)
        sketch = self._sketch.problem(problem)
        gap_tol = max(gap(sketch, known), SKETCH_PRECISION * sketch.scale)
        iterate = interior.solve(self._sketched, sketch, gap_tol, warm)
        return SubspaceSolution(*self._lifted(problem, iterate.S, lowered), iterate)

    def _rough(self, problem: Projection, gap: Gap) -> SubspaceSolution:
        """Solve with a linear constraint along each principal direction, then meet the budget."""
        if self.ones.shape[0] <= SKETCH_ROWS // 2:
            P, sketch = on_host(self.P), Projection(on_host(problem.t), on_host(problem.s))
        else:
            P, sketch = self._sketched, self._sketch.problem(problem)
        axes = np.linalg.eigh(second_moment(P, np.ones(P.shape[1])))[1]
        gap_tol = max(gap(sketch, None), SKETCH_PRECISION * sketch.scale)
        iterate = interior.solve(axes.T @ P, sketch, gap_tol, diagonal=True)
        return SubspaceSolution(*self._lifted(problem, axes @ iterate.S @ axes.T, True))

    def _scalar(
        self, problem: Projection, gap: Gap, start: SubspaceSolution | None
    ) -> SubspaceSolution:
        """Solve for one direction exactly, starting from the subsample if there is one."""
        first = 1.0 if start is None else float(start.S[0, 0])
        gap_tol = gap(problem, None if start is None else start.weights)
        if self.ones.shape[0] > SKETCH_ROWS:
            size = self._sketched[0] ** 2
            first, _ = _root(size, self._sketch.problem(problem), gap_tol, first)
        multiplier, w = _root(self._size, problem, gap_tol, first)
        return SubspaceSolution(w, np.array([[multiplier]]))

    def _lifted(self, problem: Projection, S: Array, lowered: bool) -> tuple[Rows, Array]:
        """Scale the multiplier of a subsample until the weights of all rows meet the budget.

        It is raised if they exceed it and, if it may be lowered, until they spend it.
        """
        q, slack, step = scores(self.P, S), SKETCH_SLACK, 1.1
        low = high = 1.0
        least = most = _moment(self.P, problem, q)
        while _excess(most) > slack:
            low, least, high = high, most, step * high
            most, step = _moment(self.P, problem, high * q), step * step
        while lowered and _excess(least) < -slack and low > 0.6:  # a sample is not that far off
            high, most, low = low, least, low / step
            least, step = _moment(self.P, problem, low * q), step * step
        if _excess(least) <= slack:  # no row is left to spend it on
            high = low
        elif high - low > SKETCH_PRECISION * high:
            high = self._between(problem, q, (low, high), (least, most))
        return problem.weights(high * q), high * S

    def _between(
        self, problem: Projection, q: Rows, factors: tuple[float, float], moments: tuple[Array, ...]
    ) -> float:
        """Return the least factor between two, of known second moments, that meets the budget.

        Weights are linear in the factor but for the rows that reach 0 or 1 in between. By
        bisection: scipy's root finders leave reference cycles that hold device memory.
        """
        low, high = factors

        def has_kink(part: slice) -> Rows:
            own = problem.of(part)
            first, last = (own.t - factor * q[part] / own.s for factor in factors)
            return ((first > 0.0) & (last < 0.0)) | ((first > 1.0) & (last < 1.0))

        kinked = namespace(q).concat([has_kink(part) for part in parts(q)])
        P, q, few = among(self.P, kinked), q[kinked], problem.of(kinked)
        first, last = (
            moment - _moment(P, few, factor * q)
            for factor, moment in zip(factors, moments, strict=True)
        )
        while high - low > SKETCH_PRECISION * high:
            factor = (low + high) / 2.0
            part = (factor - factors[0]) / (factors[1] - factors[0])
            moment = first + part * (last - first) + _moment(P, few, factor * q)
            over = _excess(moment) > SKETCH_SLACK
            low, high = (factor, high) if over else (low, factor)
        return high

    def _without(
        self, excluded: Rows, problem: Projection, gap: Gap, exactly: bool
    ) -> SubspaceSolution:
        """Solve for the other rows, then raise the multiplier until excluded rows have no weight.

        A term p p^T / |p|^4 gives the row p a score of 1 and others about |p|^-2 of that.
        """
        xp = namespace(self.P)
        rest = SubspaceSolver(xp.where(excluded, 0.0, self.P), self.tol, draw=self.draw)
        target = Projection(xp.where(excluded, 0.0, problem.t), problem.s)
        solution = rest._project(target, gap, None, exactly)
        far = among(self.P, excluded)
        far = far / xp.sum(far * far, axis=0)
        price = 2.0 * max(1.0, highest(scores(rest.P, solution.S)))
        weights = xp.where(excluded, 0.0, solution.weights)
        return SubspaceSolution(weights, solution.S + price * on_host(far @ far.T))


def _moment(P: Rows, problem: Projection, q: Rows) -> Array:
    """Compute the second moment of the rows, with the weights that scores q give them."""
    moments = [second_moment(P[:, part], problem.of(part).weights(q[part])) for part in parts(q)]
    return np.asarray(sum(moments))


def _excess(moment: Array) -> float:
    """Return by how much a second moment in units of the budget exceeds it."""
    return float(np.linalg.eigvalsh(moment)[-1]) - 1.0


def _root(p2: Rows, problem: Projection, gap_tol: float, first: float) -> tuple[float, Rows]:
    """Find the root of the decreasing  sum_i p_i^2 clip(t_i - x p_i^2 / s_i, 0, 1) - 1.

    The dual problem for one direction. Safeguarded Newton on a piecewise linear function.
    """
    low, high = 0.0, np.inf
    x = first if first > 0.0 else 1.0
    for _ in range(200):  # a safeguard: bisection alone ends sooner
        spent, slope = np.sum([_spent(p2[part], problem.of(part), x) for part in parts(p2)], axis=0)
        over = float(spent) - 1.0
        newton = x + over / float(slope) if slope > 0.0 else np.inf
        # The duality gap is the complementarity |over| x.
        has_converged = abs(over) * x <= gap_tol and over <= interior.FEASIBLE
        if over < 0.0 and low == 0.0 and (has_converged or not 0.0 < newton < x):
            unbound = [_spent(p2[part], problem.of(part), 0.0)[0] for part in parts(p2)]
            if sum(unbound) <= 1.0:  # the constraint is inactive
                return 0.0, namespace(p2).clip(problem.t, 0.0, 1.0)
        if has_converged:
            break
        low, high = (x, high) if over > 0.0 else (low, x)
        if not low < newton < min(high, 10.0 * x):
            newton = 10.0 * x if high == np.inf else (low + high) / 2.0
        if newton in (low, high):
            break
        x = newton
    return x, namespace(p2).clip(problem.t - x * (p2 / problem.s), 0.0, 1.0)


def _spent(p2: Rows, problem: Projection, x: float) -> list[float]:
    """Return sum_i p_i^2 w_i at a multiplier x, and how fast it falls with x."""
    xp = namespace(p2)
    steep = p2 / problem.s
    free = problem.t - x * steep
    w = xp.clip(free, 0.0, 1.0)
    curvature = xp.where(w == free, p2 * steep, 0.0)
    spent: list[float] = on_host(xp.stack([p2 @ w, xp.sum(curvature)])).tolist()  # one transfer
    return spent


@dataclass(frozen=True)
class CuttingPlaneSolution:
    """Solution in the whole space, to the slack that the oracle was given."""

    weights: Rows
    S: Array
    """Multiplier in the subspace; diagonal."""
    subspace: Subspace
    checked: Rows
    """The weights for which the budget was verified, and their spectrum."""
    spectrum: Spectrum


def cutting_planes(
    reduced: Callable[[Rows], SubspaceSolution],
    oracle: Oracle,
    center: Array,
    budget: float,
    subspace: Subspace,
    *,
    first: SubspaceSolution | None = None,
    checked: Callable[[Rows, SubspaceSolution], Rows] = lambda P, solution: solution.weights,
    slack: float,
    max_passes: int,
    max_rounds: int,
    hopeless: Callable[[Rows, Rows, Array], bool] = lambda P, w, S: False,
    trim: float = 1e-6,
) -> CuttingPlaneSolution:
    """Solve within a subspace, and extend it by violating directions until there are none.

    Parameters
    ----------
    reduced : callable
        Solves the problem for given rows P.
    first : SubspaceSolution, optional
        The solution within the first directions, if it is known.
    checked : callable
        Maps the rows P and a solution to the weights for which the budget has to hold.
    slack, max_passes, max_rounds
        Allowed: relative excess over the budget, passes of the oracle in a round, and rounds.
    hopeless : callable
        Whether the solution (w, S) for the rows P shows that more directions are not worth their
        cost.
    trim : float
        Directions with a smaller share of the multiplier are removed from the subspace.
    """
    limit = budget * (1.0 + slack)

    def has_converged(values: Array, residuals: Array, bound: float) -> bool:
        theta, residual = float(values[0]), float(residuals[0])
        if theta > limit:  # certainly, if the residual is well below the excess
            return residual <= 0.5 * (theta - budget)
        # The largest eigenvalue exceeds theta by about residual^2 / gap. `make bench` counts the
        # passes that this fraction of the slack costs.
        gap = max(theta - float(values[-1]), residual)
        room = max(limit - theta, slack * budget)
        return theta + residual < limit or residual**2 <= 0.3 * room * gap

    for n_round in range(1, max_rounds + 1):
        P = subspace.scaled_projections(center, budget)
        solution = reduced(P) if first is None or n_round > 1 else first
        weights = checked(P, solution)
        spectrum = oracle(center, weights, has_converged, max_passes)
        trimmed, S = subspace.trimmed(solution.S, P, trim)
        done = spectrum.values[0] <= limit or n_round == max_rounds
        if done or hopeless(P, solution.weights, solution.S):
            break
        subspace = trimmed.extended(spectrum, spectrum.values > budget, center)
    return CuttingPlaneSolution(solution.weights, S, trimmed, weights, spectrum)
