"""Nothing given: errors of `robust_mean(X)` on data of many kinds, and what each must reach.

Beside ours stand `assume="symmetric"`, the plain mean, the coordinate-wise median, and two that are
given the truth: "prune" drops as many rows as there are outliers, those farthest from that median;
"oracle sigma" is `robust_mean` with the sigma of the good rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import common
import numpy as np
import pandas as pd
from common import figure, print_progress, verdict

import inlier
from inlier.research import datasets as data
from inlier.research.baselines import CoordinateMedian, NormTrimmedMean, SampleMean

OURS = "nothing given"
OTHERS = ("symmetric", "oracle sigma", "prune", "median", "mean")
SETTINGS = {"A": data.SettingA, "B": data.SettingB}


def run(sample: data.Sample) -> dict[str, float]:
    """Errors of ours, and of those that are given the truth; and what ours did."""
    X = sample.X
    ours = inlier.robust_mean(X)
    answers = {
        OURS: ours.location,
        "symmetric": inlier.robust_mean(X, assume="symmetric").location,
        "oracle sigma": inlier.robust_mean(X, sigma=sample.sigma).location,
        "prune": NormTrimmedMean(alpha=sample.alpha).fit(X).location_,
        "median": CoordinateMedian().fit(X).location_,
        "mean": SampleMean().fit(X).location_,
    }
    return {name: float(np.linalg.norm(x - sample.mean)) for name, x in answers.items()} | {
        "bad_left": int((ours.support & sample.is_outlier).sum()),
        "good_gone": int((~ours.support & ~sample.is_outlier).sum()),
        "passes": ours.details.n_passes,
        "standard_error": float(np.sqrt(sample.inliers.var(axis=0).sum() / len(X))),
    }


Holds = Callable[[pd.DataFrame], bool]


class Cell(NamedTuple):
    """A line of the table: data, and what must hold of its trials."""

    name: str
    model: data.Contamination
    must: str
    holds: Holds


def at_most(limit: float, share: float = 1.0) -> Holds:
    """The error of a share of the draws."""
    return lambda done: (done[OURS] <= limit).mean() >= share


def mean_at_most(limit: float) -> Holds:
    """The mean error."""
    return lambda done: done[OURS].mean() <= limit


def exact_cell(lp: float | None) -> Holds:
    """Error 0 in 95% of the draws, and a tenth of the paper's on average."""
    exact, small = at_most(common.ROUNDING, 0.95), mean_at_most(np.inf if lp is None else lp / 10)
    return lambda done: exact(done) and small(done)


def left_alone(share: float) -> Holds:
    """At most a share of 1000 rows goes, and the mean moves by a tenth of its standard error."""
    return lambda done: (
        (done.good_gone <= share * 1000) & (done[OURS] < 0.1 * done.standard_error)
    ).all()


def paper_cells() -> Iterator[Cell]:
    """Settings A and B at the sizes of the paper, alpha also 0 and .4."""
    printed: dict[tuple[str, int, int], dict[float, float | None]] = {}
    for table in data.printed_tables().values():
        for value, errors in table.errors.items() if table.setting in SETTINGS else ():
            fixed = dict(table.fixed) | {table.vary: float(value)}
            key = (table.setting, int(fixed["n"]), int(fixed["d"]))
            printed.setdefault(key, {})[float(fixed["alpha"])] = errors.get("lp")
    for (setting, n, d), known in sorted(printed.items()):
        for alpha in sorted({0.0, 0.4} | known.keys()):
            lp = known.get(alpha)
            must = "0 in 95%" + ("" if lp is None else f", mean < {lp / 10:.4g}")
            name = f"Setting {setting}, {n} x {d}, alpha {alpha:g}"
            yield Cell(name, SETTINGS[setting](n, d, alpha), must, exact_cell(lp))


def below_mean(share: float) -> Holds:
    """The mean error, over that of the plain mean."""
    return lambda done: done[OURS].mean() <= share * done["mean"].mean()


