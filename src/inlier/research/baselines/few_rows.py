"""Aggregation rules of federated learning, which compare all pairs of rows or clip them."""

from typing import ClassVar

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_number, check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter


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


class NearestRows(Baseline):
    """What Krum and Bulyan share."""

    # Only the Gram matrix is needed, which a rotation would compute first.
    rotates = False
    # The guarantee requires n >= factor f + 3.
    factor: ClassVar[int] = 2

    alpha: float | None = None

    def _check(self, n: int, d: int) -> None:
        assert self.alpha is not None
        n_bad, factor = round(self.alpha * n), self.factor
        if n < factor * n_bad + 3:
            raise ValueError(
                f"{type(self).__name__} needs at least {factor} f + 3 = {factor * n_bad + 3} rows "
                f"where f = {n_bad} may be bad (alpha={self.alpha:g}), but X has {n}. Take a "
                "smaller alpha, or a method that asks for less, such as GeometricMedian."
            )


class Krum(NearestRows):
    """Select the row nearest to its n - f - 2 nearest neighbours, with f = alpha n.

    Two passes, and an n x n matrix. A row's score is the sum of the squared distances to them, and
    the smallest wins. The estimate is a row, so its error is that of one row, sigma sqrt(d), even
    without outliers. It needs n >= 2 alpha n + 3.

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), Machine learning with adversaries: Byzantine
    tolerant gradient descent, section 4.
    """

    name = "krum"
    paper = "Blanchard, El Mhamdi, Guerraoui and Stainer (2017)"

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
    good rows are not detected and can move it by the order of sigma alpha sqrt(d).

    References
    ----------
    Blanchard, El Mhamdi, Guerraoui and Stainer (2017), the variant of its experiments.
    """

    name = "multi-krum"

    def _n_selected(self, run: Run) -> int:
        return run.n - run.n_bad


class Bulyan(NearestRows):
    """Average the middle values of each column over n - 2 f rows selected by Krum, f = alpha n.

    Two passes. Krum selects and removes a row n - 2 f times; in each column the n - 4 f values
    nearest to the median of the selected rows are averaged. An n x n matrix is formed, and time
    grows as n^2 log n. It needs n >= 4 alpha n + 3. Where fewer than f + 3 rows are left (f = 1,
    the last selection) the nearest neighbour decides: the publication leaves this open.

    References
    ----------
    El Mhamdi, Guerraoui and Rouault (2018), The hidden vulnerability of distributed learning in
    Byzantium, section 4.
    """

    name = "bulyan"
    paper = "El Mhamdi, Guerraoui and Rouault (2018)"
    factor = 4

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
    than D. D is bisected over the distances, and covers are found by a bounded search tree. The
    first such subset is returned; where distances are equal it may hold more than n - f rows. Rows
    are scored by the distance to the farthest row of the subset.

    Parameters
    ----------
    max_nodes : int, default=20000
        Maximum number of nodes over all search trees. When it is reached, the best subset found is
        returned with a warning.

    References
    ----------
    Rousseeuw (1985), Multivariate estimation with high breakdown point, for the minimal volume.
    El Mhamdi, Guerraoui and Rouault (2018) describe the minimal diameter as Brute. The rule for
    rows of high degree is that of Buss and Goldsmith (1993), Nondeterminism within P.
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
        kept, diameter, bound, n_nodes = _smallest_diameter(distances, n_out, self.max_nodes)
        message = f"Diameter {np.sqrt(diameter):.4g}."
        if bound < diameter:
            message += (
                f" The search ended at max_nodes={self.max_nodes}, and the smallest diameter is at "
                f"least {np.sqrt(bound):.4g}: raise max_nodes, or take a method for more rows, "
                "such as MultiKrum."
            )
        scores = np.sqrt(distances[:, kept].max(axis=1))
        return Answer(kept * 1.0, scores, None, max(1, n_nodes), bound >= diameter, message)


def _smallest_diameter(
    distances: Array, n_out: int, max_nodes: int
) -> tuple[Mask, float, float, int]:
    """Return kept rows, their squared diameter, a lower bound on it for any, and nodes searched."""
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
        rows, searched, visited = _cover(distances > levels[level], n_out, granted)
        n_nodes += visited
        if rows is not None:
            kept = ~rows
            high = int(np.searchsorted(levels, distances[np.ix_(kept, kept)].max()))
        else:
            low = level + 1
            if searched:
                proved = level + 1
    return kept, float(levels[high]), float(levels[min(proved, high)]), n_nodes


def _cover(edges: Mask, budget: int, max_nodes: int) -> tuple[Mask | None, bool, int]:
    """Find a vertex cover of at most `budget` rows by a bounded search tree.

    Each node takes the row of highest degree, or else all of its neighbours. Also return whether
    the whole tree was searched, which proves that there is no such cover, and the nodes visited.
    """
    n = len(edges)
    whole = edges.astype(np.int64)
    stack = [(np.zeros(n, dtype=np.bool_), whole.sum(axis=1), budget)]
    n_nodes = 0
    while stack:
        if n_nodes == max_nodes:
            return None, False, n_nodes
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
            return taken, False, n_nodes
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
    return None, True, n_nodes


class CenteredClipping(Baseline):
    """Find the point that is the mean of the rows clipped to a ball about it. About 15 passes.

    Iterate v <- v + mean of w_i (x_i - v), two passes each, from the coordinate-wise median of at
    most 501 rows, with weights w_i = min(1, radius / distance of x_i from v). A bad row moves the
    estimate by at most radius / n a step. The estimate is the mean of the rows with these weights.

    The method was published for a server that knows its last aggregate and the scale of updates.
    Here it is iterated to convergence, where the authors take few steps, and the default radius is
    the median distance of the rows from v, at each step, so that it does not depend on units.

    Parameters
    ----------
    radius : float, optional
        In units of the data. A radius far below the distances of the rows takes many steps.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-8
        Stop at a step shorter than this times the median distance.

    References
    ----------
    Karimireddy, He and Jaggi (2021), Learning from history for Byzantine robust optimization,
    equation CC in section 4.
    """

    name = "centered-clipping"
    paper = "Karimireddy, He and Jaggi (2021)"

    radius: float | None = parameter(None, check_number)
    max_iter: int = parameter(1000, check_whole)
    tol: float = parameter(1e-08, check_number, below=1.0)

    def _estimate(self, run: Run) -> Answer:
        v, converged, message = run.center, False, ""
        eps = np.finfo(np.float64).eps
        n_iter = 0
        while True:
            distances = np.sqrt(run.table.sq_distances(v))
            unit = float(np.median(distances))
            radius = unit if self.radius is None else self.radius
            clipped = distances > radius
            weights = np.where(clipped, radius / np.where(clipped, distances, 1.0), 1.0)
            if converged or n_iter == self.max_iter:
                break
            step = run.table.combine(v, weights[None])[0] / run.n
            v = v + step
            n_iter += 1
            # A step below rounding error carries no information.
            rounding = 4.0 * eps * float(np.linalg.norm(v)) + np.finfo(run.table.dtype).eps * unit
            converged = float(np.linalg.norm(step)) <= max(self.tol * unit, rounding)
        if not converged:
            message = f"Still moving after max_iter={self.max_iter} steps: raise max_iter" + (
                " or tol." if self.radius is None else f", tol or radius={self.radius:g}."
            )
        return Answer(weights, distances, v, n_iter, converged, message)
