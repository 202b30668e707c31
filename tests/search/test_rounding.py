"""The step of rounded columns."""

import numpy as np

from inlier.search.rounding import rounding_steps


def test_steps_are_those_of_the_rounding():
    rng = np.random.default_rng(0)
    columns = [
        np.round(rng.standard_normal(500), 1),
        rng.integers(0, 9, 500) * 5.0,
        np.full(500, 7.0),
    ]
    steps = rounding_steps(np.sort(np.stack(columns, axis=1), axis=0))
    np.testing.assert_allclose(steps, [0.1, 5.0, 0.0], rtol=1e-9)


def test_arithmetic_is_no_rounding():
    x = np.array([0.3, 0.1 + 0.2, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    assert rounding_steps(np.sort(x)[:, None])[0] == 0.7


def test_a_huge_value_does_not_make_the_others_copies():
    x = np.append(np.arange(100.0) / 10.0, 1e15)
    np.testing.assert_allclose(rounding_steps(x[:, None]), [0.1])


def test_a_column_of_two_values():
    x = np.repeat([0.0, 1.0], [99, 1])
    assert rounding_steps(x[:, None])[0] == 1.0
