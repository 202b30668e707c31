"""A table of Dask chunks: each pass is a task graph."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from inlier._internal.arrays import working_precision
from inlier._internal.typing import Array
from inlier.data.base import Metric, Table
from inlier.data.blocks import BlockTable, kept_among
from inlier.data.dask import tasks
from inlier.data.dask.cluster import Workers
from inlier.data.dask.graphs import Graph, TaskArrays, kinds_of, select_output, tree, unique
from inlier.data.dask.libraries import da, ensure_dict
from inlier.data.passes import Pass, Project
from inlier.data.settings import SETTINGS


class DaskTable(BlockTable):
    """The `kept` rows of a Dask array whose chunks are of rows only, of known lengths.

    `name` is what messages call it; `checked`, whether it is known to hold neither NaN nor
    infinity.
    """

    def __init__(
        self, X: Any, name: str, cluster: Workers, kept: Array | None = None, checked: bool = False
    ) -> None:
        lengths = np.array(X.chunks[0], dtype=np.intp)
        self._firsts = np.cumsum(lengths) - lengths
        self._kept, self._masks = kept, None
        if kept is not None:
            # Sent once. With a copy of the rows a second table would not fit beside the first.
            self._masks = cluster.persist(da.from_array(kept, chunks=(X.chunks[0],)))
            before = np.concatenate([[0], np.cumsum(kept)])
            lengths = before[self._firsts + lengths] - before[self._firsts]
        self._starts = np.concatenate([[0], np.cumsum(lengths)])
        n = int(self._starts[-1])
        if n < 2 and kept is None:
            raise ValueError(f"{name} must have at least 2 rows, but has {n}.")
        super().__init__((n, X.shape[1]), working_precision(X.dtype.name))
        self._X, self._name, self._cluster, self._checked = X, name, cluster, checked

    def _run(self, work: Pass, *inputs: Any, kinds: str | None = None) -> tuple[Any, list[Array]]:
        """See `BlockTable._run`; `kinds` of results are "projected", "sums" or "both"."""
        if any(callable(x) for x in inputs):
            return self._run_twice(work, inputs[0])
        self.n_passes += 1
        name = unique(type(work).__name__.lower())
        kinds = kinds or kinds_of(work)
        graph = self._graph()
        graph[f"{name}-work"] = work
        for i in self._nonempty():
            own = TaskArrays(x[..., self._rows_of_chunk(i)] for x in inputs)
            first = None if self._checked else int(self._firsts[i])
            chunk, mask = self._keys(i)
            task = (tasks.pass_over, f"{name}-work", chunk, mask)
            graph[name, i] = (*task, own, kinds, self._name, first)
        try:
            results = self._collected(graph, name, kinds)
        except (ValueError, RuntimeWarning):
            self._check_finite()
            raise
        self._checked = True
        return results

    def _check_finite(self) -> None:
        """Raise if the data hold NaN or infinity, and name the first."""
        if self._checked:
            return
        name = unique("check")
        graph = self._graph()
        for i in self._nonempty():
            chunk, first = self._keys(i)[0], int(self._firsts[i])
            graph[name, i] = (tasks.non_finite_message, chunk, self._name, first)
        found = dict(self._cluster.results(graph, [(name, i) for i in self._nonempty()]))
        for i in self._nonempty():
            if found[name, i] is not None:
                raise ValueError(found[name, i]) from None
        self._checked = True

    def _collected(self, graph: Graph, name: str, kinds: str) -> tuple[Any, list[Array]]:
        """Gather the projections of all rows, and the sum of the sums."""
        done = [(name, i) for i in self._nonempty()]
        projected_keys = sum_keys = done
        if kinds == "both":
            projected_keys = select_output(graph, f"{name}-projected", done, 0)
            sum_keys = select_output(graph, f"{name}-sums", done, 1)
        wanted = [] if kinds == "sums" else list(projected_keys)
        top = None
        if kinds != "projected":
            top = tree(graph, f"{name}-tree", sum_keys)
            wanted.append(top)
        out: Array | None = None
        sums: list[Array] = []
        for key, value in self._cluster.results(graph, wanted):
            if key == top:
                sums = list(value)
                continue
            if out is None:
                out = np.empty((*value.shape[:-1], self.shape[0]), value.dtype)
            out[..., self._rows_of_chunk(key[1])] = value
        return out, sums

    def _run_twice(self, work: Any, weights: Callable[..., Any]) -> tuple[Any, list[Array]]:
        """Run a pass whose weights depend on projections: a function is not sent to the chunks."""
        projected, _ = self._run(Project(work.view, work.basis, work.shift))
        w = weights(slice(0, self.shape[0]), projected)
        # Chunks project their rows again, which is faster than sending the projections.
        return projected, self._run(work, w, kinds="sums")[1]

    def fetch(self, rows: Array) -> Array:
        rows = np.asarray(rows)
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        name = unique("some")
        graph = dict(ensure_dict(self._X.__dask_graph__()))
        home = np.searchsorted(self._firsts, rows, side="right") - 1
        for i in np.unique(home):
            own = TaskArrays([rows[home == i] - self._firsts[i]])
            graph[name, int(i)] = (tasks.rows_at, (self._X.name, int(i), 0), own)
        wanted = [(name, int(i)) for i in np.unique(home)]
        out = np.empty((len(rows), self.shape[1]), dtype=self._X.dtype)
        for key, value in self._cluster.results(graph, wanted):
            out[home == key[1]] = value
        return out

    def take(self, rows: Any) -> Table:
        """Send a mask of the rows to the chunks; the rows stay there."""
        kept = kept_among(self._kept, rows)
        table = DaskTable(self._X, self._name, self._cluster, kept, self._checked)
        return self.counting_for(table)

    def in_metric(self, metric: Metric) -> Table:
        """Compute the new coordinates once."""
        self.n_passes += 1
        self._check_finite()  # which does nothing after another pass
        rows = self._mapped("in-metric", self.dtype, tasks.in_metric_of, metric)
        # Finite rows seen in a metric may still overflow, and that is found by the next pass.
        table = DaskTable(self._cluster.persist(rows), self._name, self._cluster)
        return self.counting_for(table)

    def gram(self, center: Array) -> Array:
        """Bring all rows of some columns together."""
        self.n_passes += 1
        n = self.shape[0]
        rows = self._mapped("rows", self._X.dtype, tasks.rows_kept, None)
        columns = rows.rechunk({0: n, 1: max(1, SETTINGS.wide_elements // n)})
        name = unique("gram")
        graph = dict(ensure_dict(columns.__dask_graph__()))
        edges = np.concatenate([[0], np.cumsum(columns.chunks[1])])
        keys = []
        for j, (low, high) in enumerate(pairwise(edges)):
            graph[name, j] = (tasks.gram_of, (columns.name, 0, j), TaskArrays([center[low:high]]))
            keys.append((name, j))
        top = tree(graph, f"{name}-tree", keys)
        try:
            ((_, (gram,)),) = self._cluster.results(graph, [top])
        except (ValueError, RuntimeWarning):
            self._check_finite()
            raise
        self._checked = True
        return np.asarray(gram)

    def _graph(self) -> Graph:
        """Return the graph of the chunks and of the masks of kept rows."""
        graph = dict(ensure_dict(self._X.__dask_graph__()))
        if self._masks is not None:
            graph.update(ensure_dict(self._masks.__dask_graph__()))
        return graph

    def _keys(self, i: int) -> tuple[Any, Any]:
        """Return the keys of a chunk and of its mask."""
        return (self._X.name, i, 0), None if self._masks is None else (self._masks.name, i)

    def _nonempty(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(np.diff(self._starts))]

    def _rows_of_chunk(self, i: int) -> slice:
        return slice(int(self._starts[i]), int(self._starts[i + 1]))

    def _mapped(self, label: str, dtype: Any, change: Callable[..., Array], argument: Any) -> Any:
        """Return a lazy Dask array of a function of the kept rows."""
        name = unique(label)
        graph = self._graph()
        graph[f"{name}-argument"] = argument
        chunks = self._nonempty()
        for j, i in enumerate(chunks):
            at = None if self._checked else int(self._firsts[i])
            task = (change, f"{name}-argument", *self._keys(i), self._name, at)
            graph[name, j, 0] = task
        lengths = tuple(int(np.diff(self._starts)[i]) for i in chunks)
        return da.Array(graph, name, chunks=(lengths, (self.shape[1],)), dtype=dtype)
