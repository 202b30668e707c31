"""Functions on arrays of any library that follows the array API standard.

Arrays with an entry for each row stay in the library and on the device of the table. Arrays with an
entry for each column, and smaller ones, are numpy arrays on the host.
"""

from collections.abc import Callable, Iterator
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

from inlier._internal.typing import Array, Mask, Rows

# Real dtypes whose values single precision represents.
SINGLE = ("bool", "float16", "bfloat16", "float32", "int8", "int16", "uint8", "uint16")


def namespace(x: Rows) -> Any:
    """Return the array API namespace of an array."""
    return np if isinstance(x, np.ndarray) else array_namespace(x)


def on_host(x: Rows) -> Array:
    """Copy an array to the host as a numpy array; synchronises with its device."""
    if dtype_name(x) == "bfloat16":  # numpy has no such dtype
        x = x.float()
    if is_torch_array(x) or is_cupy_array(x):  # numpy cannot read their device memory
        x = to_device(x, "cpu")
    return np.asarray(x)


def like(x: Any, rows: Rows, dtype: Any = None) -> Rows:
    """Convert host values to the library and the device of `rows`."""
    if isinstance(rows, np.ndarray):
        return np.asarray(x, dtype)
    x = np.asarray(x)
    if min(x.strides, default=0) < 0:  # torch refuses negative strides, even of length-1 axes
        x = x.copy()
    xp = namespace(rows)
    if getattr(rows, "is_cuda", False):
        # The driver has taken the values when this returns; to wait for the device as well would
        # leave it idle between any two passes.
        return xp.asarray(x, dtype=dtype).to(rows.device, non_blocking=True)
    return xp.asarray(x, dtype=dtype, device=device(rows))


def counting(n: int, rows: Rows) -> Rows:
    """Return 0, 1, ..., n - 1 in double precision, on the device of `rows`."""
    xp = namespace(rows)
    if xp is np:
        return np.arange(n, dtype=np.float64)
    return xp.arange(n, dtype=xp.float64, device=device(rows))


def constant_like(x: Rows, value: float) -> Rows:
    """Return a vector of one value, to be read only: on the host it takes no memory."""
    if isinstance(x, np.ndarray):
        return np.broadcast_to(np.float64(value), x.shape)
    return namespace(x).full_like(x, value)


def empty_like(x: Rows, shape: tuple[int, ...]) -> Rows:
    """Return an uninitialised array of another shape."""
    if isinstance(x, np.ndarray):
        return np.empty(shape, x.dtype)
    return namespace(x).empty(shape, dtype=x.dtype, device=device(x))


def double(x: Rows) -> Rows:
    """Cast to double precision."""
    xp = namespace(x)
    return xp.astype(x, xp.float64, copy=False)


def dtype_name(x: Any) -> str:
    """Return the standard's name of the dtype of an array."""
    return getattr(x.dtype, "name", None) or str(x.dtype).rpartition(".")[2]


def is_real(x: Any) -> bool:
    """Return whether the dtype of an array is real."""
    return dtype_name(x).rstrip("0123456789") in ("bool", "int", "uint", "float", "bfloat")


def working_precision(name: str) -> np.dtype[Any]:
    """Return single precision for dtypes that fit into it, otherwise double."""
    return np.dtype(np.float32 if name in SINGLE else np.float64)


def mixed(mixing: Array, rows: Rows) -> Rows:
    """Multiply a j x k matrix of the host with k x n rows."""
    return like(mixing, rows, rows.dtype) @ rows


def among(rows: Rows, mask: Rows) -> Rows:
    """Select the masked columns of a k x n array, or values; no copy if these are all."""
    if every(mask):
        return rows
    if rows.ndim == 1:  # takes no index beside the mask
        return rows[mask]
    xp = namespace(rows)
    return xp.take(rows, xp.nonzero(mask)[0], axis=-1)


