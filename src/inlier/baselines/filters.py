"""Filters: rows leave along directions of large variance, until it is small enough."""

from dataclasses import KW_ONLY
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, norm

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_choice, check_number, check_whole
from inlier.baselines.base import MIN_SIGMA, Answer, Baseline, Run, Spread
from inlier.datasets.base import parameter
from inlier.linalg.eigenpairs import SETTINGS


def variance_limit(sigma: float) -> float:
    """Return sigma^2 with room for rounding: the good rows alone may attain sigma^2."""
    return sigma**2 * (1.0 + 1e-9)


def gave_up(
    weights: Array,
    scores: Array,
    n_iter: int,
    why: str = "before no variance exceeds sigma^2. Raise sigma, or use RobustMean.",
) -> Answer:
    """Return the answer of a filter that would have to remove half of the rows."""
    message = f"Gave up: half of the rows would have to leave {why}"
    return Answer(weights, scores, n_iter=n_iter, converged=False, message=message)


def is_minority(weights: Array) -> bool:
    """Return whether less than half of the rows are left: outliers cannot be the majority."""
    return float(weights.sum()) < len(weights) / 2.0


class IterativeFiltering(Baseline):
    """Downweight rows far out in the direction of largest variance until it is below sigma^2.

    With the direction v of largest variance and tau_i = (v^T y_i - median_j v^T y_j)^2, weights are
    multiplied by 1 - tau_i / max_j tau_j until no variance of the weighted rows exceeds sigma^2.
    More bad weight is removed than good, and the error is O(sigma sqrt(alpha)). Two passes for each
    filter step, up to nine with more than 256 columns.

    Algorithm 3 of the paper removes rows at random, with probability proportional to tau_i, as
    `removal="random"` does, but with one threshold for all rows; here each row has its own. Soft
    weights are the expectation of that. Other deviations: the threshold is sigma^2 instead of
    9 sigma^2, tau is centred at the median instead of the mean, which outliers move, and the
    eigenvector comes from a Krylov space instead of one power iteration.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    factor : float, default=1.0
        The filter stops when no variance exceeds `factor` sigma^2.
    removal : {"soft", "random"}, default="soft"
        Whether weights are lowered, or rows removed at random.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the random removal and of the eigensolver's starting vectors.

    References
    ----------
    Diakonikolas, Kamath, Kane, Li, Moitra and Stewart (2017), Being robust (in high dimensions) can
    be practical, ICML, arXiv:1703.00893, section 3.2 (bounded second moments).
    """

    name = "iterative-filtering"
    needs = ("sigma",)
    paper = "Diakonikolas et al. (2017)"

    sigma: float | None = None
    _: KW_ONLY
    factor: float = parameter(1.0, check_number)
    removal: Literal["soft", "random"] = parameter("soft", check_choice, choices=("soft", "random"))
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        limit = self.factor * variance_limit(run.sigma)
        weights, scores = np.ones(run.n), np.zeros(run.n)
        for n_iter in range(run.n):
            spread = run.spread(weights)
            run.record("filter", weights, spread.variance, limit)
            middle = np.median(spread.projected[weights >= weights.max() / 2.0])
            tau = (spread.projected - middle) ** 2
            scores = np.maximum(scores, tau / limit)
            if spread.variance <= limit:
                return Answer(weights, scores, spread.mean, n_iter)
            share = tau / tau[weights > 0.0].max()
            if self.removal == "soft":
                left = weights * np.maximum(1.0 - share, 0.0)
            else:
                left = np.where(run.random.random(run.n) < share, 0.0, weights)
            if is_minority(left):
                break
            weights = left
        return gave_up(weights, scores, n_iter)


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
    needs = ("sigma",)
    paper = "Dong, Hopkins and Li (2019)"

    sigma: float | None = None
    _: KW_ONLY
    beta: float = parameter(4.0, check_number, at_most=100.0)
    batch: float = parameter(0.02, check_number, below=0.5)
    n_sketches: int = parameter(30, check_whole)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        limit = variance_limit(run.sigma)
        leaving = max(1, round(self.batch * run.n))
        weights, scores = np.ones(run.n), np.zeros(run.n)
        n_iter = 0
        while True:
            if run.d <= SETTINGS.dense:
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
                return gave_up(weights, scores, n_iter)
            weights, n_iter = left, n_iter + 1

    def _exact_scores(self, run: Run, weights: Array) -> tuple[Spread, Array]:
        """Return the direction of largest variance, and tau from the whole spectrum."""
        mean = run.mean(weights)
        spectrum = run.oracle.densely(mean, weights, run.d)
        values, projected = spectrum.values, spectrum.projections
        largest = max(values[0], np.finfo(np.float64).tiny)
        exponential = np.exp(self.beta * (values / largest - 1.0))
        tau = (exponential / exponential.sum()) @ projected**2
        variance = float(values[0]) / float(weights.sum())
        return Spread(mean, variance, spectrum.vectors[0], projected[0]), np.asarray(tau)

    def _sketched_scores(self, run: Run, weights: Array, spread: Spread) -> Array:
        """Estimate tau from the exponential applied to random vectors."""
        half = self.beta / (2.0 * spread.variance * float(weights.sum()))
        term = total = run.random.standard_normal((self.n_sketches, run.d))
        for power in range(1, self._n_terms()):
            term = run.table.moment(spread.mean, weights, term, drift=False).image * (half / power)
            total = total + term
        projected = run.table.project(spread.mean, total)
        return np.asarray((projected**2).sum(axis=0) / float((total**2).sum()))

    def _n_terms(self) -> int:
        """Return the number of terms that give exp(beta / 2) to a relative 1e-3."""
        term, n_terms = 1.0, 1
        while n_terms < self.beta / 2.0 or term > 1e-3 * np.exp(self.beta / 2.0):  # they grow first
            term *= self.beta / (2.0 * n_terms)
            n_terms += 1
        return n_terms


