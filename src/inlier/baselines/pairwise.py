"""Methods for few rows, from the distances between all pairs: Krum, Bulyan and MDA."""

from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_whole
from inlier.baselines.base import Answer, Baseline, Run
from inlier.datasets.base import parameter


def sq_distances_between(run: Run) -> Array:
    """Return the squared distances between all rows, n x n, in one pass."""
    gram = run.table.gram(run.center)
    squares = np.diag(gram).copy()
    distances: Array = squares[:, None] + squares
    distances -= gram + gram.T  # exactly symmetric, unlike some Gram matrices
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def krum_scores(distances: Array, n_bad: int) -> Array:
    """Return the sums of the n - f - 2 smallest squared distances to other rows."""
    n = len(distances)
    # With fewer rows than Krum requires, use the nearest one.
    n_near = min(n - 1, max(1, n - n_bad - 2))
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    others.partition(n_near - 1, axis=1)
    scores: Array = others[:, :n_near].sum(axis=1)
    return scores


def check_enough_rows(method: str, alpha: float, n: int, factor: int) -> None:
    """Raise an error unless n >= factor f + 3, as the method's guarantee requires."""
    n_bad = round(alpha * n)
    if n < factor * n_bad + 3:
        raise ValueError(
            f"{method} needs at least {factor} f + 3 = {factor * n_bad + 3} rows where f = {n_bad} "
            f"may be bad (alpha={alpha:g}), but X has {n}. Take a smaller alpha, or a method that "
            "asks for less, such as GeometricMedian."
        )


class Krum(Baseline):
    """Select the row nearest to its n - f - 2 nearest neighbours, with f = alpha n.

    Two passes. A row's score is the sum of the squared distances to them, and the smallest wins.
    The estimate is a row, so its error is that of one row, sigma sqrt(d), even without outliers;
    Proposition 4.2 bounds its angle to the mean. An n x n matrix is formed.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad; n >= 2 alpha n + 3.

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), Machine learning with adversaries: Byzantine
    tolerant gradient descent, section 4.
    """

    name = "krum"
    needs = ("alpha",)
    paper = "Blanchard, El Mhamdi, Guerraoui and Stainer (2017)"
    # Only the Gram matrix is needed, which a rotation would compute first.
    rotates = False

    alpha: float | None = None

    def _check(self, n: int, d: int) -> None:
        assert self.alpha is not None
        check_enough_rows(type(self).__name__, self.alpha, n, 2)

    def _n_selected(self, run: Run) -> int:
        return 1

    def _estimate(self, run: Run) -> Answer:
        scores = krum_scores(sq_distances_between(run), run.n_bad)
        weights = np.zeros(run.n)
        weights[np.argsort(scores, kind="stable")[: self._n_selected(run)]] = 1.0
        return Answer(weights, scores)


class MultiKrum(Krum):
    """Average the (1 - alpha) n rows with the smallest scores of Krum. Two passes.

    Without outliers it is nearly as efficient as the mean. Outliers as near to their neighbours as
    good rows are not detected and can move it by the order of sigma alpha sqrt(d). An n x n matrix
    is formed.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad; n >= 2 alpha n + 3.
    n_selected : int, optional
        Number of rows averaged, at most n: the authors' m, which they leave open. The default is
        the common choice n - alpha n.

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), Machine learning with adversaries: Byzantine
    tolerant gradient descent, the variant of its experiments.
    """

    name = "multi-krum"

    n_selected: int | None = parameter(None, check_whole)

    def _check(self, n: int, d: int) -> None:
        super()._check(n, d)
        if self.n_selected is not None and self.n_selected > n:
            raise ValueError(
                f"n_selected must be at most the number of rows, {n}, but is {self.n_selected}."
            )

    def _n_selected(self, run: Run) -> int:
        return run.n - run.n_bad if self.n_selected is None else min(self.n_selected, run.n)


class Bulyan(Baseline):
    """Average the middle values of each column over n - 2 f rows selected by Krum, f = alpha n.

    Two passes. Krum selects and removes a row n - 2 f times; in each column the n - 4 f values
    nearest to the median of the selected rows are averaged. The first step bounds the distance of a
    bad row, the second its distance in a single column. An n x n matrix is formed, and time grows
    as n^2 log n.

    Selected rows have weight 1, the others 0; the estimate is not quite their mean. Scores are
    those of Krum on all rows. Where fewer than f + 3 rows are left (f = 1, the last selection) the
    nearest neighbour decides: the publication leaves this open.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad; n >= 4 alpha n + 3.

    References
    ----------
    El Mhamdi, Guerraoui and Rouault (2018), The hidden vulnerability of distributed learning in
    Byzantium, section 4.
    """

    name = "bulyan"
    needs = ("alpha",)
    paper = "El Mhamdi, Guerraoui and Rouault (2018)"
    rotates = False

    alpha: float | None = None

    def _check(self, n: int, d: int) -> None:
        assert self.alpha is not None
        check_enough_rows(type(self).__name__, self.alpha, n, 4)

    def _estimate(self, run: Run) -> Answer:
        n_bad = run.n_bad
        distances = sq_distances_between(run)
        scores = krum_scores(distances, n_bad)
        selected = _select(distances, scores, n_bad, run.n - 2 * n_bad)
        rows = run.dense()[selected]
        n_inner = run.n - 4 * n_bad
        off = np.abs(rows - np.median(rows, axis=0))
        inner = np.argpartition(off, n_inner - 1, axis=0)[:n_inner]
        mean = np.take_along_axis(rows, inner, axis=0).mean(axis=0)
        return Answer(selected.astype(np.float64), scores, run.center + mean)


def _select(distances: Array, scores: Array, n_bad: int, n_selected: int) -> Mask:
    """Select rows by applying Krum repeatedly to the rows left.

    Each selection removes one term from every other row's score: the selected row, if it is a
    neighbour, otherwise the farthest neighbour. Updating the scores takes O(n) a round.
    """
    n = len(distances)
    everyone = np.arange(n)
    if n_selected == n:
        return np.ones(n, dtype=np.bool_)
    apart = distances.copy()
    np.fill_diagonal(apart, -1.0)
    order = np.argsort(apart, axis=1, kind="stable")  # a row itself comes first
    place = np.empty_like(order)
    np.put_along_axis(place, order, everyone[None], axis=1)
    farthest = np.full(n, n - n_bad - 2)  # rank of the farthest neighbour that counts
    left = np.ones(n, dtype=np.bool_)
    scores = scores.copy()
    for n_left in range(n, n - n_selected, -1):
        if n_left - n_bad - 2 < 2:
            # Recompute: of two mutual nearest neighbours the first is selected, not by rounding.
            rest = np.flatnonzero(left)
            winner = int(rest[np.argmin(krum_scores(distances[np.ix_(rest, rest)], n_bad))])
            left[winner] = False
            continue
        winner = int(np.argmin(np.where(left, scores, np.inf)))
        left[winner] = False
        drops = np.where(place[:, winner] <= farthest, winner, order[everyone, farthest])
        scores -= distances[everyone, drops]
        # Where the farthest neighbour was dropped, move on to the next one that is left.
        moves = drops == order[everyone, farthest]
        while moves.any():
            farthest[moves] -= 1
            nearer = order[everyone, farthest]
            moves &= (farthest > 0) & ~left[nearer]
    return ~left


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
    needs = ("alpha",)
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
