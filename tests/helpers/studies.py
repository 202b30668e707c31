"""Small data for the experiments, and what their tests share."""

from html.parser import HTMLParser

from inlier.datasets import SettingA, SettingB, digits
from inlier.research.comparison import Comparison
from inlier.research.comparison.table import Trial
from inlier.research.reproduce import (
    chapter,
    cost,
    methods,
    optimality,
    pictures,
    price,
    sweeps,
    tables,
)
from inlier.research.reproduce.methods import IN_TABLES

NAN = float("nan")


class Cells(HTMLParser):
    """The texts in a table, as a browser would show them."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.texts = [], [], {"caption": "", "p": ""}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data.strip()
        elif self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]] += data


def made_up(model, names, errors, **more):
    """A comparison that nobody carried out; errors of each method, by trial."""
    records = [
        Trial(name, i, i, "ok", error=errors[name][i], seconds=1.0, **more)
        for i in range(len(errors[names[0]]))
        for name in names
    ]
    return Comparison(tuple(records), str(model))


def shown(i, error=1.0):
    """Table i, with this error in all cells of ours."""
    cells = tables.cells(i)
    errors = {name: [error, error] for name in IN_TABLES}
    return tables._table(i, cells, [made_up(c.model, IN_TABLES, errors) for c in cells])


def small(kind):
    # All different: what is done twice at a time has the seconds of the second.
    return lambda n, d, alpha: kind(20 + n // 20, 2 + d // 25, min(alpha, 0.4))


def shrink(patch):
    """Small data, in this process."""
    patch.setattr(chapter, "TIMEOUT", None)
    patch.setattr(methods, "DPI", 120)
    patch.setattr(tables, "NUMBERS", (1, 6))
    patch.setattr(tables, "QUICK_NUMBERS", (1, 6))
    chosen = {
        1: [tables.PrintedCell(0.2, SettingA(30, 4, 0.2), {"lp": 9.0, "l1": 9.0})],
        6: [tables.PrintedCell(a, SettingB(30, 4, a), {"l1": 9.0, "que": 9.0}) for a in (0.1, 0.2)],
    }
    patch.setattr(tables, "cells", chosen.get)
    for module in (sweeps, price):
        kinds = {"Setting A": small(SettingA), "Setting B": small(SettingB)}
        patch.setattr(module, "SETTINGS", kinds)
    patch.setattr(price, "QUICK_STEPS", 3)
    patch.setattr(optimality, "SMALL", (SettingA(8, 2, 0.2), SettingB(8, 2, 0.2)))
    patch.setattr(optimality, "LARGE", (None, SettingB(30, 4, 0.2)))
    patch.setattr(cost, "ROWS", (0, 20, 0, 40))
    patch.setattr(cost, "COLUMNS_OF_DATA", (0, 3, 0, 5))
    patch.setattr(cost, "N", 30)
    patch.setattr(cost, "D", 4)
    patch.setattr(pictures, "faces", lambda: digits(3, 4, 20))


class Watched:
    """How far each stage was at first, and at last."""

    def __init__(self):
        self.first, self.last, self.total = {}, {}, {}

    def __call__(self, stage, done, total):
        self.first.setdefault(stage, done)
        self.last[stage], self.total[stage] = done, total
