"""Real tables with known bad rows: does `robust_mean(X)` help, and does it do harm?

Each .npz file of a folder holds `X` (rows) and `y` (1 for a bad row). The error is the distance to
the mean of the good rows, given over that of the plain mean. The same table without its bad rows
is fitted too: a row that leaves there is lost. And the same rows must leave in any order of the
rows, and in any units of the columns.

The data stay where they are: only names and figures are printed, or written with `--write`.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
from judging import (
    OUT,
    Answer,
    Rule,
    add_options,
    chosen_rule,
    geometric_mean,
    markdown,
    percent,
    save_records,
)
from pages import RESULTS, ROUNDING, figure, print_progress, write_page
from real_data import folder_data

import inlier

WRITTEN = RESULTS / "real.md"
RECORD = OUT / "real.csv"
DATA = Path("..") / "shared" / "data" / "real"
# More than so many times the mean's error is harm.
HARM = 1.05
# A clean table that loses more than this share of its rows is harmed.
LOST = 0.01


@dataclass(frozen=True)
class Measured:
    """One set. `reordered`, `rescaled`: whether other rows left; suspects are -1 if not known."""

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
        return self.error / self.mean_error if self.mean_error > ROUNDING else 1.0

    @property
    def clean_share(self) -> float:
        """Of the rows of the clean table, those that left."""
        return self.clean_lost / (self.n - self.bad)


def kept_by(rule: Rule, X: np.ndarray) -> np.ndarray:
    """Which rows stay."""
    kept = rule(X).kept
    assert kept is not None
    return kept


def order_matters(rule: Rule, X: np.ndarray, kept: np.ndarray) -> bool:
    """Whether one of two permutations of the rows changes which of them stay."""
    for seed in (1, 2):
        order = np.random.default_rng(seed).permutation(len(X))
        if not np.array_equal(kept_by(rule, X[order]), kept[order]):
            return True
    return False


def units_matter(rule: Rule, X: np.ndarray, kept: np.ndarray) -> bool:
    """Whether columns in other units change which rows stay.

    Units are powers of two from 1/1024 to 1024, so that not one cell is rounded.
    """
    powers = np.random.default_rng(3).integers(-10, 11, X.shape[1])
    return not np.array_equal(kept_by(rule, X * 2.0**powers), kept)


def counted(answer: Answer) -> int:
    """Its suspects; -1 if it does not know any."""
    return -1 if answer.suspects is None else len(answer.suspects)


def measure(rule: Rule, name: str, X: np.ndarray, is_bad: np.ndarray) -> Measured:
    """All about one set."""
    good = X[~is_bad]
    truth = good.mean(axis=0)
    start = time.perf_counter()
    answer = rule(X)
    seconds = time.perf_counter() - start
    assert answer.kept is not None
    clean = rule(good)
    assert clean.kept is not None
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
        suspects=counted(answer),
        mostly_bad=sum(bool(is_bad[rows].mean() > 0.5) for rows in answer.suspects or ()),
        clean_suspects=counted(clean),
        seconds=seconds,
    )


def totals(sets: list[Measured]) -> str:
    """What the rule is judged by, and where each figure comes from."""

    def named(chosen: list[Measured]) -> tuple[str, str]:
        return f"{len(chosen)} of {len(sets)}", ", ".join(s.name for s in chosen) or "-"

    harmed = sorted((s for s in sets if s.ratio > HARM), key=lambda s: -s.ratio)
    lines = [
        (
            "error over the mean's, geometric mean (none below .01)",
            f"{geometric_mean(s.ratio for s in sets):.3f}",
            "",
        ),
        (f"worse than {HARM} times the mean", *named(harmed)),
        (f"better than the mean by {HARM}", *named([s for s in sets if s.ratio < 1 / HARM])),
        (
            f"clean version loses more than {LOST:.0%}",
            *named([s for s in sets if s.clean_share > LOST]),
        ),
        ("clean version loses a row", *named([s for s in sets if s.clean_lost])),
        ("the order of rows changes the answer", *named([s for s in sets if s.reordered])),
        ("the units of columns change the answer", *named([s for s in sets if s.rescaled])),
    ]
    if any(s.suspects >= 0 for s in sets):
        shown = sum(s.suspects for s in sets)
        right = sum(s.mostly_bad for s in sets)
        lines += [
            ("suspects shown, and of these mostly bad rows", f"{shown}, {right}", ""),
            ("clean version shows a suspect", *named([s for s in sets if s.clean_suspects > 0])),
        ]
    lines.append(("seconds of all fits with bad rows", f"{sum(s.seconds for s in sets):.1f}", ""))
    return markdown("over all sets | figure | which", lines)


def table_of_sets(sets: list[Measured]) -> str:
    """One line for each."""
    suspects = any(s.suspects >= 0 for s in sets)
    header = (
        "set | n x d | bad | mean's error | error | error / mean's | bad kept / good removed "
        "| clean: lost | order | units | s"
    )
    if suspects:
        header += " | suspects (mostly bad), clean"
    lines = []
    for s in sets:
        ratio = figure(s.ratio)
        line = [
            s.name,
            f"{s.n} x {s.d}",
            s.bad,
            figure(s.mean_error),
            figure(s.error),
            f"**{ratio}**" if s.ratio > HARM else ratio,
            f"{s.bad_kept} / {s.good_removed}",
            f"{s.clean_lost} ({percent(s.clean_share)})" if s.clean_lost else "0",
            "changes" if s.reordered else "-",
            "change" if s.rescaled else "-",
            f"{s.seconds:.2f}",
        ]
        if suspects:
            line.append(f"{s.suspects} ({s.mostly_bad}), {s.clean_suspects}")
        lines.append(line)
    return markdown(header, lines)


def main(options: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of .npz files with X and y")
    parser.add_argument("--only", help="sets separated by commas")
    add_options(parser, WRITTEN)
    arguments = parser.parse_args(options)
    rule = chosen_rule(arguments)
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    chosen = arguments.only.split(",") if arguments.only else None
    sets = []
    for name, model in folder_data(arguments.data):
        if chosen is None or name in chosen:
            print_progress(name)
            sample = model.sample(0)
            sets.append(measure(rule, name, sample.X, sample.is_outlier))
    print_progress("")
    if not sets:
        raise SystemExit(f"no .npz files to judge by in {arguments.data}; name a folder: --data")
    save_records(RECORD, sets)
    text = f"## Totals\n\n{totals(sets)}\n\n## Sets\n\n{table_of_sets(sets)}"
    print(text)
    if arguments.write:
        about = __doc__.split("\n\n")[1]
        note = (
            f"{about} Bold: worse than {HARM} times the mean. One shuffle of the rows (seed 0), "
            "two other orders, other powers of two as units. The data are not part of this "
            f"project. numpy {np.__version__}, scipy {scipy.__version__}; one thread.\n\n"
            "    make bench-real DATA=folder\n"
        )
        write_page(WRITTEN, "Real tables", note, text)


if __name__ == "__main__":
    main()
