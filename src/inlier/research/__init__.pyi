from . import baselines, datasets
from .comparison import Comparison, compare
from .comparison.registry import Method, methods

__all__ = ["Comparison", "Method", "baselines", "compare", "datasets", "methods"]
