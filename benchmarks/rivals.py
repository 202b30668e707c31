"""Every method of the registry on every kind of data: who wins where, and at what cost.

Errors are distances to the mean of the good rows. Methods that need alpha or sigma are given the
true ones of each draw, but for the last section, where they are given wrong ones. All methods of a
draw run in the same process, on one thread.

Finished fits are kept in out/rivals: a run that was interrupted goes on where it stopped.
Delete it after a change of the code.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd
from common import bold, figure

from inlier.research import compare, methods
from inlier.research import datasets as data

OURS = "inlier"
# Answers this much worse than the best count as equally good: draws vary by more.
EQUAL = 1.05
# Where seconds and passes are listed.
TIMED = ("A 2000 x 100, 0.2", "A 800 x 400, 0.2", "B 4000 x 2000, 0.2")
STORE = Path("out") / "rivals"

# Of each cell, by its label: a line for each method.
Measured = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Cell:
    """A column of a table."""

    label: str
    data: Any
    told: dict[str, float] = field(default_factory=dict)
    most_trials: int = 100


def paper() -> Iterator[Cell]:
    """Setting, rows x columns, alpha."""
    for setting, n, d in (
        (data.SettingA, 800, 400),
        (data.SettingA, 2000, 100),
        (data.SettingA, 1000, 10),
        (data.SettingA, 1000, 20),
        (data.SettingB, 2000, 100),
    ):
        for alpha in (0.1, 0.2, 0.3):
            name = setting.__name__[-1]
            yield Cell(f"{name} {n} x {d}, {alpha:g}", setting(n, d, alpha))
    yield Cell("B 4000 x 2000, 0.2", data.SettingB(4000, 2000, 0.2), most_trials=2)


def harder() -> Iterator[Cell]:
    """2000 x 100 with a fifth of the rows bad, unless said otherwise."""
    size = n, d, alpha = 2000, 100, 0.2
    yield Cell("clean Gaussian", data.Clean(n, d))
    yield Cell("clean t5", data.Clean(n, d, data.StudentT(5)))
    yield Cell("two clusters", data.TwoClusters(*size))
    for distance in (2.0, 3.0, 5.0, 10.0):
        yield Cell(f"cluster at {distance:g} sigma", data.Cluster(*size, distance))
    yield Cell("Huber", data.Huber(*size))
    yield Cell("t3 inliers", data.HeavyTails(*size))
    yield Cell("joint t5 inliers", data.HeavyTails(*size, data.StudentT(5, joint=True)))
    yield Cell("Laplace inliers", data.HeavyTails(*size, data.Laplace()))
    yield Cell("spiked, 6 sigma in quiet directions", data.QuietDirections(*size))
    yield Cell("rotated, the same", data.QuietDirections(*size, data.Rotated()))
    yield Cell("obvious and subtle, 500 x 500", data.ObviousAndSubtle(500, 500, alpha))


def adversaries() -> Iterator[Cell]:
    """Those who saw the data, or the method; it was given alpha and sigma 1.3, if it needs them."""
    size = 2000, 100, 0.2
    yield Cell("removes and replaces", data.AlphaCorruption(*size))
    yield Cell("below 1.5 x the norm", data.BelowThreshold(*size))
    for name in (OURS, "iterative-filtering", "cdg", "fdr-filter"):
        victim = methods()[name].make(alpha=0.2, sigma=1.3)
        yield Cell(f"attack on {name}, 400 x 20", data.Attack(400, 20, 0.2, victim))


def few_rows() -> Iterator[Cell]:
    """As in federated learning: few rows, many columns."""
    for n, d in ((20, 1000), (50, 10000)):
        yield Cell(f"A {n} x {d}, 0.2", data.SettingA(n, d, 0.2))
        yield Cell(f"cluster at 10 sigma, {n} x {d}, 0.2", data.Cluster(n, d, 0.2, 10.0))
        yield Cell(f"clean, {n} x {d}", data.Clean(n, d))


def real_rows(folder: str | None) -> Iterator[Cell]:
    """Rows in random order."""
    samples = list(common.folder_data(folder)) if folder else []
    models = [data.faces(), *(data.digits(*pair) for pair in ((0, 1), (3, 7), (6, 4), (8, 1)))]
    samples += [(model.name, model.sample(0)) for model in models]
    for name, sample in samples:
        yield Cell(name, sample, most_trials=1)


def told_wrong() -> Iterator[Cell]:
    """Setting A, 2000 x 100, alpha 0.2: about half, and about twice, of the truth."""
    model = data.SettingA(2000, 100, 0.2)
    for alpha, sigma in ((0.1, 0.6), (0.4, 2.4)):
        yield Cell(f"given alpha {alpha:g}, sigma {sigma:g}", model, dict(alpha=alpha, sigma=sigma))


def rows_of(cell: Cell, trials: int, jobs: int) -> pd.DataFrame:
    """What each method reaches."""
    trials = min(trials, cell.most_trials)
    found = compare(cell.data, trials=trials, n_jobs=jobs, timeout=20.0, store=STORE, **cell.told)
    return found.summary()


def lowest(rows: pd.DataFrame) -> float:
    """The smallest mean error of a method that always had an answer."""
    return rows.error[rows.failures == 0].min()


def winners(rows: pd.DataFrame) -> list[str]:
    """The best but for chance, ours first."""
    limit = max(EQUAL * lowest(rows), common.ROUNDING)
    best = rows[(rows.failures == 0) & (rows.error <= limit)]
    return sorted(best.index, key=lambda name: name != OURS)


def error_of(row: pd.Series, is_best: bool) -> str:
    """One cell of the table of errors."""
    if row.failures == row.trials:
        return "late" if row.timeouts else "no answer"
    some = f" ({row.trials - row.failures:g} of {row.trials:g})" if row.failures else ""
    return bold(figure(row.error) + some, is_best)


def table_of_errors(measured: Measured) -> str:
    """A row for each method, a column for each cell; the best are bold."""
    best = {label: winners(rows) for label, rows in measured.items()}
    lines = (
        {"method": name, "given": ", ".join(method.needs) or "-"}
        | {label: error_of(rows.loc[name], name in best[label]) for label, rows in measured.items()}
        for name, method in methods().items()
    )
    return common.markdown(lines, text=["given"])


def table_of_cost(measured: Measured) -> str:
    """Seconds in units of ours, and passes."""
    cost = {}
    for label, rows in measured.items():
        cost[f"{label}: times ours"] = (rows.seconds / rows.seconds[OURS]).map(figure)
        cost[f"{label}: passes"] = rows.passes.map(figure)
    table = pd.DataFrame(cost).loc[list(methods())].rename_axis("method")
    return common.markdown(table.reset_index().to_dict("records"))


def table_of_winners(measured: Measured) -> str:
    """For each cell who is best, and where we stand."""
    needing_nothing = [name for name, method in methods().items() if not method.needs]
    lines = []
    for label, rows in measured.items():
        untold = rows[rows.index.isin(needing_nothing)]
        best, best_untold = winners(rows), winners(untold)
        ours, plain = rows.error[OURS], rows.error["mean"]
        verdict = "best of those given nothing" if OURS in best_untold else "loses"
        verdict = "best" if OURS in best else verdict
        if plain > common.ROUNDING and ours > 0.98 * plain:
            verdict += ", no better than the mean"
        line = {
            "data": label,
            "best error": figure(lowest(rows)),
            "reached by": listed(best),
            "best without parameters": f"{listed(best_untold)} ({figure(lowest(untold))})",
            "inlier": figure(ours),
            "verdict": verdict,
        }
        lines.append(line)
    return common.markdown(lines, text=["reached by", "best without parameters", "verdict"])


def listed(names: list[str], most: int = 4) -> str:
    """Some of them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def draw(measured: Measured, path: Path) -> None:
    """Errors of all methods on all cells, in units of the plain mean's."""
    from matplotlib.colors import LogNorm

    names = list(methods())
    # A share of the mean's error says the same on data of every scale; clean data have none.
    plain = {label: rows.error["mean"] for label, rows in measured.items()}
    labels = [label for label in measured if plain[label] > common.ROUNDING]
    shares = np.array([[measured[x].error[name] / plain[x] for x in labels] for name in names])
    shares = np.maximum(shares, 1e-3)
    order = np.argsort(np.nanmedian(shares, axis=1), kind="stable")
    size = (2.6 + 0.36 * len(labels), 2.6 + 0.26 * len(names))
    with common.styled(*size) as chart:
        axes = chart.subplots()
    image = axes.imshow(shares[order], cmap="cividis_r", norm=LogNorm(1e-3, 2.0), aspect="auto")
    axes.set_xticks(range(len(labels)), labels, rotation=55, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), [names[i] for i in order])
    axes.tick_params(length=0, labelsize=8)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.get_yticklabels()[list(order).index(names.index(OURS))].set_weight("bold")
    bar = chart.colorbar(image, ax=axes, shrink=0.6, ticks=[1e-3, 1e-2, 0.1, 1.0])
    bar.ax.set_yticklabels(["0.001 or less", "0.01", "0.1", "1"], fontsize=8)
    bar.set_label("error, in units of the plain mean's; white: no answer", fontsize=8)
    common.save(chart, path)


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "rivals.md",
        given,
        trials=(5, "of each kind"),
        jobs=(2, "processes"),
        data=(None, "folder of .npz files with X and y"),
        only=("", "one section"),
    )
    kinds: dict[str, Callable[[], Iterator[Cell]]] = {
        "The settings of the paper": paper,
        "Harder data": harder,
        "Adversaries": adversaries,
        "Few rows, many columns": few_rows,
        "Real data": partial(real_rows, arguments.data),
        "Told wrong": told_wrong,
    }
    sections, everything = {"Who wins where": ""}, {}
    for name, cells in kinds.items():
        if arguments.only in name:
            measured = {x.label: rows_of(x, arguments.trials, arguments.jobs) for x in cells()}
            text = getattr(cells, "func", cells).__doc__
            sections[name] = f"{text}\n\n{table_of_errors(measured)}"
            everything |= measured if cells is not told_wrong else {}
    sections["Who wins where"] = table_of_winners(everything)
    if timed := {label: rows for label, rows in everything.items() if label in TIMED}:
        text = "Seconds of a fit as a multiple of those of `inlier`."
        sections["Cost"] = f"{text}\n\n{table_of_cost(timed)}"
    note = (
        f"{common.about(__doc__)}\n\nMean over {arguments.trials} draws (seeds from 0; 2 at 4000 x "
        "2000, 1 for real rows). Bold: the best, and what is within 5% of it. "
        '"late": more than 20 seconds; "no answer": the method refuses such data. '
        f"{common.versions('scikit-learn')}."
    )
    common.publish(arguments, "Who wins where", note, "make bench-rivals", sections)
    if arguments.write:
        draw(everything, arguments.page.with_suffix(".svg"))


if __name__ == "__main__":
    main()
