"""Names for types that every module uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Of floating point numbers, in double precision unless it is the data themselves."""
Mask = NDArray[np.bool_]
Rows = Any
"""One entry, or column, for each row of a table: an array of the library that holds the data."""
Seed = int | np.random.Generator | np.random.RandomState | None
"""What randomness may come from."""
