"""Largest eigenpairs of a weighted second moment A^T W A, by block Krylov iteration.

The matrix is applied by `Table.moment`, one pass for each block. The same pass returns the rows
projected onto the Krylov basis, so each Ritz vector comes with the data along it.

A Ritz value bounds the largest eigenvalue from below, and its residual only shows that some
eigenvalue is near. The upper bound is randomised: `upper_bound`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.special import gammaincinv

from inlier._internal.arrays import any_true, double, mixed, on_host, total
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Frame, Metric, Table

# Columns up to which a dense eigendecomposition is as cheap as a few Krylov steps.
DENSE = 256
# Rows of a matrix that is made to verify an eigenvalue.
WHOLE = 4096
# An upper bound may exceed the Ritz value by this fraction. On a flat spectrum the excess falls
# with the square of the passes.
EXCESS = 0.1
# Passes allowed where the bound is compared with a limit and has not decided yet.
DECIDING_PASSES = 24
# Random and warm directions in the starting block of a search for an upper bound: with the drift
# 16, which is what a kernel on a GPU takes at once.
PROBES, WARM = 13, 2
# Probability, over the random directions, that an upper bound does not hold.
FAILURE = 1e-9
# Squared norm that a standard normal vector of `PROBES` entries falls below with this probability.
SHORTEST = float(2.0 * gammaincinv(PROBES / 2.0, FAILURE))
# Roundings of the data by which a value may differ when it is computed again.
ROUNDINGS = 100.0
# Candidates for the bound, as multiples of the Ritz value.
CANDIDATES: Array = 1.0 + np.geomspace(1e-4, 1e4, 65)


@dataclass(frozen=True)
class Spectrum:
    """The largest Ritz pairs of A^T W A at one center and weights, in descending order."""

    values: Array
    vectors: Array
    """k x d, orthonormal rows."""
    along: Callable[[Array], Rows]
    """Takes indices of vectors, and returns the centered rows along them: one pass if the vectors
    were not found by passes that project the rows. Eight at once may be as large as the data."""
    residuals: Array
    """||M v - theta v|| for each pair: an eigenvalue lies within it of theta."""
    drift: Array
    """A^T w: the offset of the weighted mean from the center, times sum(w)."""
    bound: float = np.inf
    """Upper bound on all eigenvalues."""
    failure: float = 0.0
    """Probability, over random directions, that the bound does not hold; 0 if it is exact."""


def row_norms(rows: Array) -> Array:
    """Return the norms of rows whose squares may overflow."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(unit * np.linalg.norm(rows / unit[:, None], axis=1))


def orthonormal_rows(rows: Array, against: Array) -> Array:
    """Return an orthonormal basis of the part of `rows` orthogonal to the basis `against`.

    Null directions are dropped: on flat spectra a Krylov block loses rank, and normalising the
    remainder would turn rounding into a direction.
    """
    length = row_norms(rows)
    rows = rows[length > 0.0] / length[length > 0.0, None]
    for _ in range(2):  # twice is enough (Kahan and Parlett)
        rows = rows - (rows @ against.T) @ against
        values, vectors = np.linalg.eigh(rows @ rows.T)
        kept = values > 1e-10  # squared lengths of less are rounding
        rows = (vectors[:, kept] / np.sqrt(values[kept])).T @ rows
    return rows


