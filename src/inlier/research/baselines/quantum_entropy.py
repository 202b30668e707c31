"""Quantum entropy scoring (QUE)."""

from dataclasses import KW_ONLY
from itertools import count
from math import ceil

import numpy as np
from scipy.stats import poisson

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number, check_whole
from inlier.linalg.eigenpairs import DENSE
from inlier.research.baselines.base import Answer, Baseline, Run, Spread, is_minority, parameter


class QuantumEntropy(Baseline):
    """Remove the rows of largest entropy score until no variance exceeds sigma^2.

    The score weighs all directions of large variance: tau_i = a_i^T U a_i with a_i = y_i - mean and
    U = exp(beta Sigma / ||Sigma||) / tr(exp(...)). It is the squared distance for beta = 0 and uses
    the top eigenvector alone for large beta. Up to 256 columns U is formed; above, exp(beta Sigma /
    2 ||Sigma||) is applied to `n_sketches` random vectors by its power series, one pass a term, and
    tau_i is estimated from the rows' projections onto the results. Two passes for each round, about
    twenty with more than 256 columns.

    The authors' code removes alpha n / 2 rows a round. Here it is a fixed fraction of all rows, so
    that alpha is not needed. Covariances are normalised by their norm, so that scores do not depend
    on units. Eigenvalues come from a Krylov space instead of five power iterations.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    beta : float, default=4.0
        Inverse temperature, the authors' alpha; 4 is their choice.
    batch : float, default=0.02
        Fraction of the rows removed in each round.
    n_sketches : int, default=30
        Number of random vectors above 256 columns.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the random vectors and of the eigensolver's starting vectors.

    References
    ----------
    Dong, Hopkins and Li (2019), Quantum entropy scoring for fast robust mean estimation and
    improved outlier detection, NeurIPS, arXiv:1906.11366, equation (3) and section 3.
    """

    name = "que"
    paper = "Dong, Hopkins and Li (2019)"

    sigma: float | None = None
    _: KW_ONLY
    beta: float = parameter(4.0, check_number, at_most=100.0)
    batch: float = parameter(0.02, check_number, below=0.5)
    n_sketches: int = parameter(30, check_whole)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        limit = run.limit_of(run.sigma)
        leaving = max(1, round(self.batch * run.n))
        weights, scores = np.ones(run.n), np.zeros(run.n)
        n_iter = 0
        while True:
            if run.d <= DENSE:
                spread, tau = self._exact_scores(run, weights)
            else:
                spread, tau = run.spread(weights), None
            run.record("scoring", weights, spread.variance, limit)
            if spread.variance <= limit:
                scores = scores if n_iter else spread.projected**2
                return Answer(weights, scores, spread.mean, n_iter)
            tau = self._sketched_scores(run, weights, spread) if tau is None else tau
            scores = np.where(weights > 0.0, tau, scores)
            left = weights.copy()
            left[np.argsort(np.where(weights > 0.0, tau, -1.0), kind="stable")[-leaving:]] = 0.0
            if is_minority(left):
                return Answer.gave_up(weights, scores, n_iter)
            weights, n_iter = left, n_iter + 1

    def _exact_scores(self, run: Run, weights: Array) -> tuple[Spread, Array]:
        """Return the direction of largest variance, and tau from the whole spectrum."""
        mean = run.mean(weights)
        spectrum = run.oracle.top_dense(mean, weights, run.d)
        values, projected = spectrum.values, spectrum.projections
        largest = max(values[0], np.finfo(np.float64).tiny)
        exponential = np.exp(self.beta * (values / largest - 1.0))
        tau = (exponential / exponential.sum()) @ projected**2
        variance = float(values[0]) / float(weights.sum())
        return Spread(mean, variance, projected[0]), np.asarray(tau)

    def _sketched_scores(self, run: Run, weights: Array, spread: Spread) -> Array:
        """Estimate tau from the exponential applied to random vectors."""
        half = self.beta / (2.0 * spread.variance * float(weights.sum()))
        term = total = run.random.standard_normal((self.n_sketches, run.d))
        # So many terms give exp(beta / 2) to a relative 1e-3; they grow first.
        b = self.beta / 2.0
        n_terms = next(n for n in count(max(1, ceil(b))) if poisson.pmf(n - 1, b) <= 1e-3)
        for power in range(1, n_terms):
            term = run.table.moment(spread.mean, weights, term, drift=False).image * (half / power)
            total = total + term
        projected = run.table.project(spread.mean, total)
        return np.asarray((projected**2).sum(axis=0) / float((total**2).sum()))
