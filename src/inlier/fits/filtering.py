"""Which rows a fit is started from, and which ones do not belong to it.

Sever (Diakonikolas et al. 2019) removes the rows whose gradients are longest along the direction in
which gradients vary most, fits again, and repeats. Told no fraction of bad rows, it removes too
many. So the rows that it keeps are only where the fit starts from: rows return if their losses are
those of the kept ones, up to chance.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import chdtri, ndtr, ndtri

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier.api import robust_mean
from inlier.data import as_table
from inlier.fits.gradients import Gradients
from inlier.results.novelty import NewRows

# Rows that are looked at, of each class for a classifier: a sample of more.
SAMPLE = 4096
# Steps of subspace iteration, and the gain below which it ends: any direction of nearly the largest
# variance will do.
STEPS, GAIN, WIDTH = 30, 1e-2, 4
# Of the logarithm of a slope, in units of the median score.
STEEPEST = 4.0
# That labels of good rows are taken for those of bad ones.
CHANCE = 0.01
# Rows that tell how many more there are beyond them as well as the law does.
ENOUGH = 30.0


def extreme_rows(X: Any, groups: list[Array], random: np.random.Generator) -> Mask:
    """Return the rows that `robust_mean` removes, in each group, or of which it sets a cell aside.

    Columns of which more than half of the values are equal, such as flags, have no unit in which a
    value is far out, and do not count.
    """
    n = X.shape[0]
    found = np.zeros(n, dtype=np.bool_)
    if hasattr(X, "tocsc"):
        X = X.tocsc()
        X = X[:, np.flatnonzero(np.diff(X.indptr) > n // 2)].toarray()
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiu":
        return found
    for rows in groups:
        some = np.sort(random.permutation(len(rows))[:SAMPLE])
        sample = X[rows[some]]
        center = np.median(sample, axis=0)
        unit = np.median(np.abs(sample - center), axis=0)
        varies = unit > 0.0
        if not varies.any():
            continue
        table = (X[rows][:, varies] - center[varies]) / unit[varies]
        result = robust_mean(table[some])
        if len(result.groups) == len(result.cells) == 0:
            continue
        if len(some) < len(rows):
            found[rows] = NewRows.of(result).outlyingness(as_table(table)) > 1.0
        else:
            found[rows] = ~result.support
            found[rows[[cell.row for cell in result.cells]]] = True
    return found


def trimmed(
    gradients: Gradients,
    kept: Mask,
    fraction: float,
    stays: Mask,
    random: np.random.Generator,
    floored: bool,
) -> Mask:
    """Return the kept rows without a fraction whose gradients are longest along one direction."""
    rows = np.flatnonzero(kept)
    length = along_largest(gradients, rows, random, floored)
    length[stays[rows]] = 0.0
    left = kept.copy()
    left[rows[length > np.quantile(length, 1.0 - fraction)]] = False
    return left


def along_largest(
    gradients: Gradients, rows: Array, random: np.random.Generator, floored: bool
) -> Array:
    """Return how far the gradients of rows lie out along their direction of largest variance.

    Columns count from their means. If `floored`, they count from their medians in robust units, and
    a row with a derivative below the median as one with it: what lies far out in X draws the fit
    to itself, and then its derivative is small.
    """
    X, W = gradients.X[rows], gradients.derivatives[rows]
    W = W / max(float(np.abs(W).max()), TINY)
    center, unit = np.asarray(X.mean(axis=0)).ravel() * gradients.intercept, np.ones(X.shape[1])
    if floored:
        center, unit = _units(X, gradients.intercept)
        size = np.linalg.norm(W, axis=1)
        W = W * (np.maximum(size, np.median(size)) / np.where(size > 0.0, size, 1.0))[:, None]
    q = W.shape[1]

    def forward(V: Array) -> Array:
        """Project; V is (outputs, columns + intercept, k)."""
        scaled = V[:, :-1] / unit[:, None]
        parts = [
            X @ v - center @ v + gradients.intercept * last
            for v, last in zip(scaled, V[:, -1], strict=True)
        ]
        found = sum(W[:, [j]] * part for j, part in enumerate(parts))
        return np.asarray(found - found.mean(axis=0))

    def backward(U: Array) -> Array:
        U = U - U.mean(axis=0)
        parts = []
        for j in range(q):
            weighted = W[:, [j]] * U
            sums = weighted.sum(axis=0)
            inner = (np.asarray(X.T @ weighted) - np.outer(center, sums)) / unit[:, None]
            parts.append(np.vstack([inner, gradients.intercept * sums]))
        return np.stack(parts)

    width = min(WIDTH, q * (X.shape[1] + 1))
    V, value = random.standard_normal((q, X.shape[1] + 1, width)), 0.0
    for _ in range(STEPS):
        flat, _ = np.linalg.qr(V.reshape(-1, width))
        U = forward(flat.reshape(q, -1, flat.shape[1]))
        squares, mixing = np.linalg.eigh(U.T @ U)
        if squares[-1] <= value * (1.0 + GAIN):
            break
        value = squares[-1]
        V = backward(U)
    return np.asarray(np.abs(U @ mixing[:, -1]))


def _units(X: Any, intercept: bool) -> tuple[Array, Array]:
    """Return the medians and median deviations of the columns.

    Columns that are mostly one value, such as those of sparse tables, have no median deviation:
    they have their means, and one unit for all of them, the root of their mean variance.
    """
    n, d = X.shape
    is_sparse: Any = sparse.issparse(X)
    center, unit = np.zeros(d), np.zeros(d)
    if is_sparse:
        columns = X.tocsc()
        dense = np.flatnonzero(np.diff(columns.indptr) > n // 2)
        mean = np.asarray(columns.mean(axis=0)).ravel()
        variance = np.asarray(columns.multiply(columns).mean(axis=0)).ravel() - mean**2
    else:
        columns, dense, mean, variance = X, np.arange(d), X.mean(axis=0), X.var(axis=0)
    for j in dense:
        column = columns[:, [j]].toarray().ravel() if is_sparse else columns[:, j]
        median = np.median(column)
        unit[j] = 1.4826 * np.median(np.abs(column - median))
        center[j] = median
    few = unit == 0.0
    center[few] = mean[few]
    common = float(np.sqrt(max(variance[few].mean(), 0.0))) if few.any() else 0.0
    unit[few] = common if common > 0.0 else 1.0
    return center * intercept, unit


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
        known, own, indicators = scores[:, rows], labels[rows], truth[:, rows]

        def mean_loss(p: Array) -> tuple[float, Array]:
            shares = p[k + 1 :]
            chances = _softmax(np.exp(p[0]) * known + p[1 : k + 1, None])
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
    chances = _softmax(np.exp(slope) * scores + offsets[:, None])
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


def _softmax(f: Array) -> Array:
    """Return the probabilities of each column."""
    e = np.exp(f - f.max(axis=0))
    return np.asarray(e / e.sum(axis=0))


def false_discoveries(p_values: Array, level: float) -> Mask:
    """Return the rows with the smallest p-values, with this false discovery rate at most.

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
    below = np.flatnonzero(expected <= level * np.arange(1, n + 1))
    found = np.zeros(n, dtype=np.bool_)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found
