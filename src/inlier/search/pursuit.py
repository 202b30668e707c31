"""Projection pursuit in the metric of the kept rows, for groups in low-variance directions.

Where good rows vary much more in some directions than in others, bad rows far out in a low-variance
direction add little to any large eigenvalue. Among whitened rows every direction has the same
variance, and a group shows in the shape: a small group makes a skewed distribution, one that is not
much smaller than the rest a flat one. The iteration

    v  <-  mean of (z . v)^2 z        (normalised)

climbs to directions of large skewness; it is FastICA (Hyvarinen 1999) with this contrast. Of its
limits from several starts, the most skewed and the flattest distribution are tested. (Fourth
moments alone are blind to a group of about a fifth of the rows.)

In d dimensions such a search finds skewness of the order sqrt(d / n) in pure noise. But a direction
that shows a group is nearly a principal axis, mixed only with axes of similar variance. So the
search is confined to windows of a few neighboring principal axes.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import (
    count,
    double,
    evenly_spaced,
    highest,
    like,
    namespace,
    on_host,
    pieces,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Table
from inlier.linalg.whitening import PrincipalAxes
from inlier.search import thresholds
from inlier.search.tests import NOTHING, Cut, centers, mirror_test


class White(NamedTuple):
    """Kept rows in coordinates in which they vary alike in all directions.

    What multiplies many rows is on the GPU if the table is.
    """

    rows: Rows
    """k x m: kept rows, as many as a pursuit uses, in the order of the variance divided out."""
    whitener: Rows
    """k x d: maps the data, less the mean, to these coordinates."""
    shrinkage: Array
    """k: measured variances over those of the shrunk covariance."""
    sampled: bool
    """Whether the metric is the one of a sample."""

    def directions(self, mixing: Array) -> Array:
        """Transform directions in these coordinates to directions of the data, j x d."""
        return on_host(like(mixing, self.whitener) @ self.whitener)

    def discriminant(self, offset: Array) -> Array:
        """Multiply an offset by the inverse covariance: Fisher's discriminant."""
        along = self.whitener @ like(offset, self.whitener)
        return on_host(self.whitener.T @ (like(self.shrinkage, along) * along))

    def shrunk(self, R: Rows) -> Rows:
        """Transform other centered rows to these coordinates, m x k, with shrunk variances.

        In single precision, which is enough to measure their width.
        """
        xp = namespace(R)
        unit = max(highest(abs(R)), TINY)  # squares of scaled numbers do not overflow
        whitener = self.whitener * like(np.sqrt(self.shrinkage)[:, None] * unit, R)
        return xp.astype(R / unit, xp.float32) @ xp.astype(whitener, xp.float32).T


