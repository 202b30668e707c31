"""The paper's tables as they are shown."""

from dataclasses import replace

import pytest

from inlier.comparison.table import Trial
from inlier.datasets import SettingA, SettingB, printed_tables
from inlier.experiments import tables
from inlier.experiments.methods import COLUMNS, IN_TABLES
from studies import NAN, made_up, shown


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
