"""Nothing given: errors of `robust_mean(X)` on data of many kinds, and what each must reach.

Prints Markdown tables; `--write` also puts them into docs/results/noknobs.md. Beside ours stand
`assume="symmetric"`, the plain mean, the coordinate-wise median, and two that are told the truth:
"prune" drops as many rows as there are outliers, those farthest from that median; "oracle sigma" is
`robust_mean` with the sigma of the good rows.

`--data` names a folder of .npz files with `X` (rows) and `y` (1 for an outlier); faces are
scikit-image's `lfw_subset`, digits scikit-learn's.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
from pages import RESULTS, ROUNDING, figure, print_progress, write_page
from real_data import real_data

import inlier
from inlier.research.datasets import (
    Clean,
    Cluster,
    Gaussian,
    HeavyTails,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    Sample,
    SettingA,
    SettingB,
    Spiked,
    StudentT,
    printed_tables,
)

WRITTEN = RESULTS / "noknobs.md"
SETTINGS = {"A": SettingA, "B": SettingB}


ROWS = {
    "Gaussian": Gaussian(),
    "t3": StudentT(3),
    "t5": StudentT(5),
    "multivariate t5": StudentT(5, joint=True),
    "Laplace": Laplace(),
    "spiked": Spiked(),
    "rotated": Rotated(),
}


# -- Measuring ------------------------------------------------------------------------------------


@dataclass
class Trial:
    """One draw: errors by method, and what ours did."""

    errors: dict[str, float]
    bad_left: int
    good_gone: int
    passes: int
    standard_error: float

    @property
    def exact(self) -> bool:
        """Whether the very set was found."""
        return self.bad_left == 0 and self.good_gone == 0


def run(sample: Sample) -> Trial:
    """Ours, and those that are told the truth."""
    X, truth = sample.X, sample.mean
    ours = inlier.robust_mean(X)
    answers = {
        "nothing given": ours.location,
        "symmetric": inlier.robust_mean(X, assume="symmetric").location,
        "mean": inlier.research.baselines.SampleMean().fit(X).location_,
        "median": inlier.research.baselines.CoordinateMedian().fit(X).location_,
        "prune": inlier.research.baselines.NormTrimmedMean(alpha=sample.alpha).fit(X).location_,
        "oracle sigma": inlier.robust_mean(X, sigma=sample.sigma).location,
    }
    return Trial(
        {name: float(np.linalg.norm(answer - truth)) for name, answer in answers.items()},
        int((ours.support & sample.is_outlier).sum()),
        int((~ours.support & ~sample.is_outlier).sum()),
        ours.n_passes,
        float(np.sqrt(sample.inliers.var(axis=0).sum() / len(X))),
    )


def trials(draw: Callable[[int], Sample], seeds: int) -> list[Trial]:
    """All draws of one cell."""
    return [run(draw(seed)) for seed in range(seeds)]


@dataclass(frozen=True)
class Cell:
    """A line of the table: data, and what must hold of its trials."""

    name: str
    draw: Callable[[int], Sample]
    must: str
    holds: Callable[[list[Trial]], bool]


def mean_error(done: list[Trial], method: str = "nothing given") -> float:
    """Over the trials."""
    return float(np.mean([trial.errors[method] for trial in done]))


def at_most(limit: float, of_twenty: int = 20) -> Callable[[list[Trial]], bool]:
    """The error of so many draws in twenty."""
    return lambda done: (
        sum(t.errors["nothing given"] <= limit for t in done) >= of_twenty / 20 * len(done)
    )


def exact_cell(lp: float | None) -> Callable[[list[Trial]], bool]:
    """Error 0 in 95% of the draws, and a tenth of the paper's on average."""
    return lambda done: (
        np.mean([t.errors["nothing given"] < ROUNDING for t in done]) >= 0.95
        and (lp is None or mean_error(done) < lp / 10)
    )


def left_alone(fraction: float) -> Callable[[list[Trial]], bool]:
    """At most a fraction of the rows goes, and the mean moves by a tenth of its standard error."""
    return lambda done: all(
        t.good_gone <= fraction * 1000 and t.errors["nothing given"] < 0.1 * t.standard_error
        for t in done
    )


