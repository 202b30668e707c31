"""The figures of a result, described once: what `plots` and `report` draw."""

from inlier.figures.axis import Axis
from inlier.figures.panel import Bars, Level, Note, Panel, Series
from inlier.figures.panels import (
    histogram_panel,
    means_panel,
    path_panels,
    projection_panels,
    radius_panel,
    scores_panel,
    spectrum_panel,
)
from inlier.figures.row_classes import RowClass, row_classes, sample_rows, sampling_note

__all__ = [
    "Axis", "Bars", "Level", "Note", "Panel", "RowClass", "Series", "histogram_panel",
    "means_panel", "path_panels", "projection_panels", "radius_panel", "row_classes",
    "sample_rows", "sampling_note", "scores_panel", "spectrum_panel",
]  # fmt: skip
