"""Adversaries that see the good rows, and one that sees the method as well."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Any

import numpy as np

from inlier._internal.validation import check_choice, check_number, check_random_state, check_whole
from inlier.datasets._typing import FloatArray, RandomState, Rows
from inlier.datasets.base import Contamination, Sample, settle
from inlier.datasets.directions import (
    DIRECTIONS,
    choose_direction,
    largest_eigenvalue,
    principal_direction,
    random_direction,
)
from inlier.datasets.inliers import Gaussian, Inliers, check_inliers


@dataclass(frozen=True)
class AlphaCorruption(Contamination):
    """An adversary looks at n good rows, removes those that hold the mean back and adds others.

    It picks a direction, removes the alpha n lowest rows in it and puts in rows that are high in
    it. Each of them is a good row turned towards the direction: it lies exactly as far from the
    mean as that row does, so that distances do not give it away. The truth, `Sample.mean`, is the
    mean of all n good rows as they were drawn. To find the bad rows is not enough: the mean of the
    others still lacks those that were removed. It needs ``d >= 2``.

    Attributes
    ----------
    inliers : Inliers
        What good rows look like.
    direction : {"top", "random", "bottom"}
        In which the mean is moved: where good rows vary most, any, or where they vary least.
    reach : float
        The part of its distance that a bad row has in the direction, above 0 and at most 1. Where
        all are at sqrt(d), bad rows lie reach sqrt(d) out in it.
    """

    inliers: Inliers = field(default_factory=Gaussian)
    direction: str = "top"
    reach: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.d, "d", 2)
        check_inliers(self.inliers)
        check_choice(self.direction, "direction", DIRECTIONS)
        settle(self, reach=check_number(self.reach, "reach", at_most=1.0))

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n, self.d, rng)
        target = X.mean(axis=0)
        u = choose_direction(X, self.direction, rng)
        order = np.argsort((X - target) @ u)
        lowest, kept = order[: self.n_outliers], order[self.n_outliers :]
        good = X[rng.choice(kept, len(lowest), replace=False)] - target
        distances = np.linalg.norm(good, axis=1, keepdims=True)
        aside = good - np.outer(good @ u, u)
        aside *= np.sqrt(1 - self.reach**2) * distances / np.linalg.norm(aside, axis=1)[:, None]
        X[lowest] = target + self.reach * distances * u + aside
        return Sample(X, self._flags(lowest), target)


@dataclass(frozen=True)
class Mirrored(Contamination):
    """An adversary mirrors the alpha n lowest rows in a direction: they become the highest.

    No distance to the mean changes, nor does the variance in the direction about it: filters that
    wait for a large eigenvalue see nothing, and only the lack of balance between the two tails is
    left as a trace. The truth, `Sample.mean`, is the mean of the rows before. The mean moves by
    2 alpha times the mean of the tail, about as much as can be done unseen.

    Attributes
    ----------
    inliers : Inliers
        What good rows look like.
    direction : {"top", "random", "bottom"}
        In which rows are mirrored: where good rows vary most, any, or where they vary least.
    """

    inliers: Inliers = field(default_factory=Gaussian)
    direction: str = "top"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_inliers(self.inliers)
        check_choice(self.direction, "direction", DIRECTIONS)

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n, self.d, rng)
        target = X.mean(axis=0)
        u = choose_direction(X, self.direction, rng)
        heights = (X - target) @ u
        lowest = np.argsort(heights)[: self.n_outliers]
        # With almost half of the rows, the last ones may lie above the mean: they stay.
        X[lowest] += np.outer(2 * np.maximum(-heights[lowest], 0.0), u)
        return Sample(X, self._flags(lowest), target)


@dataclass(frozen=True)
class Subtractive(Contamination):
    """An adversary only takes away: the lowest of the good rows in a direction are missing.

    There is no bad row to find. What is left looks like good rows with one tail cut off, and its
    mean is not the truth, which is the mean of all rows as they were drawn (`Sample.mean`). It
    fools everyone: who removes nothing is off by the missing tail, and who looks for bad rows finds
    good ones. Only who trims the other tail as well gets some of it back.

    Here alpha is the fraction of the drawn rows that are taken away, so that n rows are left of
    n / (1 - alpha). No row of a sample is an outlier: `Sample.alpha` is 0.

    Attributes
    ----------
    inliers : Inliers
        What good rows look like.
    direction : {"top", "random", "bottom"}
        In which the lowest are missing: where good rows vary most, any, or where they vary least.
    """

    inliers: Inliers = field(default_factory=Gaussian)
    direction: str = "top"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_inliers(self.inliers)
        check_choice(self.direction, "direction", DIRECTIONS)

    @property
    def n_outliers(self) -> int:
        """Number of corrupted rows: none."""
        return 0

    @property
    def n_removed(self) -> int:
        """Number of good rows that are missing."""
        return round(self.alpha / (1 - self.alpha) * self.n)

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n + self.n_removed, self.d, rng)
        u = choose_direction(X, self.direction, rng)
        left = np.sort(np.argsort(X @ u)[self.n_removed :])  # in the order they were drawn
        return Sample(X[left], np.zeros(self.n, dtype=np.bool_), X.mean(axis=0))


@dataclass(frozen=True)
class BelowThreshold(Contamination):
    """One tight cluster, as far out as the largest eigenvalue of the covariance allows.

    The largest eigenvalue of the covariance of all rows is just below `threshold` times that of
    the good rows. Any filter that stops there, and is told the truth about the good rows, leaves
    all outliers in. In return it bounds what they can do.

    The rows of the cluster are good rows, shrunk and moved to its centre. It needs ``n >= 4``.

    Attributes
    ----------
    threshold : float
        Where the filter stops, as a multiple of the good rows' largest eigenvalue; at least 1.
    inliers : Inliers
        What good rows look like.
    direction : {"random", "top", "bottom"}
        In which the cluster lies: any, or where good rows vary most or least. The less they vary
        in it, the farther out the cluster gets.
    spread : float
        By what rows of the cluster are shrunk. It adds to the eigenvalue, so that spread^2 has to
        be below threshold / (1 - alpha) - 1.
    """

    threshold: float = 1.5
    inliers: Inliers = field(default_factory=Gaussian)
    direction: str = "random"
    spread: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.n, "n", 4)
        check_inliers(self.inliers)
        check_choice(self.direction, "direction", DIRECTIONS)
        settle(self, spread=check_number(self.spread, "spread", at_least=0.0))
        settle(self, threshold=check_number(self.threshold, "threshold", at_least=1.0))
        # The outliers' scatter is at most spread^2 times that of the good rows.
        least = (1 - self.n_outliers / self.n) * (1 + self.spread**2)
        if self.n_outliers and self.threshold <= least:
            raise ValueError(
                f"threshold must be above (1 - alpha) (1 + spread^2) = {least:.4g}, but is "
                f"{self.threshold!r}. Raise it, or lower spread={self.spread!r}."
            )

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n, self.d, rng)
        rows = self._pick(rng)
        is_outlier = self._flags(rows)
        good = X[~is_outlier]
        u = choose_direction(good, self.direction, rng)
        if len(rows):
            center = good.mean(axis=0)
            around = self.spread * rng.permutation(good)[: len(rows)]
            around -= around.mean(axis=0)  # so that the eigenvalue is known exactly
            X[rows] = center + around + self._distance(good - center, around, u) * u
        return Sample(X, is_outlier)

    def _distance(self, good: FloatArray, around: FloatArray, u: FloatArray) -> float:
        """How far out the cluster may lie.

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


