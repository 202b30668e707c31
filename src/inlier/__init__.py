"""Robust mean estimation in high dimensions: the mean of the good rows, and which are bad."""

from importlib.metadata import version
from typing import Any

import lazy_loader

# Loaded when they are used: the command line has to be ready for Ctrl-C before numpy and SciPy
# are, and scikit-learn takes longer than everything else together. Types are in __init__.pyi.
_lazy, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    return version("inlier") if name == "__version__" else _lazy(name)
