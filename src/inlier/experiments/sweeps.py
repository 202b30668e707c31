"""Beyond the paper's tables: errors over the fraction of outliers, a wrong sigma, and dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from inlier.comparison import Comparison
from inlier.datasets import Contamination, SettingA, SettingB
from inlier.experiments.columns import COLUMNS, IN_TABLES
from inlier.experiments.look import floor_of, legend_beside, lines, new_figure, styled, zero_tick
from inlier.experiments.part import Chapter, Drawing, PrintableTable, Setup, draws, number, tidy

SETTINGS = {"Setting A": SettingA, "Setting B": SettingB}
WITH_MEAN = ("mean", *IN_TABLES)
TOLD_SIGMA = tuple(n for n in IN_TABLES if "sigma" in COLUMNS[n].method.needs)
TRIALS = 3

ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49)
FACTORS = (0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
DIMENSIONS = (25, 50, 100, 200, 400)
ROWS_PER_COLUMN = 2

Values = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Misjudged:
    """A model of which methods are told a wrong sigma: `factor` times the true one."""

    model: Contamination
    factor: float

    @property
    def n(self) -> int:
        """Rows."""
        return self.model.n

    @property
    def d(self) -> int:
        """Columns."""
        return self.model.d

    @property
    def alpha(self) -> float:
        """The fraction of bad rows."""
        return self.model.alpha

    @property
    def name(self) -> str:
        """Of the model."""
        return type(self.model).__name__

    def sample(self, random_state: Any = None) -> Any:
        """Rows with the truth about them, but for sigma."""
        drawn = self.model.sample(random_state)
        return SimpleNamespace(
            X=drawn.X,
            is_outlier=drawn.is_outlier,
            mean=drawn.mean,
            alpha=drawn.alpha,
            sigma=self.factor * drawn.sigma,
        )


def over_alpha(setup: Setup) -> Chapter:
    """Errors over the fraction of outliers, up to almost half."""
    n, d = 1000, 100
    alphas = (0.1, 0.3, 0.49) if setup.quick else ALPHAS
    return _sweep(
        setup,
        "alpha",
        "Error against the fraction of outliers",
        f"{n} x {d}, {{draws}}. Methods that need alpha or sigma are told the true ones. "
        "Told nothing, `inlier` does not remove more than 45% of the rows.",
        {name: [kind(n, d, alpha) for alpha in alphas] for name, kind in SETTINGS.items()},
        alphas,
        WITH_MEAN,
        "fraction of outliers, alpha",
    )


def over_sigma(setup: Setup) -> Chapter:
    """Errors when sigma is a wrong one."""
    n, d, alpha = 500, 50, 0.2
    factors = (0.5, 1.0, 3.0) if setup.quick else FACTORS
    return _sweep(
        setup,
        "sigma",
        "Error if sigma is wrong",
        f"{n} x {d}, alpha = {alpha}, {{draws}}. Methods are told this multiple of the true "
        "sigma; the last one is told nothing.",
        {
            name: [Misjudged(kind(n, d, alpha), factor) for factor in factors]
            for name, kind in SETTINGS.items()
        },
        factors,
        (*TOLD_SIGMA, "inlier"),
        "sigma that is told / true sigma",
        logarithmic=True,
    )


def over_dimension(setup: Setup) -> Chapter:
    """Errors over the number of columns, with rows in proportion."""
    alpha = 0.2
    dimensions = (25, 100) if setup.quick else DIMENSIONS
    return _sweep(
        setup,
        "dimension",
        "Error against the dimension",
        f"n = {ROWS_PER_COLUMN} d, alpha = {alpha}, {{draws}}. Methods that need alpha or "
        "sigma are told the true ones.",
        {
            name: [kind(ROWS_PER_COLUMN * d, d, alpha) for d in dimensions]
            for name, kind in SETTINGS.items()
        },
        dimensions,
        WITH_MEAN,
        f"columns, d (rows: n = {ROWS_PER_COLUMN} d)",
        logarithmic=True,
    )


def _sweep(
    setup: Setup,
    what: str,
    title: str,
    text: str,
    models: Mapping[str, Sequence[Any]],
    places: Sequence[float],
    names: tuple[str, ...],
    xlabel: str,
    logarithmic: bool = False,
) -> Chapter:
    """Errors of some methods over one quantity, in a panel for each setting."""
    trials = 1 if setup.quick else min(setup.trials, TRIALS)
    every = [model for of_setting in models.values() for model in of_setting]
    found = setup.compare(title, every, names, trials)
    in_turn = iter(found)
    by_setting = {
        setting: _errors([next(in_turn) for _ in of_setting], names)
        for setting, of_setting in models.items()
    }
    tables = [
        PrintableTable(
            f"{title}, {setting}",
            ["", *(f"{place:g}" for place in places)],
            [[COLUMNS[n].label, *map(number, values[n])] for n in names],
        )
        for setting, values in by_setting.items()
    ]
    tidied = [
        line
        for model, comparison in zip(every, found, strict=True)
        for line in tidy(f"error-{what}", model, comparison)
    ]
    figure = _drawn(by_setting, places, xlabel, logarithmic)
    text = text.format(draws=draws(trials))
    drawing = Drawing(f"error-{what}", title, figure)
    return Chapter(title, text, tables, [drawing], tidied)


def _errors(comparisons: Sequence[Comparison], names: tuple[str, ...]) -> Values:
    rows = [found.by_method() for found in comparisons]
    return {name: [row[name].error for row in rows] for name in names}


def _drawn(
    by_setting: Mapping[str, Values], places: Sequence[float], xlabel: str, logarithmic: bool
) -> Any:
    from matplotlib.ticker import NullLocator

    zero = floor_of(e for values in by_setting.values() for es in values.values() for e in es)
    with styled():
        figure = new_figure(8.4, 3.4)
        panels = figure.subplots(1, len(by_setting), sharey=True)
        for axes, (setting, values) in zip(panels, by_setting.items(), strict=True):
            lines(axes, places, values, zero)
            axes.set_title(setting)
            axes.set_xlabel(xlabel)
            if logarithmic:
                axes.set_xscale("log")
                axes.xaxis.set_minor_locator(NullLocator())
                shown = places if len(places) < 8 else [p for p in places if p not in (0.85, 1.2)]
                axes.set_xticks(shown, [f"{place:g}" for place in shown])
        zero_tick(panels, zero)
        panels[0].set_ylabel("distance to the mean of the good rows")
        legend_beside(figure, panels[0])
    return figure
