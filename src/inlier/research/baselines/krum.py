"""Krum and Multi-Krum."""

from typing import ClassVar

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter


def sq_distances_between(run: Run) -> Array:
    """Return the squared distances between all rows, n x n, in one pass."""
    gram = run.table.gram(run.center)
    squares = np.diag(gram).copy()
    distances: Array = squares[:, None] + squares
    distances -= gram + gram.T  # exactly symmetric, unlike some Gram matrices
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def krum_scores(distances: Array, n_bad: int) -> Array:
    """Return the sums of the n - f - 2 smallest squared distances to other rows."""
    n = len(distances)
    # With fewer rows than Krum requires, use the nearest one.
    n_near = min(n - 1, max(1, n - n_bad - 2))
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    others.partition(n_near - 1, axis=1)
    scores: Array = others[:, :n_near].sum(axis=1)
    return scores


class NearestRows(Baseline):
    """What Krum and Bulyan share."""

    # Only the Gram matrix is needed, which a rotation would compute first.
    rotates = False
    # The guarantee requires n >= factor f + 3.
    factor: ClassVar[int] = 2

    alpha: float | None = None

    def _check(self, n: int, d: int) -> None:
        assert self.alpha is not None
        n_bad, factor = round(self.alpha * n), self.factor
        if n < factor * n_bad + 3:
            raise ValueError(
                f"{type(self).__name__} needs at least {factor} f + 3 = {factor * n_bad + 3} rows "
                f"where f = {n_bad} may be bad (alpha={self.alpha:g}), but X has {n}. Take a "
                "smaller alpha, or a method that asks for less, such as GeometricMedian."
            )


class Krum(NearestRows):
    """Select the row nearest to its n - f - 2 nearest neighbours, with f = alpha n.

    Two passes. A row's score is the sum of the squared distances to them, and the smallest wins.
    The estimate is a row, so its error is that of one row, sigma sqrt(d), even without outliers;
    Proposition 4.2 bounds its angle to the mean. An n x n matrix is formed.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad; n >= 2 alpha n + 3.

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), Machine learning with adversaries: Byzantine
    tolerant gradient descent, section 4.
    """

    name = "krum"
    paper = "Blanchard, El Mhamdi, Guerraoui and Stainer (2017)"

    def _n_selected(self, run: Run) -> int:
        return 1

    def _estimate(self, run: Run) -> Answer:
        scores = krum_scores(sq_distances_between(run), run.n_bad)
        weights = np.zeros(run.n)
        weights[np.argsort(scores, kind="stable")[: self._n_selected(run)]] = 1.0
        return Answer(weights, scores)


class MultiKrum(Krum):
    """Average the (1 - alpha) n rows with the smallest scores of Krum. Two passes.

    Without outliers it is nearly as efficient as the mean. Outliers as near to their neighbours as
    good rows are not detected and can move it by the order of sigma alpha sqrt(d). An n x n matrix
    is formed.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad; n >= 2 alpha n + 3.
    n_selected : int, optional
        Number of rows averaged, at most n: the authors' m, which they leave open. The default is
        the common choice n - alpha n.

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), Machine learning with adversaries: Byzantine
    tolerant gradient descent, the variant of its experiments.
    """

    name = "multi-krum"

    n_selected: int | None = parameter(None, check_whole)

    def _check(self, n: int, d: int) -> None:
        super()._check(n, d)
        if self.n_selected is not None and self.n_selected > n:
            raise ValueError(
                f"n_selected must be at most the number of rows, {n}, but is {self.n_selected}."
            )

    def _n_selected(self, run: Run) -> int:
        return run.n - run.n_bad if self.n_selected is None else min(self.n_selected, run.n)
