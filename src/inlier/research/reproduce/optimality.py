"""The gap of each method to the minimum of the l0 problem, by brute force and lower bounds."""

import warnings
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np

from inlier._internal.typing import Array
from inlier.l0.solvers import solve_l1
from inlier.research.datasets import Contamination, SettingA, SettingB
from inlier.research.reproduce.chapter import Chapter, Setup, draws, number, table_by_method
from inlier.research.reproduce.methods import COLUMNS, IN_TABLES

# Few enough rows to try all subsets.
SMALL = (SettingA(14, 3, 0.2), SettingB(14, 3, 0.2))
LARGE = (SettingA(800, 400, 0.2), SettingA(2000, 100, 0.2), SettingB(2000, 100, 0.2))
SMALL_TRIALS, LARGE_TRIALS = 20, 2
STAGE = "Distance to the l0 optimum"
# The budget holds to this relative precision.
PRECISION = 1e-9
HEAD = ("within the budget", "removed", "had to go at least")

TEXT = """\
The paper's problem (4) asks for the fewest rows whose removal brings the others within the budget
n sigma^2. Below: in how many draws a method's kept rows are within it, about their mean, how many
rows it removed, and how many had to go at least. Methods that remove too much are within the
budget, but far from the optimum; those that remove too little are not feasible.

With 14 rows all subsets are tried. With more, the dual of the l1 problem gives a lower bound, about
the mean of the rows that a method kept. LRV judges no rows."""


@dataclass(frozen=True)
class Judged:
    """A method's result on one draw, as a solution of the l0 problem."""

    method: str
    within: bool
    """Whether the kept rows are within the budget."""
    removed: int
    fewest: int
    """Lower bound on the number of removed rows."""


def run(setup: Setup) -> Chapter:
    """Judge by brute force on small data, and by lower bounds on large data."""
    small, large = (2, 1) if setup.quick else (SMALL_TRIALS, LARGE_TRIALS)
    models = LARGE[1:] if setup.quick else LARGE
    tasks = [(model, seed) for model in SMALL for seed in range(small)]
    tasks += [(model, seed) for model in models for seed in range(large)]
    found: dict[Contamination, list[Judged]] = {}
    for (model, _), judged in zip(tasks, setup.each(STAGE, _judged, tasks), strict=True):
        found.setdefault(model, []).extend(judged)
    tables = [_table(f"{m}, {draws(small)}: all subsets", found[m]) for m in SMALL]
    tables += [_table(f"{m}, {draws(large)}: lower bounds", found[m]) for m in models]
    return Chapter("How close to l0-optimal is each method", TEXT, tables)


def _judged(model: Contamination, seed: int) -> list[Judged]:
    sample = model.sample(seed)
    budget = model.n * sample.sigma**2
    optimum = _fewest_of_all(sample.X, budget) if model in SMALL else None
    found = []
    for name in IN_TABLES:
        estimator = COLUMNS[name].method.make(alpha=sample.alpha, sigma=sample.sigma)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the table shows which methods miss the bound
            estimator.fit(sample.X)
        if not getattr(estimator, "judges_rows", True):
            continue
        kept, fewest = estimator.support_, optimum
        if fewest is None:
            own_mean = sample.X[kept].mean(axis=0)
            fewest = solve_l1(sample.X, own_mean, budget, tol=1e-5).l0_lower_bound
        found.append(Judged(name, _within(sample.X[kept], budget), int((~kept).sum()), fewest))
    return found


def _within(kept: Array, budget: float) -> bool:
    """Return whether rows are within the budget about their mean, the best center."""
    away = kept - kept.mean(axis=0)
    return bool(np.linalg.norm(away, 2) ** 2 <= budget * (1.0 + PRECISION))


def _fewest_of_all(X: Array, budget: float) -> int:
    """Return the minimum of the l0 problem, by trying all subsets of the rows."""
    n = len(X)
    for removed in range(n):
        subsets = np.array(list(combinations(range(n), n - removed)))
        away = X[subsets] - X[subsets].mean(axis=1, keepdims=True)
        largest = np.linalg.eigvalsh(np.swapaxes(away, 1, 2) @ away)[:, -1]
        if (largest <= budget * (1.0 + PRECISION)).any():
            return removed
    raise AssertionError("a single row is within any budget")


def _table(caption: str, found: list[Judged]) -> str:
    cells = {name: ["-"] * len(HEAD) for name in IN_TABLES}
    for name in IN_TABLES:
        of_method = [judged for judged in found if judged.method == name]
        if of_method:
            cells[name] = [
                f"{sum(judged.within for judged in of_method)}/{len(of_method)}",
                number(fmean(judged.removed for judged in of_method)),
                number(fmean(judged.fewest for judged in of_method)),
            ]
    return table_by_method(caption, ["method", *HEAD], cells)
