"""Products of a block of rows with a few vectors, and how the linear algebra likes them.

Both products of a pass are as wide as its few vectors, and no library is made for that. numpy's
multiplies small matrices without packing them first, which is faster; so a block is multiplied as a
stack of them, which numpy goes through without coming back to Python.
"""

from __future__ import annotations

import numpy as np

from inlier._internal.arrays import double, namespace
from inlier._internal.typing import Rows

# A sum of so many terms in single precision has lost two digits, not four: no more at a time.
ROWS_AT_ONCE = 1 << 14
# Multiplications up to which OpenBLAS does not pack.
UNPACKED = 1_000_000
# Of fewer rows the sums of a stack are a larger part of the work than its products.
LEAST_ROWS = 16
# Of more rows than these OpenBLAS is slower again, if there are hundreds of columns.
MOST_ROWS = 128


def along(basis: Rows, Y: Rows) -> Rows:
    """The rows Y seen along a basis: basis @ Y.T."""
    if not isinstance(Y, np.ndarray):
        return basis @ Y.T
    (n, d), k = Y.shape, len(basis)
    height = _height(Y, k)
    whole = n // height * height
    projected = np.empty((k, n), Y.dtype)
    rows = Y[:whole].reshape(-1, height, d).transpose(0, 2, 1)
    np.matmul(basis, rows, out=_stacked(projected, height))
    np.matmul(basis, Y[whole:].T, out=projected[:, whole:])
    return projected


def combined(coefficients: Rows, Y: Rows) -> tuple[Rows, Rows]:
    """Combinations of rows as they are, and the sums of the coefficients, in double precision."""
    xp = namespace(Y)
    C = xp.astype(coefficients, Y.dtype, copy=False)
    (k, n), d = C.shape, Y.shape[1]
    height = _height(Y, k)
    whole = n // height * height
    image: Rows = 0.0
    if whole:
        images = _stacked(C, height) @ xp.reshape(Y[:whole, :], (-1, height, d))
        enough = images.dtype if n <= ROWS_AT_ONCE else xp.float64
        image = double(xp.sum(images, axis=0, dtype=enough))
    if whole < n:
        image = image + double(C[:, whole:] @ Y[whole:, :])
    return image, xp.sum(coefficients, axis=1, dtype=xp.float64)


def _height(Y: Rows, width: int) -> int:
    """How many rows are multiplied at a time."""
    if not isinstance(Y, np.ndarray):
        return ROWS_AT_ONCE
    height: int = UNPACKED // max(1, width * Y.shape[1])
    if height < max(width, LEAST_ROWS):
        return ROWS_AT_ONCE
    return min(MOST_ROWS, 1 << height.bit_length() - 1)


def _stacked(C: Rows, height: int) -> Rows:
    """k x n as a stack of k x height, without what is left over at the end."""
    xp = namespace(C)
    k, n = C.shape
    count = n // height
    return xp.permute_dims(xp.reshape(C[:, : count * height], (k, count, height)), (1, 0, 2))
