"""Adaptive contamination: adversaries that see the good rows, or the method as well."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_random_state
from inlier.datasets import Contamination, Sample, largest_eigenvalue, set_fields
from inlier.research.datasets.models import random_direction


def extreme_directions(rows: Array) -> tuple[Array, Array]:
    """Return the unit vectors of largest and of least positive variance."""
    m, d = rows.shape
    directions = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2]
    # As many centered rows as columns, or fewer, have one length of zero: it is no direction.
    last = max(0, len(directions) - 1 - int(m <= d))
    # Fix the signs, which depend on the machine.
    top, bottom = (v * np.sign(v[np.argmax(np.abs(v))]) for v in directions[[0, last]])
    return top, bottom


@dataclass(frozen=True)
class AlphaCorruption(Contamination):
    """An adversary sees n good rows, removes those low in a direction and adds others high in it.

    Good rows are drawn from N(0, I); the direction is that of their largest variance. The alpha n
    lowest rows are replaced. Each new row is a good row rotated towards the direction, at the same
    distance from the mean, so that distances do not show it. The target, `Sample.mean`, is the mean
    of all n good rows as drawn. Finding the bad rows is not enough: the mean of the others still
    lacks the removed ones. It requires ``d >= 2``.
    """

    reach = 0.5  # component of a bad row in the direction, as a fraction of its distance
    min_d: ClassVar[int] = 2

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = rng.standard_normal((self.n, self.d))
        target = X.mean(axis=0)
        u = extreme_directions(X)[0]
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
    turn. Good rows are drawn from N(0, I); those of the cluster are good rows, shrunk and shifted
    in a random direction. It requires ``n >= 4``.
    """

    threshold = 1.5
    spread = 0.3  # by which rows of the cluster are shrunk: it adds to the eigenvalue
    min_n: ClassVar[int] = 4

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = rng.standard_normal((self.n, self.d))
        rows = self._pick(rng)
        is_outlier = self._flags(rows)
        good = X[~is_outlier]
        u = random_direction(self.d, rng)
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
        _, lengths, directions = np.linalg.svd(rows, full_matrices=False)
        along = (directions @ u) ** 2
        form = (1.0 - along.sum()) / tau + (along / (tau - lengths**2)).sum()
        return float(n / np.sqrt(len(good) * len(around) * form))


@dataclass(frozen=True)
class Attack(Contamination):
    """An adversary that knows the method, tries several placements and keeps the most harmful.

    Good rows are drawn from N(0, I). Outliers form one cluster or three at several distances, along
    a random direction or that of largest or least variance of the good rows. The method is fitted
    to each of these tables; the one with the largest error becomes the sample. It finds the
    distance at which a method just fails to detect, whatever its thresholds. A draw costs one fit
    for each of 24 placements.

    With several clusters, each center lies at 45 degrees to the direction, to a different side, so
    that together they bias the mean one way. Rows of a cluster are good rows, shrunk and shifted.

    Parameters
    ----------
    method : estimator
        Anything with ``fit(X)`` that sets ``location_``. It is copied, never fitted itself. Its
        parameters, such as alpha or sigma, must be set.
    """

    method: Any = field(compare=False)
    # Of the centers, in standard deviations of the good rows in that direction.
    distances: ClassVar[tuple[float, ...]] = (2.0, 3.0, 5.0, 10.0)
    clusters: ClassVar[tuple[int, ...]] = (1, 3)
    spread = 0.3  # by which rows of a cluster are shrunk

    def __post_init__(self) -> None:
        super().__post_init__()
        if not hasattr(self.method, "fit") or isinstance(self.method, type):
            raise ValueError(
                f"method must be an estimator with fit(X) and location_, but is {self.method!r}. "
                "Give an instance, such as inlier.RobustMean()."
            )
        set_fields(self, method=clone(self.method, safe=False))

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = rng.standard_normal((self.n, self.d))
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
        directions = random_direction(self.d, rng), *extreme_directions(good)
        sideways = rng.standard_normal((max(self.clusters), self.d))
        for direction, k, distance in product(directions, self.clusters, self.distances):
            placed = X.copy()
            parts = np.array_split(np.arange(len(rows)), k)
            for part, u in zip(parts, _centers(direction, sideways[:k]), strict=True):
                center = mean + distance * (good @ u).std() * u
                # About their own mean, so that the distance is the one asked for.
                about = around[part] - around[part].mean(axis=0) if len(part) else around[part]
                placed[rows[part]] = center + self.spread * about
            yield placed

    def _harm(self, X: Array, truth: Array) -> tuple[float, Exception | None]:
        """Return the error of the method, infinite if it fails, and the exception."""
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
