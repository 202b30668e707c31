"""A table of Dask chunks: a pass is one task for each chunk."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces, working_precision
from inlier._internal.typing import Array
from inlier.data.arrays import DenseTable
from inlier.data.base import Metric, Table
from inlier.data.dask.workers import Workers, da, dask, reuse_memory
from inlier.data.passes import (
    BlockTable,
    Combine,
    Distances,
    Pass,
    Project,
    ScatterPass,
    Sizes,
    Squares,
    kept_among,
)

# Passes of which only one result has to travel; of any other both do.
ROWS_ONLY = (Project, Distances, Sizes)
SUMS_ONLY = (Combine, ScatterPass, Squares)


class DaskTable(BlockTable):
    """The `kept` rows of a Dask array of finite numbers, in chunks of rows of known lengths."""

    def __init__(self, X: Any, workers: Workers, kept: Array | None = None) -> None:
        self._X, self._workers, self._kept, self._masks = X, workers, kept, None
        self._edges = np.concatenate([[0], np.cumsum(X.chunks[0], dtype=np.intp)])
        self._starts = self._edges
        if kept is not None:
            # Sent once. With a copy of the rows a second table would not fit beside the first.
            self._masks = workers.persist(da.from_array(kept[:, None], chunks=(X.chunks[0], 1)))
            self._starts = np.concatenate([[0], np.cumsum(kept)])[self._edges]
        super().__init__((int(self._starts[-1]), X.shape[1]), working_precision(X.dtype.name))

    def _run(self, work: Pass, *inputs: Any, sums_only: bool = False) -> tuple[Any, list[Array]]:
        if inputs and callable(inputs[0]):
            return self._run_twice(work, inputs[0])
        self.n_passes += 1
        rows_only, sums_only = type(work) in ROWS_ONLY, sums_only or type(work) in SUMS_ONLY
        place = 0 if rows_only else 1 if sums_only else None
        shared = dask.delayed(work, traverse=False)
        done = []
        for rows, chunk, mask in self._chunks():
            own = [np.ascontiguousarray(x[..., rows]) for x in inputs]
            done.append(dask.delayed(_pass_over)(shared, chunk, mask, own, place))
        if place is None:
            projected, sums = [x[0] for x in done], [x[1] for x in done]
        else:
            projected, sums = (done, []) if rows_only else ([], done)
        found = self._workers.compute([*projected, *_summed(sums)])
        out = np.concatenate(found[: len(projected)], axis=-1) if projected else None
        return out, list(found[-1]) if sums else []

    def _run_twice(self, work: Any, weights: Callable[..., Any]) -> tuple[Any, list[Array]]:
        """Run a pass whose weights depend on projections: a function is not sent to the chunks."""
        projected, _ = self._run(Project(work.view, work.basis, work.shift))
        w = weights(slice(0, self.shape[0]), projected)
        # Chunks project their rows again, which is faster than sending the projections.
        return projected, self._run(work, w, sums_only=True)[1]

    def _chunks(self) -> Iterator[tuple[slice, Any, Any]]:
        """Yield the kept rows of a chunk among all kept rows, the chunk, and its mask."""
        chunks = self._X.to_delayed()[:, 0]
        masks = [None] * len(chunks) if self._masks is None else self._masks.to_delayed()[:, 0]
        for i in np.flatnonzero(np.diff(self._starts)):
            yield slice(int(self._starts[i]), int(self._starts[i + 1])), chunks[i], masks[i]

    def fetch(self, rows: Array) -> Array:
        rows = np.asarray(rows)
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        home = np.searchsorted(self._edges, rows, side="right") - 1
        chunks, homes = self._X.to_delayed()[:, 0], np.unique(home)
        wanted = [chunks[i][rows[home == i] - self._edges[i]] for i in homes]
        out = np.empty((len(rows), self.shape[1]), dtype=self._X.dtype)
        for i, found in zip(homes, self._workers.compute(wanted), strict=True):
            out[home == i] = found
        return out

    def take(self, rows: Any) -> Table:
        """Send a mask of the rows to the chunks; the rows stay there."""
        kept = kept_among(self._kept, rows)
        return self.counting_for(DaskTable(self._X, self._workers, kept))

    def in_metric(self, metric: Metric) -> Table:
        """Compute the new coordinates once."""
        self.n_passes += 1
        rows = self._workers.persist(self._mapped(_in_metric, self.dtype, metric=metric))
        return self.counting_for(DaskTable(rows, self._workers))

    def of_columns(self, function: Callable[[Array], Array]) -> Array:
        apply = dask.delayed(function)
        parts = self._workers.compute([apply(x) for _, x in self._by_columns()])
        return np.concatenate(parts, axis=-1)

    def gram(self, center: Array) -> Array:
        """Multiply the rows in groups of columns, each in one place."""
        products = [dask.delayed(_gram)(x, center[part]) for part, x in self._by_columns()]
        return np.asarray(self._workers.compute(_summed(products))[0][0])

    def _by_columns(self) -> Iterator[tuple[slice, Any]]:
        self.n_passes += 1
        width = max(1, self.column_elements // self.shape[0])
        rows = self._mapped(_kept_rows, self._X.dtype).rechunk({0: -1, 1: width})
        return zip(pieces(self.shape[1], width), rows.to_delayed()[0], strict=True)

    def _mapped(self, change: Callable[..., Array], dtype: Any, **options: Any) -> Any:
        """Return a lazy Dask array of a function of the kept rows of each chunk."""
        arrays = [self._X] if self._masks is None else [self._X, self._masks]
        chunks = tuple(np.diff(self._starts).tolist()), (self.shape[1],)
        meta = np.empty((0, 0), dtype)
        return da.map_blocks(change, *arrays, chunks=chunks, meta=meta, **options)


def _pass_over(
    work: Pass, block: Array, kept: Array | None, inputs: Sequence[Array], place: int | None
) -> Any:
    """Run a pass over one chunk: return the results of its rows, its sums (1), or both."""
    reuse_memory()
    found = DenseTable(block, None if kept is None else kept[:, 0])._run(work, *inputs)
    return found if place is None else found[place]


def _kept_rows(block: Array, kept: Array | None = None) -> Array:
    return block if kept is None else block[kept[:, 0]]


def _in_metric(block: Array, kept: Array | None = None, *, metric: Metric) -> Array:
    rows = _kept_rows(block, kept)
    return np.asarray(metric.transform_rows(rows, working_precision(rows.dtype.name)))


def _gram(block: Array, center: Array) -> list[Array]:
    return [DenseTable(block).gram(center)]


def _summed(parts: Sequence[Any]) -> Sequence[Any]:
    """Return the delayed sum of lists of arrays, by a tree: no worker has to hold all parts."""
    while len(parts) > 1:
        parts = [dask.delayed(_added)(parts[part]) for part in pieces(len(parts), 8)]
    return parts


def _added(parts: Sequence[Sequence[Array]]) -> list[Array]:
    return [sum(terms[1:], start=terms[0]) for terms in zip(*parts, strict=True)]
