"""The search for outliers with no sigma and no fraction given: rows are removed in groups.

The kept rows determine sigma. If good rows are symmetric, each round tests the remaining rows in
three ways, from the simplest to the costliest, and stops at the first that finds a group:

    distances      rows that stand apart, or more rows far from the center than near it, if they
                   also point the same way: the long rows of a heavy tail do not
    directions     of large variance, on one side of which there is a surplus that is not a tail
    metric         the same along directions that are flat or skewed in the metric of the rows, if
                   they vary more in some directions than in others

These tests depend on the rows only through their distances and second moments, which do not change
if a row is reflected in the center. So the side on which a good row lies remains a coin toss, for
any search for the direction and in any dimension. (The search in the metric is the exception, and
is charged for it.)

A group is refused if hardly more than half of the rows would be kept: the majority is good, but a
narrow one is no evidence. If fewer than two thirds would be kept, it must be well separated.
"""

from inlier.search.path import below_the_edge
from inlier.search.search import begun, removed, select, settled
from inlier.search.state import Candidate, SearchState

__all__ = [
    "Candidate",
    "SearchState",
    "begun",
    "below_the_edge",
    "removed",
    "select",
    "settled",
]
