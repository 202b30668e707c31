"""Robust mean estimation in high dimensions: the mean of the good rows, and which are bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inlier import theory
from inlier.api import path, robust_mean
from inlier.convex import Solution
from inlier.result import (
    Certificate,
    PathPoint,
    RobustMeanResult,
    WeakEvidenceWarning,
)
from inlier.rules import Group
from inlier.solvers import project, solve_l1, solve_least_squares

if TYPE_CHECKING:
    from inlier import datasets
    from inlier.estimators import RobustMean

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "Group",
    "PathPoint",
    "RobustMean",
    "RobustMeanResult",
    "Solution",
    "WeakEvidenceWarning",
    "datasets",
    "path",
    "project",
    "robust_mean",
    "solve_l1",
    "solve_least_squares",
    "theory",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes longer to import than everything else together, and loads pandas.
    if name == "RobustMean":
        from inlier.estimators import RobustMean

        return RobustMean
    if name == "datasets":
        import importlib

        return importlib.import_module("inlier.datasets")
    raise AttributeError(f"module 'inlier' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
