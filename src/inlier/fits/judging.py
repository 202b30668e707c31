"""Which rows do not belong to a fit, by their residuals or by the scores of their labels.

Told no fraction of bad rows, a filter removes too many. So the rows that it keeps are only where
the fit starts from: rows return if their losses are those of the kept ones, up to chance.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtri, ndtr, ndtri, softmax

from inlier._internal.typing import Array, Mask

# Of the rows that leave at most this many are good ones, if their law is true.
LEVEL = 0.25
# Of the logarithm of a slope, in units of the median score.
STEEPEST = 4.0
# That labels of good rows are taken for those of bad ones.
CHANCE = 0.01
# Rows that tell how many more there are beyond them as well as the law does.
ENOUGH = 30.0


def smallest_difference(y: Any) -> float:
    """Return how near two targets can be and yet differ: what is less is an error of rounding."""
    columns = np.atleast_2d(np.asarray(y, dtype=np.float64).T)
    gaps = [np.diff(np.unique(column)).min(initial=np.inf) for column in columns]
    return float(np.linalg.norm(gaps)) if np.isfinite(gaps).all() else 0.0


def size_p_values(sizes: Array, least: float, reference: Mask | None) -> Array:
    """Return the chance of a size as large, by a log-normal law, which allows for heavy tails.

    The law is that of the quartiles of the reference rows. Without any it is that of all rows, and
    of lower quantiles, which a quarter of bad rows cannot move beyond the quartiles of the others:
    if it were that of kept rows, it would be true of whatever is kept. Sizes up to `least` are all
    alike, and no law is tighter than that of normal noise, whatever the quantiles are: those of
    skewed noise about its mean can lie close together, and where most rows fit exactly, rounding
    errors say nothing about the size of ordinary ones.
    """
    at = np.array([0.5, 0.75]) * (0.75 if reference is None else 1.0)
    sizes = np.maximum(sizes, least)
    lower, upper = np.quantile(sizes if reference is None else sizes[reference], at)
    if lower == 0.0:
        return np.ones(len(sizes))
    low, high = ndtri(at)
    of_normal = float(np.log(np.divide(*ndtri(0.5 + at[::-1] / 2.0))))
    spread = max(float(np.log(upper / lower)), of_normal)
    chance = ndtr(-low - np.log(sizes / lower) * ((high - low) / spread))
    return np.asarray(np.where(sizes > least, chance, 1.0))


def judged_labels(scores: Array, labels: Array, reference: Mask | None) -> tuple[Array, Mask]:
    """Return the chance of a label that is at most as likely, and which rows leave for theirs.

    Scores become probabilities by a slope and an offset for each label (Platt 1999), and some rows
    of each label may have it whatever their scores are. If the likelihood of all rows is as large
    without such rows, up to chance, misfits are what the probabilities explain: none leave, and all
    chances are one. Otherwise rows leave, those first that are most likely of this kind, until the
    others have this slope without any. Fewer would flatten the next fit. More would make it too
    steep: the rows that they leave behind lack the misfits that good rows have by chance.

    Parameters
    ----------
    scores : array of shape (n, labels)
        What a classifier says.
    labels : int array of shape (n,)
        The columns that are true.
    reference : bool array of shape (n,), optional
        Rows of which every label is one and all are good: these fix slope and offsets.
    """
    n, k = scores.shape
    # Sums over few labels are fast if those of one row lie far apart.
    scores = np.ascontiguousarray(scores.T) - scores.mean(axis=1)
    scores = scores / max(float(np.median(np.abs(scores))), 1e-12)
    truth = np.take(np.eye(k), labels, axis=1)

    def fitted(start: Array, bounds: list[Any], rows: Array) -> Any:
        """Of the logarithm of the slope, the offsets, and the shares of the rows of any scores."""
        known, own = np.take(scores, rows, axis=1), labels[rows]
        indicators = np.take(truth, rows, axis=1)

        def mean_loss(p: Array) -> tuple[float, Array]:
            shares = p[k + 1 :]
            chances = softmax(np.exp(p[0]) * known + p[1 : k + 1, None], axis=0)
            chance, rest = (chances * indicators).sum(axis=0), 1.0 - shares.sum()
            total = np.maximum(rest * chance + shares[own], 1e-300)
            off = (chances - indicators) * (rest * chance / total)
            by_slope, by_share = np.exp(p[0]) * (off * known).sum(), (chance - indicators) / total
            slopes = np.concatenate([[by_slope], off.sum(axis=1), by_share.sum(axis=1)])
            return -float(np.log(total).mean()), slopes / len(own)

        return minimize(mean_loss, start, jac=True, method="L-BFGS-B", bounds=bounds)

    # Where rows are separated, no slope is steep enough.
    free: list[Any] = [(-STEEPEST, STEEPEST)] + [(None, None)] * k
    none, some = [(0.0, 0.0)] * k, [(0.0, 0.8 / k)] * k
    everything = np.arange(n)
    rows = everything if reference is None else np.flatnonzero(reference)
    alone = fitted(np.zeros(2 * k + 1), free + none, rows)
    starts = [alone.x[: k + 1]]
    if reference is None:
        # Bad rows with large scores flatten the slope without shares: also start from a steep one.
        starts.append(np.eye(1, k + 1)[0] * STEEPEST / 2.0)
    else:
        free = [(value, value) for value in alone.x[: k + 1]]
        alone = fitted(alone.x, free + none, everything)
    mixed = min(
        (fitted(np.append(p, np.full(k, 0.1 / k)), free + some, everything) for p in starts),
        key=lambda one: one.fun,
    )
    if 2.0 * n * (alone.fun - mixed.fun) <= chdtri(k, CHANCE):
        return np.ones(n), np.zeros(n, dtype=np.bool_)
    slope, offsets, shares = mixed.x[0], mixed.x[1 : k + 1], mixed.x[k + 1 :]
    chances = softmax(np.exp(slope) * scores + offsets[:, None], axis=0)
    chance = (chances * truth).sum(axis=0)
    pull = ((truth - chances) * scores).sum(axis=0)  # of each row on the slope, were it good
    if reference is not None:
        pull[reference] = 0.0
    first = np.argsort(-shares[labels] / np.maximum(chance, 1e-300), kind="stable")
    of_others = pull.sum() - np.append(0.0, np.cumsum(pull[first]))
    leave = np.zeros(n, dtype=np.bool_)
    leave[first[: np.argmax(of_others >= 0.0)]] = True
    if reference is not None:
        leave &= ~reference
    return np.where(chances <= chance, chances, 0.0).sum(axis=0), leave


def false_discoveries(p_values: Array) -> Mask:
    """Return the rows with the smallest p-values, with a false discovery rate of 25% at most.

    Benjamini and Hochberg 1995. If the law of the p-values is not that of the data, the rows
    between t and 4 t tell how many good ones have a p-value of at most t, because a smooth tail
    goes on, as far as there are enough of them.
    """
    n = len(p_values)
    order = np.argsort(p_values, kind="stable")
    p = p_values[order]
    further = np.minimum(4.0 * p, 1.0)
    seen = np.searchsorted(p, further, side="right") - np.searchsorted(p, p, side="right")
    expected = n * p * (seen + ENOUGH) / (n * (further - p) + ENOUGH)
    below = np.flatnonzero(expected <= LEVEL * np.arange(1, n + 1))
    found = np.zeros(n, dtype=np.bool_)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found
