"""Robust aggregation of client updates in federated learning."""

from inlier.federated.aggregation import Aggregate, DoubtfulRoundError, aggregate
from inlier.federated.record import Record

__all__ = ["Aggregate", "DoubtfulRoundError", "Record", "aggregate"]
