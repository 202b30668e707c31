"""How often `result.confidence_interval()` holds the mean of the distribution of the good rows.

Prints Markdown tables; `--write` also puts them into docs/results/coverage.md. Beside ours stands
Student's interval of the good rows themselves, of one who is told which they are: where that falls
short, the interval is to blame, and where only ours does, the rows that were kept or removed.
"""

from collections.abc import Callable, Sequence
from itertools import product

import common
import numpy as np
import pandas as pd
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


# So many rows from a seed.
Draw = Callable[[int, int], Sample]


def lognormal(n: int, seed: int) -> Sample:
    """Skewed rows, none of them bad."""
    X = np.exp(WIDTH * np.random.default_rng(seed).standard_normal((n, D)))
    return Sample(X, np.zeros(n, dtype=bool))


def extreme_cells(n: int, seed: int) -> Sample:
    """Gaussian rows with single entries that are 10 to 100 too large."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    wrong = rng.random((n, D)) < EXTREME
    X[wrong] += rng.uniform(10.0, 100.0, int(wrong.sum()))
    return Sample(X, wrong.any(axis=1))


def settings(d: int) -> dict[str, Draw]:
    """The paper's, by name."""
    return {
        f"Setting {kind.__name__[-1]}, alpha {alpha}": (
            lambda n, seed, kind=kind, alpha=alpha: kind(n, d, alpha).sample(seed)
        )
        for kind in (SettingA, SettingB)
        for alpha in (0.1, 0.3)
    }


FEW_COLUMNS: dict[str, Draw] = {
    "clean Gaussian": lambda n, seed: Clean(n, D).sample(seed),
    "clean t5": lambda n, seed: Clean(n, D, inliers=StudentT(5)).sample(seed),
    f"clean lognormal({WIDTH})": lognormal,
    **settings(D),
    "cluster at 10 sigma, alpha 0.1": lambda n, seed: Cluster(n, D, 0.1, 10).sample(seed),
    "cluster at 10 sigma, alpha 0.3": lambda n, seed: Cluster(n, D, 0.3, 10).sample(seed),
    f"extreme cells, {100 * EXTREME:g}% of them": extreme_cells,
}


def run(sample: Sample, truth: float) -> dict[str, float]:
    """The interval with nothing given, and that of the good rows.

    Shares of the columns that hold, length in units of that of the good rows, and how far the
    location is from their mean, in standard errors at most.
    """
    result = inlier.robust_mean(sample.X)
    low, high = result.confidence_interval(LEVEL)
    good = sample.inliers
    error = stats.sem(good)
    reach = float(stats.t.isf((1.0 - LEVEL) / 2.0, len(good) - 1)) * error
    offset = result.location - good.mean(axis=0)
    radius = float(result.certificate.error_radius(sample.alpha))
    held = (low <= truth) & (truth <= high)
    return {
        "held": held.mean(),
        "told": np.mean(np.abs(good.mean(axis=0) - truth) <= reach),
        "all": held.all(),
        "length": np.mean((high - low) / (2.0 * reach)),
        "bad_kept": (result.support & sample.is_outlier).sum(),
        "good_gone": (~result.support & ~sample.is_outlier).sum(),
        "off": np.max(np.abs(offset) / error),
        "within_radius": np.linalg.norm(offset) <= radius + common.ROUNDING,
    }


def why_short(mean: pd.Series, noise: float) -> str:
    """What goes with it, if intervals hold less often than they should, by more than chance."""
    if mean.held + 2.0 * noise >= LEVEL:
        return ""
    if mean.told <= mean.held + noise:
        return "so is told"
    causes = {"bad rows kept": mean.bad_kept, "good rows gone": mean.good_gone}
    return ", ".join(cause for cause, rows in causes.items() if rows >= FEW)


def line_of(name: str, drawn: Draw, n: int, draws: int) -> dict[str, object]:
    """One kind and number of rows."""
    common.print_progress(f"{name}, {n}")
    truth = float(np.exp(WIDTH**2 / 2.0)) if drawn is lognormal else 0.0
    done = pd.DataFrame(run(drawn(n, seed), truth) for seed in range(draws)).astype(float)
    mean = done.mean()
    # Of draws: columns of a draw are not independent.
    noise = done.held.std(ddof=0) / np.sqrt(draws)
    return {
        "data": name,
        "n": n,
        "draws": draws,
        "coverage": f"{100 * mean.held:.1f}% ± {100 * noise:.1f}",
        "told": f"{100 * mean.told:.1f}%",
        "all": f"{100 * mean['all']:.1f}%",
        "length": f"{mean.length:.2f}",
        "bad kept": f"{mean.bad_kept:.3g}",
        "good gone": f"{mean.good_gone:.3g}",
        "off": f"{mean.off:.2f}",
        "radius": f"{100 * mean.within_radius:.1f}%",
        "short": why_short(mean, noise),
    }


def table(kinds: dict[str, Draw], draws: int) -> str:
    """Each kind with few, some and many rows."""
    cells = product(kinds.items(), SIZES)
    return common.markdown(line_of(name, drawn, n, draws) for (name, drawn), n in cells)


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
        f"{D} columns": table(FEW_COLUMNS, arguments.draws),
        # As many intervals: a draw has more of them.
        f"{MANY} columns": table(settings(MANY), max(1, arguments.draws * D // MANY)),
    }
    note = NOTE.format(few=D, many=MANY, versions=common.versions()).strip()
    title = "Coverage of the intervals"
    common.publish(arguments, title, note, "make bench-coverage", sections)


if __name__ == "__main__":
    main()
