"""The mean of the n - f rows that are nearest to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_whole
from inlier.baselines.base import Answer, Baseline, Run
from inlier.baselines.krum import sq_distances_between


@dataclass(eq=False, repr=False)
class MDA(Baseline):
    """The mean of the n - f rows with the smallest diameter, f = alpha n, by exact search.

    Minimum diameter averaging. Two passes, an n x n matrix, and a search whose time can double with
    each bad row, though it seldom does. A subset of n - f rows with diameter at most D exists if
    and only if f rows cover all pairs farther apart than D; D is bisected over the distances, and
    a cover is looked for in a bounded search tree. More than half of the subset is good, so each
    of its rows is within the diameter of the good rows, of the order of sigma sqrt(d), of good
    ones.

    The subset need not be unique: rows may be exchanged that do not fix the diameter. Then the
    first that the search finds is taken. Where distances are equal it may hold more than n - f rows
    of the same diameter. Rows are scored by the distance to the farthest row of the subset.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.
    max_nodes : int, default=20000
        Most nodes of the search trees, over all D. When they are used up, the best subset found
        that far is returned, with a warning.

    References
    ----------
    Rousseeuw (1985), Multivariate estimation with high breakdown point, for the minimal volume.
    El Mhamdi, Guerraoui and Rouault (2018), The hidden vulnerability of distributed learning in
    Byzantium, describe the minimal diameter as Brute. The rule for rows of high degree is that of
    Buss and Goldsmith (1993), Nondeterminism within P.
    """

    name = "mda"
    needs = ("alpha",)
    paper = "Rousseeuw (1985), El Mhamdi, Guerraoui and Rouault (2018)"
    # The Gram matrix, which a rotation would begin with, is all that is needed.
    rotates = False

    alpha: float | None = None
    max_nodes: int = 20000

    def _check(self, n: int, d: int) -> None:
        check_whole(self.max_nodes, "max_nodes")

    def _estimate(self, run: Run) -> Answer:
        n_out = min(run.n_bad, (run.n - 1) // 2)
        distances = sq_distances_between(run)
        found = _smallest_diameter(distances, n_out, self.max_nodes)
        message = f"Diameter {np.sqrt(found.sq_diameter):.4g}."
        if not found.exact:
            message += (
                f" The search ended at max_nodes={self.max_nodes}, and the smallest diameter is at "
                f"least {np.sqrt(found.sq_bound):.4g}: raise max_nodes, or take a method for more "
                "rows, such as MultiKrum."
            )
        scores = np.sqrt(distances[:, found.kept].max(axis=1))
        return Answer(
            found.kept.astype(np.float64),
            scores,
            n_iter=max(1, found.n_nodes),
            converged=found.exact,
            message=message,
        )


class _Found(NamedTuple):
    kept: Mask
    sq_diameter: float
    sq_bound: float
    """No subset has a smaller one."""
    n_nodes: int

    @property
    def exact(self) -> bool:
        return self.sq_bound >= self.sq_diameter


def _smallest_diameter(distances: Array, n_out: int, max_nodes: int) -> _Found:
    n = len(distances)
    levels = np.unique(distances)
    kept = np.ones(n, dtype=np.bool_)
    n_nodes = 0
    # Each row of a subset has n - f - 1 others within the diameter: some row has to reach so many.
    reach = np.partition(distances, n - n_out - 1, axis=1)[:, n - n_out - 1]
    low = proved = int(np.searchsorted(levels, reach.min()))
    high = len(levels) - 1
    while low < high:
        level = (low + high) // 2
        # A level that is too hard leaves half for easier ones, and one descent is always granted.
        granted = max(n_out + 1, (max_nodes - n_nodes) // 2)
        found = _cover(distances > levels[level], n_out, granted)
        n_nodes += found.n_nodes
        if found.rows is not None:
            kept = ~found.rows
            high = int(np.searchsorted(levels, distances[np.ix_(kept, kept)].max()))
        else:
            low = level + 1
            if found.searched:
                proved = level + 1
    return _Found(kept, float(levels[high]), float(levels[min(proved, high)]), n_nodes)


class _Cover(NamedTuple):
    rows: Mask | None
    """At most as many rows as allowed, which touch all edges; None, if none were found."""
    searched: bool
    """Whether the whole tree was searched: then there are no such rows."""
    n_nodes: int


def _cover(edges: Mask, budget: int, max_nodes: int) -> _Cover:
    """At most `budget` rows that touch all edges, by a bounded search tree.

    Each node takes the row of highest degree, or else all of its neighbours.
    """
    n = len(edges)
    whole = edges.astype(np.int64)
    stack = [(np.zeros(n, dtype=np.bool_), whole.sum(axis=1), budget)]
    n_nodes = 0
    while stack:
        if n_nodes == max_nodes:
            return _Cover(None, False, n_nodes)
        n_nodes += 1
        taken, degree, left = stack.pop()
        # A row with more edges than rows are left to take has to be taken itself, and so has the
        # neighbour of a row with a single edge: it covers that edge and maybe others.
        while left > 0:
            forced = np.flatnonzero(degree > left)
            if not len(forced):
                single = np.flatnonzero(degree == 1)
                if not len(single):
                    break
                forced = np.flatnonzero(edges[single[0]] & ~taken)
            row = forced[0]
            taken[row] = True
            degree = np.where(taken, 0, degree - whole[row])
            left -= 1
        n_edges = int(degree.sum()) // 2
        if n_edges == 0:
            return _Cover(taken, False, n_nodes)
        # The rows that are left to take have too few edges.
        if left <= 0 or int(np.sort(degree)[-left:].sum()) < n_edges:
            continue
        row = int(np.argmax(degree))
        near = np.flatnonzero(edges[row] & ~taken)
        if len(near) <= left:
            without = taken.copy()
            without[near] = True
            after = np.where(without, 0, degree - whole[near].sum(axis=0))
            stack.append((without, after, left - len(near)))
        taken[row] = True
        stack.append((taken, np.where(taken, 0, degree - whole[row]), left - 1))
    return _Cover(None, True, n_nodes)
