"""The methods of others, behind one interface: one file for each.

Each is a scikit-learn estimator that sees the data through the passes of `inlier.data` and keeps
a `MeanResult`. `inlier.methods()` lists them with what they need.
"""

from inlier.baselines.base import Baseline
from inlier.baselines.mean import SampleMean
from inlier.baselines.norm_trimmed_mean import NormTrimmedMean

BASELINES: tuple[type[Baseline], ...] = (SampleMean, NormTrimmedMean)

__all__ = ["BASELINES", "Baseline", *(method.__name__ for method in BASELINES)]
