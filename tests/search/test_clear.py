"""Clear groups: their gap and their ratio."""

import numpy as np

from inlier.search.clear import clearest, principal_and_divided
from inlier.search.gross import gross_rules
from inlier.search.settings import SAMPLE
from inlier.search.symmetry import flat


def test_a_gap_that_the_tail_can_reach_is_none():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 1))
    X[0] = 1.2 * np.abs(X[1:]).max()
    assert gross_rules(X, 200)[0] == []
    X[0] = 40.0
    (rule,), kept = gross_rules(X, 200)
    np.testing.assert_array_equal(np.flatnonzero(~kept), [0])
    np.testing.assert_array_equal(rule.measure(X) > rule.cut, ~kept)
    assert 1.0 < X[0, 0] / (rule.measure.center[0] + rule.measure.above[0]) < 40.0


def test_the_clearest_group_and_its_ratio():
    rng = np.random.default_rng(0)
    X = np.r_[rng.uniform(-1.0, 1.0, (90, 3)), 10.0 + 0.1 * rng.uniform(-1.0, 1.0, (10, 3))]
    group, blocked = clearest(X, 100)
    assert not blocked
    np.testing.assert_array_equal(np.flatnonzero(group.members), np.arange(90, 100))
    # Along the diagonal the others reach about sqrt(3) and the group about 10 sqrt(3).
    assert 5.0 < group.ratio < 20.0


def test_few_rows_leave_as_a_cluster_and_not_as_a_tail():
    rng = np.random.default_rng(0)
    good = rng.uniform(-1.0, 1.0, (45, 1))
    compact = np.r_[good, 2.2 + 0.1 * rng.uniform(size=(5, 1))]
    group, _ = clearest(compact, 50)
    np.testing.assert_array_equal(np.flatnonzero(group.members), np.arange(45, 50))
    # As far away as before, but each twice as far out as the one before.
    spread = np.r_[good, 2.2 * 2.0 ** np.arange(5)[:, None]]
    assert clearest(spread, 50)[0] is None


def test_rows_are_divided_into_classes_and_noise_is_not():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((300, 10))
    assert flat(principal_and_divided(noise)[1], SAMPLE.divided_level) <= 1.0
    # Three classes along no principal direction of their own.
    centers = 4.0 * np.eye(10)[:3]
    classes = noise + centers[rng.integers(3, size=300)]
    assert flat(principal_and_divided(classes)[1], SAMPLE.divided_level) > 1.0
