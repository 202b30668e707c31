"""One solver for many problems about one center: each answer is that of cvxpy."""

import numpy as np
import pytest

import reference
from cases import cases
from inlier.data import as_table
from inlier.l0.full_space import FullSpaceSolver
from inlier.linalg.eigenpairs import Oracle


def solver(case, fraction, **options):
    oracle = Oracle(as_table(case.X), np.random.default_rng(0))
    return FullSpaceSolver(oracle, case.center, case.budget(fraction), tol=1e-6, **options)


# The interior point method in the whole space, and the factored dual.
@cases("d", [4, 30])
def test_answers_one_after_the_other_are_those_of_cvxpy(d):
    case = reference.instance("clustered", 60, d)
    whole = solver(case, 0.5)
    rng = np.random.default_rng(1)
    for _ in range(2):
        u = rng.uniform(0.5, 2.0, 60)
        for answer, objective in (
            (whole.packing(u), reference.weighted_l1(u)),
            (whole.least_squares(u), reference.weighted_squares(u)),
            (whole.project(u, 1.0 / u), reference.weighted_distance(u, 1.0 / u)),
        ):
            best, _ = reference.optimum(case.A, whole.budget, objective)
            assert answer.converged
            assert answer.objective == pytest.approx(best, abs=3e-6 * answer.scale)
            assert answer.dual_objective <= best + 1e-6 * answer.scale
            assert reference.largest_eigenvalue(case.A, answer.weights) <= whole.budget * (1 + 1e-9)


def test_gaps_and_indicators_follow_from_the_answer():
    answer = solver(reference.instance("random", 40, 4), 0.5).packing(np.ones(40))
    np.testing.assert_array_equal(answer.indicator, 1.0 - answer.weights)
    assert answer.gap == answer.objective - answer.dual_objective
    assert answer.relative_gap == max(answer.gap, 0.0) / answer.scale <= 1e-6


def test_too_few_steps_are_said():
    answer = solver(reference.instance("random", 100, 30), 0.1, max_steps=1).packing(np.ones(100))
    assert not answer.converged and answer.relative_gap > 1e-6
    assert "Raise max_steps" in answer.message
