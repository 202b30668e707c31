"""What a report shows about one answer, as plain data for the template `answer.html`."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from inlier import figures
from inlier.figures import RowClass
from inlier.figures.numbers import decimals_for, number
from inlier.report import tables
from inlier.report.images import check_image, limits_of, picture
from inlier.report.svg import Chart
from inlier.results.explanation import Explanation, shortened
from inlier.results.summary import Summary

# Limits that keep a page small. Of more rows than these a sample is drawn.
MOST_KEPT, MOST_REMOVED = 2000, 1500
# Columns and gross cells in tables, numbers of removed rows in lists.
MOST_COLUMNS, MOST_CELLS, MOST_LISTED = 500, 300, 1500
# Gross cells of one of the worst rows.
MOST_CELLS_OF_ROW = 3
# Letters of a row's name in a tooltip.
LONGEST_TOOLTIP = 60


def collect_content(
    summary: Summary,
    *,
    image: tuple[int, int] | None = None,
    notes: Sequence[str] = (),
    share: float = 1.0,
    level: int = 2,
    prefix: str = "",
) -> dict[str, Any]:
    """Collect what the sections about one answer show.

    Parameters
    ----------
    summary : Summary
    image : tuple of int, optional
        Height and width, if each row is a grey image.
    notes : sequence of str
        What happened to the data before the fit.
    share : float
        Share of the page: several answers have fewer marks and table rows each.
    level : int
        Level of the headings.
    prefix : str
        Of all anchors.
    """
    image = check_image(image, summary.d)
    classes = figures.sample_rows(
        figures.row_classes(summary),
        max(50, int(MOST_KEPT * share)),
        max(50, int(MOST_REMOVED * share)),
    )
    scores = figures.scores_panel(summary, classes)
    projections = figures.projection_panels(summary, classes) if len(summary.view.rows) else ()
    radius = figures.radius_panel(summary.certificate)
    most_cells = max(20, int(MOST_CELLS * share))
    n_worst = max(3, int(np.ceil(len(summary.worst) * min(1.0, 2.0 * share))))
    limits = limits_of(summary.robust, summary.median)
    means = {
        "robust mean": summary.robust, "plain mean": summary.plain, "median": summary.median,
    }  # fmt: skip
    return {
        "summary": summary,
        "certificate": summary.certificate,
        "kept": summary.n - summary.n_removed,
        "notes": [note for note in notes if note.strip()],
        "level": level,
        "prefix": prefix,
        "classes": classes,
        "sampling_note": figures.sampling_note(classes),
        "proportions": _proportions(classes, summary.n),
        "removed_rows": _removed_rows(classes, max(100, int(MOST_LISTED * share))),
        "tooltips": [_tooltips(summary, one) for one in classes],
        "scores": [Chart(scores), Chart(figures.histogram_panel(summary, scores.y))],
        "spectrum": Chart(figures.spectrum_panel(summary)),
        "path": [Chart(panel) for panel in figures.path_panels(summary)] if summary.path else [],
        "path_from_infinity": any(np.isinf(point.sigma) for point in summary.path),
        "path_table": tables.path_table(summary) if summary.path else None,
        "projections": [Chart(panel) for panel in projections],
        "radius": None if radius is None else Chart(radius),
        "radius_table": tables.radius_table(summary.certificate),
        "means_table": tables.means_table(summary, max(20, int(MOST_COLUMNS * share))),
        "cells_table": tables.cells_table(summary, most_cells),
        "n_rows_with_cells": len({cell.row for cell in summary.cells}),
        "limits": limits,
        "pictures": [
            picture(values, image, limits, label) for label, values in means.items() if image
        ],
        "worst": [_worst_row(summary, why, image) for why in summary.worst[:n_worst]],
    }


def _proportions(classes: Sequence[RowClass], n: int) -> dict[str, Any]:
    """Divide a bar of length 1000 among the classes; few rows are visible too."""
    pieces, x = [], 0.0
    for one in classes:
        width = 1000.0 * len(one.rows) / max(1, n)
        width = width if one.role == "kept" else max(width, 2.0)
        css = "removed-bar" if one.removed else f"{one.role}-bar"
        if width:
            pieces.append((x, max(width - 1.5, 1.0), css))
        x += width
    return {"pieces": pieces, "width": max(x, 1.0)}


def _removed_rows(classes: Sequence[RowClass], most: int) -> list[tuple[RowClass, list[int], int]]:
    """Return for each removed class the rows that are listed, and how many are not."""
    listed = []
    for one in classes:
        if one.removed and most > 0:
            shown = one.rows[:most].tolist()
            most -= len(shown)
            listed.append((one, shown, len(one.rows) - len(shown)))
    return listed


def _tooltips(summary: Summary, one: RowClass) -> dict[str, Any]:
    """Return what the script says about the row under the pointer."""
    rows = one.drawn.tolist()
    names = None
    if summary.names is not None:
        names = [shortened(summary.row_name(i), LONGEST_TOOLTIP) for i in rows]
    scores = [number(score) for score in summary.scores[one.drawn]]
    return {"key": one.key, "label": one.label, "rows": rows, "scores": scores, "names": names}


def _worst_row(summary: Summary, why: Explanation, image: tuple[int, int] | None) -> dict[str, Any]:
    """Collect what the card of one of the worst rows shows."""
    i = why.row
    group, suspect = int(summary.group_of[i]), int(summary.suspect_of[i])
    removed = not bool(summary.support[i])
    mark = ("kept", 0) if suspect < 0 else ("suspect", suspect)
    if removed:
        alone = ("others", 0) if summary.groups else ("group", 0)
        mark = ("group", group) if group >= 0 else alone
    cells = summary.cells_of(i)
    return {
        "why": why,
        "name": summary.row_name(i),
        "score": float(summary.scores[i]),
        "mark": mark,
        "removed": removed,
        "group": group,
        "cells": cells[:MOST_CELLS_OF_ROW],
        "n_more_cells": len(cells[MOST_CELLS_OF_ROW:]),
        "picture": picture(why.values, image, limits_of(why.values), "the row") if image else None,
        "table": tables.explanation_table(why, decimals_for(summary.deviation)),
    }


def split_code(text: str) -> list[tuple[str, bool]]:
    """Split a message into words and code, which is what can be typed: result.keep."""
    pieces = re.split(r"(\bresult\.\w+)", text)
    return [(piece, i % 2 == 1) for i, piece in enumerate(pieces)]
