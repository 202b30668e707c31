"""The factored dual against cvxpy, and how its rank is adapted."""

import numpy as np

import reference
from inlier.data import as_table
from inlier.l0.factored import ENTER_LENGTH, ENTER_MOST, adapted, project
from inlier.l0.problem import Projection
from inlier.linalg.eigenpairs import Spectrum


def test_the_projection_is_that_of_cvxpy():
    case = reference.instance("clustered", 40, 5)
    rng = np.random.default_rng(0)
    t, s = rng.uniform(0.2, 1.6, 40), rng.uniform(0.2, 5.0, 40)
    budget = case.budget(0.5)
    start = 0.1 * rng.standard_normal((5, 5))
    found = project(as_table(case.X), case.center, budget, Projection(t, s), start, 500)
    best, w = reference.optimum(case.A, budget, reference.weighted_distance(t, s))
    assert found.converged
    np.testing.assert_allclose(found.weights, w, atol=1e-4)
    np.testing.assert_allclose(found.q, np.square(case.A @ found.R.T).sum(axis=1) / budget)
    # The multiplier proves it: its dual objective is the optimum.
    dual = np.sum(0.5 * s * (found.weights - t) ** 2 + found.weights * found.q)
    assert abs(dual - np.sum(found.R**2) - best) <= 1e-5 * best


def test_a_solver_that_was_stopped_says_so():
    case = reference.instance("clustered", 40, 5)
    problem = Projection(np.ones(40), np.ones(40))
    start = 0.1 * np.random.default_rng(0).standard_normal((5, 5))
    stopped = project(as_table(case.X), case.center, case.budget(0.3), problem, start, 2)
    assert not stopped.converged


def test_directions_that_vanish_leave_and_those_beyond_the_limit_enter():
    R = np.diag([4.0, 1.0, 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0])[:3]
    values = np.array([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 1.0])
    vectors = np.eye(8)[:7]
    spectrum = Spectrum(values, vectors, lambda _: None, np.zeros((7, 1)), np.zeros(8), 9.0)
    new = adapted(R, spectrum, limit=5.5)
    np.testing.assert_allclose(np.linalg.norm(new[:2], axis=1), [4.0, 1.0])
    np.testing.assert_allclose(new[2:], ENTER_LENGTH * 4.0 * vectors[:4])
    assert len(adapted(R, spectrum, limit=0.0)) == 2 + ENTER_MOST
    assert len(adapted(R, spectrum, limit=10.0)) == 2
