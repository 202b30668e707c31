"""The scikit-learn estimators."""

from inlier.estimators.robust_mean import RobustMean

__all__ = ["RobustMean"]
