"""The public convex problems against cvxpy, certificates with dense matrices, brute force."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import inlier
import reference
from cases import cases
from clear_samples import GOOD, INF, NAN, NO_TABLES
from convex import Problem
from inlier.l0 import project, solve_l1, solve_least_squares
from small_tables import CONTAMINATIONS, SHAPES, small_table

PROBLEMS = ["l1", "weighted l1", "least squares", "projection"]
# Up to 24 columns the interior point method takes the whole space; above, the factored dual, which
# has to do without its help above 64.
SMALL = [(30, 3), (50, 10), (80, 24)]
FACTORED = [(100, 30)]
LARGE = [(150, 40), (40, 50)]


@cache
def solved(name, kind, n, d, fraction):
    case = reference.instance(kind, n, d)
    return Problem(name, n).solve(case.X, case.center, case.budget(fraction))


def check_certificate(solution, problem, X, center, tol=1e-6):
    """Everything a solution says about itself, from the data and its weights and multiplier."""
    A, w, budget = X - center, solution.weights, solution.budget
    assert np.all((w >= 0.0) & (w <= 1.0))
    assert np.array_equal(solution.indicator, 1.0 - w)
    top = reference.largest_eigenvalue(A, w)
    assert top <= budget * (1.0 + 1e-9)
    assert solution.lambda_max == pytest.approx(top, rel=1e-9)
    assert solution.residual <= 1e-8 * max(top, 1.0)
    scale = problem.scale
    assert solution.scale == pytest.approx(scale)
    assert solution.objective == pytest.approx(problem.objective(w), abs=1e-10 * scale)

    V, prices = solution.directions, solution.multiplier
    assert np.all(prices >= 0.0)
    np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-9)
    Lambda = (V.T * prices) @ V / budget
    q = np.einsum("ni,ij,nj->n", A, Lambda, A)
    np.testing.assert_allclose(solution.scores, q, rtol=1e-7, atol=1e-9 * (1.0 + q.max()))
    dual = problem.dual_objective(q, budget * np.trace(Lambda))
    assert solution.dual_objective == pytest.approx(dual, abs=1e-8 * scale)

    assert solution.gap == solution.objective - solution.dual_objective
    assert solution.gap >= -1e-10 * scale
    assert solution.converged == (solution.relative_gap <= tol)


# -- Against cvxpy --------------------------------------------------------------------------------


def check_objective(name, kind, n, d, fraction):
    case, problem = reference.instance(kind, n, d), Problem(name, n)
    budget = case.budget(fraction)
    expected, _ = problem.optimum(case.A, budget)
    allowed = 1e-5 * max(1.0, abs(expected))
    # The tolerance is relative to the objective at w = 0; ask for what the comparison needs.
    tol = min(1e-6, 0.5 * allowed / problem.scale)
    solution = problem.solve(case.X, case.center, budget, tol=tol)
    assert solution.converged
    assert solution.objective == pytest.approx(expected, rel=0.0, abs=allowed)
    assert solution.dual_objective <= expected + 1e-6 * max(1.0, abs(expected))


QUICK = [(30, 3, 1.0), (50, 10, 0.5)]
# Both budgets and all kinds of data where cvxpy is quick, and some where it is not.
TABLES = [
    *((kind, *table) for kind in reference.KINDS for table in QUICK),
    ("rank-deficient", 80, 24, 1.0),
    ("clustered", 100, 30, 0.5),
]


@cases(("kind", "n", "d", "fraction"), TABLES)
@cases("name", PROBLEMS)
def test_objective_is_that_of_cvxpy(name, kind, n, d, fraction):
    check_objective(name, kind, n, d, fraction)


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [1.0, 0.5])
@pytest.mark.parametrize(("n", "d"), LARGE)
@pytest.mark.parametrize("kind", reference.KINDS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_objective_is_that_of_cvxpy_on_larger_tables(name, kind, n, d, fraction):
    check_objective(name, kind, n, d, fraction)


@pytest.mark.parametrize(("n", "d"), [(40, 1), (40, 5), (40, 28)])
@pytest.mark.parametrize("name", ["least squares", "projection"])
def test_minimiser_of_a_strongly_convex_problem_is_that_of_cvxpy(name, n, d):
    case, problem = reference.instance("clustered", n, d), Problem(name, n)
    budget = case.budget(0.7)
    _, w = problem.optimum(case.A, budget)
    solution = problem.solve(case.X, case.center, budget, tol=1e-9)
    np.testing.assert_allclose(solution.weights, w, atol=1e-4)


# -- Certificates ---------------------------------------------------------------------------------


# Every kind of data and both budgets in every shape, but not all combinations in the large ones.
CERTIFIED = [
    (kind, n, d, fraction)
    for i, kind in enumerate(reference.KINDS)
    for j, (n, d) in enumerate([*SMALL, *FACTORED, (40, 60), (120, 80)])
    for k, fraction in enumerate([1.0, 0.5])
    if d <= 10 or (i + j + k) % 4 < 1
]


@cases(("kind", "n", "d", "fraction"), CERTIFIED)
@cases("name", PROBLEMS)
def test_certificate_is_what_the_data_say(name, kind, n, d, fraction):
    case = reference.instance(kind, n, d)
    solution = solved(name, kind, n, d, fraction)
    assert solution.converged
    check_certificate(solution, Problem(name, n), case.X, case.center)


@cases("tol", [1e-2, 1e-5])
@cases(("n", "d"), [(12, 1), (12, 2), (30, 3), (50, 10), (100, 30)])
@cases("name", PROBLEMS)
def test_every_tolerance_is_met(name, n, d, tol):
    for kind, fraction in zip(reference.KINDS, (1.0, 0.3, 0.3, 1.0), strict=True):
        case, problem = reference.instance(kind, n, d), Problem(name, n)
        solution = problem.solve(case.X, case.center, case.budget(fraction), tol=tol)
        assert solution.converged
        check_certificate(solution, problem, case.X, case.center, tol)


@pytest.mark.parametrize("name", PROBLEMS)
def test_certificate_where_eigenvalues_come_from_krylov_iteration(name):
    n, d = 80, 600
    case, problem = reference.instance("clustered", n, d), Problem(name, n)
    budget = case.budget(0.8)
    solution = problem.solve(case.X, case.center, budget, tol=1e-4)
    top = reference.largest_eigenvalue(case.A, solution.weights)
    assert top <= budget * (1.0 + 1e-4)
    assert solution.lambda_max == pytest.approx(top, rel=1e-4)
    q = solution.multiplier @ (solution.directions @ case.A.T) ** 2 / budget
    dual = problem.dual_objective(q, solution.multiplier.sum())
    assert solution.dual_objective == pytest.approx(dual, abs=1e-8 * problem.scale)
    assert solution.objective == pytest.approx(problem.objective(solution.weights))
    assert -1e-4 <= solution.relative_gap <= 1e-4


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_early_stop_warns_and_its_certificate_holds(name):
    case, problem = reference.instance("random", 100, 30), Problem(name, 100)
    budget = case.budget(0.1)
    with pytest.warns(ConvergenceWarning, match="max_steps"):
        solution = problem.solve(case.X, case.center, budget, tol=1e-9, max_steps=1)
    assert solution.relative_gap > 1e-9
    check_certificate(solution, problem, case.X, case.center, tol=1e-9)
    expected, _ = problem.optimum(case.A, budget)
    accuracy = 1e-6 * max(1.0, expected)
    assert solution.dual_objective - accuracy <= expected <= solution.objective + accuracy


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@cases(("kind", "d"), [("random", 30), ("rank-deficient", 80)])
@cases("name", PROBLEMS)
def test_what_a_tolerance_out_of_reach_leaves_is_still_a_good_answer(name, kind, d):
    case, problem = reference.instance(kind, 100, d), Problem(name, 100)
    solution = problem.solve(case.X, case.center, case.budget(0.5), tol=1e-12, max_steps=20)
    assert solution.relative_gap <= 1e-3


@pytest.mark.parametrize("name", PROBLEMS)
def test_nothing_is_removed_that_need_not_be(name):
    case, problem = reference.instance("random", 50, 10), Problem(name, 50)
    budget = 1.001 * reference.largest_eigenvalue(case.A, np.ones(50))
    solution = problem.solve(case.X, case.center, budget)
    expected = np.clip(problem.t, 0.0, 1.0) if name == "projection" else np.ones(50)
    np.testing.assert_array_equal(solution.weights, expected)
    assert solution.l0_lower_bound == 0


# -- Properties of the answers --------------------------------------------------------------------


@cases("factor", [1e-4, 1e4])
@cases(("n", "d"), [(50, 10), (100, 30)])
@cases("name", PROBLEMS)
def test_units_of_the_objective_do_not_matter(name, n, d, factor):
    case, problem = reference.instance("random", n, d), Problem(name, n)
    budget = case.budget(0.5)
    solution = problem.solve(case.X, case.center, budget, factor=factor)
    assert solution.converged
    expected = solved(name, "random", n, d, 0.5).objective
    assert solution.objective / factor == pytest.approx(expected, abs=2e-6 * problem.scale)


@cases("unit", [1e-6, 1e6])
@cases(("n", "d"), [(50, 10), (100, 30)])
@cases("name", PROBLEMS)
def test_units_and_origin_of_the_data_do_not_matter(name, n, d, unit):
    case, problem = reference.instance("clustered", n, d), Problem(name, n)
    shift = 100.0 * np.arange(d)
    solution = problem.solve(
        unit * (case.X + shift), unit * (case.center + shift), unit**2 * case.budget(0.5)
    )
    expected = solved(name, "clustered", n, d, 0.5).objective
    assert solution.objective == pytest.approx(expected, abs=2e-6 * problem.scale)


@cases("d", [10, 30])
@cases("name", PROBLEMS)
def test_a_larger_budget_never_costs_more(name, d):
    case, problem = reference.instance("duplicated", 60, d), Problem(name, 60)
    objectives = [
        problem.solve(case.X, case.center, case.budget(fraction), tol=1e-5).objective
        for fraction in (0.25, 0.5, 1.0, 2.0, 4.0)
    ]
    assert np.all(np.diff(objectives) <= 1e-5 * problem.scale)


@pytest.mark.parametrize("d", [3, 30])
def test_rows_beyond_all_measure_have_no_weight(d):
    case = reference.instance("random", 60, d)
    X = np.vstack([case.X, np.full((2, d), 1e9)])
    near = inlier.l0.solve_l1(case.X, case.center, case.budget(0.5))
    far = inlier.l0.solve_l1(X, case.center, case.budget(0.5))
    np.testing.assert_array_equal(far.weights[-2:], 0.0)
    assert far.objective == pytest.approx(near.objective + 2.0, abs=2e-6 * 62)


@pytest.mark.parametrize("d", [3, 30])
def test_a_budget_that_has_room_for_no_row(d):
    case = reference.instance("random", 60, d)
    smallest = np.min(np.sum(case.A**2, axis=1))
    solution = inlier.l0.solve_l1(case.X, case.center, 1e-8 * smallest)
    assert solution.converged
    assert solution.l0_lower_bound == 60


@pytest.mark.parametrize("d", [3, 30])
def test_projection_of_zero_is_zero(d):
    case = reference.instance("random", 60, d)
    solution = inlier.l0.project(case.X, case.center, case.budget(0.5), target=np.zeros(60))
    assert solution.converged
    assert solution.gap == 0.0
    np.testing.assert_array_equal(solution.weights, 0.0)


# A bound holds whether the problem was solved to its tolerance or not.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@cases("contamination", CONTAMINATIONS)
@cases("shape", SHAPES)
def test_bound_at_a_fixed_center_is_never_above_the_optimum(contamination, shape):
    X = small_table(contamination, shape, seed=1)
    n = len(X)
    u = np.random.default_rng(1).uniform(0.2, 3.0, n)
    median = np.median(X, axis=0)
    for center, part in ((median, 0.05), (median, 0.3), (X.mean(axis=0), 0.9), (X[0], 0.3)):
        A = X - center
        budget = part * reference.largest_eigenvalue(A, np.ones(n))
        truth = reference.fewest_removed_about(A, budget)
        l1 = inlier.l0.solve_l1(X, center, budget)
        assert l1.l0_lower_bound <= truth
        # As good as l1 can be: no less than the optimum that its own gap leaves open.
        assert l1.l0_lower_bound >= np.ceil(l1.objective - l1.gap - 1e-6 * n)
        options = {"tol": 1e-3}  # any multiplier gives a bound
        assert inlier.l0.solve_l1(X, center, budget, weights=u, **options).l0_lower_bound <= truth
        squares = inlier.l0.solve_least_squares(X, center, budget, **options)
        assert squares.l0_lower_bound <= truth
        nearest = inlier.l0.project(X, center, budget, target=u, **options)
        assert nearest.l0_lower_bound <= truth


# -- tables that are refused ----------------------------------------------------------------------


@cases("solver", [solve_l1, solve_least_squares, project])
@cases("name", ["NaN", "one dimension", "strings", "complex", "one row"])
def test_solvers_refuse_what_is_no_table(name, solver):
    extra = {"target": np.ones(4)} if solver is project else {}
    with pytest.raises(ValueError, match=r"\bX\b"):
        solver(NO_TABLES[name], np.zeros(3), 1.0, **extra)


# -- arguments that are refused -------------------------------------------------------------------


WRONG_VECTORS = [
    np.ones(11),
    np.ones((12, 1)),
    np.ones(0),
    1.0,
    "ones",
    np.r_[np.ones(11), NAN],
    np.r_[np.ones(11), INF],
    ["a"] * 12,
    np.ones(12) * 1j,
]


NOT_POSITIVE = [np.zeros(12), np.r_[np.ones(11), 0.0], np.r_[np.ones(11), -1.0]]


@cases("value", WRONG_VECTORS + NOT_POSITIVE)
@cases(
    ("solver", "name"),
    [(solve_l1, "weights"), (solve_least_squares, "weights"), (project, "metric")],
)
def test_solvers_name_wrong_weights(solver, name, value):
    extra = {"target": np.ones(12)} if solver is project else {}
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        solver(GOOD, np.zeros(3), 10.0, **{name: value}, **extra)


@cases("value", [*WRONG_VECTORS, None])
def test_project_names_a_wrong_target(value):
    with pytest.raises(ValueError, match=r"\btarget\b"):
        project(GOOD, np.zeros(3), 10.0, target=value)


@cases("solver", [solve_l1, solve_least_squares, project])
@cases(
    ("name", "value"),
    [
        *[("center", value) for value in (np.zeros(2), np.zeros((1, 3)), 0.0, "mean", None)],
        ("center", [0.0, NAN, 0.0]),
        ("center", [0.0, INF, 0.0]),
        ("center", [1j, 0.0, 0.0]),
        *[("budget", value) for value in (0, -1.0, NAN, INF, "1", True)],
        *[("tol", value) for value in (0, -1e-6, 1.0, NAN, "1e-6", None, True)],
        *[("max_steps", value) for value in (0, -1, 1.5, "10", None, True)],
    ],
)
def test_solvers_name_a_wrong_argument(solver, name, value):
    arguments: dict[str, Any] = {"X": GOOD, "center": np.zeros(3), "budget": 10.0, name: value}
    if solver is project:
        arguments["target"] = np.ones(12)
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        solver(**arguments)
