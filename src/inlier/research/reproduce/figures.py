"""Figures 1 and 2 of the paper."""

from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data import as_table
from inlier.l0.full_space import FullSpaceSolver
from inlier.l0.surrogates import L1, ReweightedL2, Surrogate
from inlier.linalg.eigenpairs import Oracle
from inlier.research.datasets import Sample, SettingB, TwoClusters
from inlier.research.reproduce.chapter import Chapter, Drawing, Setup
from inlier.research.reproduce.methods import BAD, COLUMNS, GOOD, styled

D, N, ALPHA = 100, 200, 0.1
SURROGATES: dict[str, Surrogate] = {"paper-l1": L1(), "paper-lp": ReweightedL2(0.5)}
SPHERE = TwoClusters(600, D, 0.2)

TEXT = f"""\
Figure 1 shows {SPHERE}, seed 0: rows in {D} dimensions, projected onto the plane of the two
clusters and one random direction, at their true distance to the origin. Figure 2 is
SettingB(n={N}, d={D}, alpha={ALPHA}), seed 0, with the center fixed at the coordinate-wise
median and the true sigma, as in the paper."""


def run(setup: Setup) -> Chapter:
    """Draw both figures."""
    setup.watch("Figures 1 and 2", 0, 2)
    first = _sphere(SPHERE.sample(0))
    setup.watch("Figures 1 and 2", 1, 2)
    second = _indicators(SettingB(N, D, ALPHA).sample(0))
    setup.watch("Figures 1 and 2", 2, 2)
    return Chapter("The paper's figures", TEXT, drawings=(first, second))


def _sphere(sample: Sample) -> Drawing:
    """Draw two clusters as far out as the good rows."""
    bad = sample.is_outlier
    projected = _on_sphere(sample)
    distances = np.linalg.norm(sample.X, axis=1)
    with styled(7.0, 3.3) as figure:
        grid = figure.add_gridspec(1, 2, width_ratios=(1.2, 1))
        sphere = figure.add_subplot(grid[0], projection="3d")
        for rows, color, size in ((~bad, GOOD, 5), (bad, BAD, 9)):
            sphere.scatter(*projected[rows].T, s=size, c=color, lw=0, depthshade=True)
        sphere.set_box_aspect((1, 1, 1), zoom=1.75)
        sphere.view_init(elev=22, azim=-15)
        sphere.set_axis_off()
        radius = float(np.sqrt(D))
        angle = np.linspace(0.0, 2.0 * np.pi, 200)
        circle = radius * np.stack([np.cos(angle), np.sin(angle)])
        flat = np.zeros_like(angle)
        for ring in ((*circle, flat), (circle[0], flat, circle[1]), (flat, *circle)):
            sphere.plot(*ring, color="0.75", lw=0.7)
        axes = figure.add_subplot(grid[1])
        bins = np.linspace(distances.min(), distances.max(), 33)
        for rows, color, label in ((~bad, GOOD, "good rows"), (bad, BAD, "outliers")):
            histogram: dict[str, Any] = {"density": True, "alpha": 0.65, "lw": 0}
            axes.hist(distances[rows], list(bins), color=color, label=label, **histogram)
        axes.set_xlabel("distance to the origin")
        axes.set_ylabel("density")
        axes.axvline(radius, color="0.3", lw=0.9, ls="--")
        above = axes.get_xaxis_transform()  # x in units of the data, y of the axes
        axes.text(radius, 1.0, r"$\sqrt{d}$", transform=above, ha="center", va="bottom")
        axes.grid(visible=False)
        axes.legend(loc="upper right")
    caption = (
        "Figure 1: two clusters of outliers (red) among standard Gaussian rows (blue). All are "
        "about sqrt(d) away from the origin: distances do not show them."
    )
    return Drawing("figure1", caption, figure)


def _on_sphere(sample: Sample) -> Array:
    """Project rows to three dimensions, scaled to their own distances."""
    bad = sample.X[sample.is_outlier]
    _, vectors = np.linalg.eigh(bad.T @ bad)
    random = np.random.default_rng(0).standard_normal(D)
    axes, _ = np.linalg.qr(np.column_stack([vectors[:, -1], vectors[:, -2], random]))
    projected = sample.X @ axes
    if projected[sample.is_outlier, 0].mean() < 0.0:
        projected[:, 0] *= -1.0
    lengths = np.linalg.norm(projected, axis=1, keepdims=True)
    return np.asarray(projected / lengths * np.linalg.norm(sample.X, axis=1, keepdims=True))


def _indicator(sample: Sample, surrogate: str) -> Array:
    """Compute h about the coordinate-wise median: step 1 of Algorithm 1."""
    oracle = Oracle(as_table(sample.X), np.random.default_rng(0))
    solver = FullSpaceSolver(oracle, np.median(sample.X, axis=0), N * sample.sigma**2, tol=1e-6)
    return SURROGATES[surrogate].minimise(solver).indicator


def _indicators(sample: Sample) -> Drawing:
    """Draw h by l1 and by lp, about the coordinate-wise median."""
    rows, bad = np.arange(1, N + 1), sample.is_outlier
    with styled(7.0, 2.7) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, name in zip(panels, SURROGATES, strict=True):
            column = COLUMNS[name]
            h = _indicator(sample, name)
            circle: dict[str, Any] = {"mfc": "none", "mec": BAD, "mew": 1.2, "clip_on": False}
            axes.plot(rows[bad], h[bad], "o", ms=8, label="true outliers", **circle)
            axes.plot(rows, h, "o", ms=3, color=column.color, mew=0, label="$h_i$", clip_on=False)
            removed = SURROGATES[name].nonzero(h)
            found, good = int((removed & bad).sum()), int((removed & ~bad).sum())
            axes.set_title(
                f"{column.label}: removes {found} of {bad.sum()} outliers, {good} good rows"
            )
            axes.set_xlabel("row")
            axes.set_xlim(0, N + 1)
        panels[0].set_ylabel("$h_i$")
        panels[0].set_ylim(0.0, 1.0)
        panels[1].legend(loc="center")
    caption = (
        "Figure 2: the outlier indicator h by l1 (left) and by lp, p = 1/2 (right); the true "
        "outliers are circled."
    )
    return Drawing("figure2", caption, figure)
