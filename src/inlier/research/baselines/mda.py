"""Minimum diameter averaging (MDA)."""

from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter
from inlier.research.baselines.krum import sq_distances_between


class MDA(Baseline):
    """Average the n - f rows with the smallest diameter, f = alpha n, by exact search.

    Two passes, an n x n matrix, and a search that is exponential in f in the worst case. A subset
    of n - f rows with diameter at most D exists if and only if f rows cover all pairs farther apart
    than D. D is bisected over the distances, and covers are found by a bounded search tree. More
    than half of the subset is good, so each of its rows is within the diameter of the good rows, of
    the order of sigma sqrt(d), of a good one.

    The subset need not be unique; the first one found is returned. Where distances are equal it may
    hold more than n - f rows. Rows are scored by the distance to the farthest row of the subset.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.
    max_nodes : int, default=20000
        Maximum number of nodes over all search trees. When it is reached, the best subset found is
        returned with a warning.

    References
    ----------
    Rousseeuw (1985), Multivariate estimation with high breakdown point, for the minimal volume.
    El Mhamdi, Guerraoui and Rouault (2018), The hidden vulnerability of distributed learning in
    Byzantium, describe the minimal diameter as Brute. The rule for rows of high degree is that of
    Buss and Goldsmith (1993), Nondeterminism within P.
    """

    name = "mda"
    paper = "Rousseeuw (1985), El Mhamdi, Guerraoui and Rouault (2018)"
    # Only the Gram matrix is needed, which a rotation would compute first.
    rotates = False

    alpha: float | None = None
    max_nodes: int = parameter(20000, check_whole)

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
        weights, scores = found.kept * 1.0, np.sqrt(distances[:, found.kept].max(axis=1))
        return Answer(weights, scores, None, max(1, found.n_nodes), found.exact, message)


class _Subset(NamedTuple):
    kept: Mask
    sq_diameter: float
    sq_bound: float
    """Lower bound on the squared diameter of any subset."""
    n_nodes: int

    @property
    def exact(self) -> bool:
        return self.sq_bound >= self.sq_diameter


def _smallest_diameter(distances: Array, n_out: int, max_nodes: int) -> _Subset:
    n = len(distances)
    levels = np.unique(distances)
    kept = np.ones(n, dtype=np.bool_)
    n_nodes = 0
    # Each row of a subset has n - f - 1 others within the diameter, which bounds it from below.
    reach = np.partition(distances, n - n_out - 1, axis=1)[:, n - n_out - 1]
    low = proved = int(np.searchsorted(levels, reach.min()))
    high = len(levels) - 1
    while low < high:
        level = (low + high) // 2
        # A level may use half of the nodes left, and always one descent.
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
    return _Subset(kept, float(levels[high]), float(levels[min(proved, high)]), n_nodes)


class _Cover(NamedTuple):
    rows: Mask | None
    """A vertex cover within the budget; None if none was found."""
    searched: bool
    """Whether the whole tree was searched, which proves that there is none."""
    n_nodes: int


def _cover(edges: Mask, budget: int, max_nodes: int) -> _Cover:
    """Find a vertex cover of at most `budget` rows by a bounded search tree.

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
        # Reductions: a row of degree above the remaining budget is in every cover, and the
        # neighbour of a row of degree 1 is in some smallest cover.
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
        # Prune: the rows of highest degree cannot cover all edges.
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
