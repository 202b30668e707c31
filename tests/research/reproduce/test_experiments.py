"""The tables of the paper: what is shown, and verdicts."""

import math
from dataclasses import replace

import pandas as pd

from cases import cases
from inlier.datasets import SettingA, SettingB
from inlier.research.comparison import Comparison
from inlier.research.datasets import printed_tables
from inlier.research.reproduce import tables
from inlier.research.reproduce.chapter import COLUMNS, IN_TABLES
from inlier.research.reproduce.tables import judge

NAN = math.nan


def made_up(model, errors):
    """A comparison that was not run; errors of each method by trial, None where it failed."""
    records = pd.DataFrame(
        {"method": name, "trial": i, "error": error, "status": "failed" if error is None else "ok"}
        for name, of_method in errors.items()
        for i, error in enumerate(of_method)
    )
    more = {"seconds": 1.0, "passes": 1, "removed": 1, "exact": True}
    return Comparison(records.assign(**more), str(model))


def rows_of(table):
    """The cells of a table in Markdown, with its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in [lines[0], *lines[2:]]]


def shown(i, error=1.0):
    """Table i, with this error in all cells of ours."""
    errors = {name: [error, error] for name in IN_TABLES}
    cells = tables.cells(i)
    found = [made_up(c.model, errors) for c in cells]
    return rows_of(tables._table(i, cells, found))


# -- Verdicts -------------------------------------------------------------------------------------


@cases(
    ("error", "se", "printed", "verdict"),
    [
        (0.1, 0.01, 0.2, "better"),
        (0.3, 0.01, 0.2, "worse"),
        (0.21, 0.01, 0.2, "same"),
        (0.21, 0.0, 0.2, "same"),  # 5% are rounding
        (0.2101, 0.0, 0.2, "worse"),
        (0.1899, 0.0, 0.2, "better"),
        (0.0, 0.0, 0.0, "same"),
        (1e-9, 0.0, 0.0, "worse"),
        (NAN, 0.1, 0.2, "worse"),
        # A single draw is weak evidence: only half the printed figure is better.
        (0.09, NAN, 0.2, "better"),
        (0.11, NAN, 0.2, "same"),
        (0.3, NAN, 0.2, "same"),
    ],
)
def test_verdicts(error, se, printed, verdict):
    assert judge(error, se, printed) == verdict


@cases("i", tables.NUMBERS)
def test_tables_show_the_printed_figures_and_ours(i):
    printed, (head, *rows) = printed_tables()[f"table{i}"], shown(i)
    labels = {column.printed: column.label for column in COLUMNS.values()}
    cells = tables.cells(i)
    assert len(rows) == 2 * len(printed.errors) == 2 * len(cells)
    for line, cell, (value, errors) in zip(rows[::2], cells, printed.errors.items(), strict=True):
        expected = {**printed.fixed, printed.vary: value}
        assert {name: getattr(cell.model, name) for name in ("n", "d", "alpha")} == expected
        assert isinstance(cell.model, {"A": SettingA, "B": SettingB}[printed.setting])
        by_head = dict(zip(head, line, strict=True))
        assert float(by_head[printed.vary]) == value
        for name, error in errors.items():
            assert by_head.pop(labels[name]) == f"{error:g}"
        # What is not printed is not made up.
        assert set(by_head.values()) == {f"{value:g}", "paper", "-"}
    for error, mark in ((0.0, "+"), (100.0, "-")):
        for line in shown(1, error)[2::2]:
            assert line[:2] == ["", "here"] and set(line[2:]) == {f"{error:g} {mark}"}


def test_cells_of_ours_that_are_worse():
    cell = replace(tables.cells(1)[0], printed={"lp": 0.1, "l1": 0.1, "que": 0.1})

    def worse(error):
        errors = {name: [error, error] for name in IN_TABLES}
        return tables._worse(1, cell, made_up(cell.model, errors))

    assert sorted(text.partition(" in Table 1")[0] for text in worse(1.0)) == [
        "inlier, no parameters",
        "inlier, sigma given",
    ]
    assert all("1, printed 0.1" in text and str(cell.model) in text for text in worse(1.0))
    assert "-, printed 0.1" in worse(NAN)[0] and worse(0.05) == []
    # An answer to some draws only is worse.
    (text,) = tables._worse(1, cell, made_up(cell.model, {"inlier": [0.05, 0.06, 0.05, None]}))
    assert "1 draws without an answer" in text
