"""Arrays of any library that follows the array API standard, and the way to and from the host.

What has one entry for each row of a table lives where the table lives: in memory, or on a device.
What has one entry for each column, and all that is smaller, is a numpy array on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_jax_array,
    is_torch_array,
    to_device,
)

from inlier._internal.typing import Array, Rows

# Of the dtypes that are real numbers, those that fit into single precision.
SINGLE = ("bool", "float16", "bfloat16", "float32", "int8", "int16", "uint8", "uint16")


def namespace(x: Rows) -> Any:
    """The functions of the standard, of the library that an array is from."""
    return np if isinstance(x, np.ndarray) else array_namespace(x)


def on_host(x: Rows) -> Array:
    """The numbers as a numpy array: waits for the device, if they are on one."""
    if is_torch_array(x) or is_cupy_array(x):  # which numpy cannot read where they are
        x = to_device(x, "cpu")
    return np.asarray(x)


def like(x: Any, rows: Rows, dtype: Any = None) -> Rows:
    """Numbers of the host beside some rows: in their library and on their device."""
    if isinstance(rows, np.ndarray):
        return np.asarray(x, dtype)
    x = np.asarray(x)
    if min(x.strides, default=0) < 0:  # which not every library takes, even where it is of one row
        x = x.copy()
    return namespace(rows).asarray(x, dtype=dtype, device=device(rows))


def counting(n: int, rows: Rows) -> Rows:
    """0, 1, ..., n - 1 beside some rows, in double precision."""
    xp = namespace(rows)
    if xp is np:
        return np.arange(n, dtype=np.float64)
    return xp.arange(n, dtype=xp.float64, device=device(rows))


def empty_like(x: Rows, shape: tuple[int, ...]) -> Rows:
    """An array of another shape, with anything in it."""
    if isinstance(x, np.ndarray):
        return np.empty(shape, x.dtype)
    return namespace(x).empty(shape, dtype=x.dtype, device=device(x))


def double(x: Rows) -> Rows:
    """In double precision."""
    xp = namespace(x)
    return xp.astype(x, xp.float64, copy=False)


def dtype_name(x: Any) -> str:
    """What the standard calls the dtype of an array."""
    return getattr(x.dtype, "name", None) or str(x.dtype).rpartition(".")[2]


def is_real(x: Any) -> bool:
    """Whether an array holds real numbers."""
    return dtype_name(x).rstrip("0123456789") in ("bool", "int", "uint", "float", "bfloat")


def working_precision(name: str) -> np.dtype[Any]:
    """Single precision for the dtypes that fit into it, double for all others."""
    return np.dtype(np.float32 if name in SINGLE else np.float64)


def mixed(mixing: Array, rows: Rows) -> Rows:
    """Combinations (j x k, of the host) of k vectors of rows (k x n)."""
    return like(mixing, rows, rows.dtype) @ rows


def among(rows: Rows, mask: Rows) -> Rows:
    """The columns (k x n) of some rows."""
    xp = namespace(rows)
    return xp.take(rows, xp.nonzero(mask)[0], axis=-1)


def total(x: Rows) -> float:
    """The sum of a vector."""
    return float(namespace(x).sum(x))


def count(mask: Rows) -> int:
    """How many entries are true."""
    xp = namespace(mask)
    return int(xp.sum(xp.astype(mask, xp.int64)))


def every(mask: Rows) -> bool:
    """Whether all entries are true."""
    return bool(namespace(mask).all(mask))


def some(mask: Rows) -> bool:
    """Whether an entry is true."""
    return bool(namespace(mask).any(mask))


def lowest(x: Rows) -> float:
    """The smallest entry."""
    return float(namespace(x).min(x))


def highest(x: Rows) -> float:
    """The largest entry."""
    return float(namespace(x).max(x))


def pieces(length: int, size: int) -> Iterator[slice]:
    """The slices of so many entries that make up a length."""
    for start in range(0, length, size):
        yield slice(start, min(length, start + size))


def median(x: Rows) -> float:
    """Of a vector."""
    ascending = namespace(x).sort(x)
    n = x.shape[0]
    return (float(ascending[(n - 1) // 2]) + float(ascending[n // 2])) / 2.0


def smallest(x: Rows, m: int) -> Rows:
    """The mask of the m smallest entries, and of those that equal the largest of them."""
    return x <= namespace(x).sort(x)[m - 1]


def evenly_spaced(order: Rows, m: int) -> Array:
    """So many entries of a long vector, at even steps."""
    places = ((np.arange(m) + 0.5) * (order.shape[0] / m)).astype(np.int64)
    return on_host(namespace(order).take(order, like(places, order)))


def scattered(x: Rows, where: Rows, fill: float | bool) -> Rows:
    """A vector in which some places, given by a mask, hold the entries of x, and others `fill`."""
    if x.shape[0] == where.shape[0]:
        return x
    xp = namespace(x)
    place = xp.cumulative_sum(xp.astype(where, xp.int64)) - 1
    return xp.where(where, xp.take(x, xp.clip(place, 0, None)), like(fill, x, x.dtype))


def with_part(out: Rows, part: slice, values: Rows) -> Rows:
    """An array, the last axis of which holds these values in one part."""
    if is_jax_array(out):  # cannot be changed in place
        return out.at[..., part].set(values)
    out[..., part] = values
    return out
