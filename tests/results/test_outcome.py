"""How a fit ended: which findings are doubts, failures and choices."""

import numpy as np

from cases import cases
from inlier import robust_mean
from inlier.l0 import Options
from inlier.verdict.verdict import DOUBTS, FAILURES, Finding, Kind, Outcome
from reference import contaminated


@cases("kind", Kind)
def test_what_a_finding_makes_of_the_outcome(kind):
    outcome = Outcome(findings=(Finding(Kind.NOTHING_FOUND), Finding(kind, count=3)))
    assert outcome.weak is (kind in DOUBTS)
    assert outcome.failed is (kind in FAILURES)
    assert outcome.chosen is (kind is Kind.CHOSEN)
    assert Finding(kind, count=3) in outcome.having(frozenset({kind}))


def test_nothing_to_say():
    outcome = Outcome()
    assert not (outcome.weak or outcome.failed or outcome.chosen)
    assert DOUBTS.isdisjoint(FAILURES)


def test_fits_say_how_they_ended():
    X = contaminated(far=20.0)
    found = robust_mean(X)
    assert found._outcome.searched and not found._outcome.chosen and not found._outcome.weak
    assert found.keep(0)._outcome.chosen
    told = robust_mean(X, sigma=1.5)
    assert not told._outcome.searched and not told._outcome.failed
    assert robust_mean(X, sigma=1.5, l0=Options(algorithm="paper"))._outcome.paper
    np.testing.assert_array_equal(found.outliers, np.arange(6))
