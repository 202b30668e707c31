"""The columns of the tables: what they are held against, and how they style."""

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from inlier.research.datasets import printed_tables
from inlier.research.reproduce import methods
from inlier.research.reproduce.methods import COLUMNS
from studies import NAN


def test_what_columns_are_held_against():
    printed = {"mean": 1.0, "lp": 2.0, "l1": 3.0, "que": 4.0}
    against = {name: column.held_against(printed) for name, column in COLUMNS.items()}
    for name in ("paper-lp", "inlier-sigma", "inlier", "paper-lp-reweighted-l1"):
        assert against[name] == 2.0
        # Table 6 has no lp.
        assert COLUMNS[name].held_against({"l1": 3.0}) == 3.0
        assert COLUMNS[name].held_against({"que": 4.0}) is None
    assert against["paper-l1"] == 3.0 and against["que"] == 4.0 and against["lrv"] is None
    assert COLUMNS["mean"].held_against({"mean": 0.0}) == 0.0


def test_every_printed_column_is_there():
    printed = {name for t in printed_tables().values() for row in t.errors.values() for name in row}
    assert printed <= {column.printed for column in COLUMNS.values()}
    assert {c.name for c in COLUMNS.values() if c.is_ours} == {"inlier-sigma", "inlier"}


def test_methods_look_different():
    columns = list(COLUMNS.values())
    for what in ("color", "marker", "label"):
        assert len({getattr(column, what).lower() for column in columns}) == len(columns)
    assert all(re.fullmatch("#[0-9A-Fa-f]{6}", column.color) for column in columns)


def test_contenders_are_methods():
    estimator = COLUMNS["paper-lp-reweighted-l1"].method.make(sigma=1.0)
    assert (estimator.algorithm, estimator.surrogate) == ("paper", "reweighted-l1")


@given(st.lists(st.one_of(st.floats(1e-6, 1e6), st.sampled_from([0.0, NAN, math.inf]))))
def test_zero_stands_below_all_others(values):
    floor = methods.floor_of(values)
    positive = [value for value in values if 0.0 < value < math.inf]
    assert floor > 0.0
    if positive:
        assert min(positive) / 11.0 < floor < min(positive)


def drawn_at(values):
    with methods.styled(3, 3) as figure:
        axes = figure.subplots()
    methods.lines(axes, range(len(values)), {"inlier": values}, zero=0.1)
    return axes.lines[0].get_ydata().tolist()


def test_zeros_are_drawn():
    assert drawn_at([0.5, 0.0, 0.2]) == [0.5, 0.1, 0.2]


def test_what_failed_is_not_drawn_as_exact():
    assert math.isnan(drawn_at([0.5, NAN, 0.2])[1])
