"""Products of a block of rows with a few vectors.

Both products of a pass are skinny, for which BLAS is not tuned. OpenBLAS multiplies small matrices
without packing them first, which is faster. So a block is multiplied as a stack of small matrices,
in one call of numpy.
"""

import numpy as np

from inlier._internal.arrays import double, namespace
from inlier._internal.typing import Rows

# Longest sum in single precision: it loses two digits, not four.
ROWS_AT_ONCE = 1 << 14
# Multiplications up to which OpenBLAS does not pack; `make bench` measures the seconds of a pass.
UNPACKED = 1_000_000
# Rows of a stacked product. With more, and hundreds of columns, OpenBLAS is slower again.
MOST_ROWS = 128


def along(basis: Rows, Y: Rows) -> Rows:
    """Compute basis @ Y.T."""
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
    """Compute coefficients @ Y and the row sums of the coefficients, in double precision."""
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
    """Return the number of rows that are multiplied at a time."""
    if not isinstance(Y, np.ndarray):
        return ROWS_AT_ONCE
    height: int = UNPACKED // max(1, width * Y.shape[1])
    if height < max(width, 16):  # the sums of a stack would cost more than its products
        return ROWS_AT_ONCE
    return min(MOST_ROWS, 1 << height.bit_length() - 1)


def _stacked(C: Rows, height: int) -> Rows:
    """Reshape k x n to a stack of k x height, without the remainder."""
    xp = namespace(C)
    k, n = C.shape
    count = n // height
    return xp.permute_dims(xp.reshape(C[:, : count * height], (k, count, height)), (1, 0, 2))
