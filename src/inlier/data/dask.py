"""Tables held by Dask: each pass is one task for each chunk of rows, and a tree of sums.

The chunks stay on the workers. What has an entry for each row is a numpy array on the client; the
part of it that belongs to a chunk travels with the task. Sums over rows are added up on the
workers, so that one of each comes back, and not one for each chunk.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from operator import getitem
from typing import Any

import numpy as np

from inlier._arrays import is_real, pieces, working_precision
from inlier._typing import Array
from inlier.data.arrays import WIDE_ELEMENTS, DenseTable
from inlier.data.base import Metric, Table
from inlier.data.blocks import BlockTable, kept_among
from inlier.data.finite import check_finite
from inlier.data.optional import optional
from inlier.data.passes import Combine, Distances, Histogram, Pass, Project, Scatter


def _imported(module: str) -> Any:
    return optional(module, "For data held by Dask", "dask")


dask = _imported("dask")
da = _imported("dask.array")
get_scheduler = _imported("dask.base").get_scheduler
threaded_get = _imported("dask.threaded").get
ensure_dict = _imported("dask.utils").ensure_dict
ThreadpoolController = _imported("threadpoolctl").ThreadpoolController

# How many sums one task of the tree adds up.
FAN_IN = 8
# A graph holds the weights of all rows. Dask warns of large graphs, because most are mistakes.
LARGEST_GRAPH = "1 TiB"
# Passes of which only one kind of result has to travel; of any other both do.
SEEN_ONLY = (Project, Distances)
SUMS_ONLY = (Combine, Scatter, Histogram)

# Numbers of glibc's malloc.h. Workers are started with the variable set; that also makes every
# array above the second threshold one that the system has to find pages for.
TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MMAP_DEFAULT = 128 * 1024
KEPT_BYTES = 32 * 1024 * 1024

Graph = dict[Any, Any]
Get = Callable[..., Any]


def open_dask(X: Any, name: str = "X", client: Any = None, persist: bool = True) -> DaskTable:
    """The table of a Dask array or dataframe.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame, of shape (n, d)
        Of real numbers. Chunks may have any number of rows; about 100 MB each are best.
    name : str
        What messages call it.
    client : distributed.Client or str, optional
        Whose workers do the passes, or the address of its scheduler ("tcp://10.0.0.1:8786"). By
        default the current client or, if there is none, threads of this process.
    persist : bool
        Whether the data are loaded once into the memory of the workers; otherwise each pass makes
        them anew.
    """
    cluster = Cluster(client)
    chunks = _in_one_column(_as_array(X, name), name)
    if persist:
        chunks = cluster.persist(chunks)
    return DaskTable(_with_lengths(chunks, cluster), name, cluster)


class DaskTable(BlockTable):
    """Rows of a Dask array that is chunked along its rows only.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d)
        With chunks of known lengths.
    name : str
        What messages call it.
    cluster : Cluster
        Where tasks are run.
    kept : mask of shape (n,), optional
        The rows that are looked at.
    checked : bool
        Whether it is known that the data hold neither NaN nor infinity.
    """

    def __init__(
        self,
        X: Any,
        name: str,
        cluster: Cluster,
        kept: Array | None = None,
        checked: bool = False,
    ) -> None:
        lengths = np.array(X.chunks[0], dtype=np.intp)
        self._firsts = np.cumsum(lengths) - lengths
        self._kept = kept
        self._masks = None
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
        self._X = X
        self._name = name
        self._cluster = cluster
        self._checked = checked

    def _run(
        self, work: Pass, *inputs: Any, width: int = 1, kinds: str | None = None
    ) -> tuple[Any, list[Array]]:
        """See `BlockTable._run`; `kinds` of results are "seen", "sums" or "both"."""
        if any(callable(x) for x in inputs):
            return self._weighed(work, inputs[0], width)
        self.n_passes += 1
        name = _unique(type(work).__name__.lower())
        kinds = kinds or _kinds(work)
        graph = self._graph()
        graph[f"{name}-work"] = work
        for i in self._nonempty():
            own = Own(x[..., self._rows_of_chunk(i)] for x in inputs)
            first = None if self._checked else int(self._firsts[i])
            chunk, mask = self._keys(i)
            graph[name, i] = (
                *(_pass_over, f"{name}-work", chunk, mask),
                *(own, width, kinds, self._name, first),
            )
        try:
            results = self._collected(graph, name, kinds)
        except (ValueError, RuntimeWarning):
            self._complain()
            raise
        self._checked = True
        return results

    def _complain(self) -> None:
        """Raise if the data hold NaN or infinity, and name the first, whichever a task found."""
        if self._checked:
            return
        name = _unique("check")
        graph = self._graph()
        for i in self._nonempty():
            graph[name, i] = (_complaint, self._keys(i)[0], self._name, int(self._firsts[i]))
        found = dict(self._cluster.results(graph, [(name, i) for i in self._nonempty()]))
        for i in self._nonempty():
            if found[name, i] is not None:
                raise ValueError(found[name, i]) from None
        self._checked = True

    def _collected(self, graph: Graph, name: str, kinds: str) -> tuple[Any, list[Array]]:
        """What the tasks saw of their rows, put together, and the sum of their sums."""
        done = [(name, i) for i in self._nonempty()]
        seen_keys = _picked(graph, f"{name}-seen", done, 0) if kinds == "both" else done
        sum_keys = _picked(graph, f"{name}-sums", done, 1) if kinds == "both" else done
        wanted = [] if kinds == "sums" else list(seen_keys)
        top = None
        if kinds != "seen":
            top = _tree(graph, f"{name}-tree", sum_keys)
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

    def _weighed(
        self, work: Any, weights: Callable[..., Any], width: int
    ) -> tuple[Any, list[Array]]:
        """A pass with weights that depend on what is seen: a function is not sent to the chunks."""
        seen, _ = self._run(Project(work.view, work.basis, work.shift), width=width)
        w = weights(slice(0, self.shape[0]), seen)
        # The chunks see their rows again: that is faster than to send them what was seen.
        return seen, self._run(work, w, width=width, kinds="sums")[1]

    def some(self, rows: Array) -> Array:
        """See `Table.some`."""
        rows = np.asarray(rows)
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        name = _unique("some")
        graph = dict(ensure_dict(self._X.__dask_graph__()))
        home = np.searchsorted(self._firsts, rows, side="right") - 1
        for i in np.unique(home):
            own = Own([rows[home == i] - self._firsts[i]])
            graph[name, int(i)] = (_rows_at, (self._X.name, int(i), 0), own)
        wanted = [(name, int(i)) for i in np.unique(home)]
        out = np.empty((len(rows), self.shape[1]), dtype=self._X.dtype)
        for key, value in self._cluster.results(graph, wanted):
            out[home == key[1]] = value
        return out

    def take(self, rows: Any) -> Table:
        """See `Table.take`. A mask of the rows is sent to the chunks; the rows stay there."""
        kept = kept_among(self._kept, rows)
        return DaskTable(self._X, self._name, self._cluster, kept, self._checked)

    def in_metric(self, metric: Metric) -> Table:
        """See `Table.in_metric`. The new coordinates are computed once."""
        self.n_passes += 1
        self._complain()  # which does nothing after another pass
        rows = self._mapped("in-metric", self.dtype, _in_metric, metric)
        # Finite rows seen in a metric may still overflow, and that is found by the next pass.
        return DaskTable(self._cluster.persist(rows), self._name, self._cluster)

    def gram(self, center: Array) -> Array:
        """See `Table.gram`. All rows of some columns are brought together."""
        self.n_passes += 1
        n = self.shape[0]
        rows = self._mapped("rows", self._X.dtype, _rows_kept, None)
        columns = rows.rechunk({0: n, 1: max(1, WIDE_ELEMENTS // n)})
        name = _unique("gram")
        graph = dict(ensure_dict(columns.__dask_graph__()))
        edges = np.concatenate([[0], np.cumsum(columns.chunks[1])])
        keys = []
        for j, (low, high) in enumerate(pairwise(edges)):
            graph[name, j] = (_gram, (columns.name, 0, j), Own([center[low:high]]))
            keys.append((name, j))
        top = _tree(graph, f"{name}-tree", keys)
        try:
            ((_, (gram,)),) = self._cluster.results(graph, [top])
        except (ValueError, RuntimeWarning):
            self._complain()
            raise
        self._checked = True
        return np.asarray(gram)

    def _graph(self) -> Graph:
        """How the chunks, and which of their rows are looked at, are made."""
        graph = dict(ensure_dict(self._X.__dask_graph__()))
        if self._masks is not None:
            graph.update(ensure_dict(self._masks.__dask_graph__()))
        return graph

    def _keys(self, i: int) -> tuple[Any, Any]:
        """Of a chunk, and of its mask."""
        return (self._X.name, i, 0), None if self._masks is None else (self._masks.name, i)

    def _nonempty(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(np.diff(self._starts))]

    def _rows_of_chunk(self, i: int) -> slice:
        return slice(int(self._starts[i]), int(self._starts[i + 1]))

    def _mapped(self, label: str, dtype: Any, change: Callable[..., Array], argument: Any) -> Any:
        """A Dask array of what a function makes of the rows that are looked at, not yet made."""
        name = _unique(label)
        graph = self._graph()
        graph[f"{name}-argument"] = argument
        chunks = self._nonempty()
        for j, i in enumerate(chunks):
            at = None if self._checked else int(self._firsts[i])
            task = (change, f"{name}-argument", *self._keys(i), self._name, at)
            graph[name, j, 0] = task
        lengths = tuple(int(np.diff(self._starts)[i]) for i in chunks)
        return da.Array(graph, name, chunks=(lengths, (self.shape[1],)), dtype=dtype)


class Cluster:
    """Where tasks are run: by a `distributed` client, or by threads of this process.

    Parameters
    ----------
    client : distributed.Client, str or None
        A client, the address of a scheduler, or the current client, if there is one.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = _connected(client)

    def persist(self, collection: Any) -> Any:
        """The same collection, computed; a client remembers how, and can do it again."""
        if self.client is not None:
            return self.client.persist(collection)
        with working():
            return collection.persist(scheduler=_local_get())

    def results(self, graph: Graph, keys: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        """The keys and what was computed for them, in any order."""
        if self.client is None:
            with working():
                yield from zip(keys, _local_get()(graph, list(keys)), strict=True)
            return
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGEST_GRAPH}):
            futures = self.client.get(graph, list(keys), sync=False)
        # Results are fetched while others are computed, and past the scheduler, which would hold a
        # copy of what was seen of all rows.
        direct = True if self.client.direct_to_workers is None else None
        finished = _imported("distributed").as_completed(futures, loop=self.client.loop)
        for batch in finished.batches():
            ready = list(batch)
            values = self.client.gather(ready, direct=direct)
            yield from zip((future.key for future in ready), values, strict=True)


