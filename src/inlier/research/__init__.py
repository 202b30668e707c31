"""Research: the methods of others, contaminated data, comparisons, and the paper's experiments.

It builds on the rest of the package, which does not import it. Needs the extra `research`.
"""

from typing import TYPE_CHECKING

import lazy_loader  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from inlier.research import baselines, datasets
    from inlier.research.comparison import Comparison, compare
    from inlier.research.comparison.registry import Method, methods

__all__ = ["Comparison", "Method", "baselines", "compare", "datasets", "methods"]

# Loaded when they are asked for: the command line imports this package.
_names = {
    "comparison": ["Comparison", "compare"],
    "comparison.registry": ["Method", "methods"],
}
__getattr__, __dir__, _ = lazy_loader.attach(__name__, ["baselines", "datasets"], _names)
