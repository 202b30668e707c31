"""Directions of an adversary against the singular vectors of numpy."""

import numpy as np
import pytest

from cases import cases
from inlier.datasets.directions import (
    choose_direction,
    largest_eigenvalue,
    principal_direction,
    random_direction,
)


@cases("shape", [(40, 6), (6, 40), (7, 7), (2, 3)])
def test_principal_directions_are_singular_vectors(shape):
    rows = np.random.default_rng(0).standard_normal(shape) * np.linspace(1.0, 4.0, shape[1]) + 9.0
    centred = rows - rows.mean(axis=0)
    lengths, axes = np.linalg.svd(centred, full_matrices=False)[1:]
    assert largest_eigenvalue(rows) == pytest.approx(lengths[0] ** 2 / len(rows))
    last = int(np.flatnonzero(lengths > 1e-9 * lengths[0])[-1])
    for which, place in (("top", 0), ("bottom", last)):
        found = principal_direction(rows, which)
        assert np.linalg.norm(found) == pytest.approx(1.0)
        assert abs(found @ axes[place]) == pytest.approx(1.0, abs=1e-6)
        assert found[np.argmax(np.abs(found))] > 0.0  # the same sign on every machine


def test_rows_that_do_not_vary_have_the_first_axis():
    assert principal_direction(np.full((1, 3), 2.0), "top").tolist() == [1.0, 0.0, 0.0]
    assert largest_eigenvalue(np.full((5, 3), 0.1)) == pytest.approx(0.0, abs=1e-30)


def test_random_directions_are_uniform():
    drawn = np.array([random_direction(3, np.random.default_rng(seed)) for seed in range(2000)])
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0)
    np.testing.assert_allclose(drawn.T @ drawn / 2000, np.eye(3) / 3, atol=0.03)


def test_directions_are_chosen_by_name():
    rows = np.random.default_rng(0).standard_normal((30, 4))
    for which in ("top", "bottom"):
        found = choose_direction(rows, which, np.random.default_rng(1))
        np.testing.assert_array_equal(found, principal_direction(rows, which))
    expected = random_direction(4, np.random.default_rng(1))
    np.testing.assert_array_equal(
        choose_direction(rows, "random", np.random.default_rng(1)), expected
    )
