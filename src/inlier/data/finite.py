"""Check that a block is finite."""

from __future__ import annotations

import numpy as np

from inlier._internal.arrays import dtype_name, namespace, on_host
from inlier._internal.typing import Rows


def check_finite(block: Rows, name: str, first: int | None) -> None:
    """Raise if an entry is NaN or infinite; `first` is the index of the first row, if known."""
    if "float" not in dtype_name(block):
        return
    xp = namespace(block)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(block))):  # cheap and sufficient; large values may overflow
            return
    bad = np.argwhere(on_host(~xp.isfinite(block)))
    if len(bad):
        i, j = (int(x) for x in bad[0])
        where = "" if first is None else f", the first at row {first + i}, column {j}"
        kind = "NaN" if bool(xp.isnan(block[i, j])) else "infinity"
        # Baselines, sparse matrices, devices, files and clusters do not support missing cells.
        known = " robust_mean takes NaN for a missing cell in arrays and data frames in memory."
        raise ValueError(
            f"{name} contains NaN or infinity ({kind}{where}). Drop or impute such rows before "
            f"the fit.{known if kind == 'NaN' else ''}"
        )
