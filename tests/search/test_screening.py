"""Directions that are screened out would show no group in the test of all their values."""

from dataclasses import replace

import numpy as np
import pytest

from inlier.search import screening, significance
from inlier.search.screening import worth_testing
from inlier.search.settings import SEARCH

N = 40_000


def group_at(distance, share):
    """Noise, and a share of the rows that are moved to one side."""
    return lambda rng: rng.standard_normal(N) + distance * (np.arange(N) < share * N)


KINDS = {
    "normal": lambda rng: rng.standard_normal(N),
    "t3": lambda rng: rng.standard_t(3, N),
    "uniform": lambda rng: rng.uniform(-1.0, 1.0, N),
    "lognormal": lambda rng: rng.lognormal(size=N),
    "rounded": lambda rng: rng.standard_normal(N).round(1),
    "few values": lambda rng: rng.poisson(1.0, N).astype(float),
    "a third coincides": lambda rng: np.where(rng.random(N) < 0.33, 0.0, rng.standard_normal(N)),
    "two sides": lambda rng: rng.standard_normal(N) + 6.0 * np.sign(np.arange(N) - N / 2),
    **{
        f"{share:.2%} at {distance}": group_at(distance, share)
        for share in (0.0003, 0.002, 0.02, 0.2)
        for distance in (2.0, 4.0, 8.0, 1000.0)
    },
}


def full_test(values):
    """The clearest sign of a group, and whether a quarter of the values coincide."""
    ascending = np.sort(values)
    center, spread, error = (float(x[0]) for x in significance.centers(ascending[None]))
    if spread == 0.0:
        return 0.0, bool(significance.coincides(ascending[None])[0])
    gap = significance.gap_test(abs(ascending - center))
    gap_log_p = gap.log_p + significance.same_side(values - center, gap)
    mirror = significance.mirror_test(ascending, center, error)
    return min(mirror.log_p, gap_log_p), bool(significance.coincides(ascending[None])[0])


@pytest.fixture(autouse=True)
def screened(monkeypatch):
    settings = replace(SEARCH, screened_rows=1000, screening_sample=20_000)
    monkeypatch.setattr(screening, "SEARCH", settings)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_screened_out_shows_nothing(kind):
    rng = np.random.default_rng(0)
    values = np.stack([7.0 + 3.0 * rng.permutation(KINDS[kind](rng)) for _ in range(6)])
    for row, worth in zip(values, worth_testing(values), strict=True):
        log_p, coincide = full_test(row)
        assert worth or (log_p >= np.log(SEARCH.doubtful_level) and not coincide)


def test_noise_is_screened_out_and_groups_are_not():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((20, N))
    assert worth_testing(noise).sum() <= 2
    grouped = np.stack([KINDS["2.00% at 8.0"](rng) for _ in range(5)])
    assert worth_testing(grouped).all()
    assert worth_testing(-grouped).all()


def test_few_rows_are_not_screened():
    assert worth_testing(np.random.default_rng(2).standard_normal((3, 500))).all()
