"""Robust mean estimation in high dimensions: the mean of the good rows, and which are bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inlier import baselines, datasets, theory
    from inlier.api import path, robust_mean
    from inlier.certificate import Certificate
    from inlier.comparison import Comparison, compare
    from inlier.convex import Solution
    from inlier.data import open_table
    from inlier.estimators import RobustMean
    from inlier.explain import Explanation
    from inlier.registry import Method, methods
    from inlier.result import (
        MeanResult,
        PathPoint,
        RobustMeanResult,
        Step,
        WeakEvidenceWarning,
    )
    from inlier.rules import Group
    from inlier.solvers import project, solve_l1, solve_least_squares

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

# Where they are, loaded when they are asked for: the command line has to be ready for Ctrl-C
# before numpy and SciPy are, and scikit-learn takes longer than everything else together.
_HOMES = {
    "Certificate": "certificate",
    "Comparison": "comparison",
    "Explanation": "explain",
    "Group": "rules",
    "MeanResult": "result",
    "Method": "registry",
    "PathPoint": "result",
    "RobustMean": "estimators",
    "RobustMeanResult": "result",
    "Solution": "convex",
    "Step": "result",
    "WeakEvidenceWarning": "result",
    "compare": "comparison",
    "methods": "registry",
    "open_table": "data",
    "path": "api",
    "project": "solvers",
    "robust_mean": "api",
    "solve_l1": "solvers",
    "solve_least_squares": "solvers",
}
_MODULES = ("baselines", "data", "datasets", "theory")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        found = getattr(import_module(f"inlier.{_HOMES[name]}"), name)
    elif name in _MODULES:
        found = import_module(f"inlier.{name}")
    else:
        raise AttributeError(f"module 'inlier' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
