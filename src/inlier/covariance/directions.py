"""Directions along which few rows inflate the variance.

Along a direction, the bulk of the rows has its own scale: the median absolute deviation. For
Gaussian rows the variance agrees with it. The logarithm of their ratio is the evidence, with a
standard error of sqrt(3.44 / m) for m Gaussian rows.

All functions are about m rows in q coordinates in which they have covariance I. Candidates are

    the axes given   principal axes and columns, which are chosen without regard to tails
    long and short   the axes of E |z|^2 z z^T and of E z z^T / |z|^2, in which long and short rows
                     differ most: these find bad rows along any direction

The second kind is chosen for its tails, so each half of the rows chooses and the other half tests.
"""

from typing import NamedTuple

import numpy as np

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.data.measures import MEDIAN_SIZE

# Asymptotic variance of log(variance / bulk scale^2) for Gaussian rows, times their number: that of
# the squared median absolute deviation, less that of the variance, which is efficient.
RATIO_VARIANCE = 3.44

# What the following do together is measured by benchmarks/covariance.py.
LEAST = 0.9
"""Least log ratio of an inflated direction, unless good rows are known to be Gaussian. Columns have
heavy tails by nature: it is 0.64 for Laplace's distribution and 0.85 for Student's t with 3 degrees
of freedom."""
SKEWED = 3.0
"""Standard errors of a fair coin beyond which rows along a direction are one-sided: skewed, or in
classes."""
MOST_DIRECTIONS = 8
"""Inflated directions examined; their products have 36 columns."""
DISTINCT = 0.3
"""Least length of a unit direction orthogonal to the directions chosen before."""


class InflatedDirections(NamedTuple):
    """Directions with evidence that few rows inflate their variance, the strongest first."""

    directions: Array
    """k x q, orthonormal."""
    few: bool
    """Whether there are no others, and rows look Gaussian along the other directions."""


def bulk_scales(T: Array) -> Array:
    """Return the scale of the bulk of each row of T (k x m): 1 for standard Gaussian entries."""
    off = np.abs(T - np.median(T, axis=1, keepdims=True))
    return np.asarray(np.median(off, axis=1) / MEDIAN_SIZE)


def log_ratios(T: Array) -> Array:
    """Return the log of variance over squared bulk scale for each row of T; 0 if one of them is."""
    variances, scales = T.var(axis=1), bulk_scales(T)
    varies = (scales > 0.0) & (variances > 0.0)
    return np.where(
        varies, np.log(np.where(varies, variances / np.maximum(scales**2, TINY), 1.0)), 0.0
    )


def skewness(T: Array) -> Array:
    """Return how one-sided each row of T is, in standard errors of a fair coin.

    Entries above the median are counted against those below it: beyond one bulk scale, where most
    are good, and beyond three, where many may be bad. This assumes symmetry, but no distribution.
    """
    off = T - np.median(T, axis=1, keepdims=True)
    scales = bulk_scales(T)[:, None]
    found = np.zeros(len(T))
    for reach in (scales, 3.0 * scales):
        above, below = (off > reach).sum(axis=1), (off < -reach).sum(axis=1)
        found = np.maximum(found, np.abs(above - below) / np.sqrt(np.maximum(above + below, 1)))
    return found