class Own:
    """Arrays that go with one task. They are not hashed: no other task has the same."""

    def __init__(self, arrays: Iterable[Array]) -> None:
        self.arrays = [np.ascontiguousarray(x) for x in arrays]  # which travel without a copy

    def __dask_tokenize__(self) -> str:
        return uuid.uuid4().hex


# ---- what is done on the workers ----------------------------------------------------------------


def _pass_over(
    work: Pass,
    block: Array,
    kept: Array | None,
    own: Own,
    width: int,
    kinds: str,
    name: str,
    first: int | None,
) -> Any:
    """A pass over one chunk: what is seen of its rows, its sums, or both."""
    # NaN in one chunk must not make another one warn.
    with working(), np.errstate(invalid="ignore" if first is not None else None):
        if first is not None:
            check_finite(block, name, first)
        seen, sums = DenseTable(block, kept)._run(work, *own.arrays, width=width)
    if kinds == "sums":
        return sums
    return seen if kinds == "seen" else (seen, sums)


def _complaint(block: Array, name: str, first: int) -> str | None:
    try:
        check_finite(block, name, first)
    except ValueError as error:
        return str(error)
    return None


def _added(parts: Sequence[Sequence[Array]]) -> list[Array]:
    return [sum(terms[1:], start=terms[0]) for terms in zip(*parts, strict=True)]


