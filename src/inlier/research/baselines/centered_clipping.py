"""The fixed point of centered clipping."""

import numpy as np

from inlier._internal.validation import check_number, check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter


class CenteredClipping(Baseline):
    """Find the point that is the mean of the rows clipped to a ball about it. About 15 passes.

    Iterate v <- v + mean of w_i (x_i - v), two passes each, from the coordinate-wise median of at
    most 501 rows, with weights w_i = min(1, radius / distance of x_i from v). A bad row moves the
    estimate by at most radius / n a step. The estimate is the mean of the rows with these weights.

    The method was published for a server that knows its last aggregate and the scale of updates.
    Two choices are therefore ours: it is iterated to convergence, where the authors take few steps,
    and the default radius is the median distance of the rows from v, at each step, so that the
    estimate does not depend on units.

    Parameters
    ----------
    radius : float, optional
        In units of the data. A radius far below the distances of the rows takes many steps.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-8
        Stop at a step shorter than this times the median distance.

    References
    ----------
    Karimireddy, He and Jaggi (2021), Learning from history for Byzantine robust optimization,
    equation CC in section 4.
    """

    name = "centered-clipping"
    paper = "Karimireddy, He and Jaggi (2021)"

    radius: float | None = parameter(None, check_number)
    max_iter: int = parameter(1000, check_whole)
    tol: float = parameter(1e-08, check_number, below=1.0)

    def _estimate(self, run: Run) -> Answer:
        v, converged, message = run.center, False, ""
        eps = np.finfo(np.float64).eps
        n_iter = 0
        while True:
            distances = np.sqrt(run.table.sq_distances(v))
            unit = float(np.median(distances))
            radius = unit if self.radius is None else self.radius
            clipped = distances > radius
            weights = np.where(clipped, radius / np.where(clipped, distances, 1.0), 1.0)
            if converged or n_iter == self.max_iter:
                break
            step = run.table.combine(v, weights[None])[0] / run.n
            v = v + step
            n_iter += 1
            # A step below rounding error carries no information.
            rounding = 4.0 * eps * float(np.linalg.norm(v)) + np.finfo(run.table.dtype).eps * unit
            converged = float(np.linalg.norm(step)) <= max(self.tol * unit, rounding)
        if not converged:
            message = f"Still moving after max_iter={self.max_iter} steps: raise max_iter" + (
                " or tol." if self.radius is None else f", tol or radius={self.radius:g}."
            )
        return Answer(weights, distances, v, n_iter, converged, message)
