"""Files of `numpy.save`."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data.sources.base import opening
from inlier.data.sources.npy import open_npy
from inlier.io.base import ArrayContent, Format, Place, ReadOptions

MAGIC = b"\x93NUMPY"


def load(place: Place, options: ReadOptions) -> ArrayContent:
    """Map a .npy file; one that comes from a pipe is in memory already. Nothing is unpickled."""
    if place.path is not None and not place.zipped:
        # Says what is wrong with the header or the length. A map of nothing cannot be made.
        stored = open_npy(place.path, str(place))
        if stored.dtype.hasobject or 0 in stored.shape or len(stored.shape) != 2:
            return ArrayContent(stored, place, options)
        return ArrayContent(np.lib.format.open_memmap(place.path, mode="r"), place, options)
    raw = io.BytesIO(place.read())
    with opening("a file of numpy.save", str(place), ValueError, OSError):
        return ArrayContent(np.lib.format.read_array(raw, allow_pickle=False), place, options)


def write(blocks: Iterable[Array], shape: tuple[int, int], dtype: Any, out: Any) -> None:
    """Write rows that come in blocks, as `numpy.save` would write all of them."""
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
    np.lib.format.write_array_header_1_0(out, {**described, "shape": shape})
    for block in blocks:
        out.write(np.ascontiguousarray(block, dtype).tobytes())


FORMAT = Format("NumPy", (".npy",), load, begins=lambda head: head.startswith(MAGIC))
