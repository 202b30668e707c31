"""A result as a page to read: one HTML file that needs no network."""

from inlier.report.card import card
from inlier.report.document import page, pages

__all__ = ["card", "page", "pages"]
