"""Errors against the fraction of outliers, and with a wrong sigma."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from inlier.datasets import Contamination, SettingA, SettingB, set_fields
from inlier.research.reproduce.chapter import (
    Chapter,
    Drawing,
    Setup,
    draws,
    number,
    table_by_method,
    tidy,
)
from inlier.research.reproduce.methods import (
    COLUMNS,
    IN_TABLES,
    legend_beside,
    lines,
    log_ticks,
    log_with_zero,
    styled,
)

SETTINGS = {"Setting A": SettingA, "Setting B": SettingB}
WITH_MEAN = ("mean", *IN_TABLES)
NEED_SIGMA = tuple(n for n in IN_TABLES if "sigma" in COLUMNS[n].method.needs)
TRIALS = 3


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


@dataclass(frozen=True)
class Sweep:
    """Errors of some methods over one quantity, in a panel for each setting."""

    name: str
    title: str
    text: str
    places: tuple[float, ...]
    quick_places: tuple[float, ...]
    model: Callable[[Any, Any], Any]  # of a setting and a place
    methods: tuple[str, ...]
    xlabel: str
    ticks: tuple[float, ...] = ()  # of a logarithmic axis

    def __call__(self, setup: Setup) -> Chapter:
        """Measure the errors."""
        places = self.quick_places if setup.quick else self.places
        trials = 1 if setup.quick else min(setup.trials, TRIALS)
        models = [self.model(kind, place) for kind in SETTINGS.values() for place in places]
        found = setup.compare(self.title, models, self.methods, trials)
        rows = iter([comparison.by_method() for comparison in found])
        errors = {}
        for setting in SETTINGS:
            mine = [next(rows) for _ in places]
            errors[setting] = {name: [row[name].error for row in mine] for name in self.methods}
        head = ["", *(f"{place:g}" for place in places)]
        tables = [
            table_by_method(
                f"{self.title}, {setting}", head, {n: map(number, es) for n, es in of_one.items()}
            )
            for setting, of_one in errors.items()
        ]
        text = self.text.format(draws=draws(trials))
        drawing = Drawing(self.name, self.title, self._draw(errors, places))
        return Chapter(self.title, text, tables, [drawing], tidy(self.name, models, found))

    def _draw(self, errors: dict[str, dict[str, list[float]]], places: Sequence[float]) -> Any:
        with styled(8.4, 3.4) as figure:
            panels = figure.subplots(1, len(errors), sharey=True)
            for axes, (setting, of_one) in zip(panels, errors.items(), strict=True):
                lines(axes, places, of_one)
                axes.set_title(setting)
                axes.set_xlabel(self.xlabel)
                if self.ticks:
                    log_ticks(axes, [tick for tick in self.ticks if tick in places])
            log_with_zero(panels[0], (e for s in errors.values() for es in s.values() for e in es))
            panels[0].set_ylabel("distance to the mean of the good rows")
            legend_beside(figure, panels[0])
        return figure


over_alpha = Sweep(
    "error-alpha",
    "Error against the fraction of outliers",
    "1000 x 100, {draws}. Methods that need alpha or sigma are given the true ones. With no "
    "parameters, `inlier` does not remove more than 45% of the rows.",
    (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49),
    (0.1, 0.3, 0.49),
    lambda kind, alpha: kind(1000, 100, alpha),
    WITH_MEAN,
    "fraction of outliers, alpha",
)
over_sigma = Sweep(
    "error-sigma",
    "Error if sigma is wrong",
    "500 x 50, alpha = 0.2, {draws}. Methods are given this multiple of the true sigma; the last "
    "one has no parameters.",
    (0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0),
    (0.5, 1.0, 3.0),
    lambda kind, factor: Misjudged(kind(500, 50, 0.2), factor),
    (*NEED_SIGMA, "inlier"),
    "sigma given / true sigma",
    ticks=(0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0),
)
