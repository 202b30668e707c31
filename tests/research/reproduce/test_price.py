"""The price path: prices are those of the l1 problem, and jump below the good rows."""

import numpy as np
import pytest

from inlier import robust_mean, solve_l1
from inlier.research.datasets import SettingB
from inlier.research.reproduce import price


def test_a_path_holds_the_prices_of_the_l1_problem():
    model = SettingB(60, 4, 0.2)
    path = price._path(model, steps=4)
    sample = model.sample(0)
    found = robust_mean(sample.X)
    unit = 60 * sample.sigma**2
    assert len(path.budgets) == len(path.prices) == 5
    assert (np.diff(path.budgets) < 0.0).all() and path.chosen in path.budgets
    assert path.chosen == pytest.approx(found.certificate.lambda_max / unit)
    for budget, expected in zip(path.budgets, path.prices, strict=True):
        solution = solve_l1(sample.X, found.location, budget * unit, tol=1e-5)
        assert expected == pytest.approx(solution.multiplier.sum() / 60)
    assert path.at_chosen == path.prices[path.budgets == path.chosen][0]
    assert path.prices[-1] > 2.0 * path.at_chosen
