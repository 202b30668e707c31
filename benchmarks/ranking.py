"""Real tables with known bad rows: how well does the outlyingness of rows rank them?

Each .npz file of a folder holds `X` (rows) and `y` (1 for a bad row). Rows are ranked by
`robust_mean(X).outlyingness`, by the detectors of PyOD with their defaults (seed 0 where there is
one), and by the plain robust z-distance: the norm of a row in the columns' median absolute
deviations from their medians. KNN, LOF and OCSVM hang on the units of the columns; they are given
the table as it is, and in robust units too. A ranking is judged by its ROC-AUC and by its average
precision, each averaged over all sets. Halves: every second name in alphabetical order, a table and
its version in robust units (`_z`) together.

The data stay where they are: only names and figures are printed, or written with `--write`.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
import sklearn
from judging import OUT, markdown, of_others, robust_units, save_records
from pages import RESULTS, ROUNDING, print_progress, write_page
from real_data import folder_data
from sklearn.metrics import average_precision_score, roc_auc_score

import inlier
from inlier.data import as_table
from inlier.linalg import whitening
from inlier.results.outlyingness import RobustDistance

WRITTEN = RESULTS / "ranking.md"
# What others say of a set is kept: it does not change with this project.
KEPT = OUT / "ranking.csv"
DATA = Path("..") / "shared" / "data" / "real"
OURS = "inlier"
Ranking = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Ranked:
    """How well a method ranks the rows of a set; NaN if it failed."""

    name: str
    method: str
    auc: float
    precision: float
    seconds: float


def fitted(X: np.ndarray) -> inlier.RobustMeanResult:
    """`inlier.robust_mean(X)`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        return inlier.robust_mean(X)


def in_robust_units(X: np.ndarray) -> np.ndarray:
    """Medians are 0, and median absolute deviations those of a standard Gaussian."""
    median, unit = robust_units(X)
    return (X - median) / np.where(unit > 0.0, unit, 1.0)


def robust_z(X: np.ndarray) -> np.ndarray:
    """The norm of each row in robust units."""
    return np.linalg.norm(in_robust_units(X), axis=1)


def of_pyod(name: str, robust: bool = False, **options: Any) -> Ranking:
    """A detector of PyOD."""

    def ranking(X: np.ndarray) -> np.ndarray:
        detector = getattr(of_others(f"pyod.models.{name.lower()}"), name)(**options)
        return detector.fit(in_robust_units(X) if robust else X).decision_scores_

    return ranking


RIVALS: dict[str, Ranking] = {
    "robust z": robust_z,
    "IForest": of_pyod("IForest", random_state=0),
    "COPOD": of_pyod("COPOD"),
    "HBOS": of_pyod("HBOS"),
    "KNN": of_pyod("KNN"),
    "KNN, robust units": of_pyod("KNN", robust=True),
    "ECOD": of_pyod("ECOD"),
    "LOF": of_pyod("LOF"),
    "LOF, robust units": of_pyod("LOF", robust=True),
    "MCD": of_pyod("MCD", random_state=0),
    "PCA": of_pyod("PCA"),
    "OCSVM": of_pyod("OCSVM"),
    "OCSVM, robust units": of_pyod("OCSVM", robust=True),
}