def of_columns(rows: Rows, chosen: Array | Mask) -> Rows:
    """Select columns of an n x k array by a mask or by indices of the host."""
    if chosen.dtype == np.bool_:
        if chosen.all():
            return rows
        chosen = np.flatnonzero(chosen)
    if isinstance(rows, np.ndarray):  # numpy.take copies arrays in Fortran order first
        return rows[:, chosen]
    return namespace(rows).take(rows, like(chosen, rows), axis=1)


def all_but(n: int, removed: Rows) -> Mask:
    """Return a mask of n rows but some, given by index, on the host."""
    kept = np.ones(n, dtype=np.bool_)
    kept[on_host(removed)] = False
    return kept


def mask_of(rows: Rows, n: int) -> Rows:
    """Return a mask of n rows that is true for some of them, given by index."""
    if is_torch_array(rows):  # the standard cannot assign by index
        mask = rows.new_zeros(n, dtype=namespace(rows).bool)
        mask[rows] = True
        return mask
    return like(~all_but(n, rows), rows)


def total(x: Rows) -> float:
    """Return the sum of a vector."""
    return float(namespace(x).sum(x))


def count(mask: Rows) -> int:
    """Count the true entries."""
    if isinstance(mask, np.ndarray):
        return int(np.count_nonzero(mask))
    xp = namespace(mask)
    return int(xp.sum(xp.astype(mask, xp.int64)))


def every(mask: Rows) -> bool:
    """Return whether all entries are true."""
    return bool(namespace(mask).all(mask))


def any_true(mask: Rows) -> bool:
    """Return whether any entry is true."""
    return bool(namespace(mask).any(mask))


def lowest(x: Rows) -> float:
    """Return the smallest entry."""
    return float(namespace(x).min(x))


def highest(x: Rows) -> float:
    """Return the largest entry."""
    return float(namespace(x).max(x))


