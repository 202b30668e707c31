"""The mean handwritten zero, from a pile of scans into which ones have been mixed.

Runs on data that come with scikit-learn. Prints what was found, draws it into out/demo.png, and
writes the report out/demo.html.
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import inlier

OUTPUT = Path("out/demo.png")
REPORT = Path("out/demo.html")
KEPT, REMOVED = "#0072B2", "#D55E00"  # told apart by everyone


def draw(X: np.ndarray, is_one: np.ndarray, result: inlier.RobustMeanResult, path: Path) -> None:
    """Four means as pictures, and the score of every row."""
    truth = X[~is_one].mean(axis=0)
    pictures = {
        "plain mean": X.mean(axis=0),
        "coordinate-wise median": np.median(X, axis=0),
        "inlier": result.location,
        "truth: mean of the zeros": truth,
    }
    figure = plt.figure(figsize=(9, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=[1, 1.15])
    for column, (name, mean) in enumerate(pictures.items()):
        axes = figure.add_subplot(grid[0, column])
        axes.imshow(mean.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        axes.set_xticks([])
        axes.set_yticks([])
        error = np.linalg.norm(mean - truth)
        shown = f"{error:.2g}" if error > 1e-9 else "0"
        axes.set_title(name if mean is truth else f"{name}\nerror {shown}", fontsize=10)
    axes = figure.add_subplot(grid[1, :])
    order = np.argsort(result.scores)
    position = np.empty(len(order))
    position[order] = np.arange(len(order))
    for chosen, colour, marker, label in [
        (~is_one, KEPT, "o", "zeros"),
        (is_one, REMOVED, "^", "ones"),
    ]:
        axes.scatter(
            position[chosen], result.scores[chosen], s=14, c=colour, marker=marker, label=label
        )
    axes.axhline(result.details.rule.threshold, color="black", lw=1, ls="--")
    axes.text(0, result.details.rule.threshold, "removed above", va="bottom", fontsize=9)
    axes.set(ylabel="score", xlabel="rows, sorted by score")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp.png")
    figure.savefig(unfinished, dpi=150)
    os.replace(unfinished, path)


def main() -> None:
    """Fit, print, draw."""
    sample = inlier.datasets.digits(good=0, bad=1).sample(random_state=0)
    X, is_one = sample.X, sample.is_outlier
    # With nothing given, another digit is a class of its own, which nobody has called bad.
    result = inlier.robust_mean(X, contamination=0.25)

    truth = X[~is_one].mean(axis=0)
    removed = ~result.support
    print(f"{len(X)} scans of 8 x 8 pixels, {is_one.sum()} of them ones among the zeros.")
    print("Given: at most a quarter of the scans are wrong.\n")
    for name, mean in [
        ("plain mean", X.mean(axis=0)),
        ("coordinate-wise median", np.median(X, axis=0)),
        ("inlier", result.location),
    ]:
        print(f"  {name:<24} {np.linalg.norm(mean - truth):5.2f} from the mean of the zeros")
    print(f"\n{result.message}\n")
    print(
        f"removed: {(removed & is_one).sum()} of {is_one.sum()} ones, "
        f"{(removed & ~is_one).sum()} of {(~is_one).sum()} zeros, "
        f"in {result.details.n_passes} passes over the data"
    )
    draw(X, is_one, result, OUTPUT)
    result.to_html(REPORT, title="Zeros, and some ones")
    print(f"drawn into {OUTPUT}, and a report in {REPORT}")


if __name__ == "__main__":
    main()