def top_eigenpairs(
    table: Table,
    center: Array,
    weights: Rows,
    start: Array,
    has_converged: Callable[[Array, Array, float], bool],
    max_passes: int,
    count: int,
    probes: int = 0,
) -> Spectrum:
    """Compute the largest eigenpairs of A^T W A.

    Block Krylov iteration with full orthogonalisation and Rayleigh-Ritz; one pass for each block,
    of which `start` is the first. A = Y - 1 center^T and W = diag(weights). `has_converged` is the
    stopping test on values, residuals and upper bound. The bound comes from the last rows of
    `start`, of which `probes` are standard normal and independent of the matrix.
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
        if n_pass == max_passes or has_converged(values, residuals, bound):
            break
        block = orthonormal_rows(remainder, basis)
        if not len(block):  # an invariant subspace: the values are exact
            break
        basis = np.concatenate([basis, block])
    assert drift is not None
    values, vectors, residuals, mixing = (x[:count] for x in (values, vectors, residuals, mixing))
    del moment
    failure = FAILURE if probes else 0.0
    splits = np.cumsum([p.shape[0] for p in projections])[:-1]

    def along(chosen: Array) -> Rows:
        parts = np.split(mixing[chosen], splits, axis=1)
        return double(sum(map(mixed, parts[1:], projections[1:]), mixed(parts[0], projections[0])))

    return Spectrum(values, vectors, along, residuals, drift, bound, failure)


def upper_bound(values: Array, probes: Array, images: Array, basis: Array) -> float:
    """Return a bound on the largest eigenvalue that fails with probability `FAILURE`.

    Let G be standard normal, d x r, and independent of the matrix M. If u is an eigenvalue with
    eigenvector v, then v^T (u - M) = 0, so that for every X

        || G - (u - M) X ||  >=  || G^T v ||,

    whose square has the chi-squared distribution with r degrees of freedom for every v. Take the
    X of Galerkin's method in a subspace that contains G. Every u is excluded for which the squared
    left side is below the `FAILURE` quantile. The left side is a rational function of u
    with its poles at the Ritz values, and decreases beyond them; it is evaluated on a grid.

    Parameters
    ----------
    values, basis, images : array
        Ritz values, ascending, the Ritz vectors (K x d), and M applied to them.
    probes : array of shape (r, K)
        The columns of G in the basis of Ritz vectors, which spans them.
    """
    top = float(values[-1])
    if top <= 0.0:
        return 0.0
    scaled = values / top
    outside = (images - values[:, None] * basis) / top
    coupling = outside @ outside.T
    weights = probes / (CANDIDATES[:, None, None] - scaled)
    gram = weights @ coupling @ weights.transpose(0, 2, 1)
    # The trace is at least the largest of the r eigenvalues and at most r times it: where it
    # decides, no eigenvalues are needed.
    trace = np.trace(gram, axis1=1, axis2=2)
    squared = trace / len(probes)
    undecided = (trace >= SHORTEST) & (squared < SHORTEST)
    squared[undecided] = np.linalg.eigvalsh(gram[undecided])[:, -1]
    possible = np.flatnonzero(squared >= SHORTEST)
    first = possible[-1] + 1 if len(possible) else 0
    return float(top * CANDIDATES[first]) if first < len(CANDIDATES) else np.inf


class RowSampling(NamedTuple):
    """Seed and row order of a subsample."""

    seed: int
    order: Rows
    """Row indices sorted along a random direction, so that the order of the input is irrelevant."""


class Oracle:
    """Compute the largest eigenpairs again and again, as center and weights change.

    Each call starts from the Ritz vectors of the last one and from fresh random directions.
    """

    def __init__(self, table: Table, random: np.random.Generator, block: int = 8) -> None:
        self.table = table
        self.block = min(block, table.shape[1])
        self._random = random
        self._last = np.empty((0, table.shape[1]))

    def __call__(
        self,
        center: Array,
        weights: Rows,
        has_converged: Callable[[Array, Array, float], bool],
        max_passes: int,
        warm: int | None = None,
        probes: int = 0,
    ) -> Spectrum:
        """Compute the largest eigenpairs until they have converged; see `top_eigenpairs`."""
        # At least 2 directions are fresh, so that no eigenvector is missed for good.
        old = self._last[: max(0, self.block - 2) if warm is None else warm]
        fresh = probes or self.block - len(old)
        start = np.concatenate([old, self._random.standard_normal((fresh, self.table.shape[1]))])
        spectrum = top_eigenpairs(
            self.table, center, weights, start, has_converged, max_passes, self.block, probes
        )
        self._last = spectrum.vectors
        return spectrum

    @cached_property
    def _sampling(self) -> RowSampling:
        return RowSampling(int(self._random.integers(1 << 62)), self.table.order(self._random))

    def draw(self) -> RowSampling:
        """Return the sampling of rows of this fit."""
        return self._sampling

    def top(self, center: Array, weights: Rows, error: float, dense: int = DENSE) -> Spectrum:
        """Compute the largest eigenvalue to within an error; up to `dense` columns, densely.

        Ritz values only grow. Their error, about residual^2 / gap, is far below the residual. So
        the iteration stops when the largest has converged and its residual is small, though not as
        small as the error.
        """
        if self.table.shape[1] <= dense:
            return self.top_dense(center, weights, self.block)
        history: list[float] = []

        def has_converged(values: Array, residuals: Array, bound: float) -> bool:
            history.append(float(values[0]))
            grown = history[-1] - history[-3] if len(history) > 2 else np.inf
            residual = float(residuals[0])
            # Fractions of the error by which `make bench` takes the fewest passes.
            close = grown <= 0.05 * error and residual**2 <= 0.01 * error * float(values[0])
            return close or residual <= 0.1 * error

        return self(center, weights, has_converged, max_passes=60)

    def bound_top(
        self,
        center: Array,
        weights: Rows,
        limit: float | None = None,
        max_passes: int | None = None,
    ) -> Spectrum:
        """Compute close lower and upper bounds on the largest eigenvalue, or the exact value.

        With a limit, continue until the eigenvalue is known to lie above or below it.
        """
        if self.table.shape[1] <= DENSE:
            return self.top_dense(center, weights, self.block)

        def has_converged(values: Array, residuals: Array, bound: float) -> bool:
            low = float(values[0])
            if limit is not None and low > limit:
                return True
            return bound <= (1.0 + EXCESS) * low and (limit is None or bound <= limit)

        if max_passes is None:
            max_passes = DECIDING_PASSES // 2 if limit is None else DECIDING_PASSES
        return self(center, weights, has_converged, max_passes, WARM, PROBES)

    def top_rough(self, center: Array, weights: Rows) -> Spectrum:
        """Compute the largest eigenpairs roughly, in a few passes, or densely."""
        if self.table.shape[1] <= DENSE:
            return self.top_dense(center, weights, self.block)
        return self(center, weights, lambda v, r, _: r[0] <= 1e-3 * v[0], max_passes=8)

    def top_dense(self, center: Array, weights: Rows, count: int) -> Spectrum:
        """Compute the `count` largest eigenpairs by a dense eigendecomposition: one pass."""
        scatter, drift = self.table.scatter(center, weights)
        values, vectors = np.linalg.eigh(scatter)
        values, vectors = values[::-1][:count], vectors.T[::-1][:count]
        residuals = row_norms(vectors @ scatter - values[:, None] * vectors)
        bound = max(0.0, float(values[0] + residuals[0]))

        def along(chosen: Array) -> Rows:
            return self.table.project(center, vectors[chosen])

        return Spectrum(values, vectors, along, residuals, drift, bound)


class TopBounds(NamedTuple):
    """Lower and upper bound on an eigenvalue, and the chance that the upper one does not hold."""

    low: float
    high: float
    failure: float


def spectrum_of_kept(table: Table, kept: Rows, mean: Array, metric: Metric | None) -> Spectrum:
    """Bound the largest eigenvalue of the scatter of the rows whose `kept` is 1, from both sides.

    In a metric, about their mean.
    """
    table, mean, least = _seen_by(metric, table, kept, mean)
    spectrum = Oracle(table, fit_generator(0)).bound_top(mean, kept)
    if spectrum.values[0] <= least:
        spectrum = replace(spectrum, values=np.zeros_like(spectrum.values))
    return spectrum


def spectrum_before_rotation(
    frame: Frame, kept: Rows, mean: Array, spectrum: Spectrum, tolerance: float
) -> Spectrum | None:
    """Compute a spectrum again where the rotation has lost the digits of the kept rows.

    About its center, which may be far from them, it rounds to the precision of the data. `kept` is
    1 for these rows, and `mean` theirs in working coordinates. None if nothing was lost.
    """
    if frame.rotation is None or not any_true(kept > 0.0):
        return None
    lost = np.finfo(frame.whole.dtype).eps / tolerance * float(mean @ mean)
    if spectrum.bound / total(kept) >= lost:
        return None
    return spectrum_of_kept(frame.near_rows, kept, frame.mean(kept, mean), None)


def verified_top(table: Table, kept: Rows, mean: Array, metric: Metric | None) -> TopBounds:
    """Bound the same eigenvalue from the whole matrix, where that has up to `WHOLE` rows.

    It is the Gram matrix of the kept rows if these are fewer than the columns; no randomness then.
    """
    table, mean, least = _seen_by(metric, table, kept, mean)
    (n, d), failure = table.shape, 0.0
    if n < d and n <= WHOLE and table.in_memory and not table.sparse:
        inside = np.flatnonzero(on_host(kept))
        low, high = top_of(table.gram(mean)[np.ix_(inside, inside)])
    elif d <= WHOLE:
        low, high = top_of(table.scatter(mean, kept)[0])
    else:
        oracle = Oracle(table, fit_generator(0))
        spectrum = oracle.bound_top(mean, kept, max_passes=DECIDING_PASSES)
        low, high, failure = float(spectrum.values[0]), spectrum.bound, spectrum.failure
    return TopBounds(low if low > least else 0.0, high, failure)


def top_of(matrix: Array) -> tuple[float, float]:
    """Return close bounds on the largest eigenvalue of a positive semidefinite matrix.

    The lower one by Lanczos's method. The upper one is a number t for which t I - M has a Cholesky
    decomposition: then it has no negative eigenvalue, but for rounding.
    """
    n, unit = len(matrix), float(np.diag(matrix).max(initial=0.0))
    if unit <= 0.0:
        return 0.0, 0.0
    scaled = matrix / unit
    if n <= DENSE:
        low = float(np.linalg.eigvalsh(scaled)[-1])
    else:
        try:
            start = fit_generator(0).standard_normal(n)
            low = float(eigsh(scaled, k=1, which="LA", tol=1e-6, v0=start)[0][0])
        except ArpackError:
            low = 1.0  # the largest entry of the diagonal
    rounding = 8.0 * n * float(np.finfo(np.float64).eps)
    for excess in np.geomspace(max(1e-10, rounding), n, 8):
        try:
            cholesky(low * (1.0 + excess) * np.eye(n) - scaled, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return low * unit, low * (1.0 + excess + rounding) * unit
    return low * unit, float(np.trace(matrix))


def _seen_by(
    metric: Metric | None, table: Table, kept: Rows, mean: Array
) -> tuple[Table, Array, float]:
    """Return the table and the mean in a metric, and in the span of few rows.

    If rows differ only by rounding, which gives the third number, the lower bound is zero.
    """
    least = total(kept) * rounding_of(table, mean, metric) ** 2
    if metric is not None:
        table, mean = table.in_metric(metric), metric.transform(mean[None])[0]
    frame = Frame.of(table, kept >= 0.0, mean)
    if frame.rotation is not None:
        table = frame.table
        mean = table.mean(kept, frame.center)
    return table, mean, least


def rounding_of(table: Table, mean: Array, metric: Metric | None) -> float:
    """Return how far apart rows near a mean may seem to be, though they are the same."""
    size = float(np.linalg.norm(mean))
    if metric is not None:
        size = max(metric.reach(mean), float(np.linalg.norm(metric.transform(mean[None])[0])))
    return ROUNDINGS * float(np.finfo(table.dtype).eps) * size
