"""Tasks that workers run on one chunk."""

from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_finite
from inlier.data.arrays import DenseTable
from inlier.data.base import Metric
from inlier.data.dask.graphs import TaskArrays
from inlier.data.dask.worker_settings import worker_settings
from inlier.data.passes import Pass


def pass_over(
    work: Pass,
    block: Array,
    kept: Array | None,
    own: TaskArrays,
    kinds: str,
    name: str,
    first: int | None,
) -> Any:
    """Run a pass over one chunk: return the projections of its rows, its sums, or both."""
    # NaN in one chunk must not make another one warn.
    with worker_settings(), np.errstate(invalid="ignore" if first is not None else None):
        if first is not None:
            check_finite(block, name, first)
        projected, sums = DenseTable(block, kept)._run(work, *own.arrays)
    if kinds == "sums":
        return sums
    return projected if kinds == "projected" else (projected, sums)


def non_finite_message(block: Array, name: str, first: int) -> str | None:
    """Return the message that a chunk holds NaN or infinity, if it does."""
    try:
        check_finite(block, name, first)
    except ValueError as error:
        return str(error)
    return None


def rows_at(block: Array, own: TaskArrays) -> Array:
    """Return some rows, by their numbers in the chunk."""
    return np.asarray(block[own.arrays[0]])


def rows_kept(_: None, block: Array, kept: Array | None, name: str, first: int | None) -> Array:
    """Return the rows that are kept."""
    if first is not None:
        check_finite(block, name, first)
    return block if kept is None else block[kept]


def in_metric_of(
    metric: Metric, block: Array, kept: Array | None, name: str, first: int | None
) -> Array:
    """Return the rows that are kept in other coordinates."""
    with worker_settings():
        rows = rows_kept(None, block, kept, name, first)
        projected: Any = DenseTable(rows).in_metric(metric)
    return np.asarray(projected._Y)


def gram_of(block: Array, own: TaskArrays) -> list[Array]:
    """Return the Gram matrix of all rows in some columns."""
    with worker_settings():
        return [DenseTable(block).gram(own.arrays[0])]
