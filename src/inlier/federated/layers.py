"""Passes over the layers of all clients, in blocks: lengths, the Gram matrix, weighted sums.

Only the result has the size of an update; while a layer is put together, it is there twice. Blocks
are read in single precision where that holds the data, and their sums are accumulated in double
precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import device, to_device

from inlier._internal.arrays import (
    dtype_name,
    namespace,
    on_host,
    pieces,
    working_precision,
)
from inlier._internal.typing import Array

BLOCK_ENTRIES = 1 << 18
"""In a block of all clients on the host: fits into the caches of a core."""
DEVICE_COLUMNS = 1 << 20
"""In a block on an accelerator, where small ones take longer to launch than to run."""
SAFE = 1e10
"""Lengths between this and its inverse can be squared in single precision."""


def is_floating(layer: Any) -> bool:
    """Return whether a layer holds floating point numbers."""
    return "float" in dtype_name(layer)


def lengths(clients: list[list[Any]]) -> Array:
    """Return the length of each update over its floating point layers; nan where not finite.

    Two passes, so that no square is out of range. A length is at most 1e300.
    """
    found = np.zeros(len(clients))
    for i, layers in enumerate(clients):
        parts = [_length(layer) for layer in layers if is_floating(layer)]
        largest = max(parts, default=0.0)
        if not np.isfinite(parts).all():
            found[i] = np.nan
        elif largest > 0.0:
            found[i] = largest * float(np.linalg.norm(np.array(parts) / largest))
    return np.minimum(found, 1e300)


def gram(clients: list[list[Any]], reference: int, norms: Array) -> Array:
    """Return the inner products of all updates, relative to one of them. One pass.

    Parameters
    ----------
    clients : list of list of array
        The layers of each client.
    reference : int
        The client that is subtracted, so that what all have in common costs no precision.
    norms : array of shape (n,)
        Lengths of the updates. Products are in units of that of the reference. If their squares
        are out of range, each row is scaled by itself: one long update costs the others no digits.
    """
    n = len(clients)
    own = np.maximum(norms, max(norms[reference], 1e-300))
    scale = None if 1.0 / SAFE <= own.min() <= own.max() <= SAFE else 1.0 / own
    total = np.zeros((n, n))
    for layers in zip(*clients, strict=True):
        if not is_floating(layers[0]):
            continue
        xp = namespace(layers[0])
        for block in _blocks(list(layers), reference, scale):
            total += on_host(xp.astype(block @ block.T, xp.float64, copy=False))
    units = np.minimum((np.ones(n) if scale is None else own) / own.min(), 1e100)
    found: Array = (total + total.T) / 2.0 * units[:, None] * units
    return found


def combined(clients: list[list[Any]], coefficients: Array) -> list[Any]:
    """Return the weighted sum of updates, layer by layer, in the dtypes of the layers. One pass.

    A layer of integers, such as a counter, has no weighted sum: its entries are the medians of the
    clients that count.
    """
    counted = np.flatnonzero(coefficients)
    weights = coefficients[counted]
    out = []
    for layers in zip(*(clients[i] for i in counted), strict=True):
        first = layers[0]
        xp = namespace(first)
        if not is_floating(first):
            ascending = xp.sort(xp.stack([xp.astype(x, xp.int64) for x in layers]), axis=0)
            out.append(xp.astype(ascending[(len(layers) - 1) // 2, ...], first.dtype))
            continue
        sums = [xp.reshape(first, (-1,))[:0]]  # a layer may be empty
        for block in _blocks(list(layers)):
            row = xp.asarray(weights, dtype=block.dtype, device=device(block))
            sums.append(xp.astype(row @ block, first.dtype, copy=False))
        out.append(xp.reshape(xp.concat(sums), first.shape))
    return out


def _length(layer: Any) -> float:
    """Return the length of one layer, in units of its largest entry; nan if it is not finite."""
    xp = namespace(layer)
    flat = xp.reshape(layer, (-1,))
    parts = [flat[part] for part in pieces(flat.shape[0], DEVICE_COLUMNS)]
    dtype = getattr(xp, working_precision(dtype_name(layer)).name)
    largest = float(np.max([float(xp.max(xp.abs(part))) for part in parts], initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return 0.0 if largest == 0.0 else float("nan")
    squares = 0.0
    for part in parts:
        x = xp.astype(part, dtype, copy=False) / largest
        squares += float(x @ x)
    return min(largest * float(np.sqrt(squares)), 1e300)


def _blocks(
    layers: list[Any], reference: int | None = None, scale: Array | None = None
) -> Iterator[Any]:
    """Yield a layer of all clients in blocks of columns, in the precision of the work.

    Less the row of a reference, and in units of each row's own, where these are given.
    """
    first = layers[0]
    xp, home = namespace(first), device(first)
    dtype = getattr(xp, working_precision(dtype_name(first)).name)
    flat = [xp.reshape(x if device(x) == home else to_device(x, home), (-1,)) for x in layers]
    columns = max(1024, BLOCK_ENTRIES // len(layers))
    if str(getattr(home, "type", home)) != "cpu":
        columns = DEVICE_COLUMNS
    for part in pieces(flat[0].shape[0], columns):
        block = xp.astype(xp.stack([x[part] for x in flat]), dtype, copy=False)
        if scale is not None:
            units = xp.asarray(scale, dtype=xp.float64, device=home)[:, None]
            block = xp.astype(block, xp.float64)
            block = xp.astype(block * units - block[reference, :] * units, dtype)
        elif reference is not None:
            block -= block[reference, :] + 0.0  # a copy: the block changes beneath a view
        yield block
