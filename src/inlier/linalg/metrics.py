"""The metric of a fit: the scatter matrix that replaces the identity.

The paper bounds the second moment of the kept rows by a multiple of the identity. With a scatter
matrix L L^T the bound is a multiple of that matrix. This is the paper's problem in the coordinates
L^-1 y, in which sigma has no unit.
"""

from typing import Any

import numpy as np

from inlier._internal.arrays import column_medians, column_scales
from inlier._internal.typing import Array
from inlier.data import Metric, Table


def metric_of(scatter: Any, table: Table, random: np.random.Generator) -> Metric | None:
    """Return the metric for an argument `scatter`; None for the identity."""
    d = table.shape[1]
    if isinstance(scatter, str):
        if scatter in ("auto", "identity"):
            return None
        if scatter != "diagonal":
            raise ValueError(
                "scatter must be 'auto', 'identity', 'diagonal', a vector of variances, a scatter "
                f"matrix or a factor of one, but is {scatter!r}."
            )
        if table.sparse:
            raise ValueError(
                "scatter='diagonal' measures how each column varies about its median, which is "
                "uninformative for a sparse column. Pass the variances of the columns as a vector."
            )
        # Of all rows: a sample of a column that is mostly zero has few other values, or none.
        center, scales = table.of_columns(column_scales)
        scales = np.where(scales > 0.0, scales, 1.0)
        # Missing cells hold medians, which do not vary.
        metric = Metric(center, table.observed_scales(scales))
        _check_scales(metric, table.dtype, "X is out of range: a column of it varies by")
        return metric
    matrix = _as_numbers(scatter)
    if matrix.shape == (d,):
        if not (matrix > 0.0).all():
            raise ValueError("scatter, as a vector of variances, must be above 0 in every column.")
        metric = Metric(np.zeros(d), np.sqrt(matrix))
        _check_scales(metric, table.dtype, "scatter is out of range: it lets a column vary by")
        return metric
    if matrix.shape != (d, d):
        raise ValueError(
            f"scatter must be a vector of {d} variances or a {d} x {d} matrix, one row and column "
            f"for each column of X, but has shape {matrix.shape}."
        )
    if table.sparse:
        raise ValueError(
            "scatter must be 'identity' or a vector of variances if X is sparse: another one would "
            "make X dense."
        )
    symmetric = np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12 * np.abs(matrix).max())
    try:
        factor = np.linalg.cholesky(matrix if symmetric else matrix @ matrix.T)
    except np.linalg.LinAlgError:
        raise ValueError(
            "scatter must be positive definite: there are directions in which it allows no "
            "variation. Add a small multiple of the identity."
        ) from None
    metric = Metric(column_medians(table.sampled(random)), factor)
    _check_scales(metric, table.dtype, "scatter is out of range: it lets a direction vary by")
    return metric


def _check_scales(metric: Metric, dtype: np.dtype[Any], found: str) -> None:
    """Raise if dividing rows by the scales, or squaring the scales, would overflow."""
    limits = np.finfo(dtype)
    least, most = max(1e4 * float(limits.tiny), 1e-150), min(1e-8 * float(limits.max), 1e150)
    scales = metric.factor if metric.factor.ndim == 1 else np.diag(metric.factor)
    for scale in (float(scales.min()), float(scales.max())):
        if not least <= scale <= most:
            raise ValueError(
                f"{found} {scale:.3g}, which is no number to compute with in the precision of X, "
                f"{dtype}. Measure X in other units."
            )
    largest = float(np.abs(metric.origin).max())
    if not largest <= most:
        raise ValueError(
            f"X is out of range: in a column most numbers are of the size of {largest:.3g}. "
            "Measure it in other units."
        )


def _as_numbers(scatter: Any) -> Array:
    try:
        matrix = np.asarray(scatter)
        if matrix.dtype.kind not in "buif":
            raise ValueError(f"it has dtype {matrix.dtype}")
        matrix = matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"scatter must be numbers, but could not be read as such: {error}."
        ) from None
    if not np.isfinite(matrix).all():
        raise ValueError("scatter contains NaN or infinity. Every entry must be finite.")
    return matrix
