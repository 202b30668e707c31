"""Type aliases that every module uses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Floating point numpy array; double precision, except for the data."""
Mask = NDArray[np.bool_]
Rows = Any
"""Array whose last axis runs over the rows of a table, in the library that holds the data."""
Seed = int | np.random.Generator | np.random.RandomState | None
"""Argument for a random state."""