def _rows_at(block: Array, own: Own) -> Array:
    return np.asarray(block[own.arrays[0]])


def _rows_kept(_: None, block: Array, kept: Array | None, name: str, first: int | None) -> Array:
    if first is not None:
        check_finite(block, name, first)
    return block if kept is None else block[kept]


def _in_metric(
    metric: Metric, block: Array, kept: Array | None, name: str, first: int | None
) -> Array:
    with working():
        rows = _rows_kept(None, block, kept, name, first)
        seen: Any = DenseTable(rows).in_metric(metric)
    return np.asarray(seen._Y)


def _gram(block: Array, own: Own) -> list[Array]:
    with working():
        return [DenseTable(block).gram(own.arrays[0])]


class _Working:
    """What holds in a process while at least one of its tasks is at work.

    Linear algebra keeps to one thread, and memory that was freed is used again. Settings that each
    task made and took back on its own would outlast all tasks, or end too early.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = _libraries().limit(limits=1)
                _reuse_memory(True)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.restore_original_limits()
                    _reuse_memory(False)


def _reuse_memory(on: bool) -> None:
    """Let glibc keep what is freed; or give it back to the system, as Dask tells its workers to.

    Each small block makes a temporary array. If its pages come anew from the system each time, a
    pass takes up to four times as long.
    """
    trim = os.environ.get(TRIM_VARIABLE)
    if trim is None or (mallopt := _mallopt()) is None:
        return
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES if on else int(trim))
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES if on else MMAP_DEFAULT)


@cache
def _mallopt() -> Any:
    """The function of glibc, if this is glibc."""
    return getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None


@cache
def _libraries() -> Any:
    return ThreadpoolController()


working = _Working()


# ---- graphs -------------------------------------------------------------------------------------


def _unique(label: str) -> str:
    return f"inlier-{label}-{uuid.uuid4().hex}"


def _kinds(work: Pass) -> str:
    """What of the results of a pass has to travel."""
    if type(work) in SEEN_ONLY:
        return "seen"
    return "sums" if type(work) in SUMS_ONLY else "both"


def _picked(graph: Graph, name: str, keys: Sequence[Any], place: int) -> list[Any]:
    """One part of what each task returned."""
    for key in keys:
        graph[name, key[1]] = (getitem, key, place)
    return [(name, key[1]) for key in keys]


def _tree(graph: Graph, name: str, keys: Sequence[Any]) -> Any:
    """The key of the sum of what all these tasks return."""
    level = 0
    while len(keys) > 1:
        sums = []
        for j, part in enumerate(pieces(len(keys), FAN_IN)):
            graph[name, level, j] = (_added, list(keys[part]))
            sums.append((name, level, j))
        keys, level = sums, level + 1
    return keys[0]


# ---- where tasks are run ------------------------------------------------------------------------


def _connected(client: Any) -> Any:
    """The client to use, or None for threads."""
    if isinstance(client, str):
        return _imported("distributed").Client(client, set_as_default=False)
    if client is None:
        client = getattr(get_scheduler(), "__self__", None)
    if client is not None and not hasattr(client, "persist"):
        raise ValueError(
            f"client must be a distributed.Client or the address of a scheduler, but is {client!r}."
        )
    if getattr(client, "asynchronous", False):
        raise ValueError("client is asynchronous. Pass one made with asynchronous=False.")
    return client


def _local_get() -> Get:
    """Threads, unless the user has set another scheduler of this machine."""
    get: Get = get_scheduler() or threaded_get
    return get


# ---- what comes in ------------------------------------------------------------------------------


def _as_array(X: Any, name: str) -> Any:
    """A Dask array of real numbers, with two axes."""
    if isinstance(X, da.Array):
        array = X
    elif hasattr(X, "to_dask_array") and getattr(X, "ndim", 0) == 2:
        array = _common_dtype(X, name).to_dask_array()
    else:
        raise ValueError(
            f"{name} must be a two-dimensional Dask array or a Dask dataframe, but is a "
            f"{type(X).__name__}. Convert a column with to_frame(), a bag with to_dataframe()."
        )
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a table with rows and columns, but has shape {array.shape}. For a "
            f"single column pass {name}.reshape(-1, 1)."
        )
    if not is_real(array):
        raise ValueError(
            f"{name} must hold real numbers, but has dtype {array.dtype}. Select or encode the "
            "numeric columns first."
        )
    return array


def _common_dtype(frame: Any, name: str) -> Any:
    """A dataframe of which all columns have the same dtype."""
    dtypes = [_numpy_dtype(x) for x in frame.dtypes]
    wrong = [
        f"{column!r} ({dtype})"
        for column, dtype, known in zip(frame.columns, frame.dtypes, dtypes, strict=True)
        if known is None
    ]
    if wrong:
        raise ValueError(
            f"{name} must hold real numbers, but has columns that do not: {', '.join(wrong)}. Drop "
            "or encode them first."
        )
    common = np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
    return frame if all(x == common for x in frame.dtypes) else frame.astype(common)


def _numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    """The dtype that holds a column of a dataframe, if that holds real numbers."""
    known = getattr(dtype, "numpy_dtype", dtype)
    if not isinstance(known, np.dtype) or known.kind not in "biuf":
        return None
    return known if known is dtype else np.dtype(np.float64)  # which has room for missing values


def _in_one_column(X: Any, name: str) -> Any:
    """Chunked along the rows only."""
    if X.shape[1] == 0 or np.isnan(X.shape[1]):
        raise ValueError(
            f"{name} must have at least 1 column, and a known number of them, but has shape "
            f"{X.shape}. Call {name}.compute_chunk_sizes(), if it is not known."
        )
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _with_lengths(X: Any, cluster: Cluster) -> Any:
    """With the length of each chunk, counted where it is not known."""
    if not any(np.isnan(x) for x in X.chunks[0]):
        return X
    name = _unique("length")
    graph = dict(ensure_dict(X.__dask_graph__()))
    keys = [(name, i) for i in range(X.numblocks[0])]
    for key in keys:
        graph[key] = (len, (X.name, key[1], 0))
    found = dict(cluster.results(graph, keys))
    lengths = tuple(int(found[key]) for key in keys)
    return da.Array(X.__dask_graph__(), X.name, (lengths, X.chunks[1]), meta=X._meta)
