"""How often `result.confidence_interval()` holds the mean of the distribution of the good rows.

Prints Markdown tables; `--write` also puts them into docs/results/coverage.md. Beside ours stands
Student's interval of the good rows themselves, of one who is told which they are: where that falls
short, the interval is to blame, and where only ours does, the rows that were kept or removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import common
import numpy as np
from scipy import stats

import inlier
from inlier.research.datasets import Clean, Cluster, Sample, SettingA, SettingB, StudentT

LEVEL = 0.95
SIZES = (50, 200, 1000)
D = 5
# Enough columns for the outliers of the paper's settings to show.
MANY = 100
# Of a lognormal's logarithm.
WIDTH = 0.5
# Of the cells, not of the rows.
EXTREME = 0.04
# Fewer rows than these, on average, are not what moves an interval.
FEW = 0.05


# Rows from a seed.
Draw = Callable[[int], Sample]


@dataclass(frozen=True)
class Cell:
    """A line of the table: good rows with a known mean, and what is among them."""

    name: str
    draw: Draw
    n: int
    truth: float = 0.0


@dataclass
class Measured:
    """What became of one draw."""

    held: np.ndarray
    told: np.ndarray
    """Whether the interval of the good rows holds."""
    length: float
    """In lengths of the interval of the good rows."""
    bad_kept: int
    good_gone: int
    off: float
    """How far the location is from the mean of the good rows, in their standard errors at most."""
    within_radius: bool


def lognormal(n: int) -> Draw:
    """Skewed rows, none of them bad."""

    def draw(seed: int) -> Sample:
        X = np.exp(WIDTH * np.random.default_rng(seed).standard_normal((n, D)))
        return Sample(X, np.zeros(n, dtype=bool))

    return draw


def extreme_cells(n: int) -> Draw:
    """Gaussian rows with single entries that are 10 to 100 too large."""

    def draw(seed: int) -> Sample:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, D))
        wrong = rng.random((n, D)) < EXTREME
        X[wrong] += rng.uniform(10.0, 100.0, int(wrong.sum()))
        return Sample(X, wrong.any(axis=1))

    return draw


def settings(d: int) -> dict[str, Callable[[int], Draw]]:
    """The paper's, by name."""
    return {
        f"Setting {kind.__name__[-1]}, alpha {alpha}": (
            lambda n, kind=kind, alpha=alpha: kind(n, d, alpha).sample
        )
        for kind in (SettingA, SettingB)
        for alpha in (0.1, 0.3)
    }


def few_columns() -> Iterator[Cell]:
    """All kinds of data, each with few, some and many rows."""
    kinds: dict[str, Callable[[int], Draw]] = {
        "clean Gaussian": lambda n: Clean(n, D).sample,
        "clean t5": lambda n: Clean(n, D, inliers=StudentT(5)).sample,
        f"clean lognormal({WIDTH})": lognormal,
        **settings(D),
        "cluster at 10 sigma, alpha 0.1": lambda n: Cluster(n, D, 0.1, 10).sample,
        "cluster at 10 sigma, alpha 0.3": lambda n: Cluster(n, D, 0.3, 10).sample,
        f"extreme cells, {100 * EXTREME:g}% of them": extreme_cells,
    }
    for name, of_size in kinds.items():
        truth = float(np.exp(WIDTH**2 / 2.0)) if of_size is lognormal else 0.0
        yield from (Cell(name, of_size(n), n, truth) for n in SIZES)


def many_columns() -> Iterator[Cell]:
    """The paper's settings where their outliers can be told from good rows."""
    for name, of_size in settings(MANY).items():
        yield from (Cell(name, of_size(n), n) for n in SIZES)


def run(sample: Sample, truth: float) -> Measured:
    """The interval with nothing given, and that of the good rows."""
    result = inlier.robust_mean(sample.X)
    low, high = result.confidence_interval(LEVEL)
    good = sample.inliers
    error = stats.sem(good)
    reach = float(stats.t.isf((1.0 - LEVEL) / 2.0, len(good) - 1)) * error
    offset = result.location - good.mean(axis=0)
    radius = float(result.certificate.error_radius(sample.alpha))
    return Measured(
        held=(low <= truth) & (truth <= high),
        told=np.abs(good.mean(axis=0) - truth) <= reach,
        length=float(np.mean((high - low) / (2.0 * reach))),
        bad_kept=int((result.support & sample.is_outlier).sum()),
        good_gone=int((~result.support & ~sample.is_outlier).sum()),
        off=float(np.max(np.abs(offset) / error)),
        within_radius=float(np.linalg.norm(offset)) <= radius + common.ROUNDING,
    )


