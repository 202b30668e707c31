"""Projections onto the capped simplex, against their optimality conditions and cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inlier.research.baselines.capped_simplex import nearest_distribution, nearest_point


@st.composite
def points(draw):
    n = draw(st.integers(2, 12))
    # Whole numbers: many ties.
    values = draw(
        st.one_of(
            st.lists(st.integers(-2, 3), min_size=n, max_size=n),
            st.lists(st.floats(-2.0, 3.0), min_size=n, max_size=n),
        )
    )
    return np.array(values, dtype=float), draw(st.floats(1.0, n)) / n


@settings(max_examples=60)
@given(points())
def test_nearest_point(drawn):
    w, cap = drawn
    found = nearest_point(w, cap)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.min() >= 0.0 and found.max() <= cap
    # It is nearest if and only if all entries inside the bounds moved by the same, those at 0 by
    # less and those at the cap by more.
    moved, near = w - found, 1e-9
    at_most = moved[found < cap - near].max(initial=-np.inf)
    assert at_most <= moved[found > near].min() + near


def test_nearest_point_is_that_of_cvxpy():
    w, cap = np.array([-0.5, 0.1, 0.1, 0.4, 2.0]), 0.3
    x = cp.Variable(5)
    nearest = cp.Minimize(cp.sum_squares(x - w))
    cp.Problem(nearest, [cp.sum(x) == 1, x >= 0, x <= cap]).solve(solver="CLARABEL")
    np.testing.assert_allclose(nearest_point(w, cap), x.value, atol=1e-5)


@settings(max_examples=60)
@given(points())
def test_nearest_distribution(drawn):
    w, cap = np.exp(drawn[0]), drawn[1]
    found = nearest_distribution(w, cap)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.min() >= 0.0 and found.max() <= cap * (1.0 + 1e-12)
    # It is nearest if and only if all entries below the cap grew by the same factor, and those at
    # the cap by no more.
    grown = found / w
    below = grown[found < cap * (1.0 - 1e-9)]
    if below.size:
        np.testing.assert_allclose(below, below[0], rtol=1e-9)
        assert grown.max() <= below[0] * (1.0 + 1e-9)


def test_nearest_distribution_is_that_of_cvxpy():
    w, cap = np.exp([-0.5, 0.1, 0.1, 0.4, 2.0]), 0.3
    x = cp.Variable(5)
    nearest = cp.Minimize(cp.sum(cp.kl_div(x, w)))
    cp.Problem(nearest, [cp.sum(x) == 1, x <= cap]).solve(solver="CLARABEL")
    np.testing.assert_allclose(nearest_distribution(w, cap), x.value, atol=1e-4)
