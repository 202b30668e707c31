"""Public functions: the paper's convex problems at a given center and budget."""

import warnings
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_number, check_vector, check_whole, fit_generator
from inlier.data import as_table
from inlier.data.checks import check_table
from inlier.l0.full_space import FullSpaceSolver, Solution
from inlier.linalg.eigenpairs import Oracle


def solve_l1(
    X: Any,
    center: Any,
    budget: float,
    *,
    weights: Any = None,
    tol: float = 1e-6,
    max_steps: int = 100,
) -> Solution:
    """Solve the l1 problem of the paper at a fixed center and budget: a (weighted) packing SDP.

    That is ::

        min sum_i u_i h_i   s.t.  0 <= h <= 1,  lambda_max( sum_i (1 - h_i) a_i a_i^T ) <= B

    with a_i = y_i - x. With u = 1 this is the packing SDP of section 3.2, otherwise the weighted
    one of the appendix.

    Parameters
    ----------
    X : array, memory map, sparse matrix or data frame of shape (n, d)
        The rows y_i.
    center : array of shape (d,)
        The point x.
    budget : float
        B.
    weights : array of shape (n,), optional
        Positive factors u; 1 if not given.
    tol : float
        Duality gap, relative to the objective at h = 1.
    max_steps : int
        Most proximal steps, of up to 80 passes each.

    Returns
    -------
    Solution
        The weights, the multiplier, and the gap between their objectives.

    Examples
    --------
    >>> import numpy as np, inlier
    >>> X = np.array([[0.0], [1.0], [-1.0], [9.0]])
    >>> solution = inlier.l0.solve_l1(X, center=[0.0], budget=2.0)
    >>> round(solution.objective, 3), solution.l0_lower_bound
    (1.0, 1)
    """
    solver = _solver(X, center, budget, tol, max_steps)
    return _warned(solver.packing(_positive(weights, "weights", len(solver.ones))))


def solve_least_squares(
    X: Any,
    center: Any,
    budget: float,
    *,
    weights: Any = None,
    tol: float = 1e-6,
    max_steps: int = 100,
) -> Solution:
    """Solve the step of re-weighted l2: least squares with a semidefinite constraint (appendix).

    That is ::

        min sum_i u_i^2 h_i^2   s.t.  0 <= h <= 1,  lambda_max( sum_i (1 - h_i) a_i a_i^T ) <= B

    Parameters
    ----------
    X, center, budget : array of shape (n, d), array of shape (d,), float
        As for `solve_l1`.
    weights : array of shape (n,), optional
        Positive factors u; 1 if not given.
    tol, max_steps : float, int
        As for `solve_l1`.

    Returns
    -------
    Solution
        As of `solve_l1`.
    """
    solver = _solver(X, center, budget, tol, max_steps)
    return _warned(solver.least_squares(_positive(weights, "weights", len(solver.ones))))


def project(
    X: Any,
    center: Any,
    budget: float,
    *,
    target: Any,
    metric: Any = None,
    tol: float = 1e-6,
    max_steps: int = 100,
) -> Solution:
    """Compute the weighted projection onto the packing set, to which the others reduce.

    That is ::

        min 1/2 sum_i s_i (w_i - t_i)^2   s.t.  0 <= w <= 1,  lambda_max( sum_i w_i a_i a_i^T ) <= B

    Parameters
    ----------
    X, center, budget : array of shape (n, d), array of shape (d,), float
        As for `solve_l1`.
    target : array of shape (n,)
        The point t that is projected.
    metric : array of shape (n,), optional
        Positive factors s; 1 if not given.
    tol, max_steps : float, int
        As for `solve_l1`.

    Returns
    -------
    Solution
        As of `solve_l1`.
    """
    solver = _solver(X, center, budget, tol, max_steps)
    t = check_vector(target, "target", len(solver.ones), "row")
    return _warned(solver.project(t, _positive(metric, "metric", len(solver.ones))))


def _solver(X: Any, center: Any, budget: Any, tol: Any, max_steps: Any) -> FullSpaceSolver:
    table = as_table(check_table(X)).on_host()
    return FullSpaceSolver(
        # Large Krylov blocks: with a small budget the multiplier has a high rank.
        Oracle(table, fit_generator(0), block=16),
        check_vector(center, "center", table.shape[1], "column"),
        check_number(budget, "budget", below=np.inf),
        check_number(tol, "tol", below=1.0),
        check_whole(max_steps, "max_steps"),
    )


def _positive(weights: Any, name: str, n: int) -> Array:
    if weights is None:
        return np.ones(n)
    u = check_vector(weights, name, n, "row")
    if u.min() <= 0.0:
        raise ValueError(
            f"{name} must be positive, but the entry of row {int(u.argmin())} is {u.min():g}."
        )
    return u


def _warned(solution: Solution) -> Solution:
    if not solution.converged:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(solution.message, ConvergenceWarning, stacklevel=3)
    return solution
