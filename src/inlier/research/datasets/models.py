"""Oblivious contamination: the settings of the paper, other models, and labelled real rows."""

from dataclasses import dataclass, field
from math import cos, radians, sin, sqrt
from typing import ClassVar

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_choice, check_number, check_random_state
from inlier.datasets import Contamination, Sample, SettingA, TwoHalves, parameter
from inlier.research.datasets.directions import random_direction, second_generator
from inlier.research.datasets.inliers import (
    INLIERS,
    UNEVEN,
    Gaussian,
    Inliers,
    Spiked,
    StudentT,
    Uneven,
)


@dataclass(frozen=True)
class TwoClusters(TwoHalves):
    """Figure 1 of the paper: two clusters about as far out as the good rows, at an angle.

    Good rows are drawn from N(0, I). Half of the outliers lie around each of two centers in a
    random plane, at a distance of about sqrt(d) like good rows, so distances do not show them. A
    filter along one direction may remove many good rows: with a wide angle the direction of largest
    variance joins the two clusters, while the mean is moved across it. Setting B is the case of 90
    degrees and spread 0, in the plane of two columns. It requires ``d >= 2``.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.
    angle : float
        Angle between the two centers as seen from zero, in degrees, in [0, 180).
    spread : float
        Standard deviation of the entries about a center, below 1, that of good rows.
    """

    angle: float = parameter(60.0, check_number, at_least=0.0, below=180.0)
    spread: float = parameter(0.3, check_number, at_least=0.0, below=1.0)
    min_d: ClassVar[int] = 2

    def _corrupt(self, X: Array, first: Array, second: Array, rng: np.random.Generator) -> None:
        along, across = np.linalg.qr(rng.standard_normal((self.d, 2)))[0].T
        half = radians(self.angle / 2)
        # Squared distances are distance^2 + spread^2 d = d.
        distance = sqrt(self.d * (1 - self.spread**2))
        for rows, side in ((first, 1), (second, -1)):
            X[rows] *= self.spread
            X[rows] += distance * (cos(half) * along + side * sin(half) * across)


@dataclass(frozen=True)
class Clean(Contamination):
    """No outliers: every removed row is a false positive.

    Heavy tails and uneven covariances mislead methods that assume Gaussian rows, and those that
    always remove a fraction of the rows.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    inliers : Inliers
        Distribution of the rows.
    """

    alpha: float = field(default=0.0, init=False, repr=False)
    inliers: Inliers = field(default_factory=Gaussian, metadata=INLIERS)

    def _draw(self, random_state: Seed) -> Sample:
        X = self.inliers.draw(self.n, self.d, check_random_state(random_state))
        return Sample(X, np.zeros(self.n, dtype=np.bool_))


@dataclass(frozen=True)
class Huber(Contamination):
    """Huber's epsilon model: each row is bad with probability alpha, independently of all others.

    Bad rows have a distribution of their own, shifted in a random direction. The number of outliers
    varies about alpha n, which misleads methods that assume a known number. Labels without a
    majority of good rows are drawn again.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.
    inliers : Inliers
        Distribution of the good rows.
    outliers : Inliers
        Distribution of the bad rows before scaling and shifting.
    distance : float
        Length of the shift.
    spread : float
        Scale of the bad rows. Distance 0 and spread 3 give Tukey's contaminated normal, which does
        not bias the mean.
    """

    inliers: Inliers = field(default_factory=Gaussian, metadata=INLIERS)
    outliers: Inliers = field(default_factory=Gaussian, metadata=INLIERS)
    distance: float = parameter(10.0, check_number, at_least=0.0)
    spread: float = parameter(1.0, check_number, at_least=0.0)

    def _draw(self, random_state: Seed) -> Sample:
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
    center in a random direction. Removing distant rows removes good ones. At 2 sigma the cluster
    adds little to the variance in its direction, so spectral filters miss it too; at 10 it is easy
    for them, and most harmful to a mean.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.
    distance : float
        Distance of the center to the true mean, in sigma; hard between 2 and 10.
    spread : float
        Standard deviation of the entries about the center.
    """

    distance: float = parameter(3.0, check_number, at_least=0.0)
    spread: float = parameter(0.3, check_number, at_least=0.0)

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = rng.standard_normal((self.n, self.d))
        rows = self._pick(rng)
        direction = random_direction(self.d, rng)
        X[rows] = self.spread * rng.standard_normal((len(rows), self.d)) + self.distance * direction
        return Sample(X, self._flags(rows))


@dataclass(frozen=True)
class HeavyTails(Contamination):
    """The outliers of Setting A among rows with heavy tails.

    Some good rows lie farther out than any outlier. Removing extreme rows removes these, and a
    bound on the covariance that keeps them has room for outliers. For the same seed the outliers
    equal those of `SettingA`.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.
    inliers : Inliers
        Distribution of the good rows, for example ``StudentT(5, joint=True)`` or ``Laplace()``.
    """

    inliers: Inliers = field(default=StudentT(3), metadata=INLIERS)

    def _draw(self, random_state: Seed) -> Sample:
        bad = SettingA(self.n, self.d, self.alpha).sample(random_state)
        X = self.inliers.draw(self.n, self.d, second_generator(random_state, 1))
        X[bad.is_outlier] = bad.X[bad.is_outlier]
        return Sample(X, bad.is_outlier)


@dataclass(frozen=True)
class ObviousAndSubtle(Contamination):
    """Setting A with half of its outliers moved very far away: some in a cluster, some scattered.

    A quarter of the outliers form a cluster 10 sqrt(d) away, a quarter lie in all directions at
    20 sqrt(d), the others are unchanged. The obvious ones mask the subtle ones: they inflate any
    scale or covariance that includes them, and use up a limited number of removals or iterations.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.
    """

    def _draw(self, random_state: Seed) -> Sample:
        sample = SettingA(self.n, self.d, self.alpha).sample(random_state)
        rng = second_generator(random_state, 2)
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

    Good rows have an uneven covariance. Outliers are good rows shifted by a few standard deviations
    of a direction of small variance, so that neither distances nor the largest eigenvalue show
    them. The true covariance shows them at once, but an estimate from all rows includes them. It
    requires ``d >= 2``.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.
    inliers : Spiked or Rotated
        Distribution of the good rows.
    where : {"both", "one each"}
        Whether an outlier is shifted in both directions, or half of the outliers in each.
    distance : float
        Length of the shift, in standard deviations of good rows in that direction.
    """

    inliers: Uneven = field(default_factory=Spiked, metadata=UNEVEN)
    where: str = parameter("both", check_choice, choices=("both", "one each"))
    distance: float = parameter(6.0, check_number, at_least=0.0)
    min_d: ClassVar[int] = 2

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        scales = self.inliers.scales(self.d)
        X = rng.standard_normal((self.n, self.d)) * scales
        rows = self._pick(rng)
        halves = (rows, rows) if self.where == "both" else np.array_split(rows, 2)
        for half, column in zip(halves, (self.d - 1, self.d - 2), strict=True):
            X[half, column] += self.distance * scales[column]
        return Sample(self.inliers.rotate(X, rng), self._flags(rows))
