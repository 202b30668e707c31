"""A communication hook for PyTorch's DistributedDataParallel when some ranks may be faulty."""

from __future__ import annotations

from typing import Any

from inlier._internal.optional import optional
from inlier.federated.aggregation import Aggregate, aggregate
from inlier.federated.record import Record

PURPOSE = "For a hook into DistributedDataParallel"


class RobustState:
    """State of the hook between steps.

    Parameters
    ----------
    process_group : torch.distributed.ProcessGroup, optional
        The ranks among which gradients are exchanged; all by default.
    remember : bool, default=True
        Whether to use evidence from earlier steps.

    Attributes
    ----------
    results : dict of Aggregate
        The last result for each bucket of gradients.
    skipped : int
        Number of times that no rank sent a usable bucket, so that its gradient was set to 0.
    """

    def __init__(self, process_group: Any = None, remember: bool = True) -> None:
        self.process_group = process_group
        self.remember = remember
        self.records: dict[int, Record] = {}
        self.results: dict[int, Aggregate] = {}
        self.skipped = 0

    def record(self, bucket: int) -> Record | None:
        """Return the record of a bucket."""
        return self.records.setdefault(bucket, Record()) if self.remember else None


def robust_hook(state: RobustState, bucket: Any) -> Any:
    """Replace the mean of the ranks' gradients by their robust aggregate.

    Register it with ``model.register_comm_hook(RobustState(), robust_hook)``. Every rank gathers
    the buckets of all n ranks, which takes n times the memory of a bucket, and computes the same
    result if all run the same software on the same kind of processor. Each bucket is judged on its
    own.
    """
    torch = optional("torch", PURPOSE, "torch")
    distributed = optional("torch.distributed", PURPOSE, "torch")
    mine = bucket.buffer()
    ranks = distributed.get_world_size(state.process_group)
    gathered = [torch.empty_like(mine) for _ in range(ranks)]
    distributed.all_gather(gathered, mine, group=state.process_group)
    try:
        result = aggregate(gathered, record=state.record(bucket.index()))
        state.results[bucket.index()] = result
        update = result.update
    except ValueError:  # no rank sent a usable bucket: this step changes nothing
        state.skipped += 1
        update = torch.zeros_like(mine)
    done = torch.futures.Future()
    done.set_result(update)
    return done


# DistributedDataParallel refuses a hook whose annotations are not its own types, and torch is an
# optional dependency.
robust_hook.__annotations__ = {}
