"""Directions in the metric of the rows: groups are found, and nothing in noise."""

import numpy as np
import pytest

from cases import cases
from inlier.search.pursuit import pursue
from inlier.search.settings import SEARCH
from inlier.search.significance import excess_test

# Rows whose lengths are looked at.
LENGTHS = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "t3": lambda rng, n, d: rng.standard_t(3, (n, d)),
    "multivariate t5": lambda rng, n, d: (
        rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(5, (n, 1)) / 5)
    ),
}


pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(autouse=True)
def no_silent_arithmetic():
    """Division by zero, overflow and NaN are errors, not warnings that something may swallow."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


def whitened(rows):
    """k x n, uncorrelated and of unit variance, in the order of their variance."""
    centered = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / len(rows))
    return (vectors.T[::-1] @ centered.T) / np.sqrt(values[::-1, None])


def clearest_in_noise(seed, kind, n, k):
    rng = np.random.default_rng([seed, k])
    rows = LENGTHS[kind](rng, n, k) * np.geomspace(10.0, 1.0, k)
    return min(log_p for log_p, *_ in pursue(whitened(rows), rng))


@cases("k", [2, 7, 25])
@cases("kind", LENGTHS)
def test_pursuit_finds_nothing_in_noise(kind, k):
    found = np.array([clearest_in_noise(seed, kind, 400, k) for seed in range(30)])
    assert np.all(found <= 0.0)
    assert (found < SEARCH.log_level).sum() <= 1
    assert np.mean(found < np.log(1e-2)) < 0.1


@pytest.mark.parametrize("fraction", [0.05, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_pursuit_finds_a_group_in_a_quiet_direction(fraction, seed):
    rng = np.random.default_rng(seed)
    n, k = 1000, 2 * SEARCH.window
    bad = np.arange(n) < fraction * n
    rows = rng.standard_normal((n, k))
    rows[bad, -1] += 8.0
    rows *= np.geomspace(10.0, 1.0, k)
    Z = whitened(rows)
    log_p, direction, center, cut = pursue(Z, rng)[0]
    assert log_p < SEARCH.log_level
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    members = cut.side * (direction @ Z - center) > cut.cut
    assert np.mean(members == bad) > 0.99
    # The charge for the search was paid.
    assert cut.log_p <= log_p
    same_center, same_cut = excess_test(direction @ Z)
    assert center == pytest.approx(same_center, abs=1e-4)
    assert (cut.log_p, cut.side) == (pytest.approx(same_cut.log_p, rel=1e-3), same_cut.side)


def test_pursuit_looks_at_skewed_directions_first_and_repeats_itself():
    Z = whitened(np.random.default_rng(0).standard_normal((300, 23)))
    looks = pursue(Z, np.random.default_rng(1))
    again = pursue(Z, np.random.default_rng(1))
    chances = [look[0] for look in looks]
    half = len(chances) // 2
    assert len(chances) == 2 * half
    assert chances[:half] == sorted(chances[:half]) and chances[half:] == sorted(chances[half:])
    assert chances == [look[0] for look in again]
    np.testing.assert_array_equal([look[1] for look in looks], [look[1] for look in again])
    # Every direction is the concern of some window.
    assert np.all(np.any([look[1] != 0.0 for look in looks], axis=0))


def test_pursuit_finds_the_same_where_the_rows_are_a_tensor():
    torch = pytest.importorskip("torch")
    Z = whitened(np.random.default_rng(3).exponential(size=(300, 23)))
    expected = pursue(Z, np.random.default_rng(1))
    found = pursue(torch.from_numpy(Z), np.random.default_rng(1))
    for (log_p, direction, center, _), (same_p, same, middle, _) in zip(
        found, expected, strict=True
    ):
        assert log_p == pytest.approx(same_p)
        assert center == pytest.approx(middle, abs=1e-6)
        np.testing.assert_allclose(direction, same, atol=1e-5)
