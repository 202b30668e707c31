"""What a report shows about one answer, as plain data for the template `answer.html`."""

import base64
import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier.figures import panels
from inlier.figures.numbers import decimals_for, number
from inlier.figures.panels import RowClass
from inlier.report import tables
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
    """Collect what the sections about one answer show; image and notes are those of `page`.

    Several answers on a page have a share of the marks and table rows each, headings of a lower
    level, and anchors with a prefix.
    """

    def most(number: int, least: int) -> int:
        return max(least, int(number * share))

    image = check_image(image, summary.d)
    classes = panels.sample_rows(
        panels.row_classes(summary), most(MOST_KEPT, 50), most(MOST_REMOVED, 50)
    )
    scores = panels.scores_panel(summary, classes)
    projections = panels.projection_panels(summary, classes) if len(summary.view.rows) else ()
    radius = panels.radius_panel(summary.certificate)
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
        "sampling_note": panels.sampling_note(classes),
        "proportions": _proportions(classes, summary.n),
        "removed_rows": _removed_rows(classes, most(MOST_LISTED, 100)),
        "tooltips": [_tooltips(summary, one) for one in classes],
        "scores": [Chart(scores), Chart(panels.histogram_panel(summary, scores.y))],
        "spectrum": Chart(panels.spectrum_panel(summary)),
        "path": [Chart(panel) for panel in panels.path_panels(summary)] if summary.path else [],
        "path_from_infinity": any(np.isinf(point.sigma) for point in summary.path),
        "path_table": tables.path_table(summary) if summary.path else None,
        "projections": [Chart(panel) for panel in projections],
        "radius": None if radius is None else Chart(radius),
        "radius_table": tables.radius_table(summary.certificate),
        "means_table": tables.means_table(summary, most(MOST_COLUMNS, 20)),
        "cells_table": tables.cells_table(summary, most(MOST_CELLS, 20)),
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


# Larger images are averaged down, to at most so many pixels a side.
LARGEST_SIDE = 128


class Picture(NamedTuple):
    """An image as a data URI, and what it shows."""

    uri: str
    label: str


def check_image(image: tuple[int, int] | None, d: int) -> tuple[int, int] | None:
    """Return height and width, or raise an error if d columns do not fill them."""
    if image is None:
        return None
    try:
        height, width = (int(side) for side in image)
    except (TypeError, ValueError, OverflowError):
        height = width = 0
    if height < 1 or width < 1 or height * width != d:
        raise ValueError(
            f"image must be (height, width) with height * width = {d}, the number of columns, but "
            f"is {image!r}."
        )
    return height, width


def picture(
    values: Array, image: tuple[int, int], limits: tuple[float, float], label: str
) -> Picture:
    """Encode a row as a PNG image, black at the lower limit and white at the upper one."""
    pillow = optional("PIL.Image", "To show rows as images", "report")
    low, high = limits
    grey = (np.asarray(values, dtype=float).reshape(image) - low) / (high - low)
    grey = np.clip(np.nan_to_num(grey, nan=0.5, posinf=1.0, neginf=0.0), 0.0, 1.0)
    shown = pillow.fromarray((255.0 * grey).round().astype(np.uint8))
    shown = shown.reduce(-(-max(image) // LARGEST_SIDE))
    data = io.BytesIO()
    shown.save(data, format="PNG", optimize=True)
    return Picture(f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}", label)


def limits_of(*rows: Array) -> tuple[float, float]:
    """Return the lowest and the highest finite value."""
    values = np.concatenate([np.ravel(row) for row in rows])
    values = values[np.abs(values) <= 1e300]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
