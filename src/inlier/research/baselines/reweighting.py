"""Weights of least variance over the capped simplex { w : sum_i w_i = 1, 0 <= w_i <= cap }."""

from dataclasses import KW_ONLY, replace

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier.l0.problem import Subspace, scores
from inlier.l0.subspace import SubspaceSolver, cutting_planes
from inlier.research.baselines.base import Answer, Baseline, Run


def nearest_point(w: Array, cap: float) -> Array:
    """Return the Euclidean projection of w onto the capped simplex.

    It is clip(w - t, 0, cap). The sum is piecewise linear and decreasing in t, with kinks where an
    entry reaches a bound: interpolate between them.
    """
    kinks = np.concatenate([w - cap, w])
    order = np.argsort(kinks, kind="stable")
    inside = np.cumsum(np.where(order < len(w), 1, -1))  # entries between the bounds after a kink
    fallen = np.cumsum(inside[:-1] * np.diff(kinks[order]))
    t = np.interp(len(w) * cap - 1.0, np.append(0.0, fallen), kinks[order])
    return np.asarray(np.clip(w - t, 0.0, cap))


def nearest_distribution(w: Array, cap: float) -> Array:
    """Return the projection of w onto the capped simplex in relative entropy.

    It is min(c w, cap): the largest entries are at the cap, the others in proportion. All numbers
    of capped entries are tried, from none, on the sorted entries.
    """
    order = np.argsort(w)[::-1]
    rest = np.cumsum(w[order][::-1])[::-1]  # sums without the largest entries
    capped = np.arange(len(w))
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = (1.0 - cap * capped) / rest
    fits = (scales * w[order] <= cap) & np.isfinite(scales) & (scales >= 0.0)
    first = int(np.argmax(fits)) if fits.any() else len(w)
    out = np.full(len(w), cap)
    if first < len(w):
        out[order[first:]] = scales[first] * w[order[first:]]
    return out


# Length of the proximal step: nearly optimal, with weights as equal as possible. The exact optimum
# uses the slack of the norm bound to keep outliers.
TAU = 0.3
# Relative duality gap, and excess over the budget, of the inner problems.
GAP = 1e-3
SLACK = 0.02
# Largest factor between successive budgets.
MAX_FACTOR = 4.0
# Converged if the center moves by less, in standard deviations.
CENTER_TOL = 0.01


class ChengDiakonikolasGe(Baseline):
    """Minimise the largest variance of the weighted rows over the capped simplex.

    That is ::

        min_w  lambda_max( sum_i w_i (y_i - x)(y_i - x)^T )
        over  sum_i w_i = 1,  0 <= w_i <= 1 / ((1 - alpha) n),   with x = sum_i w_i y_i

    For fixed x this is the l1 problem of this library with constraint and objective exchanged: the
    least budget B that admits weights of mass (1 - alpha) n. B is found by Newton's method, with
    the multiplier as derivative, and x moves to the weighted mean in each step. Any w whose norm is
    O(sigma^2) has an error of O(sigma sqrt(alpha)). About 20 passes.

    The paper solves a packing and covering SDP approximately and stops once the norm is below a
    multiple of sigma^2. Here the norm is minimised, so sigma is not needed. The location is the
    mean of the rows that keep more than half of their weight.

    References
    ----------
    Cheng, Diakonikolas and Ge (2019), High-dimensional robust mean estimation in nearly-linear
    time, SODA, arXiv:1811.09380, section 2.
    """

    name = "cdg"
    paper = "Cheng, Diakonikolas and Ge (2019)"

    alpha: float | None = None
    _: KW_ONLY
    tol = 0.002  # of the mass, as a fraction of the rows
    max_iter = 50  # Newton steps in the budget
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        n, oracle, center = run.n, run.oracle, run.center
        target = float(n - run.n_bad)
        spectrum = oracle.top_rough(center, np.ones(n))
        budget = float(spectrum.values[0]) / MAX_FACTOR
        if target == n or budget == 0.0:
            return Answer(np.ones(n), run.distances)
        subspace = Subspace.empty(run.table, center).extended(
            spectrum, spectrum.values > budget, center
        )
        n_iter, converged = 0, False
        while not converged and n_iter < self.max_iter:
            n_iter += 1
            solved = cutting_planes(
                lambda P: SubspaceSolver(P, GAP, exactly=True).l1(TAU),
                oracle, center, budget, subspace,
                slack=SLACK, max_passes=3, max_rounds=6, trim=1e-4,
            )  # fmt: skip
            weights, subspace, spectrum = solved.weights, solved.subspace, solved.spectrum
            mass = max(float(weights.sum()), 1.0)
            move = spectrum.drift / mass
            still = float(np.linalg.norm(move)) <= CENTER_TOL * np.sqrt(budget / mass)
            converged = still and abs(mass - target) <= max(1.0, self.tol * n)
            q = scores(subspace.scaled_projections(center, budget), solved.S)
            # d mass / d ln(budget) is the trace of the multiplier.
            change = (target - mass) / max(float(np.trace(solved.S)), 1e-9)
            most = np.log(MAX_FACTOR)
            lowered = budget * float(np.exp(np.clip(change, -most, most)))
            if lowered < budget:
                subspace = subspace.extended(spectrum, spectrum.values > lowered, center)
            center, budget = center + move, lowered
        message = "" if converged else f"The budget was still moving after {n_iter} steps."
        kept = np.where(weights > 0.5, 1.0, 0.0)
        return Answer(kept, q, None, n_iter, converged, message)


