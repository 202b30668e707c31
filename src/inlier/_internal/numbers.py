"""Numbers at the limits of double precision, each defined once."""

import numpy as np

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
"""Smallest normal number: a divisor that stands for zero."""
NEGLIGIBLE = 1e-300
"""Below this a number counts as zero, so that its inverse cannot overflow."""
