"""Errors against the fraction of outliers, a wrong sigma, and the dimension."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from inlier.datasets import set_fields
from inlier.research.datasets import Contamination, SettingA, SettingB
from inlier.research.reproduce import methods
from inlier.research.reproduce.chapter import (
    Chapter,
    Drawing,
    PrintableTable,
    Setup,
    draws,
    number,
    tidy,
)
from inlier.research.reproduce.methods import COLUMNS, IN_TABLES

SETTINGS = {"Setting A": SettingA, "Setting B": SettingB}
WITH_MEAN = ("mean", *IN_TABLES)
NEED_SIGMA = tuple(n for n in IN_TABLES if "sigma" in COLUMNS[n].method.needs)
TRIALS = 3

ALPHAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49)
FACTORS = (0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
DIMENSIONS = (25, 50, 100, 200, 400)
ROWS_PER_COLUMN = 2

Values = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Misjudged:
    """A model with a wrong sigma: `factor` times the true one.

    `n`, `d`, `alpha` and `name` are those of the model.
    """

    model: Contamination
    factor: float

    def __post_init__(self) -> None:
        kind, m = type(self.model).__name__, self.model
        set_fields(self, n=m.n, d=m.d, alpha=m.alpha, name=kind)

    def sample(self, random_state: Any = None) -> Any:
        """Draw a sample with a wrong sigma."""
        drawn = self.model.sample(random_state)
        same = {name: getattr(drawn, name) for name in ("X", "is_outlier", "mean", "alpha")}
        return SimpleNamespace(**same, sigma=self.factor * drawn.sigma)


def over_alpha(setup: Setup) -> Chapter:
    """Measure errors against the fraction of outliers, up to almost half."""
    n, d = 1000, 100
    alphas = (0.1, 0.3, 0.49) if setup.quick else ALPHAS
    return _sweep(
        setup,
        "alpha",
        "Error against the fraction of outliers",
        f"{n} x {d}, {{draws}}. Methods that need alpha or sigma are given the true ones. "
        "With no parameters, `inlier` does not remove more than 45% of the rows.",
        alphas,
        lambda kind, place: kind(n, d, place),
        WITH_MEAN,
        "fraction of outliers, alpha",
    )


def over_sigma(setup: Setup) -> Chapter:
    """Measure errors if sigma is wrong."""
    n, d, alpha = 500, 50, 0.2
    factors = (0.5, 1.0, 3.0) if setup.quick else FACTORS
    return _sweep(
        setup,
        "sigma",
        "Error if sigma is wrong",
        f"{n} x {d}, alpha = {alpha}, {{draws}}. Methods are given this multiple of the true "
        "sigma; the last one has no parameters.",
        factors,
        lambda kind, place: Misjudged(kind(n, d, alpha), place),
        (*NEED_SIGMA, "inlier"),
        "sigma given / true sigma",
        logarithmic=True,
    )


def over_dimension(setup: Setup) -> Chapter:
    """Measure errors against the number of columns, with rows in proportion."""
    alpha = 0.2
    dimensions = (25, 100) if setup.quick else DIMENSIONS
    return _sweep(
        setup,
        "dimension",
        "Error against the dimension",
        f"n = {ROWS_PER_COLUMN} d, alpha = {alpha}, {{draws}}. Methods that need alpha or "
        "sigma are given the true ones.",
        dimensions,
        lambda kind, place: kind(ROWS_PER_COLUMN * place, place, alpha),
        WITH_MEAN,
        f"columns, d (rows: n = {ROWS_PER_COLUMN} d)",
        logarithmic=True,
    )


def _sweep(
    setup: Setup,
    what: str,
    title: str,
    text: str,
    places: Sequence[float],
    model: Callable[[Any, Any], Any],
    names: tuple[str, ...],
    xlabel: str,
    logarithmic: bool = False,
) -> Chapter:
    """Measure errors of some methods over one quantity, in a panel for each setting."""
    trials = 1 if setup.quick else min(setup.trials, TRIALS)
    models = [model(kind, place) for kind in SETTINGS.values() for place in places]
    found = setup.compare(title, models, names, trials)
    rows = iter([comparison.by_method() for comparison in found])
    by_setting: dict[str, Values] = {}
    for setting in SETTINGS:
        mine = [next(rows) for _ in places]
        by_setting[setting] = {name: [row[name].error for row in mine] for name in names}
    head = ["", *(f"{place:g}" for place in places)]
    tables = [
        PrintableTable.by_method(
            f"{title}, {setting}", head, {name: map(number, values[name]) for name in names}
        )
        for setting, values in by_setting.items()
    ]
    name = f"error-{what}"
    drawing = Drawing(name, title, _draw(by_setting, places, xlabel, logarithmic))
    text = text.format(draws=draws(trials))
    return Chapter(title, text, tables, [drawing], tidy(name, models, found))


def _draw(
    by_setting: Mapping[str, Values], places: Sequence[float], xlabel: str, logarithmic: bool
) -> Any:
    zero = methods.floor_of(
        e for values in by_setting.values() for es in values.values() for e in es
    )
    with methods.styled(8.4, 3.4) as figure:
        panels = figure.subplots(1, len(by_setting), sharey=True)
        for axes, (setting, values) in zip(panels, by_setting.items(), strict=True):
            methods.lines(axes, places, values, zero)
            axes.set_title(setting)
            axes.set_xlabel(xlabel)
            if logarithmic:
                crowded = (0.85, 1.2) if len(places) >= 8 else ()
                methods.log_ticks(axes, [place for place in places if place not in crowded])
        methods.zero_tick(panels, zero)
        panels[0].set_ylabel("distance to the mean of the good rows")
        methods.legend_beside(figure, panels[0])
    return figure
