"""Seconds and passes over the data of each method, over the number of rows and of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inlier.comparison import Comparison
from inlier.datasets import SettingA
from inlier.experiments.columns import COLUMNS, IN_TABLES
from inlier.experiments.look import legend_beside, lines, new_figure, styled
from inlier.experiments.part import Chapter, Drawing, PrintableTable, Setup, draws, number, tidy

D, ROWS = 50, (250, 500, 1000, 2000, 5000, 10_000)
N, COLUMNS_OF_DATA = 1000, (10, 25, 50, 100, 200, 400)
ALPHA, TRIALS = 0.2, 2

TEXT = f"""\
Setting A, alpha = {ALPHA}; one thread, one fit at a time, mean of {{draws}}. A pass is one
reading of the data. Left: {D} columns. Right: {N} rows."""


def run(setup: Setup) -> Chapter:
    """Over rows and over columns."""
    rows = ROWS[1:4:2] if setup.quick else ROWS
    columns = COLUMNS_OF_DATA[1:4:2] if setup.quick else COLUMNS_OF_DATA
    trials = 1 if setup.quick else TRIALS
    models = [SettingA(n, D, ALPHA) for n in rows] + [SettingA(N, d, ALPHA) for d in columns]
    found = setup.compare("Time and passes", models, IN_TABLES, trials, timed=True)
    over_rows, over_columns = found[: len(rows)], found[len(rows) :]
    tables = [
        _table(f"n x {D}: seconds (passes), by n", rows, over_rows),
        _table(f"{N} x d: seconds (passes), by d", columns, over_columns),
    ]
    figure = _drawn(((rows, over_rows, "rows, n"), (columns, over_columns, "columns, d")))
    text = TEXT.format(draws=draws(trials))
    tidied = [
        line
        for model, comparison in zip(models, found, strict=True)
        for line in tidy("cost", model, comparison)
    ]
    drawing = Drawing("cost", "Seconds and passes", figure)
    return Chapter("Time and passes", text, tables, [drawing], tidied)


def _table(caption: str, places: Sequence[int], found: Sequence[Comparison]) -> PrintableTable:
    rows = [comparison.by_method() for comparison in found]
    return PrintableTable(
        caption,
        ["", *map(str, places)],
        [
            [
                COLUMNS[name].label,
                *(f"{number(row[name].seconds)} ({number(row[name].passes)})" for row in rows),
            ]
            for name in IN_TABLES
        ],
    )


def _drawn(sides: Sequence[tuple[Sequence[int], Sequence[Comparison], str]]) -> Any:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    with styled():
        figure = new_figure(8.4, 5.4)
        grid = figure.subplots(2, 2, sharex="col", sharey="row")
        for side, (places, found, xlabel) in enumerate(sides):
            rows = [comparison.by_method() for comparison in found]
            for axes, what in zip(grid[:, side], ("seconds", "passes"), strict=True):
                values = {name: [getattr(row[name], what) for row in rows] for name in IN_TABLES}
                lines(axes, places, values)
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.set_xticks(places)
                axes.xaxis.set_minor_locator(NullLocator())
                axes.yaxis.set_major_locator(LogLocator(10.0))
                for axis in (axes.xaxis, axes.yaxis):
                    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            grid[1, side].set_xlabel(xlabel)
        grid[0, 0].set_ylabel("seconds")
        grid[1, 0].set_ylabel("passes over the data")
        legend_beside(figure, grid[0, 0])
    return figure
