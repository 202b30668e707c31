"""What each part of the rule with nothing given contributes: leave one out.

On the real tables of a folder, as `real.py`, but for those with many cells.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
from judging import geometric_mean, markdown, robust_mean
from pages import RESULTS, print_progress, write_page
from real_data import folder_data

from inlier.search import extremes, separated, symmetric
from inlier.search import fit as without_sigma

WRITTEN = RESULTS / "parts.md"
MOST_CELLS = 120_000
WORSE = 1.05
LOST = 0.01


@contextmanager
def without(part: str) -> Iterator[dict[str, Any]]:
    """The rule without a part: what to pass to `robust_mean` meanwhile."""
    patches: dict[str, list[Any]] = {
        "extreme cells and rows": [
            mock.patch.object(without_sigma, "extreme_rules", lambda *_: []),
        ],
        "extreme rows": [mock.patch.object(extremes, "_extreme_lengths", lambda *_: [])],
        "separated groups": [
            mock.patch.object(separated, "best_separated", lambda *_: (None, False)),
        ],
        "the whitened coordinates": [
            mock.patch.object(
                separated, "coordinate_systems", first_only(separated.coordinate_systems)
            ),
        ],
        "symmetry of what is kept": [
            mock.patch.object(module, name, lambda *_, **__: 0.0)
            for module in (separated, symmetric)
            for name in ("skewness_ratio", "bimodality_ratio")
        ],
    }
    options = {"assume": "nothing"} if part == "the symmetric rule" else {}
    started = [patch.start() and patch for patch in patches.get(part, [])]
    try:
        yield options
    finally:
        for patch in started:
            patch.stop()


def first_only(spaces: Any) -> Any:
    """The columns' units alone."""

    def some(*given: Any) -> Iterator[Any]:
        yield next(iter(spaces(*given)))

    return some


PARTS = (
    "nothing",
    "extreme cells and rows",
    "extreme rows",
    "the symmetric rule",
    "separated groups",
    "the whitened coordinates",
    "symmetry of what is kept",
)


def measure(folder: Path) -> list[tuple[str, str, str, str, str]]:
    """One line for each part."""
    samples = (model.sample(random_state=0) for _, model in folder_data(folder))
    tables = [(s.X, s.is_outlier) for s in samples if s.X.size <= MOST_CELLS]
    lines = []
    for part in PARTS:
        print_progress(f"without {part}")
        ratios, worse, lost, rows = [], 0, 0, 0
        with without(part) as options:
            for X, bad in tables:
                truth = X[~bad].mean(axis=0)
                error = np.linalg.norm(robust_mean(X, **options).location - truth)
                plain = np.linalg.norm(X.mean(axis=0) - truth)
                ratios.append(float(error / plain))
                worse += error > WORSE * plain
                kept = robust_mean(X[~bad], **options).kept
                lost += (~kept).mean() > LOST
                rows += int((~kept).sum())
        lines.append((part, f"{geometric_mean(ratios):.3f}", str(worse), str(lost), str(rows)))
    print_progress("")
    return lines


def main(options: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked for, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/real"))
    parser.add_argument("--write", action="store_true", help=f"also write {WRITTEN.name}")
    arguments = parser.parse_args(options)
    lines = measure(arguments.data)
    table = markdown(
        "left out | error / mean's | worse than 1.05 | clean sets losing > 1% | clean rows lost",
        lines,
    )
    print(table)
    if arguments.write:
        note = (
            "Real tables of at most 120,000 cells, fitted without the part in the first column; "
            "errors as in real.md.\n\n    make bench-parts DATA=folder\n"
        )
        write_page(WRITTEN, "What each part contributes", note, table)


if __name__ == "__main__":
    main()