# Smallest sigma of the grid, relative to that of all rows.
MIN_RATIO = 1e-8


class _Trimmed(NamedTuple):
    weights: Array
    scores: Array
    mean: Array
    n_iter: int
    converged: bool


def _trim(run: Run, sigma: float, first: Spread) -> _Trimmed:
    """Trim along the direction of largest variance until the kept rows are within the budget."""
    n, limit = run.n, variance_limit(sigma)
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
            return _Trimmed(weights, scores, spread.mean, n_iter, converged=False)
        n_iter += 1
        weights, spread = left, run.spread(left)
        run.record("trim", weights, spread.variance, limit)
    return _Trimmed(weights, scores, spread.mean, n_iter, converged=True)


class OutlierFractionAgnostic(Baseline):
    """Trim along the direction of largest variance until the kept rows are within n sigma^2.

    With v that direction, rows are sorted by (v^T y_i - median)^2 and kept while the sum is within
    n sigma^2; removed rows do not return. This repeats, a few times, until no direction exceeds
    n sigma^2. The error is O(sigma sqrt(alpha)) without knowing alpha. Two passes for each round,
    up to nine with more than 256 columns. The authors draw the first direction at random.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Deshmukh, Liu and Veeravalli (2023), Robust mean estimation in high dimensions: an
    outlier-fraction agnostic and efficient algorithm, IEEE Transactions on Information Theory
    69(7), arXiv:2102.08573; with binary weights, as in Algorithm 2 of Deshmukh's thesis (2024).
    """

    name = "fraction-agnostic"
    needs = ("sigma",)
    paper = "Deshmukh, Liu and Veeravalli (2023)"

    sigma: float | None = None
    _: KW_ONLY
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        found = _trim(run, run.sigma, run.spread(np.ones(run.n)))
        if not found.converged:
            return gave_up(found.weights, found.scores, found.n_iter)
        return Answer(found.weights, found.scores, found.mean, found.n_iter)


