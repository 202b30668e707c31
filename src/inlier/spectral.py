"""The largest eigenvalues of a weighted second moment A^T W A, by block Krylov iteration.

The matrix is seen only through `Table.moment`, one pass for each block. The rows seen along the
Krylov basis come out of the same passes, so the Ritz vectors arrive with the data along them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inlier._arrays import double, mixed
from inlier._typing import Array, Rows
from inlier.data import Table

# Directions whose squared length falls below this after orthogonalisation are rounding.
NULL = 1e-10
# Up to this many columns, the whole spectrum is as cheap as a few Krylov steps.
DENSE = 256
MOST_PASSES = 60
# What is close enough for the rows that are kept in the end, and how many passes it may take.
CLOSE = 1e-3
CLOSE_PASSES = 8
# Where nothing hangs on the value, because it is below a limit by more than its error.
NOT_SO_CLOSE = 1e-2


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


def orthonormal_rows(rows: Array, against: Array) -> Array:
    """An orthonormal basis of what `rows` add to the span of the orthonormal rows `against`.

    What adds nothing is dropped: on flat spectra a Krylov block loses rank, and normalising the
    remainder would turn rounding into a direction.
    """
    length = np.linalg.norm(rows, axis=1)
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
    settled: Callable[[Array, Array], bool],
    max_passes: int,
    count: int,
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
        Given the values and residuals so far, whether they are good enough.
    max_passes : int
    count : int
        The most pairs that are returned.
    """
    block = basis = orthonormal_rows(start, np.empty((0, start.shape[1])))
    projections: list[Rows] = []
    images = np.empty((0, table.shape[1]))
    drift = None
    for n_pass in range(1, max_passes + 1):
        moment = table.moment(center, weights, block, drift=drift is None)
        drift = moment.drift if drift is None else drift
        projections.append(moment.projection)
        images = np.concatenate([images, moment.image])
        compressed = images @ basis.T
        values, mixing = np.linalg.eigh((compressed + compressed.T) / 2.0)
        values, mixing = values[::-1][:count], mixing.T[::-1][:count]
        vectors = mixing @ basis
        remainder = mixing @ images - values[:, None] * vectors
        residuals = np.linalg.norm(remainder, axis=1)
        if n_pass == max_passes or settled(values, residuals):
            break
        block = orthonormal_rows(remainder, basis)
        if not len(block):  # an invariant subspace: the values are exact
            break
        basis = np.concatenate([basis, block])
    assert drift is not None
    first, *others = np.split(mixing, np.cumsum([p.shape[0] for p in projections])[:-1], axis=1)
    seen = mixed(first, projections[0])
    for part, projection in zip(others, projections[1:], strict=True):
        seen += mixed(part, projection)
    return Spectrum(values, vectors, double(seen), residuals, drift)


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
        self._sketch_seed: int | None = None
        self._last = np.empty((0, table.shape[1]))

    def __call__(
        self,
        center: Array,
        weights: Rows,
        settled: Callable[[Array, Array], bool],
        max_passes: int,
    ) -> Spectrum:
        """The largest eigenpairs, until they are settled; see `top_eigenpairs`."""
        warm = self._last[: max(0, self.block - 2)]
        fresh = self._random.standard_normal((self.block - len(warm), self.table.shape[1]))
        start = np.concatenate([warm, fresh])
        spectrum = top_eigenpairs(
            self.table, center, weights, start, settled, max_passes, self.block
        )
        self._last = spectrum.vectors
        return spectrum

    def sketch_seed(self) -> int:
        """Of the rows that stand for all: drawn once, when a fit first looks at only some."""
        if self._sketch_seed is None:
            self._sketch_seed = int(self._random.integers(1 << 62))
        return self._sketch_seed

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

        def settled(values: Array, residuals: Array) -> bool:
            history.append(float(values[0]))
            grown = history[-1] - history[-3] if len(history) > 2 else np.inf
            residual = float(residuals[0])
            close = grown <= 0.05 * error and residual**2 <= 0.01 * error * float(values[0])
            return close or residual <= 0.1 * error

        return self(center, weights, settled, MOST_PASSES)

    def closely(self, center: Array, weights: Rows, limit: float = 0.0) -> Spectrum:
        """The largest eigenvalue as closely as a few passes can tell, or densely.

        Less closely if it is clearly below a limit: a flat spectrum gives its edge away slowly.
        """
        if self.table.shape[1] <= DENSE:
            return self.densely(center, weights, self.block)

        def settled(values: Array, residuals: Array) -> bool:
            value, residual = float(values[0]), float(residuals[0])
            clear = value + residual <= limit
            return residual <= (NOT_SO_CLOSE if clear else CLOSE) * value

        return self(center, weights, settled, CLOSE_PASSES)

    def densely(self, center: Array, weights: Rows, count: int) -> Spectrum:
        """So many of the largest eigenpairs, from the whole spectrum: two passes."""
        scatter, drift = self.table.scatter(center, weights)
        values, vectors = np.linalg.eigh(scatter)
        values, vectors = values[::-1][:count], vectors.T[::-1][:count]
        residuals = np.linalg.norm(vectors @ scatter - values[:, None] * vectors, axis=1)
        return Spectrum(values, vectors, self.table.project(center, vectors), residuals, drift)
