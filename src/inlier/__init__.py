"""Robust mean estimation in high dimensions: the mean of the good rows, and which are bad."""

import warnings
from importlib import import_module
from importlib.metadata import version
from typing import Any

import lazy_loader

# Loaded when they are used: the command line has to be ready for Ctrl-C before numpy and SciPy
# are, and scikit-learn takes longer than everything else together. Types are in __init__.pyi.
_lazy, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
# Names that go with the next release: they are in `inlier.research`.
_OLD = ("baselines", "compare", "methods")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("inlier")
    if name not in _OLD:
        return _lazy(name)
    message = f"inlier.{name} goes with the next release: use inlier.research.{name}."
    warnings.warn(message, FutureWarning, stacklevel=2)
    return getattr(import_module("inlier.research"), name)
