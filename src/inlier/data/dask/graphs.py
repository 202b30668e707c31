"""Task graphs of Dask, and the arrays that are sent with a task."""

import uuid
from collections.abc import Iterable, Sequence
from operator import getitem
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.typing import Array
from inlier.data.passes import Combine, Distances, Histogram, Pass, Project, ScatterPass, Squares

# How many sums one task of the tree adds up.
FAN_IN = 8
# Passes of which only one kind of result has to travel; of any other both do.
PROJECTION_ONLY = (Project, Distances)
SUMS_ONLY = (Combine, ScatterPass, Squares, Histogram)

Graph = dict[Any, Any]


class TaskArrays:
    """Arrays that are sent with one task. They are not hashed: no other task has the same."""

    def __init__(self, arrays: Iterable[Array]) -> None:
        self.arrays = [np.ascontiguousarray(x) for x in arrays]  # which travel without a copy

    def __dask_tokenize__(self) -> str:
        return uuid.uuid4().hex


def unique(label: str) -> str:
    """Return a name that no other graph has."""
    return f"inlier-{label}-{uuid.uuid4().hex}"


def kinds_of(work: Pass) -> str:
    """Return which results of a pass have to be sent: projections, sums or both."""
    if type(work) in PROJECTION_ONLY:
        return "projected"
    return "sums" if type(work) in SUMS_ONLY else "both"


def select_output(graph: Graph, name: str, keys: Sequence[Any], place: int) -> list[Any]:
    """Add tasks that select one output of each task."""
    for key in keys:
        graph[name, key[1]] = (getitem, key, place)
    return [(name, key[1]) for key in keys]


def tree(graph: Graph, name: str, keys: Sequence[Any]) -> Any:
    """Add a tree of sums, and return the key of the total."""
    level = 0
    while len(keys) > 1:
        sums = []
        for j, part in enumerate(pieces(len(keys), FAN_IN)):
            graph[name, level, j] = (_added, list(keys[part]))
            sums.append((name, level, j))
        keys, level = sums, level + 1
    return keys[0]


def _added(parts: Sequence[Sequence[Array]]) -> list[Array]:
    return [sum(terms[1:], start=terms[0]) for terms in zip(*parts, strict=True)]
