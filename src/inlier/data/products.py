"""Products of a block of rows with a few vectors.

Both products of a pass are skinny, for which BLAS is not tuned. OpenBLAS multiplies small matrices
without packing them first, which is faster. So a block is multiplied as a stack of small matrices,
in one call of numpy.
"""

from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import double, namespace
from inlier._internal.typing import Rows


@dataclass(frozen=True)
class ProductSettings:
    """Heights of stacked products; `make bench` measures the seconds of a pass."""

    rows_at_once: int = 1 << 14
    """Longest sum in single precision: it loses two digits, not four."""
    unpacked: int = 1_000_000
    """Multiplications up to which OpenBLAS does not pack."""
    least_rows: int = 16
    """With fewer rows the sums of a stack cost more than its products."""
    most_rows: int = 128
    """With more rows, and hundreds of columns, OpenBLAS is slower again."""


SETTINGS = ProductSettings()


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
        enough = images.dtype if n <= SETTINGS.rows_at_once else xp.float64
        image = double(xp.sum(images, axis=0, dtype=enough))
    if whole < n:
        image = image + double(C[:, whole:] @ Y[whole:, :])
    return image, xp.sum(coefficients, axis=1, dtype=xp.float64)


def _height(Y: Rows, width: int) -> int:
    """Return the number of rows that are multiplied at a time."""
    if not isinstance(Y, np.ndarray):
        return SETTINGS.rows_at_once
    height: int = SETTINGS.unpacked // max(1, width * Y.shape[1])
    if height < max(width, SETTINGS.least_rows):
        return SETTINGS.rows_at_once
    return min(SETTINGS.most_rows, 1 << height.bit_length() - 1)


def _stacked(C: Rows, height: int) -> Rows:
    """Reshape k x n to a stack of k x height, without the remainder."""
    xp = namespace(C)
    k, n = C.shape
    count = n // height
    return xp.permute_dims(xp.reshape(C[:, : count * height], (k, count, height)), (1, 0, 2))
