"""Contaminated data with known inliers, and the figures printed in the paper.

Each contamination model is a dataclass of its parameters; ``model.sample(seed)`` draws rows and
their labels. Oblivious models and real rows are in `models`, adaptive ones
in `adversaries`, pictures in `images`, inlier distributions in `inliers`.
"""

from inlier.datasets import Contamination, Images, Sample, SettingA, SettingB, Shuffled, digits
from inlier.research.datasets.adversaries import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
    Mirrored,
    Subtractive,
)
from inlier.research.datasets.images import faces, read_images
from inlier.research.datasets.inliers import (
    Gaussian,
    Inliers,
    Laplace,
    Rotated,
    Spiked,
    StudentT,
    Uneven,
)
from inlier.research.datasets.models import (
    Clean,
    Cluster,
    HeavyTails,
    Huber,
    ObviousAndSubtle,
    QuietDirections,
    TwoClusters,
)
from inlier.research.datasets.paper import PrintedTable, printed_tables

__all__ = [
    "AlphaCorruption", "Attack", "BelowThreshold", "Clean", "Cluster", "Contamination",
    "Gaussian", "HeavyTails", "Huber", "Images", "Inliers", "Laplace", "Mirrored",
    "ObviousAndSubtle", "PrintedTable", "QuietDirections", "Rotated", "Sample", "SettingA",
    "SettingB", "Shuffled", "Spiked", "StudentT", "Subtractive", "TwoClusters", "Uneven",
    "digits", "faces", "printed_tables", "read_images",
]  # fmt: skip
