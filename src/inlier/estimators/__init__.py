"""The scikit-learn estimators."""

from inlier._internal.removed import removed
from inlier.estimators.robust_centerer import RobustCenterer
from inlier.estimators.robust_covariance import RobustCovariance
from inlier.estimators.robust_mean import RobustMean
from inlier.estimators.robust_mean_sampler import RobustMeanSampler
from inlier.estimators.robust_pca import RobustPCA

__all__ = ["RobustCenterer", "RobustCovariance", "RobustMean", "RobustMeanSampler", "RobustPCA"]

__getattr__ = removed(
    __name__,
    {
        "RobustKMeans": "copy it from the gallery, examples/plot_14_kmeans.py",
        "RobustNearestCentroid": "copy it from the gallery, examples/plot_13_nearest_centroid.py",
    },
)
