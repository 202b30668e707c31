"""Quantum entropy scoring (QUE)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number, check_whole
from inlier.baselines.base import Answer, Baseline, Run, Spread, gave_up, gone, variance_limit
from inlier.linalg.eigenpairs import DENSE

TINY = float(np.finfo(np.float64).tiny)


@dataclass(eq=False, repr=False)
class QuantumEntropy(Baseline):
    """While rows vary by more than sigma in some direction, those of largest entropy score leave.

    The score looks at all directions of large variance at once: tau_i = a_i^T U a_i with a_i = y_i
    - mean and U = exp(beta Sigma / ||Sigma||) / tr(exp(...)), which is the distance for beta = 0
    and the top eigenvector alone for large beta. Up to 256 columns U is formed; above, exp(beta
    Sigma / 2 ||Sigma||) is applied to `n_sketches` random vectors by its power series, a pass for a
    term, and tau_i estimated from what rows show along the results. Two passes for a round, about
    twenty with more than 256 columns.

    The authors' code removes alpha n / 2 rows a round. Here it is a fixed fraction of all rows, so
    that alpha need not be known and the last round does not take too many. Covariances are
    normalised by their norm: scores do not depend on units. Eigenvalues come from a Krylov space,
    where the code has five power iterations.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    beta : float, default=4.0
        Inverse temperature, the authors' alpha; 4 is their choice.
    batch : float, default=0.02
        The fraction of the rows that leaves in a round.
    n_sketches : int, default=30
        Random vectors with more than 256 columns.
    random_state : int, Generator, RandomState or None, default=0
        Of the random vectors and the eigenvectors' start.

    References
    ----------
    Dong, Hopkins and Li (2019), Quantum entropy scoring for fast robust mean estimation and
    improved outlier detection, NeurIPS, arXiv:1906.11366, equation (3) and section 3.
    """

    name = "que"
    needs = ("sigma",)
    paper = "Dong, Hopkins and Li (2019)"

    sigma: float | None = None
    _: KW_ONLY
    beta: float = 4.0
    batch: float = 0.02
    n_sketches: int = 30
    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        check_number(self.beta, "beta", at_most=100.0)
        check_number(self.batch, "batch", below=0.5)
        check_whole(self.n_sketches, "n_sketches")

    def _estimate(self, run: Run) -> Answer:
        limit = variance_limit(run.sigma)
        leaving = max(1, round(self.batch * run.n))
        weights, scores = np.ones(run.n), np.zeros(run.n)
        n_iter = 0
        while True:
            if run.d <= DENSE:
                spread, tau = self._exactly(run, weights)
            else:
                spread, tau = run.spread(weights), None
            run.record("scoring", weights, spread.variance, limit)
            if spread.variance <= limit:
                return Answer(
                    weights, scores if n_iter else spread.projected**2, spread.mean, n_iter
                )
            tau = self._sketched(run, weights, spread) if tau is None else tau
            scores = np.where(weights > 0.0, tau, scores)
            left = weights.copy()
            left[np.argsort(np.where(weights > 0.0, tau, -1.0), kind="stable")[-leaving:]] = 0.0
            if gone(left, run.n):
                return gave_up(weights, scores, n_iter)
            weights, n_iter = left, n_iter + 1

    def _exactly(self, run: Run, weights: Array) -> tuple[Spread, Array]:
        """The direction of largest variance, and tau from the whole spectrum."""
        mean = run.mean(weights)
        spectrum = run.oracle.densely(mean, weights, run.d)
        values, projected = spectrum.values, spectrum.projections
        exponential = np.exp(self.beta * (values / max(values[0], TINY) - 1.0))
        tau = (exponential / exponential.sum()) @ projected**2
        variance = float(values[0]) / float(weights.sum())
        return Spread(mean, variance, spectrum.vectors[0], projected[0]), np.asarray(tau)

    def _sketched(self, run: Run, weights: Array, spread: Spread) -> Array:
        """tau, from the exponential applied to random vectors."""
        half = self.beta / (2.0 * spread.variance * float(weights.sum()))
        term = total = run.random.standard_normal((self.n_sketches, run.d))
        for power in range(1, self._n_terms()):
            term = run.table.moment(spread.mean, weights, term, drift=False).image * (half / power)
            total = total + term
        projected = run.table.project(spread.mean, total)
        return np.asarray((projected**2).sum(axis=0) / float((total**2).sum()))

    def _n_terms(self) -> int:
        """Terms of the power series of exp(beta / 2), the largest entry, to a relative 1e-3."""
        term, n_terms = 1.0, 1
        while n_terms < self.beta / 2.0 or term > 1e-3 * np.exp(self.beta / 2.0):  # they grow first
            term *= self.beta / (2.0 * n_terms)
            n_terms += 1
        return n_terms
