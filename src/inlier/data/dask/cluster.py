"""Run tasks on a cluster or on threads."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from inlier.data.dask.graphs import Graph
from inlier.data.dask.libraries import dask, get_scheduler, imported, threaded_get
from inlier.data.dask.worker_settings import worker_settings

# A graph holds the weights of all rows. Dask warns of large graphs, because most are mistakes.
LARGEST_GRAPH = "1 TiB"

Get = Callable[..., Any]


class Workers:
    """Run tasks by a `distributed` client, or by threads of this process."""

    def __init__(self, client: Any = None) -> None:
        self.client = _connected(client)

    def persist(self, collection: Any) -> Any:
        """Compute a collection and keep it; a client can recompute what a worker loses."""
        if self.client is not None:
            return self.client.persist(collection)
        with worker_settings():
            return collection.persist(scheduler=_local_get())

    def results(self, graph: Graph, keys: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield the keys and their results, in any order."""
        if self.client is None:
            with worker_settings():
                yield from zip(keys, _local_get()(graph, list(keys)), strict=True)
            return
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGEST_GRAPH}):
            futures = self.client.get(graph, list(keys), sync=False)
        # Results are fetched while others are computed, and past the scheduler, which would hold a
        # copy of the projections of all rows.
        direct = True if self.client.direct_to_workers is None else None
        finished = imported("distributed").as_completed(futures, loop=self.client.loop)
        for batch in finished.batches():
            ready = list(batch)
            values = self.client.gather(ready, direct=direct)
            yield from zip((future.key for future in ready), values, strict=True)


def _connected(client: Any) -> Any:
    """Return the client given, at an address, or current; None for threads."""
    if isinstance(client, str):
        return imported("distributed").Client(client, set_as_default=False)
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
    """Return the threaded scheduler, unless another local one is configured."""
    get: Get = get_scheduler() or threaded_get
    return get