@dataclass(frozen=True, repr=False)
class Attack(Contamination):
    """An adversary that is given the method, tries some placements and keeps the most harmful.

    Outliers are put into clusters at several distances and spreads, along a random direction or
    one in which good rows vary most or least. The method is fitted to each of these tables; the
    one in which its answer is farthest from the mean of the good rows becomes the sample. It finds
    the distance at which a method just fails to notice, wherever its thresholds are. A draw costs
    as many fits as there are placements, 24 unless told otherwise.

    Where outliers are split into several clusters, each centre lies at 45 degrees to the direction,
    to a side of its own, so that together they still pull one way. Rows of a cluster are good rows,
    shrunk and moved.

    Attributes
    ----------
    method : estimator
        Anything with ``fit(X)`` that sets ``location_``. It is copied, never fitted itself. It has
        to know what it needs: nobody tells it alpha or sigma here.
    inliers : Inliers
        What good rows look like.
    distances : tuple of float
        Of the centres to the mean of the good rows, in standard deviations in that direction.
    spreads : tuple of float
        By what rows of a cluster are shrunk. With 1 they vary like good rows.
    directions : tuple of {"random", "top", "bottom"}
        Where the centres lie.
    clusters : tuple of int
        Into how many clusters the outliers are split.
    """

    method: Any = field(compare=False)
    inliers: Inliers = field(default_factory=Gaussian)
    distances: tuple[float, ...] = (2.0, 3.0, 5.0, 10.0)
    spreads: tuple[float, ...] = (0.3,)
    directions: tuple[str, ...] = DIRECTIONS
    clusters: tuple[int, ...] = (1, 3)
    _method: str = field(init=False)

    def __post_init__(self) -> None:
        from sklearn.base import clone  # slow to import, and needed here only

        super().__post_init__()
        if not hasattr(self.method, "fit") or isinstance(self.method, type):
            raise ValueError(
                f"method must be an estimator with fit(X) and location_, but is {self.method!r}. "
                "Give an instance, such as inlier.RobustMean()."
            )
        check_inliers(self.inliers)
        for name in ("distances", "spreads", "directions", "clusters"):
            values = getattr(self, name)
            if not isinstance(values, tuple | list) or not values:
                raise ValueError(
                    f"{name} must be a tuple of at least one value, but is {values!r}."
                )
        settle(
            self,
            method=clone(self.method, safe=False),
            distances=tuple(check_number(t, "distances", at_least=0.0) for t in self.distances),
            spreads=tuple(check_number(s, "spreads", at_least=0.0) for s in self.spreads),
            directions=tuple(check_choice(w, "directions", DIRECTIONS) for w in self.directions),
            clusters=tuple(check_whole(k, "clusters") for k in self.clusters),
        )
        settle(self, _method=_description(self.method))

    def __repr__(self) -> str:
        shown = {f.name: repr(getattr(self, f.name)) for f in fields(self) if f.init}
        shown["method"] = self._method
        return f"Attack({', '.join(f'{name}={value}' for name, value in shown.items())})"

    def __str__(self) -> str:
        return f"Attack(n={self.n}, d={self.d}, alpha={self.alpha}, method={self.method!r})"

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        X = self.inliers.draw(self.n, self.d, rng)
        rows = self._pick(rng)
        is_outlier = self._flags(rows)
        best, worst_error = X, -1.0
        if len(rows):
            truth = X[~is_outlier].mean(axis=0)
            answered = False
            for placed in self._placements(X, rows, rng):
                error, fault = self._harm(placed, truth)
                answered = answered or fault is None
                if error > worst_error:
                    best, worst_error = placed, error
            if not answered:
                raise ValueError(
                    f"method={self._method} has no answer to any of the placements: {fault}"
                ) from fault
        return Sample(best, is_outlier)

    def _placements(
        self, X: FloatArray, rows: Rows, rng: np.random.Generator
    ) -> Iterator[FloatArray]:
        """The tables to try. The same random numbers serve all: fewer options, a part of these."""
        kept = np.setdiff1d(np.arange(self.n), rows)
        center = X[kept].mean(axis=0)
        good = X[kept] - center
        around = rng.permutation(good)[: len(rows)]
        at_random = random_direction(self.d, rng)
        sideways = rng.standard_normal((max(self.clusters), self.d))
        ways = {
            which: at_random if which == "random" else principal_direction(good, which)
            for which in self.directions
        }
        options = product(self.directions, self.clusters, self.distances, self.spreads)
        for which, k, distance, spread in options:
            placed = X.copy()
            parts = np.array_split(np.arange(len(rows)), k)
            for part, centre in zip(parts, _centres(ways[which], sideways[:k]), strict=True):
                scale = (good @ centre).std()
                placed[rows[part]] = center + spread * around[part] + distance * scale * centre
            yield placed

    def _harm(self, X: FloatArray, truth: FloatArray) -> tuple[float, Exception | None]:
        """How far off the method is; to have no answer is the worst of all."""
        from sklearn.base import clone

        method = clone(self.method, safe=False)
        # Whoever draws a sample did not ask for these fits and can do nothing about them.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                method.fit(X)
            except Exception as fault:
                return np.inf, fault
        location = np.asarray(method.location_, dtype=np.float64)
        if location.shape != truth.shape:
            raise ValueError(
                f"location_ of method={self._method} has shape {location.shape}: it must be a "
                f"point with {len(truth)} coordinates."
            )
        error = float(np.linalg.norm(location - truth))
        return (np.inf if np.isnan(error) else error), None


def _centres(u: FloatArray, sideways: FloatArray) -> FloatArray:
    """Unit vectors at 45 degrees to u, each to a side of its own; a single one is u itself."""
    if len(sideways) == 1 or len(u) == 1:
        return np.tile(u, (len(sideways), 1))
    aside = sideways - np.outer(sideways @ u, u)
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    return np.asarray((u + aside) / np.sqrt(2))


def _description(method: Any) -> str:
    """All parameters of an estimator: its own repr may leave some out, or show an address."""
    kind: Any = type(method)
    if hasattr(method, "get_params"):
        parameters = method.get_params(deep=False)
    elif kind.__repr__ is object.__repr__:
        parameters = vars(method)
    else:
        return repr(method)
    listed = ", ".join(f"{name}={value!r}" for name, value in sorted(parameters.items()))
    return f"{kind.__name__}({listed})"
