"""Every method of the registry on every kind of data: who wins where, and at what cost.

Errors are distances to the mean of the good rows. Methods that need alpha or sigma are given the
true ones of each draw, but for the last section, where they are given wrong ones. All methods of a
draw run in the same process, on one thread.

Finished fits are kept in out/rivals.sqlite: a run that was interrupted goes on where it stopped.
Delete it after a change of the code. `--write` puts the tables into docs/results/rivals.md and
draws docs/results/rivals.svg.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
import sklearn
from pages import RESULTS, ROUNDING, figure, write_page
from real_data import real_data

import inlier
from inlier.research.comparison import ComparisonRow
from inlier.research.datasets import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
    Clean,
    Cluster,
    HeavyTails,
    Huber,
    Laplace,
    Mirrored,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    SettingA,
    SettingB,
    StudentT,
    Subtractive,
    TwoClusters,
)

OURS = "inlier"
# Answers this much worse than the best count as equally good: draws vary by more.
EQUAL = 1.05
# Where seconds and passes are listed.
TIMED = ("A 2000 x 100, 0.2", "A 800 x 400, 0.2", "B 4000 x 2000, 0.2")
STORE = Path("out") / "rivals.sqlite"

Measured = dict[str, dict[str, ComparisonRow]]


@dataclass(frozen=True)
class Cell:
    """A column of a table."""

    label: str
    data: Any
    told: dict[str, float] = field(default_factory=dict)
    most_trials: int = 100


def paper() -> Iterator[Cell]:
    """Setting, rows x columns, alpha."""
    for setting, n, d in ((SettingA, 800, 400), (SettingA, 2000, 100), (SettingB, 2000, 100)):
        for alpha in (0.1, 0.2, 0.3):
            name = setting.__name__[-1]
            yield Cell(f"{name} {n} x {d}, {alpha:g}", setting(n, d, alpha))
    yield Cell("B 4000 x 2000, 0.2", SettingB(4000, 2000, 0.2), most_trials=2)


def harder() -> Iterator[Cell]:
    """2000 x 100 with a fifth of the rows bad, unless said otherwise."""
    n, d, alpha = 2000, 100, 0.2
    yield Cell("clean Gaussian", Clean(n, d))
    yield Cell("clean t5", Clean(n, d, StudentT(5)))
    yield Cell("two clusters", TwoClusters(n, d, alpha))
    for distance in (2.0, 3.0, 5.0, 10.0):
        yield Cell(f"cluster at {distance:g} sigma", Cluster(n, d, alpha, distance))
    yield Cell("Huber", Huber(n, d, alpha))
    yield Cell("t3 inliers", HeavyTails(n, d, alpha))
    yield Cell("joint t5 inliers", HeavyTails(n, d, alpha, StudentT(5, joint=True)))
    yield Cell("Laplace inliers", HeavyTails(n, d, alpha, Laplace()))
    yield Cell("spiked, 6 sigma in quiet directions", QuietDirections(n, d, alpha))
    yield Cell("rotated, the same", QuietDirections(n, d, alpha, Rotated()))
    yield Cell("obvious and subtle, 500 x 500", ObviousAndSubtle(500, 500, alpha))


def adversaries() -> Iterator[Cell]:
    """Those who saw the data, or the method; it was given alpha and sigma 1.3, if it needs them."""
    n, d, alpha = 2000, 100, 0.2
    yield Cell("removes and replaces", AlphaCorruption(n, d, alpha))
    yield Cell("mirrors", Mirrored(n, d, alpha))
    yield Cell("only removes", Subtractive(n, d, alpha))
    yield Cell("below 1.5 x the norm", BelowThreshold(n, d, alpha))
    methods = inlier.research.methods()
    for name in (OURS, "iterative-filtering", "cdg", "fdr-filter"):
        told = {"alpha": alpha, "sigma": 1.3}
        yield Cell(
            f"attack on {name}, 400 x 20", Attack(400, 20, alpha, methods[name].make(**told))
        )


def few_rows() -> Iterator[Cell]:
    """As in federated learning: few rows, many columns."""
    for n, d in ((20, 1000), (50, 10000)):
        yield Cell(f"A {n} x {d}, 0.2", SettingA(n, d, 0.2))
        yield Cell(f"cluster at 10 sigma, {n} x {d}, 0.2", Cluster(n, d, 0.2, 10.0))
        yield Cell(f"clean, {n} x {d}", Clean(n, d))


def told_wrong() -> Iterator[Cell]:
    """Setting A, 2000 x 100, alpha 0.2: about half, and about twice, of the truth."""
    model = SettingA(2000, 100, 0.2)
    for alpha, sigma in ((0.1, 0.6), (0.4, 2.4)):
        yield Cell(f"given alpha {alpha:g}, sigma {sigma:g}", model, dict(alpha=alpha, sigma=sigma))


def section_of_real_data(folder: Path | None) -> Callable[[], Iterator[Cell]]:
    """Rows in random order."""

    def cells() -> Iterator[Cell]:
        for name, model in real_data(folder):
            yield Cell(name, model, most_trials=1)

    return cells


def rows_of(cell: Cell, trials: int, jobs: int) -> dict[str, ComparisonRow]:
    """What each method reaches."""
    STORE.parent.mkdir(parents=True, exist_ok=True)
    found = inlier.research.compare(
        cell.data,
        trials=min(trials, cell.most_trials),
        n_jobs=jobs,
        timeout=20.0,
        store=STORE,
        **cell.told,
    )
    return found.by_method()


def table_of_errors(measured: Measured) -> list[str]:
    """A row for each method, a column for each cell; the best are bold."""
    lines = [
        "| method | given | " + " | ".join(measured) + " |",
        "|---|---|" + "---:|" * len(measured),
    ]
    best = {label: lowest(rows) for label, rows in measured.items()}
    for name, method in inlier.research.methods().items():
        cells = []
        for label, rows in measured.items():
            row = rows[name]
            if row.failures == row.trials:
                cells.append("late" if row.timeouts else "no answer")
                continue
            text = figure(row.error)
            if row.failures:
                text += f" ({row.trials - row.failures} of {row.trials})"
            cells.append(f"**{text}**" if as_good(row, best[label]) else text)
        lines.append(f"| {name} | {', '.join(method.needs) or '-'} | {' | '.join(cells)} |")
    return lines


def lowest(rows: dict[str, ComparisonRow]) -> float:
    """The smallest mean error of a method that always had an answer."""
    return min(row.error for row in rows.values() if not row.failures)


def as_good(row: ComparisonRow, best: float) -> bool:
    """Whether it is the best but for chance."""
    return not row.failures and row.error <= max(EQUAL * best, ROUNDING)


def table_of_cost(measured: Measured) -> list[str]:
    """Seconds in units of ours, and passes."""
    lines = [
        "| method | " + " | ".join(f"{label}: times ours | passes" for label in measured) + " |",
        "|---|" + "---:|" * 2 * len(measured),
    ]
    for name in inlier.research.methods():
        cells = []
        for rows in measured.values():
            row, ours = rows[name], rows[OURS]
            answered = row.failures < row.trials
            cells.append(f"{row.seconds / ours.seconds:.2g}" if answered else "-")
            cells.append(f"{row.passes:g}" if answered else "-")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def table_of_winners(measured: Measured) -> list[str]:
    """For each cell who is best, and where we stand."""
    needs = {name: method.needs for name, method in inlier.research.methods().items()}
    lines = [
        "| data | best error | reached by | best without parameters | inlier | verdict |",
        "|---|---:|---|---|---:|---|",
    ]
    for label, rows in measured.items():
        best = lowest(rows)
        winners = [name for name, row in rows.items() if as_good(row, best)]
        untold = {name: row for name, row in rows.items() if not needs[name]}
        least = lowest(untold)
        best_untold = [name for name, row in untold.items() if as_good(row, least)]
        ours, plain = rows[OURS].error, rows["mean"].error
        if OURS in winners:
            verdict = "best"
        elif OURS in best_untold:
            verdict = "best of those told nothing"
        else:
            verdict = "loses"
        if plain > ROUNDING and ours > 0.98 * plain:
            verdict += ", no better than the mean"
        lines.append(
            f"| {label} | {figure(best)} | {listed(winners)} | {listed(best_untold)} "
            f"({figure(least)}) | {figure(ours)} | {verdict} |"
        )
    return lines


def listed(names: list[str], most: int = 4) -> str:
    """Some of them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(sorted(names, key=lambda name: name != OURS)[:most]) + more


