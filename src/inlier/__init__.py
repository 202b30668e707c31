"""Robust mean estimation in high dimensions: the mean of the good rows, and which are bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inlier import theory
from inlier.api import path, robust_mean
from inlier.certificate import Certificate
from inlier.convex import Solution
from inlier.data import open_table
from inlier.explain import Explanation
from inlier.result import (
    MeanResult,
    PathPoint,
    RobustMeanResult,
    Step,
    WeakEvidenceWarning,
)
from inlier.rules import Group
from inlier.solvers import project, solve_l1, solve_least_squares

if TYPE_CHECKING:
    from inlier import baselines, datasets
    from inlier.comparison import Comparison, compare
    from inlier.estimators import RobustMean
    from inlier.registry import Method, methods

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "Comparison",
    "Explanation",
    "Group",
    "MeanResult",
    "Method",
    "PathPoint",
    "RobustMean",
    "RobustMeanResult",
    "Solution",
    "Step",
    "WeakEvidenceWarning",
    "baselines",
    "compare",
    "datasets",
    "methods",
    "open_table",
    "path",
    "project",
    "robust_mean",
    "solve_l1",
    "solve_least_squares",
    "theory",
]


# scikit-learn takes longer to import than everything else together, and loads pandas.
_LAZY = {
    "Comparison": "inlier.comparison",
    "Method": "inlier.registry",
    "RobustMean": "inlier.estimators",
    "compare": "inlier.comparison",
    "methods": "inlier.registry",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in ("baselines", "datasets"):
        return importlib.import_module(f"inlier.{name}")
    raise AttributeError(f"module 'inlier' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
