"""The geometric median."""

import numpy as np

from inlier._internal.validation import check_number, check_whole
from inlier.linalg.centers import geometric_median
from inlier.research.baselines.base import Answer, Baseline, Run, parameter


class GeometricMedian(Baseline):
    """Minimise the sum of the distances to the rows. About 12 passes.

    Weiszfeld's iteration with the correction of Vardi and Zhang for iterates at a row, two passes
    each. Because convergence can be slow near a row, nearby rows are tested for optimality, and
    steps are extrapolated or lengthened where that helps.

    The breakdown point is 1/2; for Gaussian rows with a fraction alpha of outliers the error grows
    as sigma alpha sqrt(d). All rows have weight 1 and are scored by their distance from the median.

    Parameters
    ----------
    tol : float, default=1e-8
        Bound on the norm of the smallest subgradient of the mean distance, which is at most 1; not
        below the precision of the data, about 1e-6 in single precision. The mean distance is then
        optimal up to tol times the distance from the exact median.
    max_iter : int, default=1000
        Most steps.

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

    tol: float = parameter(1e-08, check_number, below=1.0)
    max_iter: int = parameter(1000, check_whole)

    def _estimate(self, run: Run) -> Answer:
        found = geometric_median(run.table, self.tol, self.max_iter)
        message = ""
        if not found.converged:
            message = (
                f"After {found.n_iter} iterations the subgradient of the mean distance is "
                f"{found.residual:.2g} long, above tol={self.tol:g}: raise max_iter or tol."
            )
        weights = np.ones(run.n)
        return Answer(
            weights, found.distances, found.location, found.n_iter, found.converged, message
        )