# A failed step is followed by one of a quarter of its length; give up after this many in a row.
MAX_FAILURES = 4
# Clip gradients at this multiple of the largest one among rows with positive weight.
GRADIENT_CLIP = 10.0


class ProjectedGradient(Baseline):
    """Minimise the largest variance of the weighted rows by gradient steps on their weights.

    That is ::

        min_w  lambda_max( sum_i w_i (y_i - mean_w)(y_i - mean_w)^T )
        over the capped simplex  sum_i w_i = 1,  0 <= w_i <= 1 / ((1 - alpha) n)

    The gradient is (v^T (y_i - mean_w))^2 for the top eigenvector v. Any stationary point has an
    error of O(sqrt(alpha)). Two passes for each step, up to nine with more than 256 columns.

    As in the authors' code, the gradient is normalised, and the step length is doubled after a
    success and quartered after a failure. A success lowers the variance by the fraction `tol`:
    minimising further would return weight to outliers within the bound.

    References
    ----------
    Cheng, Diakonikolas, Ge and Soltanolkotabi (2020), High-dimensional robust mean estimation via
    gradient descent, ICML, arXiv:2005.01378, Algorithm 1.
    """

    name = "projected-gradient"
    paper = "Cheng, Diakonikolas, Ge and Soltanolkotabi (2020)"

    alpha: float | None = None
    _: KW_ONLY
    tol = 0.01  # smallest relative decrease of the variance in a successful step
    max_iter = 100
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        n, n_good = run.n, run.n - run.n_bad
        weights, step = np.full(n, 1.0 / n), 1.0 / n
        spread = run.spread(weights)
        failures, n_iter = 0, 0
        while failures < MAX_FAILURES and n_iter < self.max_iter and n_good < n:
            if spread.variance == 0.0:
                break
            n_iter += 1
            gradient = spread.projected**2 / spread.variance
            # A distant row of weight zero would shorten all steps.
            gradient = np.minimum(gradient, GRADIENT_CLIP * gradient[weights > 0.0].max())
            length = float(np.linalg.norm(gradient))
            new = nearest_point(weights - step * gradient / length, 1.0 / n_good)
            found = run.spread(new)
            if found.variance < (1.0 - self.tol) * spread.variance:
                weights, spread, step, failures = new, found, 2.0 * step, 0
            elif found.variance < spread.variance and failures == 0 and step < 1.0:
                step = 2.0 * step  # too short to gain much
            else:
                step, failures = step / 4.0, failures + 1
        converged = n_iter < self.max_iter or failures == MAX_FAILURES
        message = "" if converged else f"The variance was still falling after {n_iter} steps."
        return Answer(weights, spread.projected**2, spread.mean, n_iter, converged, message)


# Relative to the cap: a smaller weight could never recover.
MIN_WEIGHT = 1e-12
# Relative to the cap: rows below it do not scale the step.
NEGLIGIBLE = 1e-9


class SpectralReweighting(Baseline):
    """Minimise the largest variance of the weighted rows by multiplicative weights.

    Each round multiplies the weights by 1 - step tau_i / max_j tau_j, with tau_i = (v^T (y_i -
    mean_w))^2 along the direction v of largest variance, and projects them, in relative entropy,
    onto the capped simplex w_i <= 1 / ((1 - alpha) n). The regret bounds the variance of the best
    round, which is returned, by that of the good rows. Two passes for each round, up to nine with
    more than 256 columns. It stops after `patience` rounds without an improvement by 1%.

    References
    ----------
    Hopkins, Li and Zhang (2020), Robust and heavy-tailed mean estimation made simple, via regret
    minimization, NeurIPS, arXiv:2007.15839, Algorithm 3.
    """

    name = "spectral-reweighting"
    paper = "Hopkins, Li and Zhang (2020)"

    alpha: float | None = None
    _: KW_ONLY
    step = 1.0  # the proof has 1/2
    patience = 10
    max_iter = 200
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        cap = 1.0 / (run.n - run.n_bad)
        weights = np.full(run.n, 1.0 / run.n)
        best, lowest, since, ended, n_iter = None, np.inf, 0, False, 0
        while n_iter < self.max_iter:
            n_iter += 1
            spread = run.spread(weights)
            since = 0 if spread.variance < 0.99 * lowest else since + 1
            if spread.variance < lowest:
                best, lowest = Answer(weights, spread.projected**2, spread.mean), spread.variance
            # A distant row of negligible weight would leave all others unchanged.
            top = float((spread.projected[weights > NEGLIGIBLE * cap] ** 2).max())
            ended = since >= self.patience or top == 0.0 or cap * run.n <= 1.0
            if ended:
                break
            shares = np.minimum(spread.projected**2 / top, 1.0)
            lowered = np.maximum(weights * (1.0 - self.step * shares), MIN_WEIGHT * cap)
            weights = nearest_distribution(lowered, cap)
        assert best is not None
        message = "" if ended else f"The variance was still falling after {n_iter} steps."
        return replace(best, n_iter=n_iter, converged=ended, message=message)