def paper_cells() -> Iterator[Cell]:
    """Settings A and B at the sizes of the paper, alpha also 0 and .4."""
    printed = {}
    for table in printed_tables().values():
        for value, errors in table.errors.items() if table.setting in SETTINGS else ():
            fixed = dict(table.fixed) | {table.vary: float(value)}
            key = (table.setting, int(fixed["n"]), int(fixed["d"]))
            printed.setdefault(key, {})[float(fixed["alpha"])] = errors.get("lp")
    for (setting, n, d), known in sorted(printed.items()):
        for alpha in sorted({0.0, 0.4} | known.keys()):
            lp = known.get(alpha)
            yield Cell(
                f"Setting {setting}, {n} x {d}, alpha {alpha:g}",
                SETTINGS[setting](n, d, alpha).sample,
                "0 in 95%" + ("" if lp is None else f", mean < {lp / 10:.4g}"),
                exact_cell(lp),
            )


def other_cells() -> Iterator[Cell]:
    """Everything else that is drawn at random."""
    for kind, percent in (
        ("Gaussian", 0.2),
        ("t5", 1.0),
        ("multivariate t5", 1.0),
        ("Laplace", 1.0),
    ):
        for n, d in ((1000, 50), (1000, 500)):
            yield Cell(
                f"clean {kind}, {n} x {d}",
                Clean(n, d, inliers=ROWS[kind]).sample,
                f"{percent}% of rows, .1 s.e.",
                left_alone(percent / 100),
            )
    for kind, limit in (("t3", 0.15), ("multivariate t5", 0.2)):
        yield Cell(
            f"{kind} and A's outliers, 2000 x 100, alpha .2",
            HeavyTails(2000, 100, 0.2, ROWS[kind]).sample,
            f"mean {limit}",
            lambda done, limit=limit: mean_error(done) <= limit,
        )
    for alpha in (0.1, 0.2, 0.3):
        yield Cell(
            f"obvious and subtle, 500 x 500, alpha {alpha}",
            ObviousAndSubtle(500, 500, alpha).sample,
            "mean 0.05",
            lambda done: mean_error(done) < 0.05,
        )
    for kind in ("spiked", "rotated"):
        for where in ("both", "one each"):
            for alpha in (0.1, 0.2, 0.3):
                yield Cell(
                    f"{kind}, 2000 x 100, 6 sigma in {where}, alpha {alpha}",
                    QuietDirections(2000, 100, alpha, ROWS[kind], where).sample,
                    "0.15 in 19 of 20",
                    at_most(0.15, 19),
                )
    for distance, alpha in ((3, 0.1), (3, 0.2), (3, 0.3), (5, 0.3)):
        yield Cell(
            f"cluster at {distance} sigma, 2000 x 100, alpha {alpha}",
            Cluster(2000, 100, alpha, distance).sample,
            "0.1",
            at_most(0.1),
        )


def table_of_cells(cells: list[Cell], seeds: int) -> list[str]:
    """Errors by method, and whether what must hold does."""
    lines = [
        "| data | nothing given | worst | exact | symmetric | oracle sigma | prune | median | mean "
        "| passes | must be | |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        print_progress(cell.name)
        done = trials(cell.draw, seeds)
        worst = max(trial.errors["nothing given"] for trial in done)
        others = ("symmetric", "oracle sigma", "prune", "median", "mean")
        figures = " | ".join(figure(mean_error(done, name)) for name in others)
        lines.append(
            f"| {cell.name} | {figure(mean_error(done))} | {figure(worst)} "
            f"| {sum(t.exact for t in done)}/{len(done)} | {figures} "
            f"| {max(t.passes for t in done)} | {cell.must} | {verdict(cell.holds(done))} |"
        )
    return lines


def table_of_changes(seeds: int) -> list[str]:
    """The same rows after a change of units, origin, axes or order."""
    lines = ["| data | changed | the same rows |", "|---|---|---|"]

    def rotated(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return X @ np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]

    changes: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
        "times 1e-8": lambda X, rng: X * 1e-8,
        "times 1e8": lambda X, rng: X * 1e8,
        "shifted by 1e6": lambda X, rng: X + 1e6,
        "rotated": rotated,
        "permuted": lambda X, rng: X[rng.permutation(len(X))],
    }
    for setting, n, d in (("A", 800, 400), ("A", 2000, 100), ("B", 200, 100), ("B", 2000, 100)):
        for name, change in changes.items():
            print_progress(f"{setting} {n} x {d} {name}")
            same = 0
            for seed in range(seeds):
                sample = SETTINGS[setting](n, d, (0.1, 0.2, 0.3, 0.4)[seed % 4]).sample(seed)
                before = inlier.robust_mean(sample.X).support
                after = inlier.robust_mean(change(sample.X, np.random.default_rng(seed))).support
                if name == "permuted":
                    before = before[np.random.default_rng(seed).permutation(n)]
                same += np.array_equal(before, after)
            lines.append(f"| Setting {setting}, {n} x {d} | {name} | {same}/{seeds} |")
    return lines


