"""The largest eigenvalues of a weighted second moment A^T W A, by block Krylov iteration.

The matrix is seen only through `Table.moment`, one pass for each block. The rows seen along the
Krylov basis come out of the same passes, so the Ritz vectors arrive with the data along them.

A Ritz value bounds the largest eigenvalue from below, and its residual only says that some
eigenvalue is near. The bound from above is randomised: `upper_bound`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from inlier._internal.arrays import double, mixed
from inlier._internal.typing import Array, Rows
from inlier.data import Table

# Directions whose squared length falls below this after orthogonalisation are rounding.
NULL = 1e-10
# Up to this many columns, the whole spectrum is as cheap as a few Krylov steps.
DENSE = 256
MOST_PASSES = 60
# The upper bound of the rows that are kept in the end may exceed the Ritz value by this fraction,
# and may take so many passes: with a flat spectrum the excess falls with the square of the passes.
CLOSE = 0.1
CLOSE_PASSES = 12
# So many where the bound is held against a limit and does not yet decide.
DECIDING_PASSES = 24
# Random directions in the block of a search for an upper bound, beside warm ones.
PROBES = 8
WARM = 4
# The chance that an upper bound does not hold, over the draw of these directions.
FAILURE = 1e-9
# Squared length of the part of the random directions in any one direction, which it falls below
# with that chance.
SHORTEST = float(chi2.ppf(FAILURE, PROBES))
# Candidates for the bound, as multiples of the Ritz value.
CANDIDATES = 1.0 + np.geomspace(1e-4, 1e4, 65)


@dataclass(frozen=True)
class Spectrum:
    """The largest Ritz pairs of A^T W A at some centre and weights, in descending order."""

    values: Array
    vectors: Array
    """k x d, orthonormal rows."""
    projections: Rows
    """k x n: the centred rows along each vector."""
    residuals: Array
    """||M v - theta v|| for each pair: an eigenvalue lies within it of theta."""
    drift: Array
    """A^T w: the weighted mean seen from the centre, times sum(w)."""
    bound: float = np.inf
    """No eigenvalue is larger."""
    failure: float = 0.0
    """The chance, over random directions, that the bound does not hold; 0 if it is exact."""


def row_norms(rows: Array) -> Array:
    """Return the lengths of rows whose squares may overflow."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(unit * np.linalg.norm(rows / unit[:, None], axis=1))


def orthonormal_rows(rows: Array, against: Array) -> Array:
    """An orthonormal basis of what `rows` add to the span of the orthonormal rows `against`.

    What adds nothing is dropped: on flat spectra a Krylov block loses rank, and normalising the
    remainder would turn rounding into a direction.
    """
    length = row_norms(rows)
    rows = rows[length > 0.0] / length[length > 0.0, None]
    for _ in range(2):  # the second time removes what rounding left of the first
        rows = rows - (rows @ against.T) @ against
        values, vectors = np.linalg.eigh(rows @ rows.T)
        kept = values > NULL
        rows = (vectors[:, kept] / np.sqrt(values[kept])).T @ rows
    return rows


def top_eigenpairs(
    table: Table,
    center: Array,
    weights: Rows,
    start: Array,
    settled: Callable[[Array, Array, float], bool],
    max_passes: int,
    count: int,
    probes: int = 0,
) -> Spectrum:
    """The largest eigenpairs of A^T W A.

    Block Krylov iteration with full orthogonalisation and Rayleigh-Ritz; one pass for each block.

    Parameters
    ----------
    table : Table
    center, weights : array
        A = Y - 1 center^T and W = diag(weights).
    start : array of shape (b, d)
        Where to look first; b is the size of the blocks.
    settled : callable
        Given the values, the residuals and the upper bound so far, whether they are good enough.
    max_passes : int
    count : int
        The most pairs that are returned.
    probes : int
        How many of the last rows of `start` are standard normal and independent of the matrix; an
        upper bound follows from them.
    """
    block = basis = orthonormal_rows(start, np.empty((0, start.shape[1])))
    projections: list[Rows] = []
    images = np.empty((0, table.shape[1]))
    drift, bound, width = None, np.inf, max(count, len(block))
    for n_pass in range(1, max_passes + 1):
        moment = table.moment(center, weights, block, drift=drift is None)
        drift = moment.drift if drift is None else drift
        projections.append(moment.projection)
        images = np.concatenate([images, moment.image])
        compressed = images @ basis.T
        values, mixing = np.linalg.eigh((compressed + compressed.T) / 2.0)
        if probes:
            projected = start[len(start) - probes :] @ basis.T @ mixing
            bound = upper_bound(values, projected, mixing.T @ images, mixing.T @ basis)
        values, mixing = values[::-1][:width], mixing.T[::-1][:width]
        vectors = mixing @ basis
        remainder = mixing @ images - values[:, None] * vectors
        residuals = row_norms(remainder)
        if n_pass == max_passes or settled(values, residuals, bound):
            break
        block = orthonormal_rows(remainder, basis)
        if not len(block):  # an invariant subspace: the values are exact
            break
        basis = np.concatenate([basis, block])
    assert drift is not None
    values, vectors, residuals, mixing = (x[:count] for x in (values, vectors, residuals, mixing))
    first, *others = np.split(mixing, np.cumsum([p.shape[0] for p in projections])[:-1], axis=1)
    projected = mixed(first, projections[0])
    for part, projection in zip(others, projections[1:], strict=True):
        projected += mixed(part, projection)
    return Spectrum(
        values, vectors, double(projected), residuals, drift, bound, FAILURE if probes else 0.0
    )


