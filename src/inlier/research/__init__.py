"""Research: the methods of others, contaminated data, comparisons, and the paper's experiments.

It builds on the rest of the package, which does not import it. Needs the extra `research`.
"""

import lazy_loader

# Loaded when they are asked for: the command line imports this package.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
