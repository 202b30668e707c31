"""Which rows have an undue part in the second moments of the others.

The covariance is the mean of z z^T over the centered rows z: a robust mean in d^2 dimensions. In a
metric in which good rows have covariance I, and if they are Gaussian, <V, z z^T> has variance 2 for
every symmetric V of norm 1. So the engine for a known sigma, sigma^2 = 2, finds the fewest rows
without which no second moment varies more than that.

With d^2 dimensions and n rows, chance alone makes up matrices V along which they vary more. So the
search is first for the few directions of the data along which much of the variance comes from few
rows, which takes d x d matrices only, then for the bad rows among the products of the coordinates
along these.

    directions     candidates, and the evidence that they are undue
    products       the second moments within a few directions, as the rows of a table
    search         directions and rows in turn, until no more leave
    good_rows      all of it, after what has no part in the robust mean
"""

from inlier.second_moments.search import undue_rows

__all__ = ["undue_rows"]
