"""Symmetric rows with one mode, and others."""

import numpy as np
import pytest
from scipy import stats

from inlier.search.symmetry import flat, lopsided


def test_symmetric_rows_with_one_mode_pass_and_others_do_not():
    rng = np.random.default_rng(0)
    for T in (rng.standard_normal((500, 20)), rng.standard_t(4, (500, 20))):
        assert lopsided(T) < 1.0 and flat(T, 1e-3) < 1.0
    assert lopsided(rng.exponential(size=(200, 3))) > 1.0
    classes = rng.standard_normal((300, 3)) + 6.0 * rng.integers(2, size=(300, 1))
    assert flat(classes, 1e-3) > 1.0


def test_heavy_tails_do_not_pass_for_skewness():
    draws = [np.random.default_rng(seed).standard_t(3, (1600, 100)) for seed in range(20)]
    assert sum(lopsided(T) > 1.0 for T in draws) <= 1
    assert all(lopsided(T + 0.3 * np.abs(T)) > 1.0 for T in draws)


def test_flatness_is_that_of_scipy():
    T = np.random.default_rng(0).uniform(size=(80, 4))
    z = stats.kurtosistest(T, axis=0).statistic.min()
    assert flat(T, 1e-3) == pytest.approx(z / stats.norm.ppf(1e-3 / 4))
