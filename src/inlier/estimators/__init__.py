"""The scikit-learn estimators."""

from inlier.estimators.robust_centerer import RobustCenterer
from inlier.estimators.robust_covariance import RobustCovariance
from inlier.estimators.robust_mean import RobustMean
from inlier.estimators.robust_mean_sampler import RobustMeanSampler
from inlier.estimators.robust_pca import RobustPCA

__all__ = ["RobustCenterer", "RobustCovariance", "RobustMean", "RobustMeanSampler", "RobustPCA"]
