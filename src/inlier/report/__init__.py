"""What readers see of a result: a page, a card for notebooks, and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.validation import check_choice
from inlier.report.card import card
from inlier.report.document import page
from inlier.results.result import Plot
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["card", "page", "plot"]


def plot(summary: Summary, kind: str, ax: Axes | None = None) -> Axes:
    """Draw a figure of a result, see `RobustMeanResult.plot`, on axes or on those of a new one."""
    check_choice(kind, "kind", get_args(Plot))
    optional("matplotlib", "To draw", "plot")
    from inlier.report import figures

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.2), layout="constrained").add_subplot()
    with np.errstate(all="ignore"):
        getattr(figures, f"draw_{kind}")(ax, summary)
        figures.add_legend(ax)
    return ax
