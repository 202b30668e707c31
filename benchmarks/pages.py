"""Pages under docs/results, and what stands on more than one of them."""

from __future__ import annotations

import sys
from pathlib import Path

from inlier._internal.atomic import replacing

# Errors below it are what summing the rows in another order leaves.
ROUNDING = 1e-9
RESULTS = Path(__file__).parents[1] / "docs" / "results"


def write_page(path: Path, title: str, note: str, text: str) -> None:
    """Write a Markdown page; an old one stays until the new one is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        unfinished.write_text(f"# {title}\n\n{note}\n{text}\n", encoding="utf-8")


def figure(error: float | None) -> str:
    """Three digits; 0 for what is rounding."""
    if error is None or error != error:
        return "-"
    return "0" if error < ROUNDING else f"{error:.3g}"


def print_progress(text: str) -> None:
    """On a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)
