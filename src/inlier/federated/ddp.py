"""A communication hook for PyTorch's DistributedDataParallel when some ranks may be faulty."""

from __future__ import annotations

from typing import Any, get_args

from inlier._internal.optional import optional
from inlier._internal.validation import check_choice
from inlier.federated.aggregation import Aggregate, OnDoubt, aggregate
from inlier.federated.record import Record

PURPOSE = "For a hook into DistributedDataParallel"


class RobustState:
    """State of the hook between steps.

    Parameters
    ----------
    process_group : torch.distributed.ProcessGroup, optional
        The ranks among which gradients are exchanged; all by default.
    by_bucket : bool, default=False
        Whether to judge each bucket of gradients on its own. It takes n times the memory of a
        bucket rather than of the gradient, for n ranks, but malicious ranks that stay within the
        bounds of each bucket do more harm (docs/federated.md).
    on_doubt : {"warn", "raise"}, default="warn"
        As for `aggregate`.

    Attributes
    ----------
    results : dict of Aggregate
        The last result, at 0; with `by_bucket`, that of each bucket at its index.
    skipped : int
        Number of times that no rank sent a usable gradient, so that it was set to 0.
    """

    def __init__(
        self,
        process_group: Any = None,
        by_bucket: bool = False,
        on_doubt: OnDoubt = "warn",
    ) -> None:
        self.process_group = process_group
        self.by_bucket = by_bucket
        check_choice(on_doubt, "on_doubt", get_args(OnDoubt))
        self.on_doubt = on_doubt
        self.records: dict[int, Record] = {}
        self.results: dict[int, Aggregate] = {}
        self.skipped = 0
        self.waiting: list[tuple[Any, list[Any]]] = []  # futures, and what all ranks sent

    def settle(self, place: int) -> None:
        """Aggregate the buckets that wait, as layers of one update, and complete their futures.

        Parameters
        ----------
        place : int
            Of the record and the result.
        """
        futures, buckets = zip(*self.waiting, strict=True)
        self.waiting = []
        record = self.records.setdefault(place, Record())
        try:
            ranks = [list(layers) for layers in zip(*buckets, strict=True)]
            self.results[place] = aggregate(ranks, record=record, on_doubt=self.on_doubt)
            updates = self.results[place].update
        except ValueError:  # no rank sent a usable gradient: this step changes nothing
            self.skipped += 1
            updates = [bucket[0].zero_() for bucket in buckets]
        for future, update in zip(futures, updates, strict=True):
            future.set_result(update)


def robust_hook(state: RobustState, bucket: Any) -> Any:
    """Replace the mean of the ranks' gradients by their robust aggregate.

    Register it with ``model.register_comm_hook(RobustState(), robust_hook)``. Every rank gathers
    the buckets of all n ranks, which takes n times the memory of the gradient, and computes the
    same result if all run the same software on the same kind of processor. Buckets wait for the
    last one, and the gradient is judged as a whole.
    """
    torch = optional("torch", PURPOSE, "torch")
    distributed = optional("torch.distributed", PURPOSE, "torch")
    mine = bucket.buffer()
    ranks = distributed.get_world_size(state.process_group)
    gathered = [torch.empty_like(mine) for _ in range(ranks)]
    distributed.all_gather(gathered, mine, group=state.process_group)
    done = torch.futures.Future(devices=[mine.device] if mine.is_cuda else None)
    if bucket.index() == 0:
        state.waiting = []  # of a step that was interrupted
    state.waiting.append((done, gathered))
    if state.by_bucket or bucket.is_last():
        state.settle(bucket.index() if state.by_bucket else 0)
    return done


# DistributedDataParallel refuses a hook whose annotations are not its own types, and torch is an
# optional dependency.
robust_hook.__annotations__ = {}
