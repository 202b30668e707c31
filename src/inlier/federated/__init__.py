"""Aggregation of what clients send in federated learning, some of whom lie."""

from inlier.federated.aggregation import Aggregate, aggregate
from inlier.federated.aggregator import RobustAggregator
from inlier.federated.record import Record

__all__ = ["Aggregate", "Record", "RobustAggregator", "aggregate"]