class CorruptionLevelAgnostic(Baseline):
    """Apply the filter for a grid of sigma, and choose the smallest that larger ones confirm.

    On a grid from the sigma of all rows downwards, with factor `ratio`, the outlier-fraction
    agnostic filter gives x(sigma). The smallest sigma with ||x(s) - x(sigma)|| <= `constant`
    (s + sigma) for all larger s is chosen: the meta-algorithm of the paper's section 3. It needs
    neither alpha nor sigma, and a hundred passes or more.

    The authors of the filter start at sigma = 1, for data of unit variance. Here the grid ends at
    the median distance from the centre divided by sqrt(d), or where half of the rows would be
    removed, so that it does not depend on units.

    Parameters
    ----------
    ratio : float, default=1.1
        Ratio of successive values of sigma.
    constant : float, default=4.0
        Constant of the error bound; the theory has O(sqrt(alpha) / (1 - 2 alpha)).
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Jain, Orlitsky and Ravindrakumar (2022), Robust estimation algorithms don't need to know the
    corruption level, arXiv:2202.05453, section 3 and Lemma 3.
    """

    name = "corruption-agnostic"
    paper = "Jain, Orlitsky and Ravindrakumar (2022)"

    _: KW_ONLY
    ratio: float = parameter(1.1, check_number, above=1.0)
    constant: float = parameter(4.0, check_number)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        first = run.spread(np.ones(run.n))
        top = float(np.sqrt(first.variance))
        if top < MIN_SIGMA:  # the rows coincide
            return Answer(np.ones(run.n), np.zeros(run.n), first.mean)
        # The standard deviation of good rows in an average direction; zero if half coincide.
        least = float(np.sqrt(np.median(run.distances) / run.d))
        least = min(top, max(least, MIN_RATIO * top))
        tried: list[tuple[float, _Trimmed]] = []
        for power in range(1 + int(np.log(top / least) / np.log(self.ratio))):
            sigma = top / self.ratio**power
            found = _trim(run, sigma, first)
            if not found.converged:
                break
            tried.append((sigma, found))
        for i in reversed(range(len(tried))):  # the smallest sigma first
            sigma, chosen = tried[i]
            if all(
                np.linalg.norm(other.mean - chosen.mean) <= self.constant * (s + sigma)
                for s, other in tried[: i + 1]
            ):
                break
        message = f"Sigma {sigma:.3g} was chosen."
        return Answer(chosen.weights, chosen.scores, chosen.mean, len(tried), message=message)


# The median absolute deviation of a standard Gaussian.
MAD = float(norm.ppf(0.75))


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

    Parameters
    ----------
    fdr : float, default=0.1
        False discovery rate, the authors' choice.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Diakonikolas, Karmalkar, Kane, Price and Stewart (2019), Outlier-robust high-dimensional sparse
    estimation via iterative filtering, NeurIPS, arXiv:1911.08085; the dense filter (RME) of their
    code. Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """

    name = "fdr-filter"
    paper = "Diakonikolas, Karmalkar et al. (2019)"

    _: KW_ONLY
    fdr: float = parameter(0.1, check_number, below=1.0)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        weights, scores = np.ones(run.n), np.zeros(run.n)
        n_iter = 0
        while True:
            spread = run.spread(weights)
            run.record("filter", weights, spread.variance)
            left = self._filtered(spread.projected, weights, scores)
            if np.array_equal(left, weights):
                return Answer(weights, scores, spread.mean, n_iter)
            if is_minority(left):
                why = "before none is rejected: their tails are too heavy for it. Lower fdr."
                return gave_up(weights, scores, n_iter, why)
            weights, n_iter = left, n_iter + 1

    def _filtered(self, projected: Array, weights: Array, scores: Array) -> Array:
        """Return the weights after filtering along one direction, rescaled after each removal."""
        weights = weights.copy()
        while True:
            kept = np.flatnonzero(weights)
            away = np.abs(projected[kept] - np.median(projected[kept]))
            scale = float(np.median(away)) / MAD
            if scale == 0.0:  # half of the rows coincide along it: no scale
                return weights
            scores[kept] = away / scale
            p_values = np.minimum(1.0, 8.0 * np.exp(-(scores[kept] ** 2) / 2.0))
            rejected = false_discovery_control(p_values) <= self.fdr
            if not rejected.any():
                return weights
            weights[kept[rejected]] = 0.0
