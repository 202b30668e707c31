"""Products of coordinates against the matrices z z^T themselves."""

import numpy as np

from inlier.second_moments.products import products


def test_inner_products_are_those_of_the_matrices():
    Z = np.random.default_rng(0).standard_normal((4, 30))
    Y = products(Z)
    assert Y.shape == (30, 10)
    matrices = np.einsum("in,jn->nij", Z, Z).reshape(30, -1)
    np.testing.assert_allclose(Y @ Y.T, matrices @ matrices.T)


def test_columns_of_gaussian_rows_are_uncorrelated_with_variance_2():
    Z = np.random.default_rng(1).standard_normal((9, 400_000))
    Y = products(Z[:3], np.sum(Z[3:] ** 2, axis=0), 6)
    np.testing.assert_allclose(np.cov(Y.T), 2.0 * np.eye(7), atol=0.06)
