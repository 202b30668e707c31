"""The constants against the distributions that their reasons name."""

import numpy as np
from scipy import stats

from inlier.second_moments.settings import SETTINGS


def population_ratio(distribution):
    """Log of the variance over the squared bulk scale."""
    scale = distribution.ppf(0.75) / stats.norm.ppf(0.75)
    return np.log(distribution.var() / scale**2)


def test_tails_of_student_t_are_mild_along_one_direction_and_heavy_along_all():
    ratio = population_ratio(stats.t(5))
    np.testing.assert_allclose(ratio, 0.36, atol=0.005)
    assert SETTINGS.heavy < ratio < SETTINGS.least


def test_products_of_all_undue_directions_are_few():
    k = SETTINGS.most_directions
    assert k * (k + 1) // 2 == 36
