"""First do no harm: how often clean tables lose a row, small spoiled tables, and the cost.

Clean tables that are skewed, heavy-tailed, of counts, of codes, or of several classes have nothing
to remove: each draw in which a row leaves is a false alarm. Small tables with one to five gross
errors are drawn beside them: a rule that never removes a row would be of no use.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
from judging import (
    OUT,
    Rule,
    add_options,
    can_assume,
    chosen_rule,
    markdown,
    percent,
    robust_mean,
    save_records,
)
from pages import RESULTS, print_progress, write_page
from tables import tukey_3

import inlier
from inlier.datasets import SettingA

WRITTEN = RESULTS / "clean.md"
RECORD = OUT / "clean.csv"
SIZES = (20, 50, 200, 2000)
COLUMNS = (1, 3, 10, 40)
# Where seconds are measured.
TIMED = ((2000, 100), (100_000, 50), (400, 3000))
# From this many rows on, a tenth of the draws.
MANY = 2000
# False alarms in more than this share of the draws are bold.
ALLOWED = 0.02

Rows = Callable[[np.random.Generator, int, int], np.ndarray]


# Clean tables -------------------------------------------------------------------------------------


def joint_t3(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Multivariate: a row is far in all columns at once."""
    return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)


def binary(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Columns of 0 and 1, each with its own frequency between 5% and 95%."""
    return (rng.random((n, d)) < rng.uniform(0.05, 0.95, d)).astype(float)


def one_hot(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """One column of d codes, written as d columns; code k is 1 / k times as frequent."""
    weights = 1 / np.arange(1, d + 1)
    return np.eye(d)[rng.choice(d, n, p=weights / weights.sum())]


def mixture(classes: int, rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Gaussian classes, the largest at most three times as frequent as the smallest.

    Centers are 3 to 8 standard deviations apart, as a root mean square.
    """
    weights = rng.uniform(1, 3, classes)
    apart = rng.uniform(3, 8)
    centers = apart / np.sqrt(2 * d) * rng.standard_normal((classes, d))
    which = rng.choice(classes, n, p=weights / weights.sum())
    return centers[which] + rng.standard_normal((n, d))


CLEAN: dict[str, Rows] = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "t3": lambda rng, n, d: rng.standard_t(3, (n, d)),
    "multivariate t3": joint_t3,
    "Poisson(1)": lambda rng, n, d: rng.poisson(1, (n, d)).astype(float),
    "binary": binary,
    "one-hot": one_hot,
    **{f"{k} classes": partial(mixture, k) for k in (2, 3, 4, 5)},
}


@dataclass(frozen=True)
class Cell:
    """Draws of one kind and size. `suspected` is -1 for a rule that does not suspect."""

    kind: str
    n: int
    d: int
    draws: int
    lost_any: int  # draws that lost a row
    fences_lost_any: int  # draws that lost a row to Tukey's fences
    rows_lost: float  # share of all rows
    suspected: int  # draws that show a suspect
    seconds: float  # of a fit, on average


def measure(rule: Rule, kind: str, n: int, d: int, draws: int) -> Cell:
    """Fit each draw; seeds depend on the kind, the size and the number of the draw only."""
    lost, suspected, fences_lost = [], [], 0
    start = time.perf_counter()
    for seed in range(draws):
        rng = np.random.default_rng([list(CLEAN).index(kind), n, d, seed])
        X = CLEAN[kind](rng, n, d)
        answer, fenced = rule(X), tukey_3(X)
        assert answer.kept is not None and fenced.kept is not None
        fences_lost += not fenced.kept.all()
        lost.append(int((~answer.kept).sum()))
        suspected.append(-1 if answer.suspects is None else bool(answer.suspects))
    return Cell(
        kind,
        n,
        d,
        draws,
        lost_any=sum(count > 0 for count in lost),
        fences_lost_any=fences_lost,
        rows_lost=sum(lost) / (n * draws),
        suspected=sum(suspected) if min(suspected) >= 0 else -1,
        seconds=(time.perf_counter() - start) / draws,
    )


