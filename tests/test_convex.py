"""The convex problems against cvxpy, and every certificate recomputed with dense matrices."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

import inlier
import reference
from cases import cases
from inlier.packing import interior_point as interior
from inlier.packing.problem import Packing, Projection, packing_bound, scores, second_moment
from inlier.packing.subspace import SubspaceSolver, _root

PROBLEMS = ["l1", "weighted l1", "least squares", "projection"]
# Up to 24 columns the interior point method takes the whole space; above, the factored dual, which
# has to do without its help above 64.
SMALL = [(30, 3), (50, 10), (80, 24)]
FACTORED = [(100, 30)]
LARGE = [(150, 40), (40, 50)]


class Problem:
    """One of the public problems, and what is needed to check its answer by hand."""

    def __init__(self, name, n):
        rng = np.random.default_rng(1)
        self.name = name
        self.u = np.ones(n) if name == "l1" else rng.uniform(0.2, 3.0, n)
        if name == "least squares":
            self.t, self.s = np.ones(n), 2.0 * self.u**2
        elif name == "projection":
            self.t, self.s = rng.uniform(0.2, 1.6, n), rng.uniform(0.2, 5.0, n)
        self.linear = name.endswith("l1")

    def solve(self, X, center, budget, factor=1.0, **options):
        """The answer of the library, to the problem with its objective in other units."""
        if self.name == "l1" and factor == 1.0:
            return inlier.solve_l1(X, center, budget, **options)
        if self.linear:
            return inlier.solve_l1(X, center, budget, weights=factor * self.u, **options)
        if self.name == "least squares":
            u = np.sqrt(factor) * self.u
            return inlier.solve_least_squares(X, center, budget, weights=u, **options)
        return inlier.project(X, center, budget, target=self.t, metric=factor * self.s, **options)

    def optimum(self, A, budget):
        if self.linear:
            objective = reference.weighted_l1(self.u)
        elif self.name == "least squares":
            objective = reference.weighted_squares(self.u)
        else:
            objective = reference.weighted_distance(self.t, self.s)
        return reference.optimum(A, budget, objective)

    def objective(self, w):
        if self.linear:
            return self.u @ (1.0 - w)
        return 0.5 * np.sum(self.s * (w - self.t) ** 2)

    def dual_objective(self, q, price):
        """The Lagrangian minimised over 0 <= w <= 1; for l1, of the best multiple of Lambda."""
        if self.linear:
            return self.u.sum() - bound_by_enumeration(self.u, q, price)
        at_bounds = [np.zeros_like(q), np.ones_like(q), np.clip(self.t - q / self.s, 0.0, 1.0)]
        values = [0.5 * self.s * (w - self.t) ** 2 + w * q for w in at_bounds]
        return np.min(values, axis=0).sum() - price

    @property
    def scale(self):
        return self.objective(np.zeros(len(self.u)))


def bound_by_enumeration(u, q, price):
    """A convex piecewise linear function has its minimum at a kink or at the end."""
    multiples = np.append(0.0, u[q > 0.0] / q[q > 0.0])
    return np.min(multiples * price + np.maximum(u[:, None] - multiples * q[:, None], 0.0).sum(0))


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


# Both budgets where cvxpy is quick, and one of them where it is not.
@cases(
    ("n", "d", "fraction"),
    [(30, 3, 1.0), (30, 3, 0.5), (50, 10, 0.5), (80, 24, 1.0), (100, 30, 0.5)],
)
@cases("kind", reference.KINDS)
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


@cases("fraction", [1.0, 0.5])
@cases(("n", "d"), [*SMALL, *FACTORED, (40, 60), (120, 80)])
@cases("kind", reference.KINDS)
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
    for kind in reference.KINDS:
        case, problem = reference.instance(kind, n, d), Problem(name, n)
        for fraction in (1.0, 0.3):
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
@cases("d", [30, 80])
@cases("kind", ["random", "rank-deficient"])
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
    near = inlier.solve_l1(case.X, case.center, case.budget(0.5))
    far = inlier.solve_l1(X, case.center, case.budget(0.5))
    np.testing.assert_array_equal(far.weights[-2:], 0.0)
    assert far.objective == pytest.approx(near.objective + 2.0, abs=2e-6 * 62)


@pytest.mark.parametrize("d", [3, 30])
def test_a_budget_that_has_room_for_no_row(d):
    case = reference.instance("random", 60, d)
    smallest = np.min(np.sum(case.A**2, axis=1))
    solution = inlier.solve_l1(case.X, case.center, 1e-8 * smallest)
    assert solution.converged
    assert solution.l0_lower_bound == 60


@pytest.mark.parametrize("d", [3, 30])
def test_projection_of_zero_is_zero(d):
    case = reference.instance("random", 60, d)
    solution = inlier.project(case.X, case.center, case.budget(0.5), target=np.zeros(60))
    assert solution.converged
    assert solution.gap == 0.0
    np.testing.assert_array_equal(solution.weights, 0.0)


# -- Duals ----------------------------------------------------------------------------------------

# Half precision keeps hypothesis away from squares that underflow.
short_floats = st.floats(-3.0, 3.0, width=16)


@st.composite
def feasible_points(draw):
    """Rows P in units of the budget, a feasible w and any multiplier S."""
    k, n = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    P = draw(arrays(np.float64, (k, n), elements=short_floats))
    w = draw(arrays(np.float64, n, elements=st.floats(0.0, 1.0, width=16)))
    top = np.linalg.eigvalsh(second_moment(P, w))[-1]
    root = draw(arrays(np.float64, (k, k), elements=short_floats))
    S = draw(st.sampled_from([1e-3, 1.0, 1e3])) * root @ root.T
    return P, w / max(top, 1.0), S


positive = st.floats(2.0**-10, 8.0, width=16)


@given(feasible_points(), st.data())
def test_weak_duality_of_the_packing_sdp(point, data):
    P, w, S = point
    u = data.draw(arrays(np.float64, len(w), elements=positive))
    problem, q = Packing(u), scores(P, S)
    bound = problem.dual_objective(q, np.trace(S))
    assert bound <= problem.objective(w) + 1e-9 * (1.0 + problem.scale)
    # The multiplier as it stands is one of the multiples that the bound chooses from.
    assert bound >= u.sum() - np.trace(S) - np.maximum(u - q, 0.0).sum() - 1e-9 * u.sum()


@given(feasible_points(), st.data())
def test_weak_duality_of_the_projection(point, data):
    P, w, S = point
    s = data.draw(arrays(np.float64, len(w), elements=positive))
    t = data.draw(arrays(np.float64, len(w), elements=short_floats))
    problem, q = Projection(t, s), scores(P, S)
    objective, dual = problem.objective(w), problem.dual_objective(q, np.trace(S))
    rounding = 1e-10 * (1.0 + problem.scale + np.trace(S) + q.sum())
    assert dual <= objective + rounding
    G = np.eye(len(P)) - second_moment(P, w)
    assert problem.gap(w, q, S, G) == pytest.approx(objective - dual, abs=rounding)


@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(
            arrays(np.float64, n, elements=positive),
            arrays(np.float64, n, elements=st.floats(0.0, 8.0, width=16)),
        )
    ),
    st.floats(2.0**-10, 64.0, width=16),
)
def test_packing_bound_is_the_best_multiple(u_and_q, price):
    u, q = u_and_q
    bound = packing_bound(u, q, price)
    assert bound == pytest.approx(bound_by_enumeration(u, q, price), rel=1e-12)


def test_packing_bound_against_a_numerical_minimisation():
    rng = np.random.default_rng(0)
    for _ in range(20):
        u, q, price = rng.uniform(0.1, 3.0, 30), rng.exponential(size=30), rng.uniform(1.0, 40.0)
        found = minimize_scalar(
            lambda a, u=u, q=q, price=price: a * price + np.maximum(u - a * q, 0.0).sum(),
            bounds=(0.0, 100.0),
            options={"xatol": 1e-10},
        )
        bound = packing_bound(u, q, price)
        assert bound <= found.fun + 1e-9
        assert bound == pytest.approx(found.fun, rel=1e-6)


# -- Within a subspace ----------------------------------------------------------------------------


def rows_along(k, n, duplicated, seed=0):
    rng = np.random.default_rng([seed, k, n])
    P = rng.standard_normal((k, n))
    if duplicated:
        P[:, : n // 3] = P[:, :1]
    return P / np.sqrt(0.3 * np.linalg.eigvalsh(P @ P.T)[-1])


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
@pytest.mark.parametrize("solve", [inlier.solve_l1, inlier.solve_least_squares])
def test_one_hopeless_row_among_rows_within_the_budget(solve, d):
    X = np.random.default_rng(0).standard_normal((50, d))
    X[7] = 1e6
    rest = np.delete(X, 7, axis=0)
    solution = solve(X, np.zeros(d), 1.01 * np.linalg.norm(rest, 2) ** 2)
    expected = np.arange(50) != 7
    np.testing.assert_allclose(solution.weights, expected, atol=1e-6)
    assert solution.converged and solution.objective == pytest.approx(1.0, abs=1e-5)
