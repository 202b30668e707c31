"""Directions along which most of the variance comes from few rows.

Along a direction, the bulk of the rows has a scale of its own: the median absolute deviation. If
rows are Gaussian, the variance agrees with it. The logarithm of their ratio is the evidence, in
standard errors of sqrt(3.44 / m) for m Gaussian rows.

Everything here is about m rows in q coordinates in which they have covariance I. Candidates are

    the axes given   principal axes and columns, in the choice of which tails have no part
    long and short   the axes of E |z|^2 z z^T and of E z z^T / |z|^2, in which the long and the
                     short rows differ most: found wherever bad rows are, whatever the coordinates

The second kind is chosen for its tails, so each half of the rows chooses and the other half judges.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.second_moments.settings import SETTINGS, SecondMomentSettings

GAUSSIAN_MAD = float(ndtri(0.75))
# Asymptotic variance of log(variance / bulk scale^2) for Gaussian rows, times their number: that of
# the squared median absolute deviation, less that of the variance, which is efficient.
RATIO_VARIANCE = 3.44


class UndueDirections(NamedTuple):
    """Directions with evidence that they are undue, the clearest first."""

    directions: Array
    """k x q, orthonormal."""
    few: bool
    """Whether they are all of them, and the other directions look Gaussian."""


def bulk_scales(T: Array) -> Array:
    """Return the scale of the bulk of each row of T (k x m): 1 for standard Gaussian entries."""
    off = np.abs(T - np.median(T, axis=1, keepdims=True))
    return np.asarray(np.median(off, axis=1) / GAUSSIAN_MAD)


def log_ratios(T: Array) -> Array:
    """Return the log of variance over squared bulk scale for each row of T; 0 if there is none."""
    variances, scales = T.var(axis=1), bulk_scales(T)
    varies = (scales > 0.0) & (variances > 0.0)
    return np.where(
        varies, np.log(np.where(varies, variances / np.maximum(scales**2, TINY), 1.0)), 0.0
    )


def skewness(T: Array) -> Array:
    """Return how one-sided each row of T is, in standard errors of a fair coin.

    Entries above the median are counted against those below it: beyond one bulk scale, where most
    are good, and beyond three, where many may be bad. A coin knows no Gaussian distribution.
    """
    off = T - np.median(T, axis=1, keepdims=True)
    scales = bulk_scales(T)[:, None]
    found = np.zeros(len(T))
    for reach in (scales, 3.0 * scales):
        above, below = (off > reach).sum(axis=1), (off < -reach).sum(axis=1)
        found = np.maximum(found, np.abs(above - below) / np.sqrt(np.maximum(above + below, 1)))
    return found


def undue_directions(
    Z: Array, axes: list[Array], settings: SecondMomentSettings = SETTINGS
) -> UndueDirections:
    """Find the undue directions of white rows Z (q x m); `axes` are orthonormal sets of candidates.

    They are few if there are no more than `most_directions` or a third of all, and if the tails of
    the rows along the other axes are no heavier than Gaussian ones.
    """
    q, most = len(Z), settings.most_directions
    looks = [_Look((Z,), directions[None]) for directions in axes]
    first, second = _halves(Z)
    for of_first, of_second in zip(length_axes(first), length_axes(second), strict=True):
        looks.append(_Look((second, first), np.stack([of_first, of_second])))
    chosen = np.empty((0, q))
    while looks and len(chosen) <= most:
        looks = [clear for look in looks if (clear := look.clear(settings)).directions.size]
        if looks:
            chosen = np.concatenate([chosen, max(looks, key=_Look.most).clearest()[None]])
            looks = [look.beside(chosen, settings) for look in looks]
    few = len(chosen) <= min(most, (q + 1) // 3)
    few = few and not any(heavy_beside(Z, chosen, directions, settings) for directions in axes)
    return UndueDirections(chosen[:most], few)


class _Look(NamedTuple):
    """Parts of the rows, each with unit directions that had no part in choosing them."""

    parts: tuple[Array, ...]
    directions: Array
    """Parts x k x q; the directions with one number are judged together."""

    def ratios(self) -> Array:
        """Return the log ratios, parts x k."""
        pairs = zip(self.parts, self.directions, strict=True)
        return np.stack([log_ratios(directions @ Z) for Z, directions in pairs])

    def evidence(self, settings: SecondMomentSettings) -> Array:
        """Return how undue they are, in standard errors."""
        m = sum(Z.shape[1] for Z in self.parts)
        error = np.sqrt(RATIO_VARIANCE / m) + settings.few_rows / m
        return np.asarray(self.ratios().mean(axis=0) / error)

    def most(self) -> float:
        return float(self.ratios().mean(axis=0).max())

    def clearest(self) -> Array:
        best = int(np.argmax(self.ratios().mean(axis=0)))
        return np.asarray(self.directions[np.argmax(self.ratios()[:, best]), best])

    def clear(self, settings: SecondMomentSettings) -> "_Look":
        """Return the directions that are undue.

        One along which the rows are one-sided is no Gaussian one with rows that spread more.
        """
        enough = self.evidence(settings) > settings.evidence
        enough &= self.ratios().mean(axis=0) > settings.least
        undue = self.directions[:, enough]
        pairs = zip(self.parts, undue, strict=True)
        skewed = [skewness(directions @ Z) > settings.skewed for Z, directions in pairs]
        return _Look(self.parts, undue[:, ~np.any(skewed, axis=0)])

    def beside(self, chosen: Array, settings: SecondMomentSettings) -> "_Look":
        """Return what is new in the directions beside the chosen ones."""
        rest = self.directions - (self.directions @ chosen.T) @ chosen
        lengths = np.linalg.norm(rest, axis=2).min(axis=0)
        return _Look(self.parts, units(rest[:, lengths > settings.distinct]))


def length_axes(Z: Array) -> list[Array]:
    """Return the axes, as rows, in which long rows and short rows differ most."""
    squares = np.sum(Z * Z, axis=0)
    weights = (squares, 1.0 / np.maximum(squares, TINY))
    return [np.linalg.eigh((Z * w) @ Z.T)[1].T for w in weights]


def heavy_beside(Z: Array, chosen: Array, axes: Array, settings: SecondMomentSettings) -> bool:
    """Return whether rows are heavy-tailed along the part of some axes beside the chosen ones."""
    rest = axes - (axes @ chosen.T) @ chosen
    lengths = np.linalg.norm(rest, axis=1)
    rest = rest[lengths > 0.5] / lengths[lengths > 0.5, None]
    if not len(rest):
        return True  # nothing is left that could look Gaussian
    error = float(np.sqrt(RATIO_VARIANCE / (Z.shape[1] * len(rest))))
    mean = float(log_ratios(rest @ Z).mean())
    return mean > max(settings.heavy, settings.heavy_evidence * error)


def units(vectors: Array) -> Array:
    """Return vectors (... x q) with length 1."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, TINY))


def distinct(directions: Array, most: int, least: float) -> Array:
    """Return an orthonormal basis of unit directions, in their order, without near repetitions."""
    basis = np.empty((0, directions.shape[1]))
    for direction in directions:
        for _ in range(2):
            direction = direction - (basis @ direction) @ basis
        length = float(np.linalg.norm(direction))
        if length > least:
            basis = np.concatenate([basis, direction[None] / length])
        if len(basis) == most:
            break
    return basis


def _halves(Z: Array) -> tuple[Array, Array]:
    """Split rows by turns in the order of their lengths, whatever their order."""
    order = np.argsort(np.sum(Z * Z, axis=0), kind="stable")
    return Z[:, order[::2]], Z[:, order[1::2]]
