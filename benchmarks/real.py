"""Real tables with known bad rows: does `robust_mean(X)` help, and does it do harm?

Each .npz file of a folder holds `X` (rows) and `y` (1 for a bad row). The error is the distance to
the mean of the good rows, given over that of the plain mean. The same table without its bad rows
is fitted too: a row that is removed there is lost. And the same rows must be removed in any order
of the rows, and in any units of the columns.

The data stay where they are: only names and figures are printed, or written with `--write`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import common
import numpy as np

from inlier.research.datasets import Sample

# More than this many times the mean's error is harm.
HARM = 1.05
# A clean table that loses more than this share of its rows is harmed.
LOST = 0.01


@dataclass(frozen=True)
class Measured:
    """One set. `reordered`, `rescaled`: whether other rows were removed."""

    name: str
    n: int
    d: int
    bad: int
    mean_error: float
    error: float
    bad_kept: int
    good_removed: int
    clean_lost: int
    reordered: bool
    rescaled: bool
    suspects: int  # on the contaminated table
    mostly_bad: int  # of these
    clean_suspects: int
    seconds: float

    @property
    def ratio(self) -> float:
        """Error over the plain mean's."""
        return self.error / self.mean_error if self.mean_error > common.ROUNDING else 1.0

    @property
    def clean_share(self) -> float:
        """Of the rows of the clean table, those that were removed."""
        return self.clean_lost / (self.n - self.bad)


def order_matters(rule: common.Rule, X: np.ndarray, kept: np.ndarray) -> bool:
    """Whether one of two permutations of the rows changes which of them are kept."""
    orders = (np.random.default_rng(seed).permutation(len(X)) for seed in (1, 2))
    return not all(np.array_equal(rule(X[order]).kept, kept[order]) for order in orders)


def units_matter(rule: common.Rule, X: np.ndarray, kept: np.ndarray) -> bool:
    """Whether columns in other units change which rows are kept.

    Units are powers of two from 1/1024 to 1024, so that not one cell is rounded.
    """
    powers = np.random.default_rng(3).integers(-10, 11, X.shape[1])
    return not np.array_equal(rule(X * 2.0**powers).kept, kept)


def measure(rule: common.Rule, name: str, sample: Sample) -> Measured:
    """All about one set."""
    X, is_bad, truth = sample.X, sample.is_outlier, sample.mean
    start = perf_counter()
    answer = rule(X)
    seconds = perf_counter() - start
    clean = rule(sample.inliers)
    return Measured(
        name,
        *X.shape,
        bad=int(is_bad.sum()),
        mean_error=float(np.linalg.norm(X.mean(axis=0) - truth)),
        error=float(np.linalg.norm(answer.location - truth)),
        bad_kept=int((answer.kept & is_bad).sum()),
        good_removed=int((~answer.kept & ~is_bad).sum()),
        clean_lost=int((~clean.kept).sum()),
        reordered=order_matters(rule, X, answer.kept),
        rescaled=units_matter(rule, X, answer.kept),
        suspects=len(answer.suspects),
        mostly_bad=sum(bool(is_bad[rows].mean() > 0.5) for rows in answer.suspects),
        clean_suspects=len(clean.suspects),
        seconds=seconds,
    )


def totals(sets: list[Measured]) -> str:
    """What the rule is judged by, and where each figure comes from."""
    ratio = common.geometric_mean(s.ratio for s in sets)
    shown, right = sum(s.suspects for s in sets), sum(s.mostly_bad for s in sets)
    harmed = sorted((s for s in sets if s.ratio > HARM), key=lambda s: -s.ratio)
    figures: dict[str, str | list[Measured]] = {
        "error over the mean's, geometric mean (none below .01)": f"{ratio:.3f}",
        f"worse than {HARM} times the mean": harmed,
        f"better than the mean by {HARM}": [s for s in sets if s.ratio < 1 / HARM],
        f"clean version loses more than {LOST:.0%}": [s for s in sets if s.clean_share > LOST],
        "clean version loses a row": [s for s in sets if s.clean_lost],
        "the order of rows changes the answer": [s for s in sets if s.reordered],
        "the units of columns change the answer": [s for s in sets if s.rescaled],
        "suspects shown, and of these mostly bad rows": f"{shown}, {right}",
        "clean version shows a suspect": [s for s in sets if s.clean_suspects],
        "seconds of all fits with bad rows": f"{sum(s.seconds for s in sets):.1f}",
    }
    lines = []
    for name, found in figures.items():
        which = ""
        if not isinstance(found, str):
            which = ", ".join(s.name for s in found) or "-"
            found = f"{len(found)} of {len(sets)}"
        lines.append({"over all sets": name, "figure": found, "which": which})
    return common.markdown(lines)


def line_of(s: Measured) -> dict[str, object]:
    """One set."""
    return {
        "set": s.name,
        "n x d": f"{s.n} x {s.d}",
        "bad": s.bad,
        "mean's error": common.figure(s.mean_error),
        "error": common.figure(s.error),
        "error / mean's": common.bold(common.figure(s.ratio), s.ratio > HARM),
        "bad kept / good removed": f"{s.bad_kept} / {s.good_removed}",
        "clean: lost": f"{s.clean_lost} ({common.percent(s.clean_share)})".removesuffix(" (0)"),
        "order": "changes" if s.reordered else "-",
        "units": "change" if s.rescaled else "-",
        "s": f"{s.seconds:.2f}",
        "suspects (mostly bad), clean": f"{s.suspects} ({s.mostly_bad}), {s.clean_suspects}",
    }


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    only = (None, "sets separated by commas")
    arguments = common.options(
        __doc__, "real.md", given, data=common.DATA, only=only, rule=common.RULE
    )
    rule = common.rule_named(arguments.rule)
    found = common.folder_data(arguments.data, arguments.only)
    sets = [measure(rule, name, sample) for name, sample in found]
    common.save_records("real", sets)
    note = (
        f"{common.about(__doc__)} Bold: worse than {HARM} times the mean. One shuffle of the rows "
        "(seed 0), two other orders, other powers of two as units. The data are not part of this "
        f"project. {common.versions()}; one thread."
    )
    sections = {"Totals": totals(sets), "Sets": common.markdown(map(line_of, sets))}
    common.publish(arguments, "Real tables", note, "make bench-real DATA=folder", sections)


if __name__ == "__main__":
    main()
