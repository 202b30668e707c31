"""Research: the methods of others, contaminated data, comparisons, and the paper's experiments.

It builds on the rest of the package, which does not import it. Needs the extra `research`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inlier.research import baselines, datasets
    from inlier.research.comparison import Comparison, compare
    from inlier.research.comparison.registry import Method, methods

__all__ = ["Comparison", "Method", "baselines", "compare", "datasets", "methods"]

# Loaded when they are asked for: the command line imports this package.
_HOMES = {
    "Comparison": "comparison",
    "compare": "comparison",
    "Method": "comparison.registry",
    "methods": "comparison.registry",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
