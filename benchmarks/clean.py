"""First do no harm: how often clean tables lose a row, and small spoiled tables.

Clean tables that are skewed, heavy-tailed, of counts, of codes, or of several classes have nothing
to remove: each draw in which a row is removed is a false alarm. Small tables with one to five
extreme errors are drawn beside them, and Gaussian columns with one far value: a rule that never
removes a row would be of no use.
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import common
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from tables import tukey_3

from inlier.research.datasets import Gaussian, StudentT

SIZES = (20, 50, 200, 2000)
COLUMNS = (1, 3, 10, 40)
# From this many rows on, a tenth of the draws.
MANY = 2000
# False alarms in more than this share of the draws are bold.
ALLOWED = 0.02


def one_hot(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """One column of d codes, written as d columns; code k is 1 / k times as frequent."""
    weights = 1 / np.arange(1, d + 1)
    return np.eye(d)[rng.choice(d, n, p=weights / weights.sum())]


def mixture(classes: int, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Gaussian classes, the largest at most three times as frequent as the smallest.

    Centers are 3 to 8 standard deviations apart, as a root mean square.
    """
    weights = rng.uniform(1, 3, classes)
    apart = rng.uniform(3, 8)
    centers = apart / np.sqrt(2 * d) * rng.standard_normal((classes, d))
    which = rng.choice(classes, n, p=weights / weights.sum())
    return centers[which] + rng.standard_normal((n, d))


CLEAN: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "normal": Gaussian().draw,
    "lognormal": lambda n, d, rng: rng.lognormal(size=(n, d)),
    "exponential": lambda n, d, rng: rng.exponential(size=(n, d)),
    "t3": StudentT(3).draw,
    "multivariate t3": StudentT(3, joint=True).draw,
    "lognormal, 1.5": lambda n, d, rng: rng.lognormal(sigma=1.5, size=(n, d)),
    "negative binomial": lambda n, d, rng: rng.negative_binomial(0.5, 0.1, (n, d)).astype(float),
    "flags of 5%": lambda n, d, rng: (rng.random((n, d)) < 0.05).astype(float),
    "zeros and others": lambda n, d, rng: (rng.random((n, d)) < 0.3) * rng.lognormal(size=(n, d)),
    "ReLU": lambda n, d, rng: np.maximum(0.0, rng.standard_normal((n, d)) - 0.3),
    # A third of the rows with other rounding.
    "two exporters": lambda n, d, rng: (
        rng.poisson(3, (n, d)) + 0.003 * (rng.random((n, 1)) < 0.3) * rng.standard_normal((n, d))
    ),
    "Poisson(1)": lambda n, d, rng: rng.poisson(1, (n, d)).astype(float),
    # Each column with its own frequency of 1.
    "binary": lambda n, d, rng: (rng.random((n, d)) < rng.uniform(0.05, 0.95, d)).astype(float),
    "one-hot": one_hot,
    **{f"{k} classes": partial(mixture, k) for k in (2, 3, 4, 5)},
    "amounts with a common size": lambda n, d, rng: np.exp(
        1.6 * rng.standard_normal((n, 1)) + 1.2 * rng.standard_normal((n, d))
    ),
}


def measure(rule: common.Rule, kind: str, n: int, d: int, draws: int) -> dict[str, object]:
    """Fit each draw; seeds depend on the kind, the size and the number of the draw only."""
    common.print_progress(f"{kind}, {n} x {d}")
    lost, aside, harmed, suspected, fenced = [], 0, 0, 0, 0
    start = perf_counter()
    for seed in range(draws):
        X = CLEAN[kind](n, d, np.random.default_rng([list(CLEAN).index(kind), n, d, seed]))
        answer = rule(X)
        lost.append(int((~answer.kept).sum()))
        aside += bool(np.any(answer.aside))
        truth = common.Truth.of_clean(X)
        off = np.hypot(truth.standard_error, truth.error(answer.location))
        harmed += off > common.HARM * truth.standard_error
        suspected += len(answer.suspects) > 0
        fenced += not tukey_3(X).kept.all()
    return {
        "kind": kind,
        "n": n,
        "d": d,
        "draws": draws,
        "lost_any": sum(count > 0 for count in lost),
        "aside": aside,
        "harmed": harmed,
        "fences_lost_any": fenced,
        "rows_lost": sum(lost) / (n * draws),
        "suspected": suspected,
        "seconds": (perf_counter() - start) / draws,
    }


def share(cells: pd.DataFrame) -> str:
    """Of all draws of these cells, those that lose a row; bold if too many."""
    if cells.empty:
        return "-"
    lost = cells.lost_any.sum() / cells.draws.sum()
    return common.bold(common.percent(lost), lost > ALLOWED)


def line_of(kind: str, cells: pd.DataFrame) -> dict[str, object]:
    """One kind: all sizes together, then by rows, then by columns."""
    draws = cells.draws.sum()
    worst = cells.loc[(cells.lost_any / cells.draws).idxmax()]
    size = f"{common.percent(worst.lost_any / worst.draws)} at {worst.n} x {worst.d}"
    return {
        "clean rows": kind,
        "draws": draws,
        "lose a row": share(cells),
        **{f"n = {n}": share(cells[cells.n == n]) for n in SIZES},
        **{f"d = {d}": share(cells[cells.d == d]) for d in COLUMNS},
        "worst size": size if worst.lost_any else "-",
        "most rows lost": common.percent(cells.rows_lost.max()),
        "set a cell aside": common.percent(cells.aside.sum() / draws),
        "risk above 1.05": common.percent(cells.harmed.sum() / draws),
        "show a suspect": common.percent(cells.suspected.sum() / draws),
        "lose a row to Tukey's fences": common.percent(cells.fences_lost_any.sum() / draws),
    }


