"""Draw the pictures of docs/method.md, beside this file: `python docs/pictures/draw.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import inlier

HERE = Path(__file__).parent
GOOD, BAD = "#0072B2", "#D55E00"  # told apart by everyone


def figure(columns: int, title: str = "") -> tuple[plt.Figure, list[Axes]]:
    drawn, axes = plt.subplots(1, columns, figsize=(8, 2.9), layout="constrained", squeeze=False)
    drawn.suptitle(title, fontsize=11)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return drawn, list(axes.flat)


def save(drawn: plt.Figure, name: str, folder: Path) -> None:
    drawn.savefig(folder / f"{name}.png", dpi=130)
    plt.close(drawn)


def both(ax: Axes, values: np.ndarray, is_bad: np.ndarray, bins: int = 40) -> None:
    edges = np.linspace(values.min(), values.max(), bins)
    ax.hist(values[~is_bad], edges, color=GOOD, label="good rows")
    ax.hist(values[is_bad], edges, color=BAD, alpha=0.85, label="bad rows")
    ax.set_yticks([])


def hiding(folder: Path) -> None:
    """A cluster that shows in no column and in no distance, but in one direction."""
    model = inlier.research.datasets.TwoClusters(n=1000, d=200, alpha=0.1, angle=0.0)
    sample = model.sample(random_state=0)
    X, is_bad = sample.X, sample.is_outlier
    centered = X - X.mean(axis=0)
    direction = np.linalg.svd(centered, full_matrices=False)[2][0]
    along = centered @ direction
    drawn, axes = figure(3)
    for ax, values, label in [
        (axes[0], X[:, 0], "one of 200 columns"),
        (axes[1], np.linalg.norm(X, axis=1), "distance from the true mean"),
        (axes[2], along * np.sign(along[is_bad].mean()), "direction of largest variance"),
    ]:
        both(ax, values, is_bad)
        ax.set_xlabel(label)
    axes[0].legend(frameon=False, fontsize=8)
    save(drawn, "hiding", folder)


def budget(folder: Path) -> None:
    """What bad rows that move the mean do to the variance, and the budget that is set for it."""
    sample = inlier.datasets.SettingA(n=800, d=100, alpha=0.2).sample(random_state=0)
    deviations = {
        "all rows": (np.linalg.svd(sample.X - sample.X.mean(axis=0))[1] / np.sqrt(800), BAD),
        "good rows": (np.linalg.svd(sample.inliers - sample.mean)[1] / np.sqrt(640), GOOD),
    }
    drawn, (left, right) = figure(2)
    for name, (values, colour) in deviations.items():
        left.plot(range(1, 31), values[:30], "o-", color=colour, ms=3, label=name)
    left.axhline(sample.sigma, color="black", ls="--", lw=1)
    left.text(30, sample.sigma + 0.15, "budget: sigma of the good rows", ha="right", fontsize=8)
    left.set(xlabel="principal direction", ylabel="standard deviation")
    left.legend(frameon=False, fontsize=8)
    shift = np.linalg.norm(sample.X.mean(axis=0) - sample.mean)
    removed = np.arange(0, 161, 10)
    order = np.argsort(-(sample.X - sample.mean) @ (sample.X.mean(axis=0) - sample.mean))
    worst = [row for row in order if sample.is_outlier[row]]
    errors, spreads = [], []
    for count in removed:
        kept = np.setdiff1d(np.arange(800), worst[:count])
        rows = sample.X[kept]
        errors.append(np.linalg.norm(rows.mean(axis=0) - sample.mean) / shift)
        spreads.append(np.linalg.norm(rows - rows.mean(axis=0), 2) / np.sqrt(len(rows)))
    right.plot(removed, errors, color=BAD, label="error of the mean, over that of all rows")
    right.plot(
        removed, np.array(spreads) / spreads[0], color=GOOD, label="largest deviation, likewise"
    )
    right.set(xlabel="bad rows removed, of 160", ylim=(0, 1.05))
    right.legend(frameon=False, fontsize=8)
    save(drawn, "budget", folder)


def surrogates(folder: Path) -> None:
    """The example of the paper's section 3.2: h by l1, and by re-weighted l2 with p = 1/2."""
    sample = inlier.datasets.SettingB(n=200, d=100, alpha=0.1).sample(random_state=0)
    center = np.median(sample.X, axis=0)
    spread = np.linalg.norm(sample.inliers - center, 2) ** 2
    h = 1 - inlier.l0.solve_l1(sample.X, center, spread).weights
    panels = {"l1: one convex problem": h}
    for _ in range(12):
        u = (h**2 + 1e-3) ** ((0.5 - 2) / 4)
        h = 1 - inlier.l0.solve_least_squares(sample.X, center, spread, weights=u).weights
    panels["lp, p = 1/2: re-weighted least squares"] = h
    drawn, axes = figure(2)
    rows = np.arange(200)
    for ax, (name, values) in zip(axes, panels.items(), strict=True):
        ax.plot(rows[~sample.is_outlier], values[~sample.is_outlier], ".", color=GOOD, label="good")
        ax.plot(rows[sample.is_outlier], values[sample.is_outlier], "x", color=BAD, label="bad")
        ax.set(xlabel="row", ylabel="h", ylim=(-0.05, 1.05))
        ax.set_title(name, fontsize=9)
    axes[0].legend(frameon=False, fontsize=8, loc="center right")
    save(drawn, "surrogates", folder)


