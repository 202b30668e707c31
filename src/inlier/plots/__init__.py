"""Figures of a result, with matplotlib: scores, means, rows, spectrum and path."""

from __future__ import annotations

from inlier.plots.means import means
from inlier.plots.path import path
from inlier.plots.rows import rows
from inlier.plots.scores import scores
from inlier.plots.spectrum import spectrum

__all__ = ["means", "path", "rows", "scores", "spectrum"]
