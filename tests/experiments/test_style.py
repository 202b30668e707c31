"""Zero on logarithmic axes."""

import math

from hypothesis import given
from hypothesis import strategies as st

from inlier.experiments import style
from studies import NAN


@given(st.lists(st.one_of(st.floats(1e-6, 1e6), st.sampled_from([0.0, NAN, math.inf]))))
def test_zero_stands_below_all_others(values):
    floor = style.floor_of(values)
    positive = [value for value in values if 0.0 < value < math.inf]
    assert floor > 0.0
    if positive:
        assert min(positive) / 11.0 < floor < min(positive)


def drawn_at(values):
    with style.styled(3, 3) as figure:
        axes = figure.subplots()
    style.lines(axes, range(len(values)), {"inlier": values}, zero=0.1)
    return axes.lines[0].get_ydata().tolist()


def test_zeros_are_drawn():
    assert drawn_at([0.5, 0.0, 0.2]) == [0.5, 0.1, 0.2]


def test_what_failed_is_not_drawn_as_exact():
    assert math.isnan(drawn_at([0.5, NAN, 0.2])[1])
