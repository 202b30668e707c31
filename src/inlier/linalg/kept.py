"""The largest eigenvalue of the scatter of the kept rows, bounded from both sides."""

from dataclasses import replace

import numpy as np

from inlier._internal.arrays import total
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Frame, Metric, Table
from inlier.linalg.eigenpairs import DECIDING_PASSES, Oracle, Spectrum

# Roundings of the data by which a value may differ when it is computed again.
ROUNDINGS = 100.0


def spectrum_of_kept(
    table: Table, kept: Rows, mean: Array, metric: Metric | None, dense: int = 0
) -> Spectrum:
    """Bound the largest eigenvalue of the scatter of the rows whose `kept` is 1, from both sides.

    In a metric, about their mean. Up to `dense` columns the whole spectrum is computed.
    """
    least = total(kept) * rounding_of(table, mean, metric) ** 2
    if metric is not None:
        table, mean = table.in_metric(metric), metric.transform(mean[None])[0]
    frame = Frame.of(table, kept >= 0.0, mean)
    if frame.rotation is not None:
        table = frame.table
        mean = table.mean(kept, frame.center)
    oracle = Oracle(table, fit_generator(0))
    if table.shape[1] <= dense:
        spectrum = oracle.top_dense(mean, kept, 1)
    else:
        spectrum = oracle.bound_top(mean, kept, max_passes=DECIDING_PASSES if dense else None)
    # If rows differ only by rounding, the lower bound is zero.
    if spectrum.values[0] <= least:
        spectrum = replace(spectrum, values=np.zeros_like(spectrum.values))
    return spectrum


def rounding_of(table: Table, mean: Array, metric: Metric | None) -> float:
    """Return how far apart rows near a mean may seem to be, though they are the same."""
    size = float(np.linalg.norm(mean))
    if metric is not None:
        size = max(metric.reach(mean), float(np.linalg.norm(metric.transform(mean[None])[0])))
    return ROUNDINGS * float(np.finfo(table.dtype).eps) * size