def coverage(held: list[np.ndarray]) -> tuple[float, float]:
    """How often intervals hold, and its standard error; columns of a draw are not independent."""
    by_draw = np.array([columns.mean() for columns in held])
    return float(by_draw.mean()), float(by_draw.std() / np.sqrt(len(by_draw)))


def why_short(done: list[Measured]) -> str:
    """What goes with it, if intervals hold less often than they should, by more than chance."""
    held, noise = coverage([draw.held for draw in done])
    if held + 2.0 * noise >= LEVEL:
        return ""
    told, _ = coverage([draw.told for draw in done])
    if told <= held + noise:
        return "so is told"
    causes = {
        "bad rows kept": np.mean([draw.bad_kept for draw in done]),
        "good rows gone": np.mean([draw.good_gone for draw in done]),
    }
    return ", ".join(cause for cause, rows in causes.items() if rows >= FEW)


def line_of(cell: Cell, draws: int) -> dict[str, object]:
    """One cell."""
    common.print_progress(f"{cell.name}, {cell.n}")
    done = [run(cell.draw(seed), cell.truth) for seed in range(draws)]
    held, noise = coverage([draw.held for draw in done])
    told, _ = coverage([draw.told for draw in done])

    def mean(what: str) -> float:
        return float(np.mean([getattr(draw, what) for draw in done]))

    return {
        "data": cell.name,
        "n": cell.n,
        "draws": draws,
        "coverage": f"{100 * held:.1f}% ± {100 * noise:.1f}",
        "told": f"{100 * told:.1f}%",
        "all": f"{100 * np.mean([draw.held.all() for draw in done]):.1f}%",
        "length": f"{mean('length'):.2f}",
        "bad kept": f"{mean('bad_kept'):.3g}",
        "good gone": f"{mean('good_gone'):.3g}",
        "off": f"{mean('off'):.2f}",
        "radius": f"{100 * mean('within_radius'):.1f}%",
        "short": why_short(done),
    }


def table(cells: Iterable[Cell], draws: int) -> str:
    """A line for each cell."""
    return common.markdown(line_of(cell, draws) for cell in cells)


NOTE = """\
How often the 95% interval of a column, `result.confidence_interval()` with nothing given to the
fit, holds the mean of the distribution of the good rows, with the standard error of that share.
Seeds from 0; {versions}.

- told: the same for Student's interval of the good rows, of one who is told which they are.
- all: how often the intervals of all columns hold at once: less often than each of them.
- length: of the interval, in lengths of the one who is told.
- bad kept, good gone: rows, on average.
- off: how far the location is from the mean of the good rows, in standard errors of that mean, in
  the column where it is most.
- radius: how often the location is within `certificate.error_radius(alpha)` of the mean of the good
  rows, for the true alpha.
- short: what goes with it where coverage is below 95% by more than two standard errors.

The interval takes the kept rows for the good ones. Where they are, it is that of the one who is
told, and holds as often. It falls short for two reasons.

- Student's interval itself: the mean of few skewed rows is not Gaussian yet. One who is told the
  good rows falls short as well.
- Bad rows that were kept. In {few} columns the outliers of Settings A and B lie among the good
  rows, and nearly all of them stay. The mean is then off by a fraction of a deviation however many
  rows there are: the more rows, the shorter the interval, and the less often it holds. In Setting B
  it is off in the first column, and in the second if one of the two halves is removed; the others
  hold.
  An interval made of the kept rows cannot know this. The radius of the certificate allows for it.
  In {many} columns, with enough rows, the same outliers are found and coverage is back.
"""


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(__doc__, "coverage.md", given, draws=(500, "of each kind"))
    sections = {
        f"{D} columns": table(few_columns(), arguments.draws),
        # As many intervals: a draw has more of them.
        f"{MANY} columns": table(many_columns(), max(1, arguments.draws * D // MANY)),
    }
    note = NOTE.format(few=D, many=MANY, versions=common.versions()).strip()
    title = "Coverage of the intervals"
    common.publish(arguments, title, note, "make bench-coverage", sections)


if __name__ == "__main__":
    main()