def pieces(length: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `size` entries that cover a length."""
    for start in range(0, length, size):
        yield slice(start, min(length, start + size))


def blocks_of(length: int, width: int) -> Iterator[slice]:
    """Yield slices of a length that times a width have some four million entries on the host."""
    return pieces(length, max(1, (1 << 22) // width))


def blocks_in_cache(length: int, width: int) -> Iterator[slice]:
    """Yield slices of a length that times a width have so few entries that copies stay in cache."""
    return pieces(length, max(1, (1 << 15) // width))


def median(x: Rows) -> float:
    """Return the median of a vector."""
    n = x.shape[0]
    ranked = _ranked(x, (n - 1) // 2, n // 2)
    # Halved before they are added, because the sum may overflow.
    return float(ranked[(n - 1) // 2]) / 2.0 + float(ranked[n // 2]) / 2.0


def smallest(x: Rows, m: int) -> Rows:
    """Return the mask of the m smallest entries, ties with the largest of them included."""
    return x <= _ranked(x, m - 1)[m - 1]


def nth_smallest(x: Rows, m: int) -> float:
    """Return the m-th smallest entry of a vector, which is needed no more: its order changes."""
    if not isinstance(x, np.ndarray):
        return float(namespace(x).sort(x)[m - 1])
    x.partition(m - 1)
    return float(x[m - 1])


def _ranked(x: Rows, *ranks: int) -> Rows:
    """Return a vector with the entries of these ranks in their places."""
    return np.partition(x, ranks) if isinstance(x, np.ndarray) else namespace(x).sort(x)


def evenly_spaced(order: Rows, m: int) -> Array:
    """Return m evenly spaced entries of a vector, on the host."""
    places = ((np.arange(m) + 0.5) * (order.shape[0] / m)).astype(np.int64)
    return on_host(namespace(order).take(order, like(places, order)))


def scattered(x: Rows, where: Rows, fill: float | bool) -> Rows:
    """Return a vector with the entries of x where a mask is true, and `fill` elsewhere."""
    if x.shape[0] == where.shape[0]:
        return x
    xp = namespace(x)
    place = xp.cumulative_sum(xp.astype(where, xp.int64)) - 1
    return xp.where(where, xp.take(x, xp.clip(place, 0, None)), like(fill, x, x.dtype))


def with_part(out: Rows, part: slice, values: Rows) -> Rows:
    """Assign values to a slice of the last axis; return the array."""
    if is_jax_array(out):  # immutable
        return out.at[..., part].set(values)
    out[..., part] = values
    return out


def sort_in_place(x: Rows, stable: bool = False) -> Rows:
    """Sort rows that are needed no more in this order; on the host without a copy."""
    if not isinstance(x, np.ndarray):
        return namespace(x).sort(x, stable=stable)
    x.sort(stable=stable)
    return x


def ascending_columns(rows: Rows) -> Rows:
    """Sort the columns of a few rows, d x n, where the rows are."""
    if not isinstance(rows, np.ndarray):
        return namespace(rows).sort(rows.T, axis=1)
    # Some rows at a time, of which the cache holds all columns.
    columns = np.empty(rows.shape[::-1], rows.dtype)
    for part in pieces(len(rows), 256):
        columns[:, part] = rows[part].T
    columns.sort(axis=1)
    return columns


def column_medians(rows: Rows) -> Array:
    """Compute column medians by sorting: of a few rows ten times as fast as numpy's."""
    if not getattr(rows, "is_cuda", False):
        rows = on_host(rows)
    return middles(ascending_columns(rows))


def column_scales(rows: Rows) -> Array:
    """Compute the median and the median absolute deviation of each column, 2 x d.

    Where more than half of a column is one value, the mean absolute deviation replaces the latter.
    """
    if not getattr(rows, "is_cuda", False):
        rows = on_host(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        ascending = double(ascending_columns(rows))
        center = middles(ascending)
        scales = median_distances(ascending, center)
        if not (scales > 0.0).all():
            off = abs(ascending - like(center[:, None], ascending))
            means = on_host(namespace(off).sum(off / off.shape[1], axis=1))
            scales = np.where(scales > 0.0, scales, means)
    return np.stack([center, scales])


def first_places(holds: Callable[[Array], Mask], n_columns: int, n: int) -> Array:
    """Return the first of n places in each column from which on something holds; n if nowhere.

    `holds` takes a place in each column.
    """
    low, high = np.zeros(n_columns, np.intp), np.full(n_columns, n)
    while (low < high).any():
        at = (low + high) // 2
        found = holds(np.minimum(at, n - 1))
        low, high = np.where(found, low, np.minimum(at + 1, high)), np.where(found, at, high)
    return low


def middles(ascending: Rows) -> Array:
    """Return the medians of ascending rows."""
    n = ascending.shape[1]
    low, high = on_host(
        namespace(ascending).stack([ascending[:, i] for i in ((n - 1) // 2, n // 2)])
    ).astype(np.float64)
    # Halved before they are added, because the sum may overflow.
    return np.asarray(low / 2.0 + high / 2.0)


def median_distances(ascending: Rows, center: Array) -> Array:
    """Compute median distances from a center of ascending rows, without sorting the distances.

    The k nearest values are neighbors, so the k-th distance is the least over all runs of k values
    of the larger distance of their ends.
    """
    d, n = ascending.shape
    xp, found = namespace(ascending), np.empty(d)
    blocks = blocks_in_cache(d, n) if isinstance(ascending, np.ndarray) else [slice(0, d)]
    for part in blocks:
        off = ascending[part, :] - like(center[part, None], ascending)
        nearest = [
            on_host(xp.min(xp.maximum(-off[:, : n - k + 1], off[:, k - 1 :]), axis=1))
            for k in sorted({(n + 1) // 2, n // 2 + 1})
        ]
        found[part] = nearest[0] / 2.0 + nearest[-1] / 2.0
    return found
