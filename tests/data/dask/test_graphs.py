"""Graphs have one task for each chunk and a tree."""

from typing import Any

import dask.array as da
import distributed
import numpy as np
import pytest

from dask_cases import VERBS, Case, D, N, real_numbers
from inlier.data.dask import open_dask


def test_a_large_graph_is_no_reason_to_warn(client, recwarn):
    table = open_dask(da.random.default_rng(0).standard_normal((200_000, 2), chunks=(50_000, 2)))
    table.combine(np.zeros(2), np.ones((10, 200_000)))
    assert [str(w.message) for w in recwarn if "large graph" in str(w.message)] == []


class Transitions(distributed.SchedulerPlugin):
    """Which tasks a scheduler has had done."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        if start == "processing" and finish == "memory":
            self.done.append(key)


@pytest.mark.parametrize(
    ("verb", "per_chunk", "n_sums"),
    [
        ("sq_distances", 1, 0),
        ("project", 1, 0),
        ("combine", 1, 4),
        ("scatter", 1, 4),
        ("squares", 1, 4),
        ("moment", 3, 4),  # both kinds of results, told apart where they are
    ],
)
def test_one_task_for_each_chunk_and_a_tree(client, cluster, verb, per_chunk, n_sums):
    n_chunks = 20
    case = Case(da.from_array(real_numbers(), chunks=(N // n_chunks, D)))
    VERBS["sq_distances"](case.table, case)
    transitions = Transitions()
    cluster.scheduler.add_plugin(transitions, name="transitions")
    try:
        VERBS[verb](case.table, case)
    finally:
        cluster.scheduler.remove_plugin("transitions")
    shared = [key for key in transitions.done if isinstance(key, str)]
    assert len(shared) <= 1, "what the pass holds is sent once"
    assert len(transitions.done) - len(shared) == per_chunk * n_chunks + n_sums
