"""Names for types that every model uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Rows = NDArray[np.intp]
"""Numbers of rows."""
RandomState = int | np.random.Generator | None
