"""The outlier-fraction agnostic filter, with a bound on the variance and without one."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number
from inlier.baselines.base import (
    SMALLEST,
    Answer,
    Baseline,
    Run,
    Spread,
    gave_up,
    gone,
    variance_limit,
)

# No sigma is tried that is so much smaller than that of all rows.
LEAST = 1e-8


class _Trimmed(NamedTuple):
    weights: Array
    scores: Array
    mean: Array
    n_iter: int
    converged: bool


def _trim(run: Run, sigma: float, first: Spread) -> _Trimmed:
    """Trim along the direction of largest variance until the kept rows satisfy the budget."""
    n, limit = run.n, variance_limit(sigma)
    weights, spread, n_iter = np.ones(n), first, 0
    scores = (first.projected - np.median(first.projected)) ** 2 / limit
    while spread.variance * float(weights.sum()) > n * limit:
        deviations = (spread.projected - np.median(spread.projected)) ** 2
        ordered = np.sort(deviations)
        fits = int(np.searchsorted(np.cumsum(ordered), n * limit, side="right"))
        # Equal rows leave together, whatever their order in the table.
        cut = ordered[fits] * (1.0 - 1e-9) if fits < n else np.inf
        left = np.where(deviations >= cut, 0.0, weights)
        scores = np.maximum(scores, deviations / limit)
        if gone(left, n) or not (left < weights).any():
            return _Trimmed(weights, scores, spread.mean, n_iter, converged=False)
        n_iter += 1
        weights, spread = left, run.spread(left)
        run.record("trim", weights, spread.variance, limit)
    return _Trimmed(weights, scores, spread.mean, n_iter, converged=True)


@dataclass(eq=False, repr=False)
class OutlierFractionAgnostic(Baseline):
    """Along the direction of largest variance, keep the rows nearest to the median, within sigma.

    With v that direction, rows are sorted by (v^T y_i - median)^2 and kept while the sum stays
    within n sigma^2; rows never come back. This repeats until no direction holds more than n
    sigma^2, a few times. The error is O(sigma sqrt(alpha)) without alpha being known. Two passes
    for a round, with more than 256 columns up to nine.

    The first direction is that of largest variance, where the authors draw one at random.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    random_state : int, Generator, RandomState or None, default=0
        Of the eigenvectors' start.

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


@dataclass(eq=False, repr=False)
class CorruptionLevelAgnostic(Baseline):
    """The outlier-fraction agnostic filter for many sigma; the smallest that the others confirm.

    For sigma from that of all rows downwards in steps of `ratio`, the filter gives x(sigma). The
    smallest sigma is chosen with ||x(s) - x(sigma)|| <= `constant` (s + sigma) for all larger s:
    the meta-algorithm of the paper's section 3. It needs neither alpha nor sigma. As many passes as
    all these filters together: a hundred and more.

    The authors of the filter start at sigma = 1, which holds for data of unit variance. Here the
    grid ends at the median distance from the centre, divided by sqrt(d), or where half of the rows
    would have to go, so that units do not matter.

    Parameters
    ----------
    ratio : float, default=1.1
        Of neighbouring values of sigma.
    constant : float, default=4.0
        Of the error bound; the theory has O(sqrt(alpha) / (1 - 2 alpha)).
    random_state : int, Generator, RandomState or None, default=0
        Of the eigenvectors' start.

    References
    ----------
    Jain, Orlitsky and Ravindrakumar (2022), Robust estimation algorithms don't need to know the
    corruption level, arXiv:2202.05453, section 3 and Lemma 3.
    """

    name = "corruption-agnostic"
    paper = "Jain, Orlitsky and Ravindrakumar (2022)"

    _: KW_ONLY
    ratio: float = 1.1
    constant: float = 4.0
    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        check_number(self.ratio, "ratio", above=1.0)
        check_number(self.constant, "constant")

    def _estimate(self, run: Run) -> Answer:
        first = run.spread(np.ones(run.n))
        top = float(np.sqrt(first.variance))
        if top < SMALLEST:  # the rows coincide
            return Answer(np.ones(run.n), np.zeros(run.n), first.mean)
        # Good rows vary by as much as this in an average direction, and by more in the worst; by
        # nothing, where half of the rows coincide.
        least = float(np.sqrt(np.median(run.distances) / run.d))
        least = min(top, max(least, LEAST * top))
        tried: list[tuple[float, _Trimmed]] = []
        for power in range(1 + int(np.log(top / least) / np.log(self.ratio))):
            sigma = top / self.ratio**power
            found = _trim(run, sigma, first)
            if not found.converged:
                break
            tried.append((sigma, found))
        sigma, chosen = min(
            (entry for entry in tried if self._confirmed(entry, tried)), key=lambda entry: entry[0]
        )
        return Answer(
            chosen.weights,
            chosen.scores,
            chosen.mean,
            len(tried),
            message=f"Sigma {sigma:.3g} was chosen.",
        )

    def _confirmed(
        self, entry: tuple[float, _Trimmed], tried: list[tuple[float, _Trimmed]]
    ) -> bool:
        sigma, found = entry
        return all(
            np.linalg.norm(other.mean - found.mean) <= self.constant * (s + sigma)
            for s, other in tried
            if s >= sigma
        )
