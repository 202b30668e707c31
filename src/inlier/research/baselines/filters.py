"""Filters: remove rows far out in the directions of largest variance."""

from dataclasses import KW_ONLY, replace
from itertools import count
from math import ceil

import numpy as np
from scipy.stats import false_discovery_control, poisson

from inlier._internal.typing import Array, Seed
from inlier.data.measures import MEDIAN_SIZE
from inlier.linalg.eigenpairs import DENSE
from inlier.research.baselines.base import MIN_SIGMA, Answer, Baseline, Run, Spread, is_minority


class IterativeFiltering(Baseline):
    """Downweight rows far out in the direction of largest variance until it is below sigma^2.

    With the direction v of largest variance and tau_i = (v^T y_i - median_j v^T y_j)^2, weights are
    multiplied by 1 - tau_i / max_j tau_j until no variance of the weighted rows exceeds sigma^2.
    More bad weight is removed than good, and the error is O(sigma sqrt(alpha)). Two passes for each
    filter step, up to nine with more than 256 columns.

    Algorithm 3 of the paper removes rows at random, with probability proportional to tau_i; these
    weights are the expectation of that. Other deviations: the threshold is sigma^2 instead of
    9 sigma^2, tau is centered at the median instead of the mean, which outliers move, and the
    eigenvector comes from a Krylov space instead of one power iteration.

    References
    ----------
    Diakonikolas, Kamath, Kane, Li, Moitra and Stewart (2017), Being robust (in high dimensions) can
    be practical, ICML, arXiv:1703.00893, section 3.2 (bounded second moments).
    """

    name = "iterative-filtering"
    paper = "Diakonikolas et al. (2017)"

    sigma: float | None = None
    _: KW_ONLY
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        limit = run.limit_of(run.sigma)
        weights, scores = np.ones(run.n), np.zeros(run.n)
        for n_iter in range(run.n):
            spread = run.spread(weights)
            middle = np.median(spread.projected[weights >= weights.max() / 2.0])
            tau = (spread.projected - middle) ** 2
            scores = np.maximum(scores, tau / limit)
            if spread.variance <= limit:
                return Answer(weights, scores, spread.mean, n_iter)
            share = tau / tau[weights > 0.0].max()
            left = weights * np.maximum(1.0 - share, 0.0)
            if is_minority(left):
                break
            weights = left
        return Answer.gave_up(weights, scores, n_iter)


