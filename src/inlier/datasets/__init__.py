"""Contaminated data whose good rows are known, and the figures printed in the paper."""

from inlier.datasets.paper import PrintedTable, printed_tables
from inlier.datasets.synthetic import Sample, SettingA, SettingB

__all__ = ["PrintedTable", "Sample", "SettingA", "SettingB", "printed_tables"]
