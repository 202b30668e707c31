"""Robust aggregation of client updates in federated learning."""

from inlier._internal.removed import removed
from inlier.federated.aggregation import Aggregate, DoubtfulRoundError, aggregate
from inlier.federated.record import Record

__all__ = ["Aggregate", "DoubtfulRoundError", "Record", "aggregate"]

__getattr__ = removed(
    __name__, {"RobustAggregator": "use aggregate(vectors, record=Record()).update"}
)
