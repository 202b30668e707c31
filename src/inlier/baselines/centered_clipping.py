"""The mean of rows that are clipped to a ball about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inlier._internal.validation import check_number, check_whole
from inlier.baselines.base import Answer, Baseline, Run


@dataclass(eq=False, repr=False)
class CenteredClipping(Baseline):
    """The point that is the mean of the rows clipped to a ball about it. Some 15 passes.

    Iterates v <- v + mean of (x_i - v) min(1, radius / |x_i - v|), two passes each, from the
    coordinate-wise median. A bad row moves the answer by at most radius / n a step. At the end
    rows have the weights min(1, radius / |x_i - v|), and the answer is their mean.

    Two choices are ours, because the method was published for a server that knows its last
    aggregate and the scale of the updates: it is iterated until it stands still, where the authors
    take one step or few, and without a radius it is the median distance of the rows from v, at each
    step, so that the answer does not depend on units. The centre it starts from is the
    coordinate-wise median of at most 501 rows.

    Parameters
    ----------
    radius : float, optional
        In the units of the data. If it is much smaller than the distances of the rows, many steps
        are needed.
    max_iter : int, default=1000
    tol : float, default=1e-8
        It stops at a step shorter than this times the median distance.

    References
    ----------
    Karimireddy, He and Jaggi (2021), Learning from history for Byzantine robust optimization,
    equation CC in section 4.
    """

    name = "centered-clipping"
    paper = "Karimireddy, He and Jaggi (2021)"

    radius: float | None = None
    max_iter: int = 1000
    tol: float = 1e-08

    def _check(self, n: int, d: int) -> None:
        if self.radius is not None:
            check_number(self.radius, "radius")
        check_whole(self.max_iter, "max_iter")
        check_number(self.tol, "tol", below=1.0)

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
            # Below the last digits of the rows a step says nothing.
            rounding = 4.0 * eps * float(np.linalg.norm(v)) + np.finfo(run.table.dtype).eps * unit
            converged = float(np.linalg.norm(step)) <= max(self.tol * unit, rounding)
        if not converged:
            message = f"Still moving after max_iter={self.max_iter} steps: raise max_iter" + (
                " or tol." if self.radius is None else f", tol or radius={self.radius:g}."
            )
        return Answer(weights, distances, v, n_iter=n_iter, converged=converged, message=message)
