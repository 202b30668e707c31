"""The smallest diameter, against brute force and integer programming."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines.mda import MDA
from reference import contaminated


@cases("n_bad", [1, 2, 4])
@cases("seed", range(8))
def test_mda_has_the_smallest_diameter(n_bad, seed):
    X = contaminated(12, 2, n_bad, seed, far=0.5)
    if seed % 2:  # with duplicates and ties
        X = X.round()
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    smallest = min(
        apart[np.ix_(rows, rows)].max() for rows in itertools.combinations(range(12), 12 - n_bad)
    )
    found = MDA(alpha=n_bad / 12).fit(X)
    kept = found.support_
    assert found.result_.converged and kept.sum() >= 12 - n_bad
    assert apart[np.ix_(kept, kept)].max() == pytest.approx(smallest, abs=1e-12)
    np.testing.assert_allclose(found.location_, X[kept].mean(axis=0), atol=1e-12)


def smallest_cover(edges):
    """The fewest rows that touch all edges, by integer programming."""
    ends = np.argwhere(np.triu(edges))
    touch = np.zeros((len(ends), len(edges)))
    touch[np.arange(len(ends))[:, None], ends] = 1.0
    each_edge = LinearConstraint(touch, lb=1.0)
    solved = milp(np.ones(len(edges)), constraints=each_edge, integrality=1, bounds=Bounds(0, 1))
    return round(solved.fun)


@pytest.mark.parametrize("seed", range(6))
def test_mda_against_integer_programming(seed):
    rng = np.random.default_rng(seed)
    n_bad, X = int(rng.integers(3, 15)), rng.standard_normal((40, rng.integers(1, 8)))
    kept = MDA(alpha=n_bad / 40).fit(X).support_
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    diameter = apart[np.ix_(kept, kept)].max()
    assert kept.sum() == 40 - n_bad
    assert smallest_cover(apart >= diameter) > n_bad, "a smaller diameter is possible"


def test_mda_says_when_the_search_is_too_long():
    angles = 2.0 * np.pi * np.random.default_rng(0).random(150)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    with pytest.warns(ConvergenceWarning, match="max_nodes=1, .* raise max_nodes"):
        result = MDA(alpha=0.45, max_nodes=1).fit(X).result_
    assert result.support.sum() >= 82
    least = float(result.message.split("at least ")[1].split(":")[0])
    diameter = float(result.message.split("Diameter ")[1].split(" ")[0].rstrip("."))
    assert 0.0 < least < diameter
    assert MDA(alpha=0.45).fit(X).result_.converged
