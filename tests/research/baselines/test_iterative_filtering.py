"""Iterative filtering: what is removed, how often, and that it does not come back."""

import numpy as np
import pytest

from inlier.research.baselines import IterativeFiltering, QuantumEntropy
from reference import contaminated
from rivals import choice, deviation, fitted, told


# An unlucky draw would take half of the rows, of which it warns.
@pytest.mark.filterwarnings("ignore:IterativeFiltering")
def test_random_removal_takes_more_bad_rows_than_good_ones():
    X = contaminated(200, 10, 30, far=1.0)
    sigma = deviation(X[30:])
    gone = np.zeros(2)
    for seed in range(100):
        found = IterativeFiltering(sigma, removal="random", random_state=seed).fit(X)
        gone += (~found.support_[:30]).sum(), (~found.support_[30:]).sum()
    assert gone[0] > gone[1] > 0


def test_random_removal_does_not_give_up_by_bad_luck():
    # The soft form, its expectation, ends well within sigma.
    X = contaminated(200, 10, 30, far=1.0)
    sigma = 1.05 * deviation(X[30:])
    assert IterativeFiltering(sigma).fit(X).result_.converged
    for seed in range(40):
        IterativeFiltering(sigma, removal="random", random_state=seed).fit(X)


@pytest.mark.filterwarnings("ignore:IterativeFiltering")
def test_weights_are_the_chance_to_survive():
    # The only outlier always leaves in the first round, which is then the last.
    X = np.random.default_rng(5).standard_normal((31, 2)) * [2.0, 1.0]
    X[0] = [8.0, 0.0]
    sigma = 1.05 * deviation(X[1:])
    soft = IterativeFiltering(sigma).fit(X).result_
    # By hand: along the top eigenvector, from the median, relative to the largest.
    seen = (X - X.mean(axis=0)) @ np.linalg.eigh(np.cov(X.T))[1][:, -1]
    tau = (seen - np.median(seen)) ** 2
    chance = 1.0 - tau / tau.max()
    assert soft.n_iter == 1
    np.testing.assert_allclose(soft.weights, chance, atol=1e-9)
    n_runs = 1000
    survived = np.zeros(31)
    for seed in range(n_runs):
        run = IterativeFiltering(sigma, removal="random", random_state=seed).fit(X)
        assert run.n_iter_ == run.result_.converged
        # Where it gives up, the half of the rows that is farther out was to go.
        survived += run.support_ if run.result_.converged else 0
    farther = tau > np.median(tau)
    noise = np.sqrt(chance * (1.0 - chance) / n_runs)
    assert (chance[farther] < 0.9).sum() > 3
    assert np.all(np.abs(survived / n_runs - chance)[farther] <= 4.5 * noise[farther])


@choice([told(IterativeFiltering), told(QuantumEntropy)])
def test_rows_that_left_do_not_come_back(method):
    X = contaminated(300, 10, 60, far=0.8)
    removed = [step.h_sum for step in fitted(method, X, deviation(X[60:])).result_.history]
    assert len(removed) > 1 and np.all(np.diff(removed) > 0)
