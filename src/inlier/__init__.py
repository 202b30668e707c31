"""Robust mean estimation in high dimensions: the mean of the good rows, and which are bad."""

import warnings
from importlib import import_module
from typing import Any

import lazy_loader

from inlier._internal.removed import removed

# Loaded when they are used: the command line has to be ready for Ctrl-C before numpy and SciPy
# are, and scikit-learn takes longer than everything else together. Types are in __init__.pyi.
_lazy, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Names that go with the next release, and where their objects are now.
_OLD = {
    "Comparison": "research.Comparison",
    "MeanResult": "research.baselines.base.MeanResult",
    "Method": "research.Method",
    "Solution": "l0.Solution",
    "Step": "verdict.Step",
    "baselines": "research.baselines",
    "compare": "research.compare",
    "methods": "research.methods",
    "project": "l0.project",
    "solve_l1": "l0.solve_l1",
    "solve_least_squares": "l0.solve_least_squares",
}
_REMOVED = ("RobustKMeans", "RobustNearestCentroid")
_PATH = dict.fromkeys(("PathPoint", "path"), "use robust_mean(X).sensitivity")


def __getattr__(name: str) -> Any:
    if name in _PATH:
        removed(__name__, _PATH)(name)
    if name in _REMOVED:
        return getattr(import_module("inlier.estimators"), name)
    if name == "__version__":
        return import_module("importlib.metadata").version("inlier")
    if name not in _OLD:
        return _lazy(name)
    home, _, attribute = f"inlier.{_OLD[name]}".rpartition(".")
    warnings.warn(
        f"inlier.{name} goes with the next release: use {home}.{attribute}.",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(import_module(home), attribute)
