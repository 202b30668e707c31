"""The scikit-learn estimators."""

from inlier.estimators.robust_centerer import RobustCenterer
from inlier.estimators.robust_kmeans import RobustKMeans
from inlier.estimators.robust_mean import RobustMean
from inlier.estimators.robust_mean_sampler import RobustMeanSampler
from inlier.estimators.robust_nearest_centroid import RobustNearestCentroid

__all__ = [
    "RobustCenterer",
    "RobustKMeans",
    "RobustMean",
    "RobustMeanSampler",
    "RobustNearestCentroid",
]