def mirror(folder: Path) -> None:
    """The symmetric rule: the rows on one side say how many good ones there are on the other."""
    rng = np.random.default_rng(0)
    good, bad = 1.3 * rng.standard_t(8, 900), 3.4 + 0.35 * rng.standard_normal(100)
    values = np.concatenate([good, bad])
    edges = np.linspace(-7, 7, 57)
    counts = np.histogram(values, edges)[0]
    drawn, (left, right) = figure(2)
    left.bar(edges[:-1], counts, 0.25, align="edge", color="#999999")
    left.set(xlabel="how far out a row lies", ylabel="rows")
    left.set_title("what is seen", fontsize=9)
    expected = np.minimum(counts, counts[::-1])
    expected[:28] = counts[:28]
    right.bar(edges[:-1], expected, 0.25, align="edge", color=GOOD, label="has a mirror image")
    surplus = counts - expected
    right.bar(edges[:-1], surplus, 0.25, expected, align="edge", color=BAD, label="surplus")
    right.set(xlabel="how far out a row lies")
    right.set_title("against its own mirror image", fontsize=9)
    right.legend(frameon=False, fontsize=8)
    save(drawn, "mirror", folder)


def gap(folder: Path) -> None:
    """The rule for gross values: a gap that the column's own tail would hardly leave."""
    rng = np.random.default_rng(3)
    drawn, axes = figure(2)
    for ax, values, title in [
        (axes[0], rng.lognormal(0, 1, 400), "a heavy tail, and nothing wrong"),
        (
            axes[1],
            np.append(rng.lognormal(0, 0.5, 397), [38, 45, 52]),
            "three values in another unit",
        ),
    ]:
        kept = inlier.robust_mean(values[:, None]).support
        size = np.sort(values / np.median(values))[::-1][:60]
        removed = int((~kept).sum())
        rank = np.arange(1, 61)
        ax.loglog(rank[removed:], size[removed:], "o", ms=4, color=GOOD, label="kept")
        ax.loglog(rank[:removed], size[:removed], "x", color=BAD, label=f"removed: {removed}")
        ax.set(xlabel="rank, from the largest", ylabel="value over the median")
        for axis, ticks in ((ax.xaxis, [1, 3, 10, 30]), (ax.yaxis, [2, 5, 10, 20, 50])):
            axis.set_ticks(ticks, [str(tick) for tick in ticks])
            axis.set_ticks([], minor=True)
        ax.set_title(title, fontsize=9)
        ax.legend(frameon=False, fontsize=8)
    save(drawn, "gap", folder)


def main(folder: Path = HERE) -> None:
    for draw in (hiding, budget, surrogates, mirror, gap):
        draw(folder)


if __name__ == "__main__":
    main()
