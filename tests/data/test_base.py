"""What holds of any table."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dense_cases import Case
from inlier.data import as_table


@given(st.data())
@settings(max_examples=60)
def test_every_pass_over_any_table_is_its_formula(data):
    shape = data.draw(st.tuples(st.integers(2, 40), st.integers(1, 9)))
    Y = data.draw(arrays(np.float64, shape, elements=st.floats(-1e3, 1e3, width=32)))
    kinds = [np.ascontiguousarray, np.asfortranarray, sp.csr_matrix, sp.csc_array, sp.coo_array]
    make = data.draw(st.sampled_from(kinds))
    # Relative to the largest answer: rows that are all alike leave few digits about their mean.
    Case(make(Y), seed=data.draw(st.integers(0, 9)), k=data.draw(st.integers(1, 4))).check_all(1e-8)


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
