"""What `assume` means, in pictures: three tables, and which rows are removed under each assumption.

Draws out/assume.png; docs/assume.md shows it.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import inlier

OUTPUT = Path("out/assume.png")
KEPT, REMOVED = "#0072B2", "#D55E00"  # told apart by everyone
ASSUMPTIONS = ("auto", "symmetric", "nothing")


def tables(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Six columns each, of which the first two are drawn."""
    noise = rng.standard_normal((400, 6))
    noise[:60] = 0.4 * rng.standard_normal((60, 6)) + 1.6
    skewed = rng.exponential(size=(400, 6))
    skewed[:3, 0] = 45.0, 60.0, -30.0
    classes = rng.standard_normal((400, 6))
    classes[:150, :2] += 6.0
    return {
        "noise about a center, and a cluster": noise,
        "skewed rows, three typos": skewed,
        "two classes": classes,
    }


def draw(path: Path) -> dict[tuple[str, str], str]:
    """Draw the tables under each assumption; what was removed or set aside."""
    found = tables(np.random.default_rng(0))
    figure, axes = plt.subplots(3, 3, figsize=(9, 8.4), layout="constrained")
    said = {}
    for row, (name, X) in zip(axes, found.items(), strict=True):
        for ax, assume in zip(row, ASSUMPTIONS, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
                result = inlier.robust_mean(X, assume=assume)
            cells = [cell.row for cell in result.cells if cell.set_aside]
            kept = result.support.copy()
            said[name, assume] = f"{(~kept).sum()} rows removed"
            if cells:
                said[name, assume] = f"{len(cells)} cells set aside"
                kept[cells] = False
            ax.scatter(*X[kept, :2].T, s=7, c=KEPT, lw=0)
            ax.scatter(*X[~kept, :2].T, s=22, c=REMOVED, marker="x", lw=1)
            ax.set_title(f'assume="{assume}": {said[name, assume]}', fontsize=9)
            ax.set_xticks([])
            ax.set_yticks([])
        row[0].set_ylabel(name, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return said


if __name__ == "__main__":
    for (table, assumption), words in draw(OUTPUT).items():
        print(f"{table:<38} {assumption:<10} {words}")
    print(f"drawn into {OUTPUT}")
