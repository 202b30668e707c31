"""Verdicts on an error beside a printed one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from inlier.experiments.verdict import CHANCE, Verdict, judge
from studies import NAN

BETTER, SAME, WORSE = Verdict.BETTER, Verdict.SAME, Verdict.WORSE


@cases(
    ("error", "se", "printed", "verdict"),
    [
        (0.1, 0.01, 0.2, BETTER),
        (0.3, 0.01, 0.2, WORSE),
        (0.21, 0.01, 0.2, SAME),
        (0.21, 0.0, 0.2, SAME),  # 5% are rounding
        (0.2101, 0.0, 0.2, WORSE),
        (0.1899, 0.0, 0.2, BETTER),
        (0.0, 0.0, 0.2, BETTER),
        (0.0, 0.0, 0.0, SAME),
        (1e-9, 0.0, 0.0, WORSE),
        (NAN, NAN, 0.2, WORSE),
        (NAN, 0.1, 0.2, WORSE),
        # A single draw says little: only half the printed figure is better.
        (0.09, NAN, 0.2, BETTER),
        (0.11, NAN, 0.2, SAME),
        (0.3, NAN, 0.2, SAME),
        (0.0, NAN, 0.2, BETTER),
    ],
)
def test_verdicts(error, se, printed, verdict):
    assert judge(error, se, printed) is verdict


@given(st.floats(0, 10), st.floats(0, 1), st.floats(0, 10), st.floats(0, 10))
def test_smaller_errors_are_never_judged_worse(error, se, printed, less):
    order = [BETTER, SAME, WORSE]
    lower, higher = sorted((error, less))
    assert order.index(judge(lower, se, printed)) <= order.index(judge(higher, se, printed))
    # The band is symmetric, and no draw has a verdict that depends on the unit.
    assert judge(8.0 * error, 8.0 * se, 8.0 * printed) is judge(error, se, printed)


def test_the_band_is_what_chance_does():
    # Two means of 20 draws from the same: they differ by more than the band in about 5% of cases.
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(1.0, 0.5, (2, 4000, 20))
    se = ours.std(axis=1, ddof=1) / np.sqrt(20)
    apart = np.abs(ours.mean(axis=1) - theirs.mean(axis=1)) > CHANCE * se
    assert 0.03 < apart.mean() < 0.08


def test_marks():
    assert [verdict.mark for verdict in Verdict] == ["+", "=", "-"]