def draw(measured: Measured, path: Path) -> None:
    """Errors of all methods on all cells, in units of the plain mean's."""
    from matplotlib import rc_context
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    from inlier._internal.atomic import replacing

    names = list(inlier.research.methods())
    # A share of the mean's error says the same on data of every scale; clean data have none.
    labels = [label for label, rows in measured.items() if rows["mean"].error > ROUNDING]
    shares = np.array(
        [
            [measured[label][n].error / measured[label]["mean"].error for label in labels]
            for n in names
        ]
    )
    order = np.argsort(np.nanmedian(np.maximum(shares, 1e-3), axis=1), kind="stable")
    chart = Figure(
        figsize=(2.6 + 0.36 * len(labels), 2.6 + 0.26 * len(names)), layout="constrained"
    )
    axes = chart.subplots()
    image = axes.imshow(
        np.maximum(shares[order], 1e-3), cmap="cividis_r", norm=LogNorm(1e-3, 2.0), aspect="auto"
    )
    axes.set_xticks(range(len(labels)), labels, rotation=55, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), [names[i] for i in order])
    axes.tick_params(length=0, labelsize=8)
    axes.spines[:].set_visible(False)
    axes.get_yticklabels()[int(np.argwhere(order == names.index(OURS))[0, 0])].set_weight("bold")
    bar = chart.colorbar(image, ax=axes, shrink=0.6, ticks=[1e-3, 1e-2, 0.1, 1.0])
    bar.ax.set_yticklabels(["0.001 or less", "0.01", "0.1", "1"], fontsize=8)
    bar.set_label("error, in units of the plain mean's; white: no answer", fontsize=8)
    # The same file from the same figures.
    with replacing(path) as unfinished, rc_context({"svg.hashsalt": path.name}):
        chart.savefig(unfinished, format=path.suffix[1:], metadata={"Date": None})


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, help="folder of .npz files with X and y")
    parser.add_argument("--only", help="one section")
    parser.add_argument("--write", action="store_true", help="also write docs/results/rivals.*")
    arguments = parser.parse_args()
    sections: dict[str, Callable[[], Iterator[Cell]]] = {
        "The settings of the paper": paper,
        "Harder data": harder,
        "Adversaries": adversaries,
        "Few rows, many columns": few_rows,
        "Real data": section_of_real_data(arguments.data),
        "Told wrong": told_wrong,
    }
    if arguments.only:
        sections = {name: cells for name, cells in sections.items() if arguments.only in name}
    texts, everything = [], {}
    for name, cells in sections.items():
        measured = {cell.label: rows_of(cell, arguments.trials, arguments.jobs) for cell in cells()}
        about = (cells.__doc__ or "").strip()
        texts.append(f"## {name}\n\n{about}\n\n" + "\n".join(table_of_errors(measured)))
        if name != "Told wrong":
            everything |= measured
    winners = "\n".join(table_of_winners(everything))
    text = f"## Who wins where\n\n{winners}\n\n" + "\n\n".join(texts)
    timed = {label: rows for label, rows in everything.items() if label in TIMED}
    if timed:
        text += "\n\n## Cost\n\nSeconds of a fit as a multiple of those of `inlier`.\n\n"
        text += "\n".join(table_of_cost(timed))
    print(text)
    if arguments.write:
        note = (
            f"{__doc__.split(chr(10) * 2)[1]}\n\nMean over {arguments.trials} draws (seeds from 0; "
            "2 at 4000 x 2000, 1 for real rows). Bold: the best, and what is within 5% of it. "
            '"late": more than 20 seconds; "no answer": the method refuses such data. numpy '
            f"{np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}.\n\n"
            f"    make bench-rivals\n"
        )
        write_page(RESULTS / "rivals.md", "Who wins where", note, text)
        draw(everything, RESULTS / "rivals.svg")


if __name__ == "__main__":
    main()
