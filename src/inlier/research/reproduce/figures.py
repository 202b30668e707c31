"""Figure 2 of the paper: the outlier indicator by l1 and by lp. Figure 1 is an illustration."""

from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data import as_table
from inlier.l0.full_space import FullSpaceSolver
from inlier.l0.surrogates import L1, ReweightedL2, Surrogate
from inlier.linalg.eigenpairs import Oracle
from inlier.research.datasets import Sample, SettingB
from inlier.research.reproduce.chapter import COLUMNS, Chapter, Drawing, Setup, styled

D, N, ALPHA = 100, 200, 0.1
SURROGATES: dict[str, Surrogate] = {"paper-l1": L1(), "paper-lp": ReweightedL2(0.5)}

# Of Paul Tol, safe for colour-blind readers.
ROW, BAD = "#332288", "#CC3311"

TEXT = f"""\
SettingB(n={N}, d={D}, alpha={ALPHA}), seed 0, with the center fixed at the coordinate-wise median
and the true sigma, as in the paper."""


def run(setup: Setup) -> Chapter:
    """Draw it."""
    setup.watch("Figure 2", 0, 1)
    drawing = _indicators(SettingB(N, D, ALPHA).sample(0))
    setup.watch("Figure 2", 1, 1)
    return Chapter("The paper's Figure 2", TEXT, drawings=[drawing])


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
            axes.plot(rows, h, "o", ms=3, color=ROW, mew=0, label="$h_i$", clip_on=False)
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
