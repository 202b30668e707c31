"""Robust mean estimation in high dimensions: the mean of the good rows, and which are bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inlier._internal.late import connect

if TYPE_CHECKING:
    from inlier import baselines, datasets, federated, theory
    from inlier.api import path, robust_mean
    from inlier.comparison import Comparison, compare
    from inlier.comparison.registry import Method, methods
    from inlier.data import open_table
    from inlier.estimators import (
        RobustCenterer,
        RobustCovariance,
        RobustMean,
        RobustMeanSampler,
        RobustPCA,
    )
    from inlier.l0.full_space import Solution
    from inlier.l0.solvers import project, solve_l1, solve_least_squares
    from inlier.results.certificate import Certificate
    from inlier.results.explanation import Explanation
    from inlier.results.records import MeanResult, PathPoint, Step, WeakEvidenceWarning
    from inlier.results.result import RobustMeanResult
    from inlier.results.rules import Group

__version__: str

__all__ = [
    "Certificate",
    "Comparison",
    "Explanation",
    "Group",
    "MeanResult",
    "Method",
    "PathPoint",
    "RobustCenterer",
    "RobustCovariance",
    "RobustMean",
    "RobustMeanResult",
    "RobustMeanSampler",
    "RobustPCA",
    "Solution",
    "Step",
    "WeakEvidenceWarning",
    "baselines",
    "compare",
    "datasets",
    "federated",
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
    "Certificate": "results.certificate",
    "Comparison": "comparison",
    "Explanation": "results.explanation",
    "Group": "results.rules",
    "MeanResult": "results.records",
    "Method": "comparison.registry",
    "PathPoint": "results.records",
    "RobustCenterer": "estimators",
    "RobustCovariance": "estimators",
    "RobustKMeans": "estimators",
    "RobustMean": "estimators",
    "RobustMeanResult": "results.result",
    "RobustMeanSampler": "estimators",
    "RobustNearestCentroid": "estimators",
    "RobustPCA": "estimators",
    "Solution": "l0.full_space",
    "Step": "results.records",
    "WeakEvidenceWarning": "results.records",
    "compare": "comparison",
    "methods": "comparison.registry",
    "open_table": "data",
    "path": "api",
    "project": "l0.solvers",
    "robust_mean": "api",
    "solve_l1": "l0.solvers",
    "solve_least_squares": "l0.solvers",
}
# What results offer as methods, though it is made of results.
connect(
    {
        "solve_again": "inlier.api:solve_again",
        "summarise": "inlier.results.summary:summarise",
        "page": "inlier.report:page",
        "card": "inlier.report:card",
        "plot_means": "inlier.plots:means",
        "plot_path": "inlier.plots:path",
        "plot_rows": "inlier.plots:rows",
        "plot_scores": "inlier.plots:scores",
        "plot_spectrum": "inlier.plots:spectrum",
    }
)
_MODULES = ("baselines", "data", "datasets", "federated", "theory")


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.metadata import version

    found: Any
    if name == "__version__":
        found = version("inlier")
    elif name in _HOMES:
        found = getattr(import_module(f"inlier.{_HOMES[name]}"), name)
    elif name in _MODULES:
        found = import_module(f"inlier.{name}")
    else:
        raise AttributeError(f"module 'inlier' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
