"""Draw the pictures of docs/method.md and docs/no-knobs.md: `python docs/pictures/draw.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.special import ndtr, ndtri, pdtrik

import inlier
from inlier.search import thresholds

HERE = Path(__file__).parent
GOOD, BAD = "#0072B2", "#D55E00"  # told apart by everyone


def figure(columns: int, title: str = "") -> tuple[plt.Figure, list[Axes]]:
    drawn, axes = plt.subplots(1, columns, figsize=(8, 2.9), layout="constrained", squeeze=False)
    drawn.suptitle(title, fontsize=11)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return drawn, list(axes.flat)


def save(drawn: plt.Figure, name: str, folder: Path, suffix: str = "png") -> None:
    with matplotlib.rc_context({"svg.hashsalt": name}):  # the same file each time
        metadata = {"Date": None} if suffix == "svg" else None
        drawn.savefig(folder / f"{name}.{suffix}", dpi=130, metadata=metadata)
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
    """The rule for extreme values: a gap that the column's own tail would hardly leave."""
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


def cells(folder: Path) -> None:
    """The law of a column: how many values may lie beyond a distance from the median."""
    n, rng = 400, np.random.default_rng(1)
    clean = rng.standard_t(3, n)
    dirty = clean.copy()
    dirty[:4] = [60.0, 70.0, 85.0, 110.0]
    drawn, axes = figure(2)
    for ax, values, title in [
        (axes[0], clean, "heavy tails (Student's t, 3 degrees of freedom)"),
        (axes[1], dirty, "four of these values are wrong"),
    ]:
        # Beside a second column: the only cell of a row would be removed with it.
        result = inlier.robust_mean(np.c_[values, rng.standard_normal(n)])
        found = [cell.row for cell in result.cells if cell.set_aside and cell.column == 0]
        off = values - np.median(values)
        unit = np.quantile(np.abs(off), thresholds.INNER_SHARE)
        order = np.argsort(-off)[: n // 2]
        b, number, out = off[order] / unit, np.arange(1, n // 2 + 1), np.isin(order, found)
        ax.loglog(b[~out], number[~out], ".", color=GOOD, label="kept")
        ax.loglog(b[out], number[out], "x", color=BAD, label=f"set aside: {out.sum()}")
        at = np.geomspace(1.0, 200.0, 200)
        start = ndtri(np.mean(off > unit))
        expected = n * ndtr(start - np.log(at) / thresholds.LOG_DEVIATION)
        most = 1.0 + np.nan_to_num(pdtrik(1.0 - thresholds.LEVEL / 2, expected))
        ax.loglog(at, most, color="black", lw=1, label="most by the law")
        for units, style in ((thresholds.INFLATED, "--"), (thresholds.NARROW_CAP, ":")):
            label = f"N b² = n ({units:.0f}u)²"
            ax.loglog(at, n * (units / at) ** 2, style, color="#777777", lw=1, label=label)
        ax.set(xlabel="distance b above the median, in units u", xlim=(0.5, 200), ylim=(0.7, 600))
        ax.set_title(title, fontsize=9)
        for axis, ticks in ((ax.xaxis, [1, 3, 10, 30, 100]), (ax.yaxis, [1, 10, 100])):
            axis.set_ticks(ticks, [str(tick) for tick in ticks])
            axis.set_ticks([], minor=True)
        ax.legend(frameon=False, fontsize=7, loc="lower left")
    axes[0].set_ylabel("N: values at least that far out")
    save(drawn, "cells", folder, "svg")


def lengths(folder: Path) -> None:
    """Rows that are extreme in no column, and long as a whole."""
    rng = np.random.default_rng(0)
    X = rng.gamma(4.0, size=(300, 20))
    middle = np.median(X, axis=0)
    X[:15] = middle + 3.0 * (X[:15] - middle)
    bad = ~inlier.robust_mean(X).support
    units = np.abs(X - middle) / np.median(np.abs(X - middle), axis=0)
    drawn, axes = figure(2)
    for ax, values, label in [
        (axes[0], units.max(axis=1), "farthest cell of a row, in units of its column"),
        (axes[1], np.sqrt(units.sum(axis=1)), "length of a row, over all columns"),
    ]:
        edges = np.linspace(values.min(), values.max(), 45)
        ax.hist(values[~bad], edges, color=GOOD, label="kept")
        ax.hist(values[bad], edges, color=BAD, alpha=0.85, label=f"removed: {bad.sum()}")
        ax.set_yticks([])
        ax.set_xlabel(label)
    axes[0].legend(frameon=False, fontsize=8)
    save(drawn, "lengths", folder, "svg")


def groups(folder: Path) -> None:
    """The same group nearer, and larger: removed, reported, and kept as a class."""
    drawn, axes = figure(3)
    for ax, distance, k in zip(axes, (20, 9, 9), (60, 60, 110), strict=True):
        rng = np.random.default_rng(0)
        X = rng.exponential(size=(300, 12))
        X[:k, :2] = 0.3 * rng.standard_normal((k, 2)) + [distance, -distance]
        result = inlier.robust_mean(X)
        apart = np.arange(300) < k
        colour = BAD if (~result.support)[apart].all() else "#999999"
        marker = "x" if colour == BAD else "."
        ax.plot(*X[~apart, :2].T, ".", ms=3, color=GOOD)
        ax.plot(*X[apart, :2].T, marker, ms=4, color=colour)
        if result.groups:
            verdict = f"removed: {result.groups[0].ratio:.0f} times as far out"
        elif result.suspects:
            verdict = f"reported: {result.suspects[0].group.ratio:.0f} times as far out"
        else:
            verdict = "kept: a class"
        ax.set_title(f"{k} of 300 rows\n{verdict}", fontsize=9)
        ax.set(xlim=(-2, 23), ylim=(-23, 9), xlabel="first of 12 columns")
    axes[0].set_ylabel("second")
    save(drawn, "groups", folder, "svg")


def main(folder: Path = HERE) -> None:
    for draw in (hiding, budget, surrogates, mirror, gap, cells, lengths, groups):
        draw(folder)


if __name__ == "__main__":
    main()