class FalseDiscoveryFilter(Baseline):
    """Remove rows beyond a Gaussian tail along the directions of largest variance.

    A row at T standard deviations from the median along the direction has the p-value min(1, 8
    exp(-T^2 / 2)), the tail bound of the authors. Rows that the Benjamini-Hochberg procedure
    rejects at the rate `fdr` are removed until none is rejected; then the next direction is tested.
    Two passes for each direction, up to nine with more than 256 columns.

    The authors' code assumes identity covariance: T is in units of the data, and thresholds hold
    for variance 1. Here the standard deviation along the direction is estimated from the median
    absolute deviation of the kept rows, and the filter stops when nothing is rejected, so neither
    sigma nor alpha is needed. Heavy tails cost good rows on both sides, which hardly moves the
    mean.

    References
    ----------
    Diakonikolas, Karmalkar, Kane, Price and Stewart (2019), Outlier-robust high-dimensional sparse
    estimation via iterative filtering, NeurIPS, arXiv:1911.08085; the dense filter (RME) of their
    code. Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """

    name = "fdr-filter"
    paper = "Diakonikolas, Karmalkar et al. (2019)"

    _: KW_ONLY
    fdr = 0.1  # the authors' false discovery rate
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        weights, scores = np.ones(run.n), np.zeros(run.n)
        n_iter = 0
        while True:
            spread = run.spread(weights)
            left = self._filtered(spread.projected, weights, scores)
            if np.array_equal(left, weights):
                return Answer(weights, scores, spread.mean, n_iter)
            if is_minority(left):
                why = "before none is rejected: their tails are too heavy for it."
                return Answer.gave_up(weights, scores, n_iter, why)
            weights, n_iter = left, n_iter + 1

    def _filtered(self, projected: Array, weights: Array, scores: Array) -> Array:
        """Return the weights after filtering along one direction, rescaled after each removal."""
        weights = weights.copy()
        while True:
            kept = np.flatnonzero(weights)
            away = np.abs(projected[kept] - np.median(projected[kept]))
            scale = float(np.median(away)) / MEDIAN_SIZE
            if scale == 0.0:  # half of the rows coincide along it: no scale
                return weights
            scores[kept] = away / scale
            p_values = np.minimum(1.0, 8.0 * np.exp(-(scores[kept] ** 2) / 2.0))
            rejected = false_discovery_control(p_values) <= self.fdr
            if not rejected.any():
                return weights
            weights[kept[rejected]] = 0.0


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

    References
    ----------
    Dong, Hopkins and Li (2019), Quantum entropy scoring for fast robust mean estimation and
    improved outlier detection, NeurIPS, arXiv:1906.11366, equation (3) and section 3.
    """

    name = "que"
    paper = "Dong, Hopkins and Li (2019)"

    sigma: float | None = None
    _: KW_ONLY
    beta = 4.0  # inverse temperature; the authors' choice
    batch = 0.02  # fraction of the rows removed in a round
    n_sketches = 30  # random vectors above 256 columns
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
        values, projected = spectrum.values, spectrum.along(np.arange(run.d))
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


# Smallest sigma of the grid, relative to that of all rows.
MIN_RATIO = 1e-8


def _trim(run: Run, sigma: float, first: Spread) -> Answer:
    """Trim along the direction of largest variance until the kept rows are within the budget."""
    n, limit = run.n, run.limit_of(sigma)
    weights, spread, n_iter = np.ones(n), first, 0
    scores = (first.projected - np.median(first.projected)) ** 2 / limit
    while spread.variance * float(weights.sum()) > n * limit:
        deviations = (spread.projected - np.median(spread.projected)) ** 2
        ordered = np.sort(deviations)
        fits = int(np.searchsorted(np.cumsum(ordered), n * limit, side="right"))
        # Remove ties together, whatever their order in the table.
        cut = ordered[fits] * (1.0 - 1e-9) if fits < n else np.inf
        left = np.where(deviations >= cut, 0.0, weights)
        scores = np.maximum(scores, deviations / limit)
        if is_minority(left) or not (left < weights).any():
            return Answer(weights, scores, spread.mean, n_iter, converged=False)
        n_iter += 1
        weights, spread = left, run.spread(left)
    return Answer(weights, scores, spread.mean, n_iter)


class OutlierFractionAgnostic(Baseline):
    """Trim along the direction of largest variance until the kept rows are within n sigma^2.

    With v that direction, rows are sorted by (v^T y_i - median)^2 and kept while the sum is within
    n sigma^2; removed rows do not return. This repeats, a few times, until no direction exceeds
    n sigma^2. The error is O(sigma sqrt(alpha)) without knowing alpha. Two passes for each round,
    up to nine with more than 256 columns. The authors draw the first direction at random.

    References
    ----------
    Deshmukh, Liu and Veeravalli (2023), Robust mean estimation in high dimensions: an
    outlier-fraction agnostic and efficient algorithm, IEEE Transactions on Information Theory
    69(7), arXiv:2102.08573; with binary weights, as in Algorithm 2 of Deshmukh's thesis (2024).
    """

    name = "fraction-agnostic"
    paper = "Deshmukh, Liu and Veeravalli (2023)"

    sigma: float | None = None
    _: KW_ONLY
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        found = _trim(run, run.sigma, run.spread(np.ones(run.n)))
        if found.converged:
            return found
        return Answer.gave_up(found.weights, found.scores, found.n_iter)


class CorruptionLevelAgnostic(Baseline):
    """Apply the filter for a grid of sigma, and choose the smallest that larger ones confirm.

    On a grid from the sigma of all rows downwards, with factor `ratio`, the outlier-fraction
    agnostic filter gives x(sigma). The smallest sigma with ||x(s) - x(sigma)|| <= `constant`
    (s + sigma) for all larger s is chosen: the meta-algorithm of the paper's section 3. It needs
    neither alpha nor sigma, and a hundred passes or more.

    The authors of the filter start at sigma = 1, for data of unit variance. Here the grid ends at
    the median distance from the center divided by sqrt(d), or where half of the rows would be
    removed, so that it does not depend on units.

    References
    ----------
    Jain, Orlitsky and Ravindrakumar (2022), Robust estimation algorithms don't need to know the
    corruption level, arXiv:2202.05453, section 3 and Lemma 3.
    """

    name = "corruption-agnostic"
    paper = "Jain, Orlitsky and Ravindrakumar (2022)"

    _: KW_ONLY
    ratio = 1.1  # of successive values of sigma
    constant = 4.0  # of the error bound; the theory has O(sqrt(alpha) / (1 - 2 alpha))
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        first = run.spread(np.ones(run.n))
        top = float(np.sqrt(first.variance))
        if top < MIN_SIGMA:  # the rows coincide
            return Answer(np.ones(run.n), np.zeros(run.n), first.mean)
        # The standard deviation of good rows in an average direction; zero if half coincide.
        least = float(np.sqrt(np.median(run.distances) / run.d))
        least = min(top, max(least, MIN_RATIO * top))
        n_sigmas = 1 + int(np.log(top / least) / np.log(self.ratio))
        sigmas = top / self.ratio ** np.arange(n_sigmas)
        tried = []
        for sigma in sigmas.tolist():
            found = _trim(run, sigma, first)
            if not found.converged:
                break
            tried.append(found)
        means = np.array([found.location for found in tried])
        for i in reversed(range(len(tried))):  # the smallest sigma first
            apart = np.linalg.norm(means[: i + 1] - means[i], axis=1)
            if (apart <= self.constant * (sigmas[: i + 1] + sigmas[i])).all():
                break
        message = f"Sigma {sigmas[i]:.3g} was chosen."
        return replace(tried[i], n_iter=len(tried), message=message)


class RandEigen(Baseline):
    """Remove rows at random along the direction of largest variance until the variance settles.

    With tau_i the distance of row i from the mean of the kept rows along that direction v, row i is
    removed with the probability tau_i / max_j tau_j. Rounds end when the largest variance changes
    by less than `tol`, relative to itself, or after max(10, alpha n) of them: no bound on the
    variance has to be known. Two passes for each round, up to nine with more than 256 columns.

    Rounds also end when 2 alpha n rows are removed, where the guarantee of such filters ends: the
    authors aggregate few updates, and of a table with thousands of rows hardly any would be left.
    Their projection to log(d) random directions, which saves time, is left out, and v comes from a
    Krylov space instead of power iterations.

    References
    ----------
    Lee, Kolluri, Saxena and Chang (2025), A practical and secure Byzantine robust aggregator, CCS,
    arXiv:2506.23183, and its code.
    """

    name = "rand-eigen"
    paper = "Lee, Kolluri, Saxena and Chang (2025)"

    alpha: float | None = None
    tol = 1e-5  # relative; the authors' is absolute
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        weights, scores = np.ones(run.n), np.zeros(run.n)
        last, n_iter = np.inf, 0
        while n_iter < max(10, run.n_bad) and run.n - weights.sum() < 2 * run.n_bad:
            spread = run.spread(weights)
            tau = np.abs(spread.projected)
            scores = np.maximum(scores, tau)
            farthest = tau[weights > 0.0].max()
            if farthest == 0.0 or abs(last - spread.variance) < self.tol * spread.variance:
                break
            # At least the farthest row is removed.
            weights = np.where(run.random.random(run.n) * farthest < tau, 0.0, weights)
            last, n_iter = spread.variance, n_iter + 1
        return Answer(weights, scores, n_iter=n_iter)


class SpectralSignatures(Baseline):
    """Remove the 1.5 alpha n rows farthest out along the direction of largest variance. Two passes.

    A defence against poisoned training data: rows are representations of one class, and are scored
    by the square of their projection. One direction is looked at once, so outliers along another
    stay, and the same number of rows is removed if none is bad. More than 256 columns take up to
    nine passes.

    References
    ----------
    Tran, Li and Madry (2018), Spectral signatures in backdoor attacks, NeurIPS, arXiv:1811.00636,
    Algorithm 1.
    """

    name = "spectral-signatures"
    paper = "Tran, Li and Madry (2018)"

    alpha: float | None = None
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        scores = run.spread(np.ones(run.n)).projected ** 2
        return Answer.of_lowest(scores, max(1, run.n - int(1.5 * run.n_bad)))
