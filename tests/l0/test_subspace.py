"""Problems within a subspace, and on a sketch of the rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import inlier
import reference
from cases import cases
from convex import Problem, rows_along
from inlier.l0.problem import Projection, scores
from inlier.l0.subspace import (
    FULL_STEP,
    SKETCH_PRECISION,
    SKETCH_ROWS,
    SKETCH_SLACK,
    Sketch,
    SubspaceSolution,
    SubspaceSolver,
    _root,
)
from libraries import host, is_beside


@cases("first", [1e-6, 1.0, 1e6])
@cases("duplicated", [False, True])
@cases("name", ["least squares", "projection"])
def test_one_direction_is_as_good_as_cvxpy(name, duplicated, first):
    n = 50
    P, problem = rows_along(1, n, duplicated), Problem(name, n)
    expected, w = problem.optimum(P.T, 1.0)
    multiplier, weights = _root(P[0] ** 2, Projection(problem.t, problem.s), 1e-10, first)
    np.testing.assert_allclose(weights, w, atol=1e-4)
    assert P[0] ** 2 @ weights <= 1.0 + 1e-7
    dual = problem.dual_objective(multiplier * P[0] ** 2, multiplier)
    assert dual == pytest.approx(expected, rel=1e-6)


@cases("gap_tol", [1e-10, 1.0])
@cases("first", [1e-6, 1.0, 1e6])
@cases("t", [np.linspace(-0.5, 1.5, 5), np.full(5, 2.0)])
def test_one_direction_that_is_within_the_budget_is_left_alone(t, first, gap_tol):
    p2 = np.full(5, 0.1)
    multiplier, w = _root(p2, Projection(t, np.ones(5)), gap_tol, first)
    assert multiplier == 0.0
    np.testing.assert_array_equal(w, np.clip(t, 0.0, 1.0))


@pytest.mark.parametrize("k", [1, 2, 5])
def test_packing_within_a_subspace_is_as_good_as_cvxpy(k):
    P, problem = rows_along(k, 50, duplicated=False), Problem("weighted l1", 50)
    expected, _ = problem.optimum(P.T, 1.0)
    found = SubspaceSolver(P, tol=1e-7).packing(problem.u)
    assert problem.objective(found.weights) == pytest.approx(expected, abs=1e-6 * problem.scale)
    assert reference.largest_eigenvalue(P.T, found.weights) <= 1.0 + 1e-6


@pytest.mark.parametrize("k", [1, 2, 5])
def test_successive_least_squares_start_from_the_last_and_end_right(k):
    P = rows_along(k, 50, duplicated=True)
    solver = SubspaceSolver(P, tol=1e-7)
    solver.least_squares(np.ones(50), loosely=True)
    problem = Problem("least squares", 50)
    expected, w = problem.optimum(P.T, 1.0)
    found = solver.least_squares(problem.u)
    assert problem.objective(found.weights) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(found.weights, w, atol=1e-3)


@pytest.mark.parametrize("d", [100, 600])
@pytest.mark.parametrize("solve", [inlier.l0.solve_l1, inlier.l0.solve_least_squares])
def test_one_hopeless_row_among_rows_within_the_budget(solve, d):
    X = np.random.default_rng(0).standard_normal((50, d))
    X[7] = 1e6
    rest = np.delete(X, 7, axis=0)
    solution = solve(X, np.zeros(d), 1.01 * np.linalg.norm(rest, 2) ** 2)
    expected = np.arange(50) != 7
    np.testing.assert_allclose(solution.weights, expected, atol=1e-6)
    assert solution.converged and solution.objective == pytest.approx(1.0, abs=1e-5)


def rows_in_units_of_the_budget(k: int, seed: int, n: int = 9000) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which some have to go, with a few extreme ones, and weights u."""
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((k, n)) * np.sqrt(3.0 / n)
    P[:, :4] *= 10.0 ** rng.uniform(1.0, 3.0, 4)
    return P, rng.uniform(0.1, 2.0, n)


SKETCHES = [(k, seed) for k in (1, 2, 4) for seed in range(4)]


@cases(("k", "seed"), SKETCHES)
def test_the_second_moment_of_a_sketch_is_near_that_of_all_rows(k, seed):
    P, u = rows_in_units_of_the_budget(k, seed)
    size = np.square(P).sum(axis=0)
    sketch = Sketch.of(size, SKETCH_ROWS)
    # A sum of sizes has a relative error of about one over the root of the count.
    error = 4.0 / np.sqrt(SKETCH_ROWS)
    for w in (np.ones_like(u), u):
        seen = sketch.sampled(P)
        all_rows = (P * w) @ P.T
        few_rows = (seen * sketch.sampled(w) * sketch.copies) @ seen.T
        assert np.linalg.norm(few_rows - all_rows, 2) <= error * np.trace(all_rows)
    assert sketch.copies.sum() == pytest.approx(P.shape[1], rel=error)


