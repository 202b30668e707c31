"""No sigma and no alpha: rows leave in groups, as long as there is evidence for one.

What is left fixes sigma. Each round looks at the rows that are still there in three ways, from the
simplest to the costliest, and stops at the first that finds a group:

    how far out    rows that stand apart, or more rows far from the center than near it, if they
                   also point the same way: the long rows of a heavy tail do not
    directions     of large variance, on one side of which there is a surplus that is no tail
    metric         the same along directions that are flat or skewed in the metric of the rows, if
                   they vary more in some directions than in others

Every one of these looks depends on the rows only through their distances and second moments, which
do not change if a row is reflected in the center. So for good rows, if they are symmetric, the side
on which a row lies stays a coin toss, however the direction was searched for and in any dimension.
(The search in the metric is the exception, and is charged for it.)

A group that would leave hardly more than half of the rows is refused: the majority is good, but a
narrow one says nothing. If fewer than two thirds would be left, it must be clear of the others.
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
