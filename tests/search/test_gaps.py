"""The gap that separates extreme values: against scipy's laws, and by how often it errs."""

import numpy as np
import pytest
from scipy import stats

from cases import cases
from fits import fitted
from inlier._internal.arrays import ascending_columns
from inlier.search import thresholds
from inlier.search.gaps import Sides, Tails, _indices


@pytest.mark.parametrize("number", [12, 500, 100_000])
def test_tail_indices_are_those_of_the_laws(number):
    """The slope of -log(share beyond) over the log of the distance, at the quantiles of a side."""
    last = min(number // 2, 40)
    share = np.arange(1, last + 1) / (number + 1.0) / 2.0
    for i, inverse in enumerate(thresholds.INVERSE_DEGREES):
        law = stats.t(1.0 / inverse) if inverse else stats.norm
        x = law.isf(share)
        np.testing.assert_allclose(
            _indices(number, 0, last)[:, i], x * law.pdf(x) / share, rtol=1e-3
        )


def found(X):
    sides = Sides(ascending_columns(X))
    cuts, _ = Tails(sides).gaps(np.arange(X.shape[1]), sides)
    return bool(np.isfinite(cuts).any())


LAWS = {
    "Gaussian": lambda rng, size: rng.standard_normal(size),
    "t3": lambda rng, size: rng.standard_t(3, size),
    "t2": lambda rng, size: rng.standard_t(2, size),
    "lognormal": lambda rng, size: rng.lognormal(size=size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "counts": lambda rng, size: rng.poisson(3.0, size).astype(float),
}


@cases("law", LAWS)
@cases("d", [1, 4])
@cases("n", [30, 200])
def test_clean_columns_rarely_show_a_gap(law, n, d):
    """At twice the level: the laws of these columns are admitted ones, or lighter far out."""
    draws = 200 // d
    number = sum(found(LAWS[law](np.random.default_rng([n, d, i]), (n, d))) for i in range(draws))
    assert stats.binom.sf(number - 1, draws, 2 * thresholds.GAP_LEVEL) > 1e-3


@cases("n, value, share", [(100, 10, 0.45), (100, 30, 0.9), (1000, 10, 0.9), (1000, 30, 0.9)])
def test_one_far_value_of_a_gaussian_column_is_found(n, value, share):
    """Shares are a bit below those of docs/results/clean.md: there are few draws."""
    number = 0
    for seed in range(40):
        X = np.random.default_rng([n, value, seed]).standard_normal((n, 1))
        X[0] = value
        number += found(X)
    assert number >= share * 40


def test_other_columns_tell_how_heavy_tails_are():
    """Beside light tails a narrower gap is enough than beside heavy ones."""
    alone = beside_light = beside_heavy = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        column = rng.standard_normal((60, 1))
        column[0] = 12.0
        light, heavy = rng.standard_normal((60, 5)), rng.standard_t(1.5, (60, 5))
        chances = [
            Tails(Sides(ascending_columns(X))).gaps(
                np.array([0]), Sides(ascending_columns(column))
            )[1]
            for X in (column, np.c_[column, light], np.c_[column, heavy])
        ]
        alone += chances[0] < 0.0
        beside_light += chances[1] < 0.0
        beside_heavy += chances[2] < 0.0
    assert beside_light > beside_heavy and alone > beside_heavy


@cases("top", [1e2, 1e3, 1e6])
def test_foreign_values_beside_a_code_do_not_hide_it(top):
    """Bad rows have noise in all columns; in one, half of them lead from there to the others.

    What the cap lets through is a quarter of the rows at 20 units of 5 standard deviations.
    """
    rng = np.random.default_rng(0)
    X = (rng.random((1000, 8)) < 0.04).astype(float)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    far = np.r_[np.geomspace(2.5, top, 125), top * rng.uniform(1.0, 1.3, 125)]
    X[:250] = mean + 0.5 * deviation * rng.standard_normal((250, 8))
    X[:250, 0] += deviation[0] * far
    off = np.abs(fitted(X).location[0] - X[250:, 0].mean()) / X[250:, 0].std()
    assert off <= 25.0
