"""The paper's tables as they are shown."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from inlier.research.comparison.table import Trial
from inlier.research.datasets import SettingA, SettingB, printed_tables
from inlier.research.reproduce import tables
from inlier.research.reproduce.methods import COLUMNS, IN_TABLES
from inlier.research.reproduce.tables import CHANCE, Verdict, judge
from studies import NAN, made_up, shown

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


@pytest.mark.parametrize("i", tables.NUMBERS)
def test_every_printed_figure_is_shown(i):
    printed, table = printed_tables()[f"table{i}"], shown(i)
    labels = {column.printed: column.label for column in COLUMNS.values()}
    assert len(table.rows) == 2 * len(printed.errors)
    for line, (value, errors) in zip(table.rows[::2], printed.errors.items(), strict=True):
        cells = dict(zip(table.head, line, strict=True))
        assert float(cells[printed.vary]) == value
        for name, error in errors.items():
            assert float(cells.pop(labels[name])) == pytest.approx(error, rel=5.1e-3)
        # What is not printed is not made up.
        assert set(cells.values()) == {f"{value:g}", "paper", "-"}
    for text in (table.markdown(), table.html(), table.latex()):
        for line in table.rows:
            assert all(cell in text for cell in line)


@pytest.mark.parametrize("i", tables.NUMBERS)
def test_printed_figures_are_shown_as_printed(i):
    cells = {cell for line in shown(i).rows for cell in line}
    for errors in printed_tables()[f"table{i}"].errors.values():
        assert {f"{error:g}" for error in errors.values()} <= cells


@pytest.mark.parametrize("i", tables.NUMBERS)
def test_cells_are_the_papers(i):
    printed = printed_tables()[f"table{i}"]
    for cell, value in zip(tables.cells(i), printed.errors, strict=True):
        expected = {**printed.fixed, printed.vary: value}
        assert {name: getattr(cell.model, name) for name in ("n", "d", "alpha")} == expected
        assert isinstance(cell.model, {"A": SettingA, "B": SettingB}[printed.setting])
        assert cell.printed == printed.errors[value]


def test_marks_stand_behind_our_figures():
    for error, mark in ((0.0, "+"), (100.0, "-")):
        for line in shown(1, error).rows[1::2]:
            assert line[:2] == ["", "here"]
            assert all(cell == f"{error:g} {mark}" for cell in line[2:])


def test_cells_of_ours_that_are_worse():
    cell = replace(tables.cells(1)[0], printed={"lp": 0.1, "l1": 0.1, "que": 0.1})
    errors = {name: [1.0, 1.0] for name in IN_TABLES}
    worse = tables._worse(1, cell, made_up(cell.model, IN_TABLES, errors))
    assert sorted(text.partition(" in Table 1")[0] for text in worse) == [
        "inlier, no parameters",
        "inlier, sigma given",
    ]
    assert all("1, printed 0.1" in text and str(cell.model) in text for text in worse)
    errors["inlier"] = [NAN, NAN]
    (nothing,) = [
        text
        for text in tables._worse(1, cell, made_up(cell.model, IN_TABLES, errors))
        if "no parameters" in text
    ]
    assert "-, printed 0.1" in nothing
    errors = {name: [0.05, 0.06] for name in IN_TABLES}
    assert tables._worse(1, cell, made_up(cell.model, IN_TABLES, errors)) == []


def test_an_answer_to_some_draws_only_is_worse():
    cell = replace(tables.cells(1)[0], printed={"lp": 0.1})
    found = made_up(cell.model, ("inlier",), {"inlier": [0.05, 0.06, 0.05]})
    failed = Trial("inlier", 3, 3, "failed", message="no such luck")
    assert tables._worse(1, cell, replace(found, records=(*found.records, failed)))


def test_remarks_on_sets_that_are_not_exact():
    (cell,) = [c for c in tables.cells(1) if c.value == 0.2]
    errors = {name: [0.1, 0.1] for name in IN_TABLES}
    found = made_up(cell.model, IN_TABLES, errors, exact=False, removed=159)
    assert tables._inexact(1, cell, found) == [
        ["1", str(cell.model), label, "2", "2", "2"] for label in ("lp", "inlier, sigma given")
    ]
    exact = made_up(cell.model, IN_TABLES, errors, exact=True, removed=160)
    assert tables._inexact(1, cell, exact) == []