def inflated_directions(Z: Array, axes: list[Array], least: float = LEAST) -> InflatedDirections:
    """Find the inflated directions of white rows.

    They are few if there are no more than 8 or a third of all, and if the tails of the rows along
    the other axes are no heavier than Gaussian ones.

    Parameters
    ----------
    Z : array of shape (q, m)
        The rows.
    axes : list of array of shape (q, q)
        Orthonormal sets of candidates.
    least : float
        Least log ratio of an inflated direction.
    """
    q = len(Z)
    candidates = [_Candidates((Z,), directions[None]) for directions in axes]
    # By turns in the order of their lengths, so that the order of the rows does not matter.
    order = np.argsort(np.sum(Z * Z, axis=0), kind="stable")
    first, second = Z[:, order[::2]], Z[:, order[1::2]]
    for of_first, of_second in zip(length_axes(first), length_axes(second), strict=True):
        candidates.append(_Candidates((second, first), np.stack([of_first, of_second])))
    chosen = np.empty((0, q))
    while candidates and len(chosen) <= MOST_DIRECTIONS:
        inflated = [found.inflated(least) for found in candidates]
        candidates = [found for found in inflated if found.directions.size]
        if candidates:
            _, best = max((found.strongest() for found in candidates), key=lambda pair: pair[0])
            chosen = np.concatenate([chosen, best[None]])
            candidates = [found.orthogonal_to(chosen) for found in candidates]
    few = len(chosen) <= min(MOST_DIRECTIONS, (q + 1) // 3)
    few = few and not any(heavy_beside(Z, chosen, directions) for directions in axes)
    return InflatedDirections(chosen[:MOST_DIRECTIONS], few)


class _Candidates(NamedTuple):
    """Parts of the rows, each with unit directions that were chosen without these rows."""

    parts: tuple[Array, ...]
    directions: Array
    """Parts x k x q; the directions with the same number are tested together."""

    def ratios(self) -> Array:
        """Return the log ratios, parts x k."""
        pairs = zip(self.parts, self.directions, strict=True)
        return np.stack([log_ratios(directions @ Z) for Z, directions in pairs])

    def strongest(self) -> tuple[float, Array]:
        """Return the largest log ratio, averaged over the parts, and its direction."""
        ratios = self.ratios()
        best = int(np.argmax(ratios.mean(axis=0)))
        direction = self.directions[np.argmax(ratios[:, best]), best]
        return float(ratios.mean(axis=0)[best]), direction

    def inflated(self, least: float) -> "_Candidates":
        """Return the directions whose variance is inflated, and along which rows are symmetric.

        One-sided rows are no Gaussian ones with others that vary more.
        """
        m = sum(Z.shape[1] for Z in self.parts)
        # In few rows the bulk scale is skewed, which the second term allows for.
        error = np.sqrt(RATIO_VARIANCE / m) + 5.0 / m
        ratios = self.ratios().mean(axis=0)
        # Five: there are hundreds of directions, and the ratio has longer tails than Gaussian ones.
        directions = self.directions[:, (ratios / error > 5.0) & (ratios > least)]
        pairs = zip(self.parts, directions, strict=True)
        skewed = [skewness(candidates @ Z) > SKEWED for Z, candidates in pairs]
        return _Candidates(self.parts, directions[:, ~np.any(skewed, axis=0)])

    def orthogonal_to(self, chosen: Array) -> "_Candidates":
        """Return what is new in the directions besides the chosen ones."""
        rest = self.directions - (self.directions @ chosen.T) @ chosen
        lengths = np.linalg.norm(rest, axis=2).min(axis=0)
        return _Candidates(self.parts, units(rest[:, lengths > DISTINCT]))


def length_axes(Z: Array) -> list[Array]:
    """Return the axes, as rows, in which long rows and short rows differ most."""
    squares = np.sum(Z * Z, axis=0)
    weights = (squares, 1.0 / np.maximum(squares, TINY))
    return [np.linalg.eigh((Z * w) @ Z.T)[1].T for w in weights]


def heavy_beside(Z: Array, chosen: Array, axes: Array) -> bool:
    """Return whether rows are heavy-tailed along the part of some axes besides the chosen ones.

    That is, if the log ratio is above 0.05 on average, and above 3 standard errors. It is 0.36 for
    Student's t with 5 degrees of freedom.
    """
    rest = axes - (axes @ chosen.T) @ chosen
    lengths = np.linalg.norm(rest, axis=1)
    rest = rest[lengths > 0.5] / lengths[lengths > 0.5, None]
    if not len(rest):
        return True  # nothing remains that could look Gaussian
    error = float(np.sqrt(RATIO_VARIANCE / (Z.shape[1] * len(rest))))
    return float(log_ratios(rest @ Z).mean()) > max(0.05, 3.0 * error)


def units(vectors: Array) -> Array:
    """Return vectors (... x q) with length 1."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, TINY))


def distinct(directions: Array) -> Array:
    """Return an orthonormal basis of unit directions, in their order, without near repetitions."""
    basis = np.empty((0, directions.shape[1]))
    for direction in directions:
        for _ in range(2):
            direction = direction - (basis @ direction) @ basis
        length = float(np.linalg.norm(direction))
        if length > DISTINCT and len(basis) < MOST_DIRECTIONS:
            basis = np.concatenate([basis, direction[None] / length])
    return basis
