"""Figures of a result, with matplotlib: scores, means, rows, spectrum and path.

Each function takes a `Summary` and, optionally, the axes to draw on; it makes a new figure if there
are none, and returns the axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inlier._internal.optional import optional
from inlier.figures import panels
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from inlier.figures.panel import Panel

__all__ = ["means", "path", "rows", "scores", "spectrum"]

# Of more groups the last ones share a colour.
MOST_GROUPS = 5


def scores(summary: Summary, ax: Axes | None = None) -> Axes:
    """Draw the score of every row, and the cut."""
    classes = panels.row_classes(summary, MOST_GROUPS)
    return _draw(ax, (7.0, 3.4), panels.scores_panel(summary, classes))


def means(summary: Summary, ax: Axes | None = None) -> Axes:
    """Draw plain mean and median beside the robust mean, for the columns with the largest shift."""
    panel = panels.means_panel(summary)
    return _draw(ax, (6.4, 1.3 + 0.24 * len(panel.y.names)), panel)


def rows(summary: Summary, ax: Axes | None = None) -> Axes:
    """Draw the rows in the two directions that matter most, relative to the robust mean."""
    classes = panels.row_classes(summary, MOST_GROUPS)
    return _draw(ax, (6.0, 4.8), panels.projection_panels(summary, classes)[0])


def spectrum(summary: Summary, ax: Axes | None = None) -> Axes:
    """Draw the largest standard deviations in any direction, of all rows and of the kept ones.

    All rows are left out if some of them are too far away to square.
    """
    return _draw(ax, (5.6, 3.6), panels.spectrum_panel(summary))


def path(summary: Summary, ax: Axes | None = None) -> Axes:
    """Draw sigma against the removed rows, its price on a second axis, and the chosen point."""
    if not summary.path:
        raise ValueError(
            "There is no path, because sigma was given to the fit or this result was itself taken "
            "from a path: call plot_path on the result of robust_mean(X) without sigma."
        )
    return _draw(ax, (6.4, 3.6), *panels.path_panels(summary))


def _draw(ax: Axes | None, size: tuple[float, float], panel: Panel, *second: Panel) -> Axes:
    """Draw a panel on axes, and a second one with the same x axis on a twin of them."""
    optional("matplotlib", "To draw", "plot")
    from inlier.plots.drawing import draw, draw_twins

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=size, layout="constrained").add_subplot()
    return draw_twins(ax, panel, *second) if second else draw(ax, panel)
