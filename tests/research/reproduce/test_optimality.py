"""Answers beside the best of all subsets."""

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from inlier.research.datasets import SettingB
from inlier.research.reproduce import optimality
from inlier.research.reproduce.methods import COLUMNS, IN_TABLES


def fewest(X, budget):
    """The same by a list of all subsets, one at a time, without a table of them."""
    best = len(X)
    for mask in range(1, 2 ** len(X)):
        kept = X[[i for i in range(len(X)) if mask >> i & 1]]
        # Not np.cov: before numpy 2.2 it takes a single row for a column.
        centered = kept - kept.mean(axis=0)
        if np.linalg.eigvalsh(centered.T @ centered).max() <= budget * (1.0 + 1e-9):
            best = min(best, len(X) - len(kept))
    return best


@cases("seed", range(6))
@cases("share", [0.05, 0.3, 0.7, 1.0])
def test_brute_force_is_brute_force(seed, share):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 2)) * rng.choice([1.0, 5.0], (8, 1))
    all_of_them = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    found = optimality._fewest_of_all(X, share * all_of_them)
    assert found == fewest(X, share * all_of_them)
    assert (found == 0) == (share == 1.0)


def test_brute_force_on_rows_that_are_known():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [50.0, 0.0], [0.0, 50.0]])
    assert optimality._fewest_of_all(X, 2.0) == 2
    assert optimality._fewest_of_all(X, 1e9) == 0
    # One row needs no budget.
    assert optimality._fewest_of_all(X, 0.0) == 4


@given(st.integers(0, 1000), st.floats(0.5, 2.0))
def test_within_the_budget(seed, share):
    X = np.random.default_rng(seed).standard_normal((12, 3)) + 100.0
    needed = np.linalg.eigvalsh(np.cov(X, rowvar=False, bias=True) * 12).max()
    assert optimality._within(X, share * needed) == (share >= 1.0) or abs(share - 1.0) < 1e-6
    assert optimality._within(X, needed)
    # Any other center needs more.
    about = np.linalg.norm(X - X.mean(axis=0) - 0.3, 2) ** 2
    assert about >= needed


def test_answers_are_judged_as_solutions():
    model = SettingB(12, 2, 0.2)
    sample = model.sample(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged = {answer.method: answer for answer in optimality._judged(model, 0)}
    assert set(judged) == set(IN_TABLES) - {"lrv"}
    for name in ("paper-lp", "inlier-sigma"):
        estimator = COLUMNS[name].method.make(alpha=sample.alpha, sigma=sample.sigma)
        estimator.fit(sample.X)
        assert judged[name].removed == (~estimator.support_).sum()
        assert judged[name].within
    # Lower bounds are below what brute force finds.
    optimum = optimality._fewest_of_all(sample.X, 12 * sample.sigma**2)
    assert all(a.fewest <= optimum <= a.removed for a in judged.values() if a.within)
