"""Rows that inflate the covariance of the others.

The covariance is the mean of z z^T over the centered rows z: a robust mean in d^2 dimensions. In a
metric in which good rows have covariance I, and if they are Gaussian, <V, z z^T> has variance 2 for
every symmetric V of norm 1. So the problem with sigma^2 = 2 gives the fewest rows without which no
second moment varies more than that.

With d^2 dimensions and n rows, there are matrices V along which second moments vary more by chance.
So `directions` first finds the few directions of the data along which most of the variance comes
from few rows, which takes d x d matrices only; `rows` then removes rows by their second moments
within these directions.
"""

from inlier.covariance.missing import Moments, moments_of
from inlier.covariance.rows import GoodRows, MomentAssumption, good_rows

__all__ = ["GoodRows", "MomentAssumption", "Moments", "good_rows", "moments_of"]
