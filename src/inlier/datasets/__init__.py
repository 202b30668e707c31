"""Contaminated data with known inliers, and the figures printed in the paper.

Each contamination model is a dataclass of its parameters; ``model.sample(seed)`` draws rows and
their labels. The paper's models are in `settings`, other oblivious ones in `models`, adaptive ones
in `adversaries`, real data in `real`, pictures in `images`, inlier distributions in `inliers`.
"""

from inlier.datasets.adversaries import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
    Mirrored,
    Subtractive,
)
from inlier.datasets.base import Contamination, Sample
from inlier.datasets.images import Images, digits, faces, read_images
from inlier.datasets.inliers import Gaussian, Inliers, Laplace, Rotated, Spiked, StudentT, Uneven
from inlier.datasets.models import (
    Clean,
    Cluster,
    HeavyTails,
    Huber,
    ObviousAndSubtle,
    QuietDirections,
)
from inlier.datasets.paper import PrintedTable, printed_tables
from inlier.datasets.real import Shuffled
from inlier.datasets.settings import SettingA, SettingB, TwoClusters

__all__ = [
    "AlphaCorruption",
    "Attack",
    "BelowThreshold",
    "Clean",
    "Cluster",
    "Contamination",
    "Gaussian",
    "HeavyTails",
    "Huber",
    "Images",
    "Inliers",
    "Laplace",
    "Mirrored",
    "ObviousAndSubtle",
    "PrintedTable",
    "QuietDirections",
    "Rotated",
    "Sample",
    "SettingA",
    "SettingB",
    "Shuffled",
    "Spiked",
    "StudentT",
    "Subtractive",
    "TwoClusters",
    "Uneven",
    "digits",
    "faces",
    "printed_tables",
    "read_images",
]
