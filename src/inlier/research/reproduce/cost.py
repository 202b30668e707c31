"""Seconds and passes of each method against the numbers of rows and columns."""

from collections.abc import Sequence
from typing import Any

from inlier.research.comparison import Comparison
from inlier.research.datasets import SettingA
from inlier.research.reproduce.chapter import (
    Chapter,
    Drawing,
    PrintableTable,
    Setup,
    draws,
    number,
    tidy,
)
from inlier.research.reproduce.methods import IN_TABLES, legend_beside, lines, log_ticks, styled

D, ROWS = 50, (250, 500, 1000, 2000, 5000, 10_000)
N, COLUMNS_OF_DATA = 1000, (10, 25, 50, 100, 200, 400)
ALPHA, TRIALS = 0.2, 2

TEXT = f"""\
Setting A, alpha = {ALPHA}; one thread, one fit at a time, mean of {{draws}}. A pass is one
reading of the data. Left: {D} columns. Right: {N} rows."""


def run(setup: Setup) -> Chapter:
    """Measure over rows and over columns."""
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
    figure = _draw(((rows, over_rows, "rows, n"), (columns, over_columns, "columns, d")))
    text = TEXT.format(draws=draws(trials))
    drawing = Drawing("cost", "Seconds and passes", figure)
    return Chapter("Time and passes", text, tables, [drawing], tidy("cost", models, found))


def _table(caption: str, places: Sequence[int], found: Sequence[Comparison]) -> PrintableTable:
    rows = [comparison.by_method() for comparison in found]
    cells = {
        name: [f"{number(row[name].seconds)} ({number(row[name].passes)})" for row in rows]
        for name in IN_TABLES
    }
    return PrintableTable.by_method(caption, ["", *map(str, places)], cells)


def _draw(sides: Sequence[tuple[Sequence[int], Sequence[Comparison], str]]) -> Any:
    from matplotlib.ticker import FuncFormatter, LogLocator

    with styled(8.4, 5.4) as figure:
        grid = figure.subplots(2, 2, sharex="col", sharey="row")
        for side, (places, found, xlabel) in enumerate(sides):
            rows = [comparison.by_method() for comparison in found]
            for axes, what in zip(grid[:, side], ("seconds", "passes"), strict=True):
                values = {name: [getattr(row[name], what) for row in rows] for name in IN_TABLES}
                lines(axes, places, values)
                log_ticks(axes, places)
                axes.set_yscale("log")
                axes.yaxis.set_major_locator(LogLocator(10.0))
                axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            grid[1, side].set_xlabel(xlabel)
        grid[0, 0].set_ylabel("seconds")
        grid[1, 0].set_ylabel("passes over the data")
        legend_beside(figure, grid[0, 0])
    return figure