@pytest.mark.parametrize("count", [16, 256, SKETCH_ROWS])
def test_heavy_rows_are_always_in_a_sketch(count):
    rng = np.random.default_rng(0)
    n = 20_000
    for n_heavy in (1, 3):
        heavy = rng.choice(n, n_heavy, replace=False)
        size = rng.random(n)
        # Each stratum covers 1 / count of the chance: a row with more cannot be missed.
        size[heavy] = 4.0 * size.sum() / count
        assert np.isin(heavy, Sketch.of(size, count).rows).all()


@pytest.mark.parametrize("lowered", [False, True])
@pytest.mark.parametrize("off", [0.5, 0.8, 0.98, 1.02, 1.5])
def test_the_multiplier_of_a_sketch_is_scaled_to_the_budget_of_all_rows(off, lowered):
    P, u = rows_in_units_of_the_budget(3, 0)
    problem = Projection.least_squares(u)
    exact = SubspaceSolver(P, 1e-6, exactly=True).least_squares(u).S
    weights, S = SubspaceSolver(P, 1e-2)._lifted(problem, off * exact, lowered)

    def excess(S):
        w = problem.weights(scores(P, S))
        return np.linalg.eigvalsh((P * w) @ P.T)[-1] - 1.0

    np.testing.assert_allclose(weights, problem.weights(scores(P, S)))
    assert excess(S) <= SKETCH_SLACK
    if off > 1.0 and not lowered:
        np.testing.assert_array_equal(S, off * exact)
    else:  # a little less is too little
        assert excess((1.0 - 2.0 * SKETCH_PRECISION) * S) > SKETCH_SLACK


def test_a_sketch_is_that_of_numpy(library):
    P, _ = rows_in_units_of_the_budget(3, 0)
    size = np.square(P).sum(axis=0)
    there = library(P)
    sketch, expected = Sketch.of(library(size), 500), Sketch.of(size, 500)
    assert is_beside(sketch.rows, there)
    np.testing.assert_array_equal(host(sketch.rows), expected.rows)
    np.testing.assert_allclose(sketch.copies, expected.copies, rtol=1e-9)
    seen = sketch.sampled(there)
    assert type(seen) is np.ndarray
    np.testing.assert_array_equal(seen, expected.sampled(P))


ASKED: dict[str, Callable[[SubspaceSolver, np.ndarray], tuple[SubspaceSolution, Projection]]] = {
    "least squares": lambda within, u: (within.least_squares(u), Projection.least_squares(u)),
    "projection": lambda within, u: (within.project(2.0 - u / 2.0, u), Projection(2.0 - u / 2, u)),
    "short step": lambda within, u: (
        within.packing(u, 2.0),
        Projection.proximal(u, np.ones_like(u), 2.0),
    ),
    "full step": lambda within, u: (
        within.packing(u),
        Projection.proximal(u, np.ones_like(u), FULL_STEP),
    ),
}


@cases("name", ASKED)
@cases(("k", "seed"), SKETCHES)
def test_a_sketch_solves_the_problem_of_all_rows(k, seed, name):
    P, u = rows_in_units_of_the_budget(k, seed)
    assert P.shape[1] > SKETCH_ROWS
    tol = 1e-5
    by_sketch, problem = ASKED[name](SubspaceSolver(P, tol), u)
    exactly, _ = ASKED[name](SubspaceSolver(P, tol, exactly=True), u)
    for answer in (by_sketch, exactly):
        w = answer.weights
        assert w.shape == u.shape and w.min() >= 0.0 and w.max() <= 1.0
        assert np.linalg.eigvalsh((P * w) @ P.T)[-1] <= 1.0 + 2e-3
        assert np.linalg.eigvalsh(answer.S)[0] >= -1e-9 * np.trace(answer.S)
    # Gaps are related to the objective at w = 0.
    lost = problem.objective(by_sketch.weights) - problem.objective(exactly.weights)
    assert abs(lost) <= 0.03 * problem.scale


@cases("name", ["least squares", "short step"])
@cases("k", [1, 2])
def test_what_a_sketch_solves_is_that_of_numpy(library, k, name):
    P, u = rows_in_units_of_the_budget(k, 0)
    there = library(P)

    def ask(P: Any, u: Any) -> SubspaceSolution:
        within = SubspaceSolver(P, 1e-4)
        return within.least_squares(u) if name == "least squares" else within.packing(u, 2.0)

    answer, expected = ask(there, library(u)), ask(P, u)
    assert is_beside(answer.weights, there)
    np.testing.assert_allclose(host(answer.weights), expected.weights, rtol=0, atol=1e-6)
    assert type(answer.S) is np.ndarray
    np.testing.assert_allclose(answer.S, expected.S, rtol=1e-6, atol=1e-6)


def test_few_rows_need_no_sketch():
    P, u = rows_in_units_of_the_budget(2, 0, n=SKETCH_ROWS)
    by_default, exactly = (
        SubspaceSolver(P, 1e-5, exactly=e).least_squares(u) for e in (False, True)
    )
    np.testing.assert_array_equal(by_default.weights, exactly.weights)
