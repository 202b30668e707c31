"""Attacked tables: how far do bad rows move the answer that is given with nothing told?

A module outside of this project draws the tables: families of attack on several kinds of good rows.
The error is the distance to the mean of the good rows, each column in units of its standard
deviation, over sigma sqrt(alpha): sigma is the largest standard deviation of the good rows in any
direction, alpha the fraction of bad rows, and their product the order that theory allows. An answer
is worse than the mean if its error is above 1.05 times that of the plain mean by more than a tenth
of the standard error.

Where the error is not bounded: a column is measured in a unit that is read from its values, and
where many are equal from the nearest third of the others. If bad rows are about two thirds of these
others or more, the unit is theirs, and any of them may stay. In a column of which more than 65% are
equal, such as a rare flag, all others may be bad. The median of a column is bounded there too.

The module is a file with `GOOD`, `ATTACKS` (their names) and `problems(arguments)`, which yields
(good, attack, n, d, alpha, X, good rows, standard deviations).
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from runpy import run_path
from typing import Any

import common
import numpy as np
import pandas as pd
from common import figure, percent
from scipy.stats import mode

import inlier
from inlier.research.baselines import CoordinateMedian, GeometricMedian, SampleMean

OURS = "robust_mean(X)"
# Errors above this many sigma sqrt(alpha) are counted.
FAR = 3.0
# More equal values than this in a column: all others may be bad.
TIED = 0.65


def module_at(path: Path) -> dict[str, Any]:
    """The names of the module that draws the tables."""
    if not path.is_file():
        raise SystemExit(f"no module with attacks at {path}; name one: --bench")
    names = run_path(str(path), run_name="attacks_of_others")
    if missing := {"GOOD", "ATTACKS", "problems"} - names.keys():
        raise SystemExit(f"{path} has no {', '.join(sorted(missing))}.")
    return names


def geometric_median(X: np.ndarray) -> np.ndarray:
    """In robust units of the columns: in their own ones a wide column alone would decide."""
    center, unit = common.robust_units(X)
    return center + unit * GeometricMedian().fit((X - center) / unit).location_


METHODS = {
    OURS: lambda X: inlier.robust_mean(X).location,
    "mean": lambda X: SampleMean().fit(X).location_,
    "column median": lambda X: CoordinateMedian().fit(X).location_,
    "geometric median": geometric_median,
}


def measure(module: dict[str, Any], seed: int) -> pd.DataFrame:
    """One line for each table and method."""
    kinds = [(good, attack) for good in module["GOOD"] for attack in module["ATTACKS"]]
    wanted = Namespace(quick=True, seed=seed, good=None, attack=None)
    lines = []
    for good, attack, n, d, alpha, X, rows, unit in module["problems"](wanted):
        done = f"{kinds.index((good, attack)) + 1} of {len(kinds)}"
        common.print_progress(f"{done}: {good}, {attack}, {n} x {d}, alpha = {alpha}")
        truth = rows.mean(axis=0)
        sigma = np.linalg.norm((rows - truth) / unit, 2) / np.sqrt(len(rows))
        errors = {name: np.linalg.norm((of(X) - truth) / unit) for name, of in METHODS.items()}
        harm = common.HARM * errors["mean"] + 0.1 * np.sqrt(d / len(rows))
        equal = mode(X, axis=0).count.max() / n
        table = {"good": good, "attack": attack, "n": n, "d": d, "alpha": alpha, "equal": equal}
        for name, error in errors.items():
            judged = {"error": error / (sigma * np.sqrt(alpha)), "worse": error > harm}
            lines.append({**table, "method": name, **judged})
    return pd.DataFrame(lines)


def line_of(first: str, name: str, lines: pd.DataFrame) -> dict[str, object]:
    """Errors of one method on some tables."""
    return {
        first: name,
        "tables": len(lines),
        "median": figure(lines.error.median()),
        "95%": figure(lines.error.quantile(0.95)),
        "largest": figure(lines.error.max()),
        f"above {FAR:g}": percent((lines.error > FAR).mean()),
        "worse than the mean": percent(lines.worse.mean()),
    }


def parts_of(ours: pd.DataFrame) -> str:
    """By fraction, by size, and by whether there is a column of nearly one value."""
    parts = {f"alpha = {alpha:g}": part for alpha, part in ours.groupby("alpha")}
    parts |= {f"{n} x {d}": part for (n, d), part in ours.groupby(["n", "d"])}
    tied = ours.equal > TIED
    parts |= {f"a column of which more than {TIED:.0%} are equal": ours[tied]}
    parts |= {"no such column": ours[~tied]}
    return common.markdown(line_of("tables with", *part) for part in parts.items() if len(part[1]))


def crossed(ours: pd.DataFrame) -> str:
    """By attack and by kind of good rows: the share above, and the largest error."""
    lines: dict[str, dict[str, object]] = {}
    # Each table counts in four cells: its own, those of all kinds and of all attacks, and the last.
    both = pd.concat([ours, ours.assign(good="all")])
    both = pd.concat([both, both.assign(attack="all")])
    for (attack, good), part in both.groupby(["attack", "good"], sort=False):
        share = (part.error > FAR).mean()
        text = common.bold(f"{percent(share)}, {figure(part.error.max())}", share > 0)
        lines.setdefault(attack, {"attack": attack})[good] = text
    return common.markdown(lines.values())


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    bench = (Path("..") / "shared" / "attacks" / "bench.py", "module that draws the tables")
    seed = (0, "of the tables")
    arguments = common.options(__doc__, "attacks.md", given, bench=bench, seed=seed)
    found = measure(module_at(arguments.bench), arguments.seed)
    common.save_records("attacks", found)
    methods = [line_of("method", name, found[found.method == name]) for name in METHODS]
    ours = found[found.method == OURS]
    note = (
        f"{common.about(__doc__)}\n\nThe quick tables of seed {arguments.seed}. No method is told "
        "anything; the geometric median has the columns in units of their median absolute "
        "deviation, or of their standard deviation where that is 0. The module is not part of "
        f"this project. {common.versions()}; one thread."
    )
    sections = {
        "Methods": common.markdown(methods),
        f"Parts, {OURS}": f"{parts_of(ours)}\n\n{common.about(__doc__, slice(2, 3))}",
        f"Attacks and good rows, {OURS}": f"Share of tables with an error above {FAR:g}, and the "
        f"largest error; bold: any above {FAR:g}.\n\n{crossed(ours)}",
    }
    command = "make bench-attacks BENCH=path/to/bench.py"
    common.publish(arguments, "Attacked tables", note, command, sections)


if __name__ == "__main__":
    main()
