"""The interior point method against cvxpy."""

import numpy as np
import pytest

import reference
from cases import cases
from convex import Problem, rows_along
from inlier.l0 import interior_point as interior
from inlier.l0.problem import Projection


@pytest.mark.parametrize("duplicated", [False, True])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_interior_point_method_is_as_good_as_cvxpy(k, duplicated):
    n = 40
    P, problem = rows_along(k, n, duplicated), Problem("projection", n)
    expected, w = problem.optimum(P.T, 1.0)
    found = interior.solve(P, Projection(problem.t, problem.s), gap_tol=1e-9)
    weights = found.weights()
    np.testing.assert_allclose(weights, w, atol=1e-4)
    assert problem.objective(weights) == pytest.approx(expected, rel=1e-6)
    assert reference.largest_eigenvalue(P.T, weights) <= 1.0 + 1e-6
    assert np.linalg.eigvalsh(found.S)[0] >= -1e-12
    q = np.einsum("in,ij,jn->n", P, found.S, P)
    assert problem.dual_objective(q, np.trace(found.S)) == pytest.approx(expected, rel=1e-6)


@cases("gap_tol", [1e-2, 1e-4, 1e-6])
@cases("factor", [1e-3, 1.0, 1e3])
def test_interior_point_method_keeps_its_word(gap_tol, factor):
    """What is returned has the gap that was asked for, weights moved to their bounds included."""
    P, problem = rows_along(3, 40, duplicated=True), Problem("projection", 40)
    gap_tol *= factor
    found = interior.solve(P, Projection(problem.t, factor * problem.s), gap_tol)
    q = np.einsum("in,ij,jn->n", P, found.S, P) / factor
    dual = problem.dual_objective(q, np.trace(found.S) / factor)
    weights = found.weights()
    assert factor * (problem.objective(weights) - dual) <= 1.01 * gap_tol + 1e-9
    assert reference.largest_eigenvalue(P.T, weights) <= 1.0 + gap_tol / factor + 1e-6


def test_interior_point_method_from_a_similar_answer():
    P, problem = rows_along(3, 40, duplicated=False), Problem("projection", 40)
    first = interior.solve(P, Projection(problem.t, problem.s), gap_tol=1e-3)
    again = interior.solve(P, Projection(problem.t, 1.5 * problem.s), 1e-9, start=first)
    problem.s = 1.5 * problem.s
    _, w = problem.optimum(P.T, 1.0)
    np.testing.assert_allclose(again.weights(), w, atol=1e-4)
