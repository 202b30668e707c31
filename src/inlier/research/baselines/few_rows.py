"""Aggregation rules of federated learning: Krum, and clipping of rows."""

import numpy as np

from inlier._internal.typing import Array
from inlier.federated.judging import sq_distances
from inlier.research.baselines.base import Answer, Baseline, Run


def krum_scores(distances: Array, n_bad: int) -> Array:
    """Return the sums of the n - f - 2 smallest squared distances to other rows."""
    n = len(distances)
    # With fewer rows than Krum requires, use the nearest one.
    n_near = min(n - 1, max(1, n - n_bad - 2))
    others = np.where(np.eye(n, dtype=np.bool_), np.inf, distances)
    return np.asarray(np.partition(others, n_near - 1, axis=1)[:, :n_near].sum(axis=1))


class Krum(Baseline):
    """Select the row nearest to its n - f - 2 nearest neighbours, with f = alpha n.

    Two passes, and an n x n matrix. A row's score is the sum of the squared distances to them, and
    the smallest wins. The estimate is a row, so its error is that of one row, sigma sqrt(d), even
    without outliers. It needs n >= 2 alpha n + 3.

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), Machine learning with adversaries: Byzantine
    tolerant gradient descent, section 4.
    """

    name = "krum"
    paper = "Blanchard, El Mhamdi, Guerraoui and Stainer (2017)"
    # Only the Gram matrix is needed, which a rotation would compute first.
    rotates = False

    alpha: float | None = None

    def _check(self, n: int, d: int) -> None:
        assert self.alpha is not None
        n_bad = round(self.alpha * n)
        if n < 2 * n_bad + 3:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 f + 3 = {2 * n_bad + 3} rows where "
                f"f = {n_bad} may be bad (alpha={self.alpha:g}), but X has {n}. Take a smaller "
                "alpha, or a method that asks for less, such as GeometricMedian."
            )

    def _n_selected(self, run: Run) -> int:
        return 1

    def _estimate(self, run: Run) -> Answer:
        scores = krum_scores(sq_distances(run.table.gram(run.center)), run.n_bad)
        return Answer.of_lowest(scores, self._n_selected(run))


class MultiKrum(Krum):
    """Average the (1 - alpha) n rows with the smallest scores of Krum. Two passes.

    Without outliers it is nearly as efficient as the mean. Outliers as near to their neighbours as
    good rows are not detected and can move it by the order of sigma alpha sqrt(d).

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), the variant of its experiments.
    """

    name = "multi-krum"

    def _n_selected(self, run: Run) -> int:
        return run.n - run.n_bad


class CenteredClipping(Baseline):
    """Find the point that is the mean of the rows clipped to a ball about it. About 15 passes.

    Iterate v <- v + mean of w_i (x_i - v), two passes each, from the coordinate-wise median of at
    most 501 rows, with weights w_i = min(1, radius / distance of x_i from v). A bad row moves the
    estimate by at most radius / n a step. The estimate is the mean of the rows with these weights.

    The method was published for a server that knows its last aggregate and the scale of updates.
    Here it is iterated to convergence, where the authors take few steps, and the radius is
    the median distance of the rows from v, at each step, so that it does not depend on units.

    References
    ----------
    Karimireddy, He and Jaggi (2021), Learning from history for Byzantine robust optimization,
    equation CC in section 4.
    """

    name = "centered-clipping"
    paper = "Karimireddy, He and Jaggi (2021)"

    max_iter = 1000  # steps
    tol = 1e-8  # stop at a step shorter than this part of the median distance

    def _estimate(self, run: Run) -> Answer:
        v, converged, message = run.center, False, ""
        eps = np.finfo(np.float64).eps
        n_iter = 0
        while True:
            distances = np.sqrt(run.table.sq_distances(v))
            unit = float(np.median(distances))
            clipped = distances > unit
            weights = np.where(clipped, unit / np.where(clipped, distances, 1.0), 1.0)
            if converged or n_iter == self.max_iter:
                break
            step = run.table.combine(v, weights[None])[0] / run.n
            v = v + step
            n_iter += 1
            # A step below rounding error carries no information.
            rounding = 4.0 * eps * float(np.linalg.norm(v)) + np.finfo(run.table.dtype).eps * unit
            converged = float(np.linalg.norm(step)) <= max(self.tol * unit, rounding)
        if not converged:
            message = f"Still moving after {self.max_iter} steps."
        return Answer(weights, distances, v, n_iter, converged, message)
