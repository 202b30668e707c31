"""The price of the budget on the way down: why nothing has to be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.api import robust_mean
from inlier.datasets import Contamination, SettingA, SettingB
from inlier.experiments.look import new_figure, styled
from inlier.experiments.part import Chapter, Drawing, PrintableTable, Setup, number
from inlier.packing.solvers import solve_l1

N, D = 1000, 50
ALPHAS = (0.1, 0.2, 0.3)
SETTINGS = {"Setting A": SettingA, "Setting B": SettingB}
# Of the budget, in units of n sigma^2 with the true sigma.
FROM, TO, STEPS, QUICK_STEPS = 4.0, 0.5, 25, 7
# From light to dark, readable in grey as well.
SHADES = {0.1: "#7FB2D9", 0.2: "#3B7CB5", 0.3: "#123F6B"}
STAGE = "The price of the budget"

TEXT = f"""\
The price kappa = B tr(Lambda) / n is the fraction of the rows that has to go for each e-fold of the
budget B. While outliers leave it is low; it jumps where good rows would have to. {N} x {D}, seed 0,
the l1 problem about the mean that `inlier` finds; the budget is in units of n sigma^2, with the
true sigma. The good rows themselves need 1 - alpha of it. Circles: the budget of the rows that
`inlier` kept, told nothing."""


@dataclass(frozen=True)
class Path:
    """Prices over budgets, in units of n sigma^2, and the budget of the rows that were kept."""

    budgets: Array
    prices: Array
    chosen: float
    at_chosen: float


def run(setup: Setup) -> Chapter:
    """Paths of both settings."""
    steps = QUICK_STEPS if setup.quick else STEPS
    tasks = [(kind(N, D, alpha), steps) for kind in SETTINGS.values() for alpha in ALPHAS]
    found = iter(setup.each(STAGE, _path, tasks))
    paths = {name: {alpha: next(found) for alpha in ALPHAS} for name in SETTINGS}
    rows = [
        [
            f"{name}, alpha {alpha:g}",
            number(path.chosen),
            number(path.at_chosen),
            number(float(path.prices[-1])),
        ]
        for name, by_alpha in paths.items()
        for alpha, path in by_alpha.items()
    ]
    head = ["data", "budget of the kept rows", "price there", f"price at {TO:g}"]
    table = PrintableTable(
        "The price at the budget of the rows that were kept, and below", head, rows
    )
    drawing = Drawing("price", "The price path", _drawn(paths))
    return Chapter("The price of the budget", TEXT, [table], [drawing])


def _path(model: Contamination, steps: int) -> Path:
    sample = model.sample(0)
    found = robust_mean(sample.X)
    unit = model.n * sample.sigma**2
    chosen = found.certificate.lambda_max / unit
    budgets = np.sort(np.append(np.geomspace(TO, FROM, steps), chosen))[::-1]
    prices = np.array([_price(sample.X, found.location, budget * unit) for budget in budgets])
    return Path(budgets, prices, chosen, float(prices[budgets == chosen][0]))


def _price(X: Array, center: Array, budget: float) -> float:
    return float(solve_l1(X, center, budget, tol=1e-5).multiplier.sum()) / len(X)


def _drawn(paths: dict[str, dict[float, Path]]) -> Any:
    from matplotlib.ticker import NullLocator

    with styled():
        figure = new_figure(7.0, 2.9)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (name, by_alpha) in zip(panels, paths.items(), strict=True):
            for alpha, path in by_alpha.items():
                color = SHADES[alpha]
                axes.plot(path.budgets, path.prices, color=color, label=f"alpha = {alpha:g}")
                axes.plot(path.chosen, path.at_chosen, "o", ms=6, mfc="white", mec=color, mew=1.6)
            axes.set_title(name)
            axes.set_xscale("log")
            axes.set_xlim(FROM, TO)  # the way goes down
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xticks([4, 2, 1, 0.7, 0.5], ["4", "2", "1", "0.7", "0.5"])
            axes.set_xlabel("budget / (n sigma²)")
        panels[0].set_ylabel("price of the budget, kappa")
        panels[0].set_ylim(bottom=0.0)
        panels[0].legend(loc="upper left")
    return figure
