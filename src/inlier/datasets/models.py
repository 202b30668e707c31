"""Contamination that does not look at the good rows: it is drawn beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inlier._internal.validation import check_choice, check_number, check_random_state, check_whole
from inlier.datasets._typing import RandomState
from inlier.datasets.base import Contamination, Sample, seed_of, settle
from inlier.datasets.directions import random_direction
from inlier.datasets.inliers import Gaussian, Inliers, Spiked, StudentT, Uneven, check_inliers
from inlier.datasets.settings import SettingA


@dataclass(frozen=True)
class Clean(Contamination):
    """No outlier at all: what a method removes here, it removes for nothing.

    Heavy tails and uneven covariances fool methods that expect Gaussian rows, and those that drop
    a fraction of the rows whatever they look like.

    Attributes
    ----------
    inliers : Inliers
        What the rows look like.
    """

    alpha: float = field(default=0.0, init=False, repr=False)
    inliers: Inliers = field(default_factory=Gaussian)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_inliers(self.inliers)

    def _draw(self, random_state: RandomState) -> Sample:
        X = self.inliers.draw(self.n, self.d, check_random_state(random_state))
        return Sample(X, np.zeros(self.n, dtype=np.bool_))


@dataclass(frozen=True)
class Huber(Contamination):
    """Huber's epsilon model: each row is bad with probability alpha, independently of all others.

    Bad rows come from a distribution of their own, moved in a random direction. The model is the
    oldest and the mildest: nobody looked at the good rows. It fools whoever counts on a known
    number of outliers, because the number varies: it is alpha n on average only. Flags under which
    the good rows are not the majority are drawn again.

    Attributes
    ----------
    inliers : Inliers
        What good rows look like.
    outliers : Inliers
        What bad rows look like, before they are scaled and moved.
    distance : float
        How far bad rows are moved.
    spread : float
        What bad rows are multiplied by before. With distance 0 and a spread of 3 they are Tukey's
        contaminated normal: the mean stays, and gets noisy.
    """

    inliers: Inliers = field(default_factory=Gaussian)
    outliers: Inliers = field(default_factory=Gaussian)
    distance: float = 10.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_inliers(self.inliers)
        check_inliers(self.outliers, "outliers")
        settle(self, distance=check_number(self.distance, "distance", at_least=0.0))
        settle(self, spread=check_number(self.spread, "spread", at_least=0.0))

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        is_outlier = rng.random(self.n) < self.alpha
        while 2 * is_outlier.sum() >= self.n:
            is_outlier = rng.random(self.n) < self.alpha
        X = self.inliers.draw(self.n, self.d, rng)
        bad = self.outliers.draw(int(is_outlier.sum()), self.d, rng)
        X[is_outlier] = self.spread * bad + self.distance * random_direction(self.d, rng)
        return Sample(X, is_outlier)


@dataclass(frozen=True)
class Cluster(Contamination):
    """Outliers in one tight cluster, nearer to the mean than most good rows.

    Good rows are drawn from N(0, I) and lie at a distance of about sqrt(d), outliers about a
    centre in a random direction. Whoever drops distant rows drops good ones. At 2 sigma the
    cluster adds little to the variance in its direction and hides from spectral filters too; at 10
    it is easy for them, and most harmful to a mean.

    Attributes
    ----------
    distance : float
        Of the centre to the mean of the distribution, in sigma. It is hard between 2 and 10.
    spread : float
        Standard deviation of the entries about the centre.
    """

    distance: float = 3.0
    spread: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, distance=check_number(self.distance, "distance", at_least=0.0))
        settle(self, spread=check_number(self.spread, "spread", at_least=0.0))

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        X = rng.standard_normal((self.n, self.d))
        rows = self._pick(rng)
        direction = random_direction(self.d, rng)
        X[rows] = self.spread * rng.standard_normal((len(rows), self.d)) + self.distance * direction
        return Sample(X, self._flags(rows))


@dataclass(frozen=True)
class HeavyTails(Contamination):
    """The outliers of Setting A among rows with heavy tails.

    Some good rows lie farther out than any outlier. Whoever removes what is extreme removes those,
    and a bound on the covariance that leaves them in is wide enough for outliers. For a seed the
    outliers are the very ones of `SettingA`, whatever the good rows are.

    Attributes
    ----------
    inliers : Inliers
        What good rows look like, for example ``StudentT(5, joint=True)`` or ``Laplace()``.
    """

    inliers: Inliers = field(default=StudentT(3))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_inliers(self.inliers)

    def _draw(self, random_state: RandomState) -> Sample:
        bad = SettingA(self.n, self.d, self.alpha).sample(random_state)
        X = self.inliers.draw(self.n, self.d, _second_generator(random_state, 1))
        X[bad.is_outlier] = bad.X[bad.is_outlier]
        return Sample(X, bad.is_outlier)


@dataclass(frozen=True)
class ObviousAndSubtle(Contamination):
    """Setting A, with half of its outliers moved very far away: some in a bundle, some all over.

    A quarter of the outliers form a bundle 10 sqrt(d) away, a quarter lie in all directions at
    20 sqrt(d), the others stay as they were. The obvious ones mask the subtle ones: a scale or a
    covariance that contains them is so wide that the rest look good, and a method that spends its
    count of removals or iterations on them leaves the rest in.
    """

    def _draw(self, random_state: RandomState) -> Sample:
        sample = SettingA(self.n, self.d, self.alpha).sample(random_state)
        rng = _second_generator(random_state, 2)
        rows = rng.permutation(np.flatnonzero(sample.is_outlier))
        bundle, scattered = rows[: len(rows) // 4], rows[len(rows) // 4 : len(rows) // 2]
        directions = rng.standard_normal((1 + len(scattered), self.d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        far = np.sqrt(self.d)
        X = sample.X
        X[bundle] = rng.standard_normal((len(bundle), self.d)) + 10 * far * directions[0]
        X[scattered] = 20 * far * directions[1:]
        return Sample(X, sample.is_outlier)


@dataclass(frozen=True)
class QuietDirections(Contamination):
    """Outliers far out in the two directions in which good rows vary least.

    Good rows have an uneven covariance. Outliers are good rows moved by a few standard deviations
    of a quiet direction, which with some hundred columns is no more than one of the loudest:
    neither distances nor the largest eigenvalue show them. Who knows the covariance sees them at
    once; who estimates it from all rows has the outliers in it. It needs ``d >= 2``.

    Attributes
    ----------
    inliers : Spiked or Rotated
        What good rows look like.
    where : {"both", "one each"}
        Whether an outlier is moved in both directions, or half of the outliers in each.
    distance : float
        How far they are moved, in standard deviations of good rows in that direction.
    """

    inliers: Uneven = field(default_factory=Spiked)
    where: str = "both"
    distance: float = 6.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.d, "d", 2)
        check_inliers(self.inliers, kind=Uneven)
        check_choice(self.where, "where", ("both", "one each"))
        settle(self, distance=check_number(self.distance, "distance", at_least=0.0))

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        scales = self.inliers.scales(self.d)
        X = rng.standard_normal((self.n, self.d)) * scales
        rows = self._pick(rng)
        halves = (rows, rows) if self.where == "both" else np.array_split(rows, 2)
        for half, column in zip(halves, (self.d - 1, self.d - 2), strict=True):
            X[half, column] += self.distance * scales[column]
        return Sample(self.inliers.turn(X, rng), self._flags(rows))


def _second_generator(random_state: RandomState, key: int) -> np.random.Generator:
    """Another stream of the same seed: that of Setting A stays what it is."""
    seed = seed_of(random_state)
    return check_random_state(random_state) if seed is None else np.random.default_rng([seed, key])
