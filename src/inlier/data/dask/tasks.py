"""What is done on the workers, with one chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data.arrays import DenseTable
from inlier.data.base import Metric
from inlier.data.dask.graphs import Own
from inlier.data.dask.working import working
from inlier.data.finite import check_finite
from inlier.data.passes import Pass


def pass_over(
    work: Pass,
    block: Array,
    kept: Array | None,
    own: Own,
    kinds: str,
    name: str,
    first: int | None,
) -> Any:
    """A pass over one chunk: what is seen of its rows, its sums, or both."""
    # NaN in one chunk must not make another one warn.
    with working(), np.errstate(invalid="ignore" if first is not None else None):
        if first is not None:
            check_finite(block, name, first)
        projected, sums = DenseTable(block, kept)._run(work, *own.arrays)
    if kinds == "sums":
        return sums
    return projected if kinds == "seen" else (projected, sums)


def complaint(block: Array, name: str, first: int) -> str | None:
    """What there is to say against a chunk: that it holds NaN or infinity."""
    try:
        check_finite(block, name, first)
    except ValueError as error:
        return str(error)
    return None


def rows_at(block: Array, own: Own) -> Array:
    """Some rows, by their numbers in the chunk."""
    return np.asarray(block[own.arrays[0]])


def rows_kept(_: None, block: Array, kept: Array | None, name: str, first: int | None) -> Array:
    """The rows that are looked at."""
    if first is not None:
        check_finite(block, name, first)
    return block if kept is None else block[kept]


def in_metric_of(
    metric: Metric, block: Array, kept: Array | None, name: str, first: int | None
) -> Array:
    """These rows in other coordinates."""
    with working():
        rows = rows_kept(None, block, kept, name, first)
        projected: Any = DenseTable(rows).in_metric(metric)
    return np.asarray(projected._Y)


def gram_of(block: Array, own: Own) -> list[Array]:
    """The products of all rows in some columns."""
    with working():
        return [DenseTable(block).gram(own.arrays[0])]
