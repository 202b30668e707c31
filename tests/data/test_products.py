"""Products in stacks are the products."""

import numpy as np

from cases import cases
from dense_cases import whole_numbers
from inlier.data import passes


@cases("dtype", [np.float64, np.float32])
@cases("order", ["C", "F"])
@cases("k", [0, 1, 3])
@cases("n", [1, 15, 16, 17, 64, 100])
def test_a_stack_of_products_is_the_product(monkeypatch, n, k, order, dtype):
    d = 7
    monkeypatch.setattr(passes, "UNPACKED", 16 * max(1, k) * d)
    Y = np.asarray(whole_numbers((n, d)), dtype=dtype, order=order)
    basis, C = whole_numbers((k, d)).astype(dtype), whole_numbers((k, n))
    np.testing.assert_array_equal(passes.along(basis, Y), basis @ Y.T)
    image, totals = passes.combined(C, Y)
    assert image.dtype == totals.dtype == np.float64
    np.testing.assert_array_equal(image, C @ Y.astype(np.float64))
    np.testing.assert_array_equal(totals, C.sum(axis=1))