def judged(name: str, method: str, ranking: Ranking, X: np.ndarray, is_bad: np.ndarray) -> Ranked:
    """One method on one set."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = np.asarray(ranking(X))
    except ImportError:
        raise
    except Exception as error:  # of a method of others
        print(f"{method} on {name}: {error!r}")
        return Ranked(name, method, np.nan, np.nan, np.nan)
    seconds = time.perf_counter() - start
    return Ranked(name, method, *figures(scores, is_bad), seconds)


def figures(scores: np.ndarray, is_bad: np.ndarray) -> tuple[float, float]:
    """ROC-AUC and average precision; what is no number ranks lowest."""
    scores = np.nan_to_num(scores, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    ranks = np.unique(scores, return_inverse=True)[1]
    return float(roc_auc_score(is_bad, ranks)), float(average_precision_score(is_bad, ranks))


def kept_before() -> dict[tuple[str, str], Ranked]:
    """What others said of sets in earlier runs."""
    if not KEPT.exists():
        return {}
    with KEPT.open(newline="", encoding="utf-8") as file:
        lines = [
            Ranked(x["name"], x["method"], *(float(x[k]) for k in ("auc", "precision", "seconds")))
            for x in csv.DictReader(file)
        ]
    return {(line.name, line.method): line for line in lines}


@contextmanager
def changed(**values: float) -> Iterator[None]:
    """Other constants of the metric."""
    before = {name: getattr(whitening, name) for name in values}
    for name, value in values.items():
        setattr(whitening, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(whitening, name, value)


def choices(X: np.ndarray) -> dict[str, np.ndarray]:
    """Rankings with one choice made otherwise."""
    result, table = fitted(X), as_table(X)

    def ranked(**values: float) -> np.ndarray:
        with changed(**values):
            distance = RobustDistance.of(table, result.support, result.rule)
            return distance.outlyingness(table, ~result.support)

    found = {
        "as it is": ranked(),
        "removed rows not above the others": result.robust_distance.distances(table),
        "the scores of the rule": np.asarray(result.scores),
    }
    for added in (1e-4, 1e-2, 3e-2):
        found[f"variances + {added:g} of their mean"] = ranked(ADDED_VARIANCE=added)
    for share in (0.5, 0.9, 1.0):
        found[f"final metric of {share:.0%} of the rows"] = ranked(FINAL_SHARE=share)
    return found


def halves(names: Iterable[str]) -> tuple[set[str], set[str]]:
    """Every second name; the versions of one table stay together."""
    tables = sorted({name.removesuffix("_z") for name in names})
    first = set(tables[::2])
    one = {name for name in names if name.removesuffix("_z") in first}
    return one, set(names) - one


def mean(values: Iterable[float]) -> float:
    """Of what is a number."""
    found = [value for value in values if value == value]
    return float(np.mean(found)) if found else float("nan")


def summary(lines: Sequence[Ranked], timed: bool = True) -> str:
    """One line for each method, the best AUC first."""
    parts = [{x.name for x in lines}, *halves([x.name for x in lines])]
    methods = list(dict.fromkeys(x.method for x in lines))
    own = {method: [x for x in lines if x.method == method] for method in methods}
    methods.sort(key=lambda method: -mean(x.auc for x in own[method]))
    table = []
    for method in methods:
        cells: list[str] = [f"**{method}**" if method == OURS else method]
        for figure in ("auc", "precision"):
            cells += [
                f"{mean(getattr(x, figure) for x in own[method] if x.name in part):.3f}"
                for part in parts
            ]
        if timed:
            cells.append(f"{sum(x.seconds for x in own[method] if x.seconds == x.seconds):.0f}")
        table.append(cells)
    header = "ranking | mean AUC | first half | second half | mean AP | first half | second half"
    return markdown(header + (" | s" if timed else ""), table)


def comparison(lines: Sequence[Ranked], shapes: dict[str, tuple[int, int, int]]) -> str:
    """One line for each set: ours beside the best of the others."""
    table, behind = [], [0, 0]
    for name, (n, d, bad) in shapes.items():
        (ours,) = (x for x in lines if x.name == name and x.method == OURS)
        rivals = [x for x in lines if x.name == name and x.method != OURS and x.auc == x.auc]
        cells: list[object] = [name, f"{n} x {d}", bad]
        for i, figure in enumerate(("auc", "precision")):
            own = getattr(ours, figure)
            best = max(rivals, key=lambda x: getattr(x, figure), default=None)
            if best is None:
                cells += [f"{own:.3f}", "-"]
                continue
            other = getattr(best, figure)
            worse = other > own + ROUNDING
            behind[i] += worse
            shown = f"{own:.3f}" if worse else f"**{own:.3f}**"
            cells += [shown, f"{other:.3f} {best.method}"]
        table.append(cells)
    note = (
        f"On {behind[0]} of {len(shapes)} sets some other ranking has a higher AUC than ours, and "
        f"on {behind[1]} a higher average precision; bold where none has."
    )
    header = "set | n x d | bad | AUC | best other | AP | best other"
    return f"{note}\n\n{markdown(header, table)}"


def main(options: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of .npz files with X and y")
    parser.add_argument("--only", help="sets separated by commas")
    parser.add_argument("--methods", help="rivals separated by semicolons; all by default")
    parser.add_argument("--write", action="store_true", help=f"also write {WRITTEN.name}")
    arguments = parser.parse_args(options)
    chosen = arguments.only.split(",") if arguments.only else None
    methods = list(RIVALS)
    if arguments.methods is not None:
        methods = [name.strip() for name in arguments.methods.split(";")]
    if unknown := [name for name in methods if name not in RIVALS]:
        raise SystemExit(f"no method {unknown[0]!r}; there are: {'; '.join(RIVALS)}")
    known, lines, made, shapes = kept_before(), [], [], {}
    for name, model in folder_data(arguments.data):
        if chosen is not None and name not in chosen:
            continue
        sample = model.sample(0)
        X, is_bad = np.asarray(sample.X, np.float64), sample.is_outlier
        shapes[name] = (*X.shape, int(is_bad.sum()))
        print_progress(f"{name}: {OURS}")
        lines.append(judged(name, OURS, lambda X: fitted(X).outlyingness, X, is_bad))
        for method in methods:
            print_progress(f"{name}: {method}")
            line = known.get((name, method))
            if line is None:
                line = judged(name, method, RIVALS[method], X, is_bad)
                if line.auc == line.auc:
                    save_records(KEPT, [line], append=True)
            lines.append(line)
        print_progress(f"{name}: choices")
        made += [
            Ranked(name, choice, *figures(scores, is_bad), 0.0)
            for choice, scores in choices(X).items()
        ]
    print_progress("")
    if not lines:
        raise SystemExit(f"no .npz files to judge by in {arguments.data}; name a folder: --data")
    text = "\n\n".join(
        [
            f"## Mean over {len(shapes)} sets\n\n{summary(lines)}",
            f"## What it hangs on\n\n{summary(made, timed=False)}",
            f"## Sets\n\n{comparison(lines, shapes)}",
        ]
    )
    print(text)
    if arguments.write:
        note = (
            f"{__doc__.split(chr(10) * 2)[1]} Nothing is subsampled. The data are not part of this "
            f"project. numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn "
            f"{sklearn.__version__}{pyod_version()}; one thread.\n\n"
            "    make bench-ranking DATA=folder\n"
        )
        write_page(WRITTEN, "Rankings of rows", note, text)


def pyod_version() -> str:
    """In words; nothing where PyOD is not installed."""
    try:
        return f", PyOD {of_others('pyod').__version__}"
    except ImportError:
        return ""


if __name__ == "__main__":
    main()
