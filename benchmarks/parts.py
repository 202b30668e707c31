"""What each part of the rule with nothing given contributes: leave one out.

Real tables of at most 120,000 cells, fitted without the part in the first column; errors as in
real.md.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import common
import numpy as np

from inlier.search import extremes, separated, symmetric
from inlier.search import fit as without_sigma

MOST_CELLS = 120_000


def first_system(*given: Any, systems: Any = separated.coordinate_systems) -> Iterator[Any]:
    """The columns' units alone."""
    yield next(iter(systems(*given)))


# What is put in the place of a part: a function that finds nothing, or less.
PARTS: dict[str, list[Any]] = {
    "nothing": [],
    "extreme cells and rows": [patch.object(without_sigma, "extreme_rules", lambda *_: [])],
    "extreme rows": [patch.object(extremes, "_extreme_lengths", lambda *_: [])],
    "the symmetric rule": [],  # by an option
    "separated groups": [patch.object(separated, "best_separated", lambda *_: (None, False))],
    "the whitened coordinates": [patch.object(separated, "coordinate_systems", first_system)],
    "symmetry of what is kept": [
        patch.object(module, name, lambda *_, **__: 0.0)
        for module in (separated, symmetric)
        for name in ("skewness_ratio", "bimodality_ratio")
    ],
}


def without(part: str, tables: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, object]:
    """Fit all tables, with their bad rows and without them."""
    common.print_progress(f"without {part}")
    given = {"assume": "nothing"} if part == "the symmetric rule" else {}
    ratios, lost = [], []
    with ExitStack() as stack:
        for patched in PARTS[part]:
            stack.enter_context(patched)
        for X, bad in tables:
            truth = X[~bad].mean(axis=0)
            error = np.linalg.norm(common.robust_mean(X, **given).location - truth)
            ratios.append(float(error / np.linalg.norm(X.mean(axis=0) - truth)))
            lost.append(~common.robust_mean(X[~bad], **given).kept)
    return {
        "left out": part,
        "error / mean's": f"{common.geometric_mean(ratios):.3f}",
        "worse than 1.05": sum(ratio > 1.05 for ratio in ratios),
        "clean sets losing > 1%": sum(rows.mean() > 0.01 for rows in lost),
        "clean rows lost": sum(int(rows.sum()) for rows in lost),
    }


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(__doc__, "parts.md", given, data=common.DATA)
    samples = (sample for _, sample in common.folder_data(arguments.data))
    tables = [(s.X, s.is_outlier) for s in samples if s.X.size <= MOST_CELLS]
    table = common.markdown(without(part, tables) for part in PARTS)
    title, command = "What each part contributes", "make bench-parts DATA=folder"
    common.publish(arguments, title, common.about(__doc__), command, table)


if __name__ == "__main__":
    main()
