"""Nothing given: errors of `robust_mean(X)` on data of many kinds, and what each must reach.

Beside ours stand `assume="symmetric"`, the plain mean, the coordinate-wise median, and two that are
given the truth: "prune" drops as many rows as there are outliers, those farthest from that median;
"oracle sigma" is `robust_mean` with the sigma of the good rows.

`--data` names a folder of .npz files with `X` (rows) and `y` (1 for an outlier); faces are
scikit-image's `lfw_subset`, digits scikit-learn's.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import common
import numpy as np
import pandas as pd
from common import figure, print_progress, verdict

import inlier
from inlier.research import compare
from inlier.research import datasets as data
from inlier.research.baselines import BASELINES, CoordinateMedian, NormTrimmedMean, SampleMean

OURS = "nothing given"
OTHERS = ("symmetric", "oracle sigma", "prune", "median", "mean")
SETTINGS = {"A": data.SettingA, "B": data.SettingB}
CHANGES: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "times 1e-8": lambda X, rng: X * 1e-8,
    "times 1e8": lambda X, rng: X * 1e8,
    "shifted by 1e6": lambda X, rng: X + 1e6,
    "rotated": lambda X, rng: X @ np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0],
    "permuted": lambda X, rng: X[rng.permutation(len(X))],
}


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


def table_of_changes(trials: int) -> str:
    """The same rows after a change of units, origin, axes or order."""
    lines = []
    sizes = (("A", 800, 400), ("A", 2000, 100), ("B", 200, 100), ("B", 2000, 100))
    for (setting, n, d), (name, change) in product(sizes, CHANGES.items()):
        print_progress(f"{setting} {n} x {d} {name}")
        same = 0
        for seed in range(trials):
            sample = SETTINGS[setting](n, d, (0.1, 0.2, 0.3, 0.4)[seed % 4]).sample(seed)
            before = inlier.robust_mean(sample.X).support
            after = inlier.robust_mean(change(sample.X, np.random.default_rng(seed))).support
            if name == "permuted":
                before = before[np.random.default_rng(seed).permutation(n)]
            same += np.array_equal(before, after)
        line = {"data": f"Setting {setting}, {n} x {d}", "changed": name}
        lines.append(line | {"the same rows": f"{same}/{trials}"})
    return common.markdown(lines)


def table_of_real_data(folder: str | None) -> str:
    """Errors on real rows, beside the best rival and the plain mean.

    Rivals are given the true alpha and sigma; "prune" has a column of its own.
    """
    lines = []
    names = [method.name for method in BASELINES if method is not NormTrimmedMean]
    for name, sample in common.real_data(folder):
        print_progress(name)
        done = run(sample)
        best = compare(sample, names, timeout=20.0, progress=False).summary()[0]
        n_bad, ours = int(sample.is_outlier.sum()), done[OURS]
        line = {
            "data": name,
            "n x d": "{} x {}".format(*sample.X.shape),
            "outliers": n_bad,
            OURS: figure(ours),
            "found": n_bad - done["bad_left"],
            "good gone": done["good_gone"],
            "best rival": f"{figure(best.error)} ({best.method})",
            **{other: figure(done[other]) for other in OTHERS[1:]},
            "below best": verdict(ours <= max(best.error, common.ROUNDING)),
            "below 1.02 mean": verdict(ours < 1.02 * done["mean"]),
        }
        lines.append(line)
    return common.markdown(lines)


def table_of_odd_rows() -> str:
    """Rows that spoil arithmetic, or look as if they did."""
    rng = np.random.default_rng(0)
    good = rng.standard_normal((500, 20))
    absurd, twin, doubled, constant = (good.copy() for _ in range(4))
    absurd[7] = 1e300
    twin[7] = twin[9]
    doubled[:200] = doubled[200:400]
    constant[:, 4] = 3.0
    cases = {
        "one row of 1e300": (absurd, [7]),
        "a row that equals another": (twin, []),
        "40% of the rows equal others": (doubled, []),
        "a constant column": (constant, []),
        "counts": (rng.poisson(5, (500, 20)), []),
    }
    lines = []
    for name, (X, bad) in cases.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            removed = inlier.robust_mean(X).outliers.tolist()
        line = {"data": name, "removed": removed, "right": verdict(removed == bad)}
        lines.append(line | {"warnings of numpy": len(caught)})
    return common.markdown(lines)


def table_of_cost(
    sizes: Sequence[tuple[int, int]] = ((2000, 100), (800, 400), (4000, 2000)),
) -> str:
    """Processor time against the fit with sigma, the best of several in the same run."""
    lines = []
    for (n, d), setting, alpha in product(sizes, SETTINGS, (0.1, 0.2, 0.3)):
        print_progress(f"cost {setting} {n} x {d}")
        sample = SETTINGS[setting](n, d, alpha).sample(0)
        fits = (
            partial(inlier.robust_mean, sample.X, sigma=sigma) for sigma in (sample.sigma, None)
        )
        told, ours = common.fastest(*fits)
        line = {
            "data": f"Setting {setting}, {n} x {d}, alpha {alpha}",
            "with sigma": f"{1e3 * told.seconds:.0f} ms",
            OURS: f"{1e3 * ours.seconds:.0f} ms",
            "times": f"{ours.seconds / told.seconds:.1f}",
            "passes": ours.answer.details.n_passes,
        }
        lines.append(line)
    return common.markdown(lines)


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    folder = (None, "folder of .npz files with X and y")
    arguments = common.options(
        __doc__, "noknobs.md", given, trials=(20, "of each kind"), data=folder
    )
    trials = arguments.trials
    sections = {
        "Settings A and B": table_of_cells(paper_cells(), trials),
        "The same data, changed": table_of_changes(trials),
        "Other data": table_of_cells(other_cells(), trials),
        "Real data": table_of_real_data(arguments.data),
        "Odd rows": table_of_odd_rows(),
        "Cost": table_of_cost(),
    }
    note = (
        f"Distance to the mean of the good rows, averaged over {trials} draws (seeds 0 to "
        f"{trials - 1}); 0 stands for less than 1e-9. What the columns are is said in "
        'benchmarks/noknobs.py; "best rival" is the best of the methods of others in this '
        f"library, given the true fraction and norm. {common.versions()}; one thread, processor "
        "time."
    )
    common.publish(arguments, "Nothing given", note, "make bench-noknobs", sections)


if __name__ == "__main__":
    main()
