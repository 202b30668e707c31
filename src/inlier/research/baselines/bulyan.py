"""Bulyan: repeated Krum, then a trimmed mean of each column."""

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.research.baselines.base import Answer, Run
from inlier.research.baselines.krum import NearestRows, krum_scores, sq_distances_between


class Bulyan(NearestRows):
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