def few_columns() -> Iterator[Cell]:
    """Setting A with so few columns that the bad rows reach into the good ones."""
    for d, alpha in product((10, 15, 20, 30), (0.1, 0.2)):
        name = f"Setting A, 1000 x {d}, alpha {alpha:g}"
        yield Cell(name, data.SettingA(1000, d, alpha), "0.4 of the mean's", below_mean(0.4))


def other_cells() -> Iterator[Cell]:
    """Everything else that is drawn at random."""
    joint = data.StudentT(5, joint=True)
    clean = {"Gaussian": (data.Gaussian(), 0.2), "t5": (data.StudentT(5), 1.0)}
    clean |= {"multivariate t5": (joint, 1.0), "Laplace": (data.Laplace(), 1.0)}
    for (kind, (rows, percent)), (n, d) in product(clean.items(), ((1000, 50), (1000, 500))):
        must, holds = f"{percent}% of rows, .1 s.e.", left_alone(percent / 100)
        yield Cell(f"clean {kind}, {n} x {d}", data.Clean(n, d, inliers=rows), must, holds)
    for kind, rows, limit in (("t3", data.StudentT(3), 0.15), ("multivariate t5", joint, 0.2)):
        name = f"{kind} and A's outliers, 2000 x 100, alpha .2"
        model = data.HeavyTails(2000, 100, 0.2, rows)
        yield Cell(name, model, f"mean {limit}", mean_at_most(limit))
    for alpha in (0.1, 0.2, 0.3):
        name, model = "obvious and subtle, 500 x 500", data.ObviousAndSubtle(500, 500, alpha)
        yield Cell(f"{name}, alpha {alpha}", model, "mean 0.05", mean_at_most(0.05))
    quiet = {"spiked": data.Spiked(), "rotated": data.Rotated()}
    for (kind, rows), where, alpha in product(quiet.items(), ("both", "one each"), (0.1, 0.2, 0.3)):
        name = f"{kind}, 2000 x 100, 6 sigma in {where}, alpha {alpha}"
        model = data.QuietDirections(2000, 100, alpha, rows, where)
        yield Cell(name, model, "0.15 in 19 of 20", at_most(0.15, 0.95))
    for distance, alpha in ((3, 0.1), (3, 0.2), (3, 0.3), (5, 0.3)):
        name = f"cluster at {distance} sigma, 2000 x 100, alpha {alpha}"
        yield Cell(name, data.Cluster(2000, 100, alpha, distance), "0.1", at_most(0.1))


def line_of(cell: Cell, trials: int) -> dict[str, object]:
    """Errors by method, and whether what must hold does."""
    print_progress(cell.name)
    done = pd.DataFrame(run(cell.model.sample(seed)) for seed in range(trials))
    errors = done[[OURS, *OTHERS]].mean().map(figure)
    return {
        "data": cell.name,
        OURS: errors.pop(OURS),
        "worst": figure(done[OURS].max()),
        "exact": f"{(done.bad_left + done.good_gone == 0).sum()}/{trials}",
        **errors,
        "passes": done.passes.max(),
        "must be": cell.must,
        "": verdict(cell.holds(done)),
    }


def table_of_cells(cells: Iterable[Cell], trials: int) -> str:
    """A line for each."""
    return common.markdown(line_of(cell, trials) for cell in cells)


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(__doc__, "noknobs.md", given, trials=(20, "of each kind"))
    trials = arguments.trials
    sections = {
        "Settings A and B": table_of_cells(paper_cells(), trials),
        "Setting A with few columns": table_of_cells(few_columns(), trials),
        "Other data": table_of_cells(other_cells(), trials),
    }
    note = (
        f"Distance to the mean of the good rows, averaged over {trials} draws (seeds 0 to "
        f"{trials - 1}); 0 stands for less than 1e-9. What the columns are is said in "
        "benchmarks/noknobs.py. "
        f"{common.versions()}."
    )
    common.publish(arguments, "Nothing given", note, "make bench-noknobs", sections)


if __name__ == "__main__":
    main()
