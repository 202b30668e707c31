"""What tells which rows a fit starts from: extreme values in X, and long gradients.

Sever (Diakonikolas et al. 2019) removes the rows whose gradients are longest along the direction in
which gradients vary most, fits again, and repeats.
"""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, LinearOperator, svds

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier.api import robust_mean
from inlier.data import as_table
from inlier.fits.gradients import Gradients
from inlier.results.novelty import NewRows

# Rows that are looked at, of each class for a classifier: a sample of more.
SAMPLE = 4096
# Of the largest variance: any direction of nearly the largest one will do.
TOLERANCE = 1e-2


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
    q, columns = W.shape[1], X.shape[1] + 1

    def forward(v: Array) -> Array:
        V = v.reshape(q, columns)
        scaled = V[:, :-1] / unit
        parts = np.asarray(X @ scaled.T) - scaled @ center + gradients.intercept * V[:, -1]
        found = (W * parts).sum(axis=1)
        return np.asarray(found - found.mean())

    def backward(u: Array) -> Array:
        weighted = W * (u.ravel() - u.mean())[:, None]
        sums = weighted.sum(axis=0)
        inner = (np.asarray(X.T @ weighted).T - np.outer(sums, center)) / unit
        return np.column_stack([inner, gradients.intercept * sums]).ravel()

    table = LinearOperator((len(rows), q * columns), forward, backward, dtype=np.float64)
    start = random.standard_normal(min(table.shape))
    try:
        u, largest, _ = svds(table, k=1, tol=TOLERANCE, v0=start, return_singular_vectors="u")
    except ArpackError:  # gradients do not vary
        return np.zeros(len(rows))
    return np.asarray(np.abs(u[:, 0]) * largest[0])


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
