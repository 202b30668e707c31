"""Figures of a result for notebooks and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.optional import optional
from inlier.report.rows import row_classes
from inlier.results.result import RobustMeanResult
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width and height of a new figure, in inches.
SIZES = {
    "scores": (7.0, 3.4),
    "means": (6.4, 4.6),
    "rows": (6.0, 4.8),
    "spectrum": (5.6, 3.6),
    "path": (6.4, 3.6),
}


def plot(result: RobustMeanResult | Summary, kind: str, ax: Axes | None = None) -> Axes:
    """Draw a figure of a result on the given axes, or on those of a new figure.

    Parameters
    ----------
    result : RobustMeanResult or Summary
    kind : {"scores", "means", "rows", "spectrum", "path"}
        The score of every row and the cut; the columns in which the plain mean and the median are
        off most; the rows in the two directions that matter most; the largest standard deviations
        of all rows and of the kept rows; or sigma and its price along the path.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new ones, if not given.
    """
    if kind not in SIZES:
        raise ValueError(f"kind must be one of {', '.join(map(repr, SIZES))}, but is {kind!r}.")
    summary = result.summary if isinstance(result, RobustMeanResult) else result
    if kind == "path" and not summary.path:
        raise ValueError(
            "There is no path, because sigma was given to the fit or this result was itself taken "
            'from a path: plot the "path" of the result of robust_mean(X) without sigma.'
        )
    optional("matplotlib", "To draw", "plot")
    from inlier.report import figures

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=SIZES[kind], layout="constrained").add_subplot()
    with np.errstate(all="ignore"):
        if kind == "scores":
            figures.draw_scores(ax, summary, row_classes(summary))
        elif kind == "means":
            figures.draw_means(ax, summary)
        elif kind == "rows":
            figures.draw_rows(ax, summary, row_classes(summary), figures.view_pairs(summary)[0])
        elif kind == "spectrum":
            figures.draw_spectrum(ax, summary)
        else:
            figures.draw_path(ax, summary, "sigma")
            figures.draw_price(ax, summary)
        figures.add_legend(ax)
    return ax