def upper_bound(values: Array, probes: Array, images: Array, basis: Array) -> float:
    """A bound on the largest eigenvalue that fails with probability `FAILURE`.

    Let G be standard normal, d x r, and independent of the matrix M. If u is an eigenvalue with
    eigenvector v, then v^T (u - M) = 0, so that for every X

        || G - (u - M) X ||  >=  || G^T v ||,

    whose square has the chi-squared distribution with r degrees of freedom, whatever v is. So with
    the X of Galerkin's method in a subspace that holds G, every u is excluded for which the left
    side is shorter than such a variable is with probability 1 - `FAILURE`. Its residual is a
    rational function whose poles are the Ritz values, and falls beyond them; it is looked at on a
    grid.

    Parameters
    ----------
    values, basis, images : array
        Ritz values, ascending, the Ritz vectors (K x d), and M applied to them.
    probes : array of shape (r, K)
        The columns of G along the Ritz vectors, which span them.
    """
    top = float(values[-1])
    if top <= 0.0:
        return 0.0
    scaled = values / top
    outside = (images - values[:, None] * basis) / top
    coupling = outside @ outside.T
    weights = probes / (CANDIDATES[:, None, None] - scaled)
    squared = np.linalg.eigvalsh(weights @ coupling @ weights.transpose(0, 2, 1))[:, -1]
    possible = np.flatnonzero(squared >= SHORTEST)
    first = possible[-1] + 1 if len(possible) else 0
    return float(top * CANDIDATES[first]) if first < len(CANDIDATES) else np.inf


class Draw(NamedTuple):
    """What decides which rows stand for all."""

    seed: int
    order: Rows
    """Of the rows along some direction, so that it does not matter in which they come."""


class Oracle:
    """Answers, again and again, what the largest eigenpairs are as centre and weights change.

    Each answer starts from the Ritz vectors of the last, with two random directions beside them
    so that none is overlooked for ever.

    Parameters
    ----------
    table : Table
    random : numpy.random.Generator
    block : int
        Size of the Krylov blocks.
    """

    def __init__(self, table: Table, random: np.random.Generator, block: int = 8) -> None:
        self.table = table
        self.block = min(block, table.shape[1])
        self._random = random
        self._draw: Draw | None = None
        self._last = np.empty((0, table.shape[1]))

    def __call__(
        self,
        center: Array,
        weights: Rows,
        settled: Callable[[Array, Array, float], bool],
        max_passes: int,
        warm: int | None = None,
        probes: int = 0,
    ) -> Spectrum:
        """The largest eigenpairs, until they are settled; see `top_eigenpairs`."""
        old = self._last[: max(0, self.block - 2) if warm is None else warm]
        fresh = probes or self.block - len(old)
        start = np.concatenate([old, self._random.standard_normal((fresh, self.table.shape[1]))])
        spectrum = top_eigenpairs(
            self.table, center, weights, start, settled, max_passes, self.block, probes
        )
        self._last = spectrum.vectors
        return spectrum

    def draw(self) -> Draw:
        """How to draw rows that stand for all; in one pass, when a fit first looks at only some."""
        if self._draw is None:
            seed = int(self._random.integers(1 << 62))
            self._draw = Draw(seed, self.table.order(self._random))
        return self._draw

    def accurately(
        self, center: Array, weights: Rows, error: float, dense: int = DENSE
    ) -> Spectrum:
        """The largest eigenvalue to within an error; up to `dense` columns, densely.

        Ritz values only grow, and their error, about residual^2 / gap, is far smaller than the
        residual. So the iteration ends when the largest has grown by little in two passes and its
        residual is small, though not as small as the error.
        """
        if self.table.shape[1] <= dense:
            return self.densely(center, weights, self.block)
        history: list[float] = []

        def settled(values: Array, residuals: Array, bound: float) -> bool:
            history.append(float(values[0]))
            grown = history[-1] - history[-3] if len(history) > 2 else np.inf
            residual = float(residuals[0])
            close = grown <= 0.05 * error and residual**2 <= 0.01 * error * float(values[0])
            return close or residual <= 0.1 * error

        return self(center, weights, settled, MOST_PASSES)

    def bounded(
        self,
        center: Array,
        weights: Rows,
        limit: float | None = None,
        max_passes: int | None = None,
    ) -> Spectrum:
        """The largest eigenvalue between two bounds that are close, or exactly.

        With a limit, until it is also known on which side of it the eigenvalue lies.
        """
        if self.table.shape[1] <= DENSE:
            return self.densely(center, weights, self.block)

        def settled(values: Array, residuals: Array, bound: float) -> bool:
            low = float(values[0])
            if limit is not None and low > limit:
                return True
            return bound <= (1.0 + CLOSE) * low and (limit is None or bound <= limit)

        if max_passes is None:
            max_passes = CLOSE_PASSES if limit is None else DECIDING_PASSES
        return self(center, weights, settled, max_passes, WARM, PROBES)

    def closely(self, center: Array, weights: Rows) -> Spectrum:
        """The largest eigenpairs as closely as a few passes can tell, or densely."""
        if self.table.shape[1] <= DENSE:
            return self.densely(center, weights, self.block)
        return self(center, weights, lambda v, r, bound: r[0] <= 1e-3 * v[0], 8)

    def densely(self, center: Array, weights: Rows, count: int) -> Spectrum:
        """So many of the largest eigenpairs, from the whole spectrum: two passes."""
        scatter, drift = self.table.scatter(center, weights)
        values, vectors = np.linalg.eigh(scatter)
        values, vectors = values[::-1][:count], vectors.T[::-1][:count]
        residuals = row_norms(vectors @ scatter - values[:, None] * vectors)
        bound = max(0.0, float(values[0] + residuals[0]))
        projected = self.table.project(center, vectors)
        return Spectrum(values, vectors, projected, residuals, drift, bound)