def whitened(
    table: Table, mean: Array, kept: Rows, least_variance: float, random: np.random.Generator
) -> White:
    """Whiten the kept rows, or a sample of them that is large enough for the metric."""
    d = table.shape[1]
    most = max(thresholds.WHITENED_CELLS // d, thresholds.ROWS_PER_COLUMN * d)
    chosen = chosen_rows(table, kept, most, random)
    sampled = len(chosen) < count(kept)
    R = centered_rows(table, chosen, mean)
    xp = namespace(R)
    axes = PrincipalAxes.of(R.T @ R / R.shape[0])
    # Directions below this fraction of the largest variance hold rounding, or nothing.
    held = axes.variances > max(1e-10 * axes.variances[0], least_variance)
    axes = axes.first(max(1, int(held.sum())))
    axes = axes._replace(variances=np.maximum(axes.variances, TINY))
    shrinkage = axes.variances / _shrunk(axes.variances, R)
    fewest, largest = thresholds.FEWEST_PURSUED, thresholds.MOST_PURSUED
    pursued = int(np.clip(thresholds.PURSUED_CELLS // d, fewest, largest))
    if R.shape[0] > pursued:
        order = xp.argsort(R @ like(random.standard_normal(d), R))
        R = xp.take(R, like(evenly_spaced(order, pursued), R), axis=0)
    whitener = axes.whitener
    rows = whitener @ R.T
    # The sign of an eigenvector is arbitrary, but the random signs of a pursuit depend on it.
    signs = 1.0 - 2.0 * double(xp.sum(rows * rows * rows, axis=1, keepdims=True) < 0.0)
    return White(rows * signs, whitener * signs, shrinkage, sampled)


def centered_rows(table: Table, rows: Array, mean: Array) -> Rows:
    """Return a few rows less the mean, in double precision, on the host or a GPU."""
    R = double(table.to_gpu(table.fetch(rows)))  # a copy
    R -= like(mean, R)
    return R


def chosen_rows(table: Table, among: Rows, most: int, random: np.random.Generator) -> Array:
    """Return the indices of masked rows: all, or `most` that spread evenly along a direction.

    The choice does not depend on the order of the rows.
    """
    if count(among) <= most:
        return np.flatnonzero(on_host(among))
    order = table.order(random)
    return evenly_spaced(order[namespace(order).take(among, order)], most)


def _shrunk(values: Array, R: Rows) -> Array:
    """Shrink the eigenvalues of the covariance of R to their mean (Ledoit and Wolf 2004)."""
    m, d = R.shape
    unit = float(values[0])
    values = values / unit
    mean = float(values.sum()) / d
    squared = float(np.sum(values**2))
    lengths = on_host(namespace(R).linalg.vecdot(R, R)) / unit
    noise = (float(np.sum(lengths**2)) / m - squared) / m
    weight = float(np.clip(noise / max(squared - d * mean**2, TINY), 1e-6, 1.0))
    return np.asarray(unit * ((1.0 - weight) * values + weight * mean))


class Projection(NamedTuple):
    """A tested direction of whitened rows: their center along it, and where a group begins."""

    direction: Array
    center: float
    cut: Cut


def pursue(white: Rows, random: np.random.Generator) -> list[Projection]:
    """Find directions that may show a group: skewed ones, then flat ones, the strongest first.

    A skewed direction shows one group, and cuts it off cleanly; a flat one may show two at once.
    `white` (k x n) holds the rows along their principal axes, in the order of their variance and
    divided by its root. The chances account for the search.
    """
    tested = _tested(white)
    charge = _charge(white, min(found.cut.log_p for found in tested), random)
    charged = [
        found._replace(cut=replace(found.cut, log_p=min(0.0, found.cut.log_p + charge)))
        for found in tested
    ]
    half = len(charged) // 2
    skewed, flat = (
        sorted(part, key=lambda found: found.cut.log_p) for part in (charged[:half], charged[half:])
    )
    return skewed + flat


def _charge(white: Rows, best: float, random: np.random.Generator) -> float:
    """Return the charge for the search: what it finds among rows with random signs.

    Trials end once they cannot change the outcome: the best chance of the rows is no more than
    noise, or suffices even at twice the charge, which is then returned.
    """
    # Copies of a row count as one row: they get one sign.
    key = on_host(like(random.standard_normal(white.shape[0]), white) @ white)
    _, twin = np.unique(np.round(key, 9), return_inverse=True)
    charge = 0.0
    for _ in range(4):
        signs = random.choice([-1.0, 1.0], int(twin.max()) + 1)[twin]
        least = min(found.cut.log_p for found in _tested(white * like(signs, white)))
        charge = max(charge, -1.25 * least)  # more trials would find a bit more
        if best + charge > np.log(thresholds.LEVEL):
            break
        if best + 2.0 * charge < 2.0 * thresholds.LOG_LEVEL:
            return 2.0 * charge
    return charge


def _tested(Z: Rows) -> list[Projection]:
    """Test the most skewed directions of the windows, then the flattest.

    The directions are found where the rows are; what is tested is small, and comes to the host.
    """
    skewed: list[tuple[float, Array]] = []
    flat: list[tuple[float, Array]] = []
    # The climb only chooses what is tested: single precision is enough.
    single = namespace(Z).astype(Z, namespace(Z).float32)
    for window in windows(Z.shape[0]):
        V, skewness, kurtosis = climb(single, window, 10)
        for found, sizes in ((skewed, skewness), (flat, -kurtosis)):
            for i, best in enumerate(sizes.argmax(axis=1)):
                direction = np.zeros(Z.shape[0])
                direction[window[i]] = V[i, best]
                found.append((float(sizes[i, best]), direction))
    directions = [
        direction
        for found in (skewed, flat)
        for _, direction in sorted(found, key=lambda pair: -pair[0])[:32]
    ]
    ascending = namespace(Z).sort(like(np.stack(directions), Z) @ Z, axis=1)
    tested = []
    for direction, projected, middle, spread, error in zip(
        directions, on_host(ascending), *centers(ascending), strict=True
    ):
        cut = mirror_test(projected, float(middle), float(error)) if spread > 0.0 else NOTHING
        tested.append(Projection(direction, float(middle), cut))
    return tested


def windows(k: int) -> Iterator[Array]:
    """Yield windows of k principal axes, those of equal width as one matrix of axes."""
    width = thresholds.WINDOW
    firsts = np.arange(0, max(1, k - width // 2), width // 2)
    whole = firsts + width <= k
    if whole.any():
        yield firsts[whole, None] + np.arange(width)
    if not whole[-1]:
        yield np.arange(firsts[-1], k)[None]


def climb(Z: Rows, axes: Array, n_steps: int) -> tuple[Array, Array, Array]:
    """Climb to skewed directions from all axes of each window of the rows Z (k x n).

    Return the directions in each window, their skewness and their kurtosis.
    """
    xp = namespace(Z)
    (m, k), n = axes.shape, Z.shape[1]
    rows = xp.reshape(xp.take(Z, like(axes.ravel(), Z), axis=0), (m, k, n))
    parts = list(pieces(m, max(1, thresholds.AT_ONCE // (k * k * n))))
    # A product of two coordinates stands for both orders of them.
    first, second = (like(pair, Z) for pair in np.triu_indices(k))
    sums = []
    for part in parts:
        some = rows[part, :, :]
        products = xp.take(some, first, axis=1) * xp.take(some, second, axis=1)
        sums.append(double(products @ xp.permute_dims(some, (0, 2, 1))))
    cubes = xp.concat(sums, axis=0) * (2.0 - double(first == second))[:, None]
    V = like(np.tile(np.eye(k), (m, 1, 1)), cubes)
    for _ in range(n_steps):
        V = (xp.take(V, first, axis=2) * xp.take(V, second, axis=2)) @ cubes
        V = V / xp.clip(xp.linalg.vector_norm(V, axis=2, keepdims=True), TINY, None)
    mixing = xp.astype(V, Z.dtype)
    shapes = [_shapes(mixing[part, :, :] @ rows[part, :, :]) for part in parts]
    # One transfer from the device.
    found = on_host(xp.concat([V, xp.concat(shapes, axis=0)], axis=2))
    return found[:, :, :k], found[:, :, k], found[:, :, k + 1]


def _shapes(projected: Rows) -> Rows:
    """Compute skewness and kurtosis along the last axis."""
    xp = namespace(projected)
    projected = projected - xp.mean(projected, axis=-1, keepdims=True)
    squares = projected * projected
    variance = xp.clip(
        double(xp.mean(squares, axis=-1)), 1e-100, None
    )  # its square does not underflow
    skewness = double(xp.mean(squares * projected, axis=-1)) / variance**1.5
    kurtosis = double(xp.mean(squares * squares, axis=-1)) / variance**2
    return xp.stack([skewness, kurtosis], axis=-1)
