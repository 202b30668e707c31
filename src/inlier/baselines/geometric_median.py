"""The point with the smallest sum of distances to the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inlier._internal.validation import check_number, check_whole
from inlier.baselines.base import Answer, Baseline, Run
from inlier.linalg.centers import geometric_median


@dataclass(eq=False, repr=False)
class GeometricMedian(Baseline):
    """The point with the smallest sum of distances to the rows. Some 12 passes.

    Weiszfeld's iteration with the correction of Vardi and Zhang for iterates at a row, two passes
    each. Two things are added, because it can be slow near a row: rows that iterates come near to
    are tested themselves, and steps are extrapolated or made longer where that is better.

    Breaks down at half of the rows; under a fraction alpha of bad rows the error of Gaussian rows
    grows as sigma alpha sqrt(d). Rows are scored by their distance from it and all have weight 1,
    though it is their mean with weights one over the distance: next to a row that weight would be
    all there is.

    Parameters
    ----------
    tol : float, default=1e-8
        At the answer, the smallest subgradient of the mean distance (a mean of unit vectors, so at
        most 1 long) is at most so long, or as short as the precision of the data can tell: about
        1e-6 in single precision. The mean distance is then at most tol times the distance to the
        median larger than at the median.
    max_iter : int, default=1000

    References
    ----------
    Weiszfeld (1937), Sur le point pour lequel la somme des distances de n points donnés est
    minimum. Vardi and Zhang (2000), The multivariate L1-median and associated data depth, section
    2. The acceleration is that of Anderson (1965).
    """

    name = "geometric-median"
    paper = "Weiszfeld (1937), Vardi and Zhang (2000)"
    sets_aside = False
    judges_rows = False

    tol: float = 1e-08
    max_iter: int = 1000

    def _check(self, n: int, d: int) -> None:
        check_number(self.tol, "tol", below=1.0)
        check_whole(self.max_iter, "max_iter")

    def _estimate(self, run: Run) -> Answer:
        found = geometric_median(run.table, self.tol, self.max_iter)
        message = ""
        if not found.converged:
            message = (
                f"After {found.n_iter} iterations the subgradient of the mean distance is "
                f"{found.residual:.2g} long, above tol={self.tol:g}: raise max_iter or tol."
            )
        return Answer(
            np.ones(run.n),
            found.distances,
            found.location,
            n_iter=found.n_iter,
            converged=found.converged,
            message=message,
        )
