"""How often `result.confidence_interval()` holds the mean of the distribution of the good rows.

Prints Markdown tables; `--write` also puts them into docs/results/coverage.md. Beside ours stands
Student's interval of the good rows themselves, of one who is told which they are: where that falls
short, the interval is to blame, and where only ours does, the rows that were kept or removed.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
from pages import RESULTS, ROUNDING, write_page
from scipy import stats

import inlier
from inlier.research.datasets import Clean, Cluster, Sample, SettingA, SettingB, StudentT

WRITTEN = RESULTS / "coverage.md"
LEVEL = 0.95
SIZES = (50, 200, 1000)
D = 5
# Enough columns for the outliers of the paper's settings to show.
MANY = 100
# Of a lognormal's logarithm.
WIDTH = 0.5
# Of the cells, not of the rows.
GROSS = 0.04
# Fewer rows than these, on average, are not what moves an interval.
FEW = 0.05


@dataclass(frozen=True)
class Cell:
    """A line of the table: good rows with a known mean, and what is among them."""

    name: str
    draw: Callable[[int], Sample]
    n: int
    truth: float = 0.0


@dataclass
class Draw:
    """What became of one draw."""

    held: np.ndarray
    told: np.ndarray
    """Whether that of the good rows holds."""
    length: float
    """In lengths of that of the good rows."""
    bad_kept: int
    good_gone: int
    off: float
    """How far the location is from the mean of the good rows, in their standard errors at most."""
    within_radius: bool


def lognormal(n: int) -> Callable[[int], Sample]:
    """Skewed rows, none of them bad."""

    def draw(seed: int) -> Sample:
        X = np.exp(WIDTH * np.random.default_rng(seed).standard_normal((n, D)))
        return Sample(X, np.zeros(n, dtype=bool))

    return draw


def gross_cells(n: int) -> Callable[[int], Sample]:
    """Gaussian rows with single entries that are 10 to 100 too large."""

    def draw(seed: int) -> Sample:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, D))
        wrong = rng.random((n, D)) < GROSS
        X[wrong] += rng.uniform(10.0, 100.0, int(wrong.sum()))
        return Sample(X, wrong.any(axis=1))

    return draw


def few_columns() -> Iterator[Cell]:
    """All kinds of data, each with few, some and many rows."""
    kinds: dict[str, Callable[[int], Callable[[int], Sample]]] = {
        "clean Gaussian": lambda n: Clean(n, D).sample,
        "clean t5": lambda n: Clean(n, D, inliers=StudentT(5)).sample,
        f"clean lognormal({WIDTH})": lognormal,
        **settings(D),
        "cluster at 10 sigma, alpha 0.1": lambda n: Cluster(n, D, 0.1, 10).sample,
        "cluster at 10 sigma, alpha 0.3": lambda n: Cluster(n, D, 0.3, 10).sample,
        f"gross cells, {100 * GROSS:g}% of them": gross_cells,
    }
    for name, of_size in kinds.items():
        truth = float(np.exp(WIDTH**2 / 2.0)) if of_size is lognormal else 0.0
        for n in SIZES:
            yield Cell(name, of_size(n), n, truth)


def many_columns() -> Iterator[Cell]:
    """The paper's settings where their outliers can be told from good rows."""
    for name, of_size in settings(MANY).items():
        for n in SIZES:
            yield Cell(name, of_size(n), n)


def settings(d: int) -> dict[str, Callable[[int], Callable[[int], Sample]]]:
    """The paper's, by name."""
    return {
        f"Setting {letter}, alpha {alpha}": lambda n, kind=kind, alpha=alpha: (
            kind(n, d, alpha).sample
        )
        for letter, kind in (("A", SettingA), ("B", SettingB))
        for alpha in (0.1, 0.3)
    }


def run(sample: Sample, truth: float) -> Draw:
    """The interval with nothing given, and that of the good rows."""
    result = inlier.robust_mean(sample.X)
    low, high = result.confidence_interval(LEVEL)
    good = sample.inliers
    error = stats.sem(good)
    reach = float(stats.t.isf((1.0 - LEVEL) / 2.0, len(good) - 1)) * error
    offset = result.location - good.mean(axis=0)
    radius = float(result.certificate.error_radius(sample.alpha))
    return Draw(
        held=(low <= truth) & (truth <= high),
        told=np.abs(good.mean(axis=0) - truth) <= reach,
        length=float(np.mean((high - low) / (2.0 * reach))),
        bad_kept=int((result.support & sample.is_outlier).sum()),
        good_gone=int((~result.support & ~sample.is_outlier).sum()),
        off=float(np.max(np.abs(offset) / error)),
        within_radius=float(np.linalg.norm(offset)) <= radius + ROUNDING,
    )


def coverage(held: list[np.ndarray]) -> tuple[float, float]:
    """How often intervals hold, and its standard error; columns of a draw are not independent."""
    by_draw = np.array([columns.mean() for columns in held])
    return float(by_draw.mean()), float(by_draw.std() / np.sqrt(len(by_draw)))


def why_short(done: list[Draw]) -> str:
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


def line_of(cell: Cell, draws: int) -> str:
    """One cell."""
    done = [run(cell.draw(seed), cell.truth) for seed in range(draws)]
    held, noise = coverage([draw.held for draw in done])
    told, _ = coverage([draw.told for draw in done])

    def mean(what: str) -> float:
        return float(np.mean([getattr(draw, what) for draw in done]))

    return (
        f"| {cell.name} | {cell.n} | {draws} "
        f"| {100 * held:.1f}% ± {100 * noise:.1f} | {100 * told:.1f}% "
        f"| {100 * np.mean([draw.held.all() for draw in done]):.1f}% | {mean('length'):.2f} "
        f"| {mean('bad_kept'):.3g} | {mean('good_gone'):.3g} | {mean('off'):.2f} "
        f"| {100 * mean('within_radius'):.1f}% | {why_short(done)} |"
    )


def section(title: str, cells: Iterator[Cell], draws: int) -> str:
    """A line for each cell, printed as soon as it is known."""
    lines = [
        f"## {title}\n",
        "| data | n | draws | coverage | told | all | length | bad kept | good gone | off | radius "
        "| short |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for cell in cells:
        lines.append(line_of(cell, draws))
        print(lines[-1], flush=True)
    return "\n".join(lines)


NOTE = """\
How often the 95% interval of a column, `result.confidence_interval()` with nothing given to the
fit, holds the mean of the distribution of the good rows, with the standard error of that share.
Seeds from 0; numpy {numpy}, scipy {scipy}.

    make bench-coverage

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
  it is off in the first column, and in the second if one of the two halves leaves; the others hold.
  An interval made of the kept rows cannot know this. The radius of the certificate allows for it.
  In {many} columns, with enough rows, the same outliers are found and coverage is back.
"""


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--write", action="store_true", help=f"also write {WRITTEN.name}")
    arguments = parser.parse_args()
    draws = arguments.draws
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    few = section(f"{D} columns", few_columns(), draws)
    # As many intervals: a draw has more of them.
    many = section(f"{MANY} columns", many_columns(), max(1, draws * D // MANY))
    if arguments.write:
        versions = {"numpy": np.__version__, "scipy": scipy.__version__}
        note = NOTE.format(few=D, many=MANY, **versions)
        write_page(WRITTEN, "Coverage of the intervals", note, f"{few}\n\n{many}")


if __name__ == "__main__":
    main()
