"""Contaminated data with known inliers, and the figures printed in the paper.

Beside the models of `base`: oblivious ones and distributions of good rows in `models`,
adaptive ones in `adversaries`, pictures in `images`.
"""

from inlier.datasets import (
    Contamination,
    Images,
    Sample,
    SettingA,
    SettingB,
    Shuffled,
    digits,
)
from inlier.research.datasets.adversaries import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
)
from inlier.research.datasets.images import faces, read_images
from inlier.research.datasets.models import (
    Clean,
    Cluster,
    Gaussian,
    HeavyTails,
    Huber,
    Inliers,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    Spiked,
    StudentT,
    TwoClusters,
    Uneven,
)
from inlier.research.datasets.paper import PrintedTable, printed_tables

__all__ = [
    "AlphaCorruption", "Attack", "BelowThreshold", "Clean", "Cluster", "Contamination",
    "Gaussian", "HeavyTails", "Huber", "Images", "Inliers", "Laplace",
    "ObviousAndSubtle", "PrintedTable", "QuietDirections", "Rotated", "Sample", "SettingA",
    "SettingB", "Shuffled", "Spiked", "StudentT", "TwoClusters", "Uneven",
    "digits", "faces", "printed_tables", "read_images",
]  # fmt: skip