def all_cells(rule: Rule, kinds: Iterable[str], most_rows: int, draws: int) -> Iterator[Cell]:
    """Every kind, every size."""
    for kind in kinds:
        for n in SIZES:
            for d in COLUMNS:
                # One code alone is a constant.
                if n <= most_rows and not (kind == "one-hot" and d == 1):
                    print_progress(f"{kind}, {n} x {d}")
                    yield measure(rule, kind, n, d, draws if n < MANY else max(1, draws // 10))


def share(cells: list[Cell]) -> str:
    """Of all draws of these cells, those that lose a row; bold if too many."""
    if not cells:
        return "-"
    lost = sum(cell.lost_any for cell in cells) / sum(cell.draws for cell in cells)
    return f"**{percent(lost)}**" if lost > ALLOWED else percent(lost)


def table_of_kinds(cells: list[Cell]) -> str:
    """One line for each kind: all sizes together, then by rows, then by columns."""
    lines = []
    kinds = list(dict.fromkeys(cell.kind for cell in cells))
    for kind in (*kinds, "all"):
        own = [cell for cell in cells if kind in (cell.kind, "all")]
        draws = sum(cell.draws for cell in own)
        suspects = [cell.suspected for cell in own]
        worst = max(own, key=lambda cell: cell.lost_any / cell.draws)
        lines.append(
            (
                kind,
                draws,
                share(own),
                *(share([cell for cell in own if cell.n == n]) for n in SIZES),
                *(share([cell for cell in own if cell.d == d]) for d in COLUMNS),
                f"{percent(worst.lost_any / worst.draws)} at {worst.n} x {worst.d}"
                if worst.lost_any
                else "-",
                percent(max(cell.rows_lost for cell in own)),
                percent(sum(suspects) / draws) if min(suspects) >= 0 else "-",
                percent(sum(cell.fences_lost_any for cell in own) / draws),
            )
        )
    header = ["clean rows", "draws", "lose a row", *(f"n = {n}" for n in SIZES)]
    header += [*(f"d = {d}" for d in COLUMNS), "worst size", "most rows lost", "show a suspect"]
    header += ["lose a row to Tukey's fences"]
    return markdown(" | ".join(header), lines)


# Small tables with gross errors -------------------------------------------------------------------

Spoiled = tuple[np.ndarray, list[int]]


def measurements(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Positive figures in different units, ten standard deviations from zero."""
    return (10 + rng.standard_normal((n, d))) * 10.0 ** np.arange(d)


def one_row_off(rng: np.random.Generator) -> Spoiled:
    """20 x 3, one row + 100 standard deviations."""
    X = rng.standard_normal((20, 3))
    X[4] += 100
    return X, [4]


def two_cells_times_ten(rng: np.random.Generator) -> Spoiled:
    """20 x 3, one column of 2 rows times 10."""
    X = measurements(rng, 20, 3)
    X[[4, 11], rng.integers(3)] *= 10
    return X, [4, 11]


def one_unit_error(rng: np.random.Generator) -> Spoiled:
    """50 x 4, one cell times 1000."""
    X = measurements(rng, 50, 4)
    X[4, rng.integers(4)] *= 1000
    return X, [4]


def three_rows_off(rng: np.random.Generator) -> Spoiled:
    """40 x 2, three rows + 30 standard deviations."""
    X = rng.standard_normal((40, 2))
    X[[4, 11, 30]] += 30
    return X, [4, 11, 30]


def iris_with_typos(rng: np.random.Generator) -> Spoiled:
    """Iris, 150 x 4, the decimal point moved in five cells.

    Each ends beyond twice the largest value of its column.
    """
    from sklearn.datasets import load_iris

    X = load_iris().data.copy()
    most = 2 * X.max(axis=0)
    rows = rng.choice(len(X), 5, replace=False)
    for i, j in zip(rows, rng.integers(4, size=5), strict=True):
        X[i, j] *= 10 if 10 * X[i, j] > most[j] else 100
    return X, sorted(rows.tolist())


SMALL = (one_row_off, two_cells_times_ten, one_unit_error, three_rows_off, iris_with_typos)


def table_of_small(rule: Rule, draws: int) -> str:
    """Whether all errors are found, and nothing else."""
    lines = []
    for spoil in SMALL:
        name = str(spoil.__doc__).split("\n")[0].rstrip(".")
        print_progress(name)
        found, some, exact, good = 0, 0.0, 0, 0.0
        for seed in range(draws):
            X, bad = spoil(np.random.default_rng(seed))
            kept = rule(X).kept
            assert kept is not None
            removed = np.flatnonzero(~kept).tolist()
            found += set(bad) <= set(removed)
            some += len(set(bad) & set(removed)) / len(bad)
            exact += removed == bad
            good += len(set(removed) - set(bad)) / (len(X) - len(bad))
        lines.append((name, *(percent(count / draws) for count in (found, some, exact, good))))
    return markdown(
        "table | all found | of the errors found | exactly these | good rows removed", lines
    )


# Cost ---------------------------------------------------------------------------------------------


def seconds_of(rule: Rule, X: np.ndarray, repeats: int) -> float:
    """Processor time, the best of several."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        rule(X)
        taken.append(time.process_time() - start)
    return min(taken)


def table_of_cost(rule: Rule, repeats: int = 3) -> str:
    """Against the rule that assumes symmetric rows, in the same run, if it can be asked for."""
    symmetric = partial(robust_mean, assume="symmetric") if can_assume() else None
    lines = []
    for n, d in TIMED:
        for name, X in (
            ("Setting A, alpha 0.1", SettingA(n, d, 0.1).sample(0).X),
            ("clean lognormal", np.random.default_rng(0).lognormal(size=(n, d))),
        ):
            print_progress(f"cost, {n} x {d}, {name}")
            ours = seconds_of(rule, X, repeats)
            line = [f"{name}, {n:,} x {d:,}", f"{ours:.3f}"]
            if symmetric:
                theirs = seconds_of(symmetric, X, repeats)
                line += [f"{theirs:.3f}", f"{ours / max(theirs, 1e-9):.2f}"]
            lines.append(line)
    header = "data | nothing given, s"
    return markdown(header + (' | assume="symmetric", s | times' if symmetric else ""), lines)


# The page -----------------------------------------------------------------------------------------


def main(options: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--draws", type=int, default=200, help=f"a tenth for {MANY} rows")
    parser.add_argument("--only", help="kinds separated by commas; also: small, cost")
    parser.add_argument("--most-rows", type=int, default=max(SIZES), help="leave out larger tables")
    add_options(parser, WRITTEN)
    arguments = parser.parse_args(options)
    rule = chosen_rule(arguments)
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    chosen = arguments.only.split(",") if arguments.only else [*CLEAN, "small", "cost"]
    unknown = set(chosen) - {*CLEAN, "small", "cost"}
    if unknown:
        raise SystemExit(f"no kind {sorted(unknown)}; there are {','.join(CLEAN)}, small, cost.")
    sections = {}
    kinds = [kind for kind in CLEAN if kind in chosen]
    if kinds:
        cells = list(all_cells(rule, kinds, arguments.most_rows, arguments.draws))
        save_records(RECORD, cells)
        sections["Clean tables"] = table_of_kinds(cells)
    if "small" in chosen:
        sections["Small tables with gross errors"] = table_of_small(rule, arguments.draws)
    if "cost" in chosen:
        sections["Cost"] = table_of_cost(rule)
    print_progress("")
    text = "\n\n".join(f"## {title}\n\n{lines}" for title, lines in sections.items())
    print(text)
    if arguments.write:
        about = __doc__.split("\n\n")[1].strip()
        note = (
            f"{about}\n\nShares of {arguments.draws} draws of each size ({arguments.draws // 10} "
            f"at {MANY} rows); bold: more than {ALLOWED:.0%}. Columns of a table are drawn alike, "
            "codes and classes as benchmarks/clean.py says. Seconds are processor time on one "
            f"thread, the best of three. numpy {np.__version__}, scipy {scipy.__version__}.\n\n"
            "    make bench-clean\n"
        )
        write_page(WRITTEN, "Clean tables", note, text)


if __name__ == "__main__":
    main()
