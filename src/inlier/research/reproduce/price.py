"""The price of the budget as it decreases: why no parameter is needed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.api import robust_mean
from inlier.l0.solvers import solve_l1
from inlier.research.datasets import Contamination, SettingA, SettingB
from inlier.research.reproduce.chapter import Chapter, Drawing, Setup, number, table
from inlier.research.reproduce.methods import log_ticks, styled

N, D = 1000, 50
ALPHAS = (0.1, 0.2, 0.3)
SETTINGS = {"Setting A": SettingA, "Setting B": SettingB}
# Budgets, in units of n sigma^2 with the true sigma.
FROM, TO, STEPS, QUICK_STEPS = 4.0, 0.5, 25, 7
# From light to dark, readable in grey.
SHADES = {0.1: "#7FB2D9", 0.2: "#3B7CB5", 0.3: "#123F6B"}
STAGE = "The price of the budget"

TEXT = f"""\
The price kappa = B tr(Lambda) / n is the fraction of the rows to remove for each e-fold of the
budget B. It is low while outliers are removed, and jumps where good rows would be. Data: {N} x {D},
seed 0. The l1 problem is solved about the mean that `inlier` finds; the budget is in units of
n sigma^2, with the true sigma. The good rows themselves need 1 - alpha of it. Circles: the budget
of the rows that `inlier` kept, with no parameters."""


@dataclass(frozen=True)
class PricePath:
    """Prices over budgets, in units of n sigma^2, and the budget of the rows that were kept."""

    budgets: Array
    prices: Array
    chosen: float
    at_chosen: float


def run(setup: Setup) -> Chapter:
    """Compute the paths of both settings."""
    steps = QUICK_STEPS if setup.quick else STEPS
    tasks = [(kind(N, D, alpha), steps) for kind in SETTINGS.values() for alpha in ALPHAS]
    found = iter(setup.each(STAGE, _path, tasks))
    paths = {name: {alpha: next(found) for alpha in ALPHAS} for name in SETTINGS}
    rows = [
        [f"{name}, alpha {alpha:g}", *map(number, (path.chosen, path.at_chosen, path.prices[-1]))]
        for name, by_alpha in paths.items()
        for alpha, path in by_alpha.items()
    ]
    head = ["data", "budget of the kept rows", "price there", f"price at {TO:g}"]
    caption = "The price at the budget of the rows that were kept, and below"
    drawing = Drawing("price", "The price path", _draw(paths))
    return Chapter("The price of the budget", TEXT, [table(caption, head, rows)], [drawing])


def _path(model: Contamination, steps: int) -> PricePath:
    sample = model.sample(0)
    found = robust_mean(sample.X)
    unit = model.n * sample.sigma**2
    chosen = found.certificate.lambda_max / unit
    budgets = np.sort(np.append(np.geomspace(TO, FROM, steps), chosen))[::-1]
    solved = [solve_l1(sample.X, found.location, unit * budget, tol=1e-5) for budget in budgets]
    prices = np.array([solution.multiplier.sum() for solution in solved]) / model.n
    return PricePath(budgets, prices, chosen, float(prices[budgets == chosen][0]))


def _draw(paths: dict[str, dict[float, PricePath]]) -> Any:
    with styled(7.0, 2.9) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (name, by_alpha) in zip(panels, paths.items(), strict=True):
            for alpha, path in by_alpha.items():
                color = SHADES[alpha]
                axes.plot(path.budgets, path.prices, color=color, label=f"alpha = {alpha:g}")
                axes.plot(path.chosen, path.at_chosen, "o", ms=6, mfc="white", mec=color, mew=1.6)
            axes.set_title(name)
            log_ticks(axes, (4, 2, 1, 0.7, 0.5))
            axes.set_xlim(FROM, TO)  # decreasing
            axes.set_xlabel("budget / (n sigma²)")
        panels[0].set_ylabel("price of the budget, kappa")
        panels[0].set_ylim(bottom=0.0)
        panels[0].legend(loc="upper left")
    return figure
