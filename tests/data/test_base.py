"""Identities between the passes of any table."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inlier.data import Table, as_table

values = st.floats(-1e3, 1e3, width=32)


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, Table]:
    shape = draw(st.tuples(st.integers(2, 40), st.integers(1, 9)))
    Y = draw(arrays(np.float64, shape, elements=values))
    if draw(st.booleans()):
        Y[np.random.default_rng(draw(st.integers(0, 9))).random(shape) < 0.5] = 0.0
        make = draw(st.sampled_from([sp.csr_matrix, sp.csc_array, sp.coo_array]))
    else:
        make = draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray]))
    return Y, as_table(make(Y))


@given(tables(), st.integers(0, 4), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_combine_is_the_adjoint_of_project(drawn, k, seed):
    Y, table = drawn
    rng = np.random.default_rng(seed)
    center = rng.uniform(-1e3, 1e3, Y.shape[1])
    V = rng.standard_normal((k, Y.shape[1]))
    C = rng.standard_normal((k, Y.shape[0]))
    left = np.sum(table.project(center, V) * C)
    right = np.sum(V * table.combine(center, C))
    magnitude = np.sum(np.abs(C) * (np.abs(V) @ (np.abs(Y) + np.abs(center)).T))
    assert left == pytest.approx(right, abs=1e-13 * magnitude)


@given(tables(), st.integers(0, 4), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_moment_is_project_then_weigh_then_combine(drawn, k, seed):
    Y, table = drawn
    rng = np.random.default_rng(seed)
    center = rng.uniform(-1e3, 1e3, Y.shape[1])
    V = rng.standard_normal((k, Y.shape[1]))
    w = rng.random(len(Y))
    moment = table.moment(center, w, V)
    projection = table.project(center, V)
    size = np.abs(Y) + np.abs(center)
    np.testing.assert_allclose(
        moment.projection, projection, rtol=0, atol=1e-13 * (np.abs(V) @ size.T).max(initial=1e-300)
    )
    seen = np.abs(V) @ size.T
    np.testing.assert_allclose(
        moment.image,
        table.combine(center, w * projection),
        rtol=0,
        atol=1e-13 * (seen @ size).max(initial=1e-300),
    )
    np.testing.assert_allclose(
        moment.drift, table.combine(center, w[None])[0], rtol=0, atol=1e-13 * size.sum()
    )
    np.testing.assert_allclose(
        table.mean(w, center), center + moment.drift / w.sum(), rtol=1e-12, atol=1e-12 * size.max()
    )


@given(tables(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_gram_agrees_with_the_distances(drawn, seed):
    Y, table = drawn
    center = np.random.default_rng(seed).uniform(-1e3, 1e3, Y.shape[1])
    size = np.square(np.abs(Y) + np.abs(center)).sum(axis=1).max()
    diagonal = np.diag(table.gram(center))
    distances = table.sq_distances(center)
    np.testing.assert_allclose(diagonal, distances, rtol=0, atol=1e-13 * size)
    assert (distances >= 0.0).all()


def test_rows_are_sorted_along_a_direction_once():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((50, 4))
    table = as_table(Y)
    order = table.order(np.random.default_rng(1))
    direction = np.random.default_rng(1).standard_normal(4)
    np.testing.assert_array_equal(order, np.argsort(Y @ direction))
    passes = table.n_passes
    np.testing.assert_array_equal(table.order(rng), order)
    assert table.n_passes == passes