def table_of_kinds(rule: common.Rule, kinds: list[str], most_rows: int, draws: int) -> str:
    """One line for each kind, and one for all."""
    cells = pd.DataFrame(
        measure(rule, kind, n, d, draws if n < MANY else max(1, draws // 10))
        for kind in kinds
        for n in SIZES
        for d in COLUMNS
        # One code alone is a constant.
        if n <= most_rows and not (kind == "one-hot" and d == 1)
    )
    common.save_records("clean", cells)
    lines = [line_of(kind, cells[cells.kind == kind]) for kind in kinds]
    return common.markdown([*lines, line_of("all", cells)])


Spoiled = tuple[np.ndarray, list[int]]


def rows_off(n: int, d: int, rows: list[int], shift: float, rng: np.random.Generator) -> Spoiled:
    """Gaussian rows, some of which are shifted in all columns."""
    X = rng.standard_normal((n, d))
    X[rows] += shift
    return X, rows


def times(n: int, d: int, rows: list[int], factor: float, rng: np.random.Generator) -> Spoiled:
    """Positive figures in different units, ten deviations from zero; a column times a factor."""
    X = (10 + rng.standard_normal((n, d))) * 10.0 ** np.arange(d)
    X[rows, rng.integers(d)] *= factor
    return X, rows


def iris_with_typos(rng: np.random.Generator) -> Spoiled:
    """Each typo ends beyond twice the largest value of its column."""
    X = load_iris().data.copy()
    most = 2 * X.max(axis=0)
    rows = rng.choice(len(X), 5, replace=False)
    for i, j in zip(rows, rng.integers(4, size=5), strict=True):
        X[i, j] *= 10 if 10 * X[i, j] > most[j] else 100
    return X, sorted(rows.tolist())


def one_value(n: int, d: int, value: float, rng: np.random.Generator) -> Spoiled:
    """Gaussian columns; one value of the first lies this many standard deviations out."""
    X = rng.standard_normal((n, d))
    X[0, 0] = value
    return X, [0]


SMALL: dict[str, Callable[[np.random.Generator], Spoiled]] = {
    **{
        f"{n} x {d}, one value at {value} standard deviations": partial(one_value, n, d, value)
        for n in (100, 1000)
        for d in (1, 5)
        for value in (10, 30)
    },
    "20 x 3, one row + 100 standard deviations": partial(rows_off, 20, 3, [4], 100),
    "20 x 3, one column of 2 rows times 10": partial(times, 20, 3, [4, 11], 10),
    "50 x 4, one cell times 1000": partial(times, 50, 4, [4], 1000),
    "40 x 2, three rows + 30 standard deviations": partial(rows_off, 40, 2, [4, 11, 30], 30),
    "Iris, 150 x 4, the decimal point moved in five cells": iris_with_typos,
}


def table_of_small(rule: common.Rule, draws: int) -> str:
    """Whether all errors are found, and nothing else."""
    lines = []
    for name, spoil in SMALL.items():
        common.print_progress(name)
        shares = np.zeros(4)
        for seed in range(draws):
            X, bad = spoil(np.random.default_rng(seed))
            removed, errors = set(np.flatnonzero(~rule(X).clean).tolist()), set(bad)
            found = len(errors & removed) / len(errors)
            good = len(removed - errors) / (len(X) - len(errors))
            shares += np.array([errors <= removed, found, removed == errors, good]) / draws
        heads = ("all found", "of the errors found", "exactly these", "good rows removed")
        cells = map(common.percent, shares.round(12))
        lines.append({"table": name} | dict(zip(heads, cells, strict=True)))
    return common.markdown(lines)


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "clean.md",
        given,
        draws=(200, f"a tenth for {MANY} rows"),
        only=(None, "kinds separated by commas; also: small"),
        most_rows=(max(SIZES), "leave out larger tables"),
        rule=common.RULE,
    )
    rule, draws = common.rule_named(arguments.rule), arguments.draws
    wanted = common.chosen(arguments.only, (*CLEAN, "small"))
    sections = {}
    if kinds := [kind for kind in CLEAN if kind in wanted]:
        sections["Clean tables"] = table_of_kinds(rule, kinds, arguments.most_rows, draws)
    if "small" in wanted:
        sections["Small tables with extreme errors"] = table_of_small(rule, draws)
    note = (
        f"{common.about(__doc__)}\n\nShares of {draws} draws of each size ({draws // 10} at {MANY} "
        f"rows); bold: more than {ALLOWED:.0%}. Columns of a table are drawn alike, codes and "
        f"classes as benchmarks/clean.py says. {common.versions()}."
    )
    common.publish(arguments, "Clean tables", note, "make bench-clean", sections)


if __name__ == "__main__":
    main()
