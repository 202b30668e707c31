"""A result as an object: what it keeps, copies and says."""

import numpy as np
import pytest

from inlier import robust_mean
from inlier.l0 import Options
from reference import contaminated


@pytest.fixture(scope="module")
def result():
    return robust_mean(contaminated(far=20.0))


def test_a_result_says_how_the_fit_ended(result):
    assert result.message in str(result) and "54 of 60" in result.message
    outcome = result._outcome
    assert outcome.searched and not (outcome.chosen or outcome.weak or outcome.failed)
    assert result.keep(0)._outcome.chosen
    X = contaminated(far=20.0)
    outcome = robust_mean(X, sigma=1.5)._outcome
    assert not (outcome.searched or outcome.failed or outcome.paper)
    assert robust_mean(X, sigma=1.5, l0=Options(algorithm="paper"))._outcome.paper


def test_explanations_of_several_rows_are_those_of_each(result):
    together = result._explanations(np.array([0, 7, 59]))
    for row, found in zip((0, 7, 59), together, strict=True):
        one = result.explain(row)
        assert (found.row, found.score, found.removed) == (one.row, one.score, one.removed)
