"""What readers see of a result: a page, a card for notebooks, and figures."""

from inlier.report.card import card
from inlier.report.document import page, pages
from inlier.report.plotting import plot

__all__ = ["card", "page", "pages", "plot"]
