"""Weak duality, and the bound on the rows that can be kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar

from convex import bound_by_enumeration
from inlier.l0.problem import Packing, Projection, packing_bound, scores, second_moment

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