def best_rival(sample: Sample) -> tuple[str, float]:
    """Of the methods of others, told the true alpha and sigma; "prune" has a column of its own."""
    names = [method.name for method in inlier.research.baselines.BASELINES]
    names.remove(inlier.research.baselines.NormTrimmedMean.name)
    found = inlier.research.compare(sample, names, timeout=20.0, progress=False)
    best = found.summary()[0]
    return best.method, best.error


def table_of_real_data(folder: Path | None) -> list[str]:
    """Errors on real rows, beside the best rival and the plain mean."""
    lines = [
        "| data | n x d | outliers | nothing given | found | good gone | best rival | oracle sigma "
        "| prune | median | mean | below best | below 1.02 mean |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, model in real_data(folder):
        print_progress(name)
        sample = model.sample(0)
        done = run(sample)
        ours, plain = done.errors["nothing given"], done.errors["mean"]
        rival, best = best_rival(sample)
        n_bad = int(sample.is_outlier.sum())
        lines.append(
            f"| {name} | {sample.X.shape[0]} x {sample.X.shape[1]} | {n_bad} | {figure(ours)} "
            f"| {n_bad - done.bad_left} | {done.good_gone} | {figure(best)} ({rival}) "
            f"| {figure(done.errors['oracle sigma'])} | {figure(done.errors['prune'])} "
            f"| {figure(done.errors['median'])} | {figure(plain)} "
            f"| {verdict(ours <= max(best, ROUNDING))} "
            f"| {verdict(ours < 1.02 * plain)} |"
        )
    return lines


def table_of_odd_rows() -> list[str]:
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
    lines = ["| data | removed | right | warnings of numpy |", "|---|---|---|---|"]
    for name, (X, bad) in cases.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            removed = inlier.robust_mean(X).outliers.tolist()
        lines.append(f"| {name} | {removed} | {verdict(removed == bad)} | {len(caught)} |")
    return lines


def table_of_cost() -> list[str]:
    """Processor time against the fit with sigma, the best of several in the same run."""
    lines = ["| data | with sigma | nothing given | times | passes |", "|---|---|---|---|---|"]
    for n, d in ((2000, 100), (800, 400), (4000, 2000)):
        for setting in SETTINGS:
            for alpha in (0.1, 0.2, 0.3):
                print_progress(f"cost {setting} {n} x {d}")
                sample = SETTINGS[setting](n, d, alpha).sample(0)
                best = {}
                for name, sigma in (("given", sample.sigma), ("not", None)):
                    seconds = []
                    for _ in range(5):
                        start = time.process_time()
                        result = inlier.robust_mean(sample.X, sigma=sigma)
                        seconds.append(time.process_time() - start)
                    best[name] = min(seconds)
                lines.append(
                    f"| Setting {setting}, {n} x {d}, alpha {alpha} "
                    f"| {1e3 * best['given']:.0f} ms | {1e3 * best['not']:.0f} ms "
                    f"| {best['not'] / best['given']:.1f} | {result.n_passes} |"
                )
    return lines


def verdict(holds: bool) -> str:
    """In one word."""
    return "yes" if holds else "NO"


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--data", type=Path, help="folder of .npz files with X and y")
    parser.add_argument("--write", action="store_true", help=f"also write {WRITTEN.name}")
    arguments = parser.parse_args()
    seeds = arguments.trials
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    sections = {
        "Settings A and B": table_of_cells(list(paper_cells()), seeds),
        "The same data, changed": table_of_changes(seeds),
        "Other data": table_of_cells(list(other_cells()), seeds),
        "Real data": table_of_real_data(arguments.data),
        "Odd rows": table_of_odd_rows(),
        "Cost": table_of_cost(),
    }
    text = "\n\n".join(f"## {title}\n\n" + "\n".join(lines) for title, lines in sections.items())
    print_progress("")
    print(text)
    if arguments.write:
        note = (
            f"Distance to the mean of the good rows, averaged over {seeds} draws (seeds 0 to "
            f"{seeds - 1}); 0 stands for less than 1e-9. What the columns are is said in "
            'benchmarks/noknobs.py; "best rival" is the best of the methods of others in this '
            "library, told the true fraction and norm. numpy "
            f"{np.__version__}, scipy {scipy.__version__}; one thread, processor time.\n\n"
            "    make bench-noknobs\n"
        )
        write_page(WRITTEN, "Nothing given", note, text)


if __name__ == "__main__":
    main()
