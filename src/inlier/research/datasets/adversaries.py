"""Adaptive contamination: adversaries that see the good rows, or the method as well."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_choice, check_random_state
from inlier.research.datasets.base import (
    Contamination,
    Sample,
    largest_eigenvalue,
    parameter,
    set_fields,
)
from inlier.research.datasets.models import INLIERS, Gaussian, Inliers, random_direction

DIRECTIONS = ("random", "top", "bottom")


def direction_of(rows: Array, which: str, rng: np.random.Generator) -> Array:
    """Return a unit vector: random, or that of largest or of least positive variance."""
    if which == "random":
        return random_direction(rows.shape[1], rng)
    centered = rows - rows.mean(axis=0)
    m, d = centered.shape
    wide = d >= m
    moment = centered @ centered.T if wide else centered.T @ centered
    # The Gram matrix of centered rows has one zero eigenvalue, which belongs to no direction.
    place = len(moment) - 1 if which == "top" else min(int(wide), m - 1)
    vector = eigh(moment, subset_by_index=(place, place), driver="evr")[1][:, 0]
    direction = centered.T @ vector if wide else vector
    length = np.linalg.norm(direction)
    if length == 0.0:  # a single row, or equal ones
        return np.asarray(np.eye(1, d)[0])
    # Fix the sign of the eigenvector, which depends on the machine.
    sign = np.sign(direction[np.argmax(np.abs(direction))])
    return np.asarray(direction * (sign / length))


@dataclass(frozen=True)
class AlphaCorruption(Contamination):
    """An adversary sees n good rows, removes those low in a direction and adds others high in it.

    The alpha n lowest rows are replaced. Each new row is a good row rotated towards the direction,
    at the same distance from the mean, so that distances do not show it. The target, `Sample.mean`,
    is the mean of all n good rows as drawn. Finding the bad rows is not enough: the mean of the
    others still lacks the removed ones. It requires ``d >= 2``.

    Parameters
    ----------
    inliers : Inliers
        Distribution of the good rows.
    direction : {"top", "random", "bottom"}
        Direction of largest variance of the good rows, a random one, or that of least variance.
    """

    inliers: Inliers = field(default_factory=Gaussian, metadata=INLIERS)
    direction: str = parameter("top", check_choice, choices=DIRECTIONS)
    reach = 0.5  # component of a bad row in the direction, as a fraction of its distance
    min_d: ClassVar[int] = 2

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n, self.d, rng)
        target = X.mean(axis=0)
        u = direction_of(X, self.direction, rng)
        order = np.argsort((X - target) @ u)
        lowest, kept = order[: self.n_outliers], order[self.n_outliers :]
        good = X[rng.choice(kept, len(lowest), replace=False)] - target
        distances = np.linalg.norm(good, axis=1, keepdims=True)
        aside = good - np.outer(good @ u, u)
        aside *= np.sqrt(1 - self.reach**2) * distances / np.linalg.norm(aside, axis=1)[:, None]
        X[lowest] = target + self.reach * distances * u + aside
        return Sample(X, self._flags(lowest), target)


@dataclass(frozen=True)
class BelowThreshold(Contamination):
    """One tight cluster, as far out as the largest eigenvalue of the covariance allows.

    The largest eigenvalue of the covariance of all rows is just below 1.5 times that of
    the good rows. Any filter with this threshold keeps all outliers, whose effect is bounded in
    turn. The rows of the cluster are good rows, shrunk and shifted. It requires ``n >= 4``.

    Parameters
    ----------
    inliers : Inliers
        Distribution of the good rows.
    direction : {"random", "top", "bottom"}
        Direction of the cluster: random, or of largest or least variance of the good rows. The
        smaller the variance, the farther out the cluster.
    """

    threshold = 1.5
    spread = 0.3  # by which rows of the cluster are shrunk: it adds to the eigenvalue
    inliers: Inliers = field(default_factory=Gaussian, metadata=INLIERS)
    direction: str = parameter("random", check_choice, choices=DIRECTIONS)
    min_n: ClassVar[int] = 4

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n, self.d, rng)
        rows = self._pick(rng)
        is_outlier = self._flags(rows)
        good = X[~is_outlier]
        u = direction_of(good, self.direction, rng)
        if len(rows):
            center = good.mean(axis=0)
            around = self.spread * rng.permutation(good)[: len(rows)]
            around -= around.mean(axis=0)  # so that the eigenvalue is known exactly
            X[rows] = center + around + self._distance(good - center, around, u) * u
        return Sample(X, is_outlier)

    def _distance(self, good: Array, around: Array, u: Array) -> float:
        """Return the largest admissible distance of the cluster.

        At distance t the covariance of all rows is A + c t^2 u u', with the pooled covariance A and
        c = n_good n_bad / n^2. Its largest eigenvalue is tau, once tau exceeds that of A, where
        c t^2 u' (tau I - A)^-1 u = 1.
        """
        n = len(good) + len(around)
        tau = self.threshold * largest_eigenvalue(good) * (1 - 1e-6)  # just below
        rows = np.concatenate([good, around]) / np.sqrt(n)  # A = rows' rows
        if self.d <= n:
            A = rows.T @ rows
            form = u @ np.linalg.solve(tau * np.eye(self.d) - A, u)
        else:  # the same through the Gram matrix, which is smaller
            w = rows @ u
            form = (1 + w @ np.linalg.solve(tau * np.eye(n) - rows @ rows.T, w)) / tau
        return float(n / np.sqrt(len(good) * len(around) * form))


@dataclass(frozen=True)
class Attack(Contamination):
    """An adversary that knows the method, tries several placements and keeps the most harmful.

    Outliers form clusters at several distances and spreads, along a random direction or that of
    largest or least variance of the good rows. The method is fitted to each of these tables; the
    one with the largest error becomes the sample. It finds the distance at which a method just
    fails to detect, whatever its thresholds. A draw costs one fit for each placement, 24 by
    default.

    With several clusters, each center lies at 45 degrees to the direction, to a different side, so
    that together they bias the mean one way. Rows of a cluster are good rows, shrunk and shifted.

    Parameters
    ----------
    method : estimator
        Anything with ``fit(X)`` that sets ``location_``. It is copied, never fitted itself. Its
        parameters, such as alpha or sigma, must be set.
    inliers : Inliers
        Distribution of the good rows.
    distances : tuple of float
        Distances of the centers to the mean of the good rows, in standard deviations of the good
        rows in that direction.
    spreads : tuple of float
        Factors by which rows of a cluster are shrunk; 1 keeps the spread of good rows.
    directions : tuple of {"random", "top", "bottom"}
        Directions of the centers.
    clusters : tuple of int
        Numbers of clusters.
    """

    method: Any = field(compare=False)
    inliers: Inliers = field(default_factory=Gaussian, metadata=INLIERS)
    distances: tuple[float, ...] = (2.0, 3.0, 5.0, 10.0)
    spreads: tuple[float, ...] = (0.3,)
    directions: tuple[str, ...] = DIRECTIONS
    clusters: tuple[int, ...] = (1, 3)

    def __post_init__(self) -> None:
        from sklearn.base import clone  # slow to import, and needed here only

        super().__post_init__()
        if not hasattr(self.method, "fit") or isinstance(self.method, type):
            raise ValueError(
                f"method must be an estimator with fit(X) and location_, but is {self.method!r}. "
                "Give an instance, such as inlier.RobustMean()."
            )
        set_fields(self, method=clone(self.method, safe=False))

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n, self.d, rng)
        rows = self._pick(rng)
        is_outlier = self._flags(rows)
        best, worst_error, answered = X, -1.0, False
        if len(rows):
            truth = X[~is_outlier].mean(axis=0)
            for placed in self._placements(X, rows, rng):
                error, fault = self._harm(placed, truth)
                answered = answered or fault is None
                if error > worst_error:
                    best, worst_error = placed, error
            if not answered:
                raise ValueError(
                    f"method={self.method!r} has no answer to any of the placements: {fault}"
                ) from fault
        return Sample(best, is_outlier)

    def _placements(self, X: Array, rows: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the tables to try, all from the same random numbers."""
        kept = np.setdiff1d(np.arange(self.n), rows)
        mean = X[kept].mean(axis=0)
        good = X[kept] - mean
        around = rng.permutation(good)[: len(rows)]
        at_random = random_direction(self.d, rng)
        sideways = rng.standard_normal((max(self.clusters), self.d))
        ways = {
            which: at_random if which == "random" else direction_of(good, which, rng)
            for which in self.directions
        }
        options = product(self.directions, self.clusters, self.distances, self.spreads)
        for which, k, distance, spread in options:
            placed = X.copy()
            parts = np.array_split(np.arange(len(rows)), k)
            for part, u in zip(parts, _centers(ways[which], sideways[:k]), strict=True):
                center = mean + distance * (good @ u).std() * u
                # About their own mean, so that the distance is the one asked for.
                about = around[part] - around[part].mean(axis=0) if len(part) else around[part]
                placed[rows[part]] = center + spread * about
            yield placed

    def _harm(self, X: Array, truth: Array) -> tuple[float, Exception | None]:
        """Return the error of the method, infinite if it fails, and the exception."""
        from sklearn.base import clone

        method = clone(self.method, safe=False)
        # The user who draws a sample cannot act on these warnings.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                method.fit(X)
            except Exception as fault:
                return np.inf, fault
        location = np.asarray(method.location_, dtype=np.float64)
        if location.shape != truth.shape:
            raise ValueError(
                f"location_ of method={self.method!r} has shape {location.shape}: it must be a "
                f"point with {len(truth)} coordinates."
            )
        error = float(np.linalg.norm(location - truth))
        return (np.inf if np.isnan(error) else error), None


def _centers(u: Array, sideways: Array) -> Array:
    """Return unit vectors at 45 degrees to u, each to a different side; a single one is u."""
    if len(sideways) == 1 or len(u) == 1:
        return np.tile(u, (len(sideways), 1))
    aside = sideways - np.outer(sideways @ u, u)
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    return np.asarray((u + aside) / np.sqrt(2))
