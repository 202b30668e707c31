"""Distributions of good rows, and oblivious contamination: the outliers do not depend on them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import cos, radians, sin, sqrt
from typing import Any, ClassVar

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_choice, check_number, check_random_state
from inlier.datasets import (
    Contamination,
    Sample,
    SettingA,
    TwoHalves,
    parameter,
    seed_of,
    set_fields,
)


@dataclass(frozen=True)
class Inliers(ABC):
    """A distribution of rows with mean zero."""

    @abstractmethod
    def draw(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """Draw n rows of d entries."""


@dataclass(frozen=True)
class Gaussian(Inliers):
    """Rows from N(0, I), all at a distance of about sqrt(d)."""

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Array:
        return rng.standard_normal((n, d))


@dataclass(frozen=True)
class StudentT(Inliers):
    """Rows with Student's t distribution: some good entries, or rows, are far out.

    They mislead methods that remove large entries or distant rows, or that assume Gaussian tails.
    Each entry has variance df / (df - 2) for df > 2.

    Parameters
    ----------
    df : float
        Degrees of freedom, above 1 so that the mean exists. The fewer, the heavier the tails.
    joint : bool
        False: independent entries. True: multivariate t, where the entries of a row are large
        together and distances differ by orders of magnitude.
    """

    df: float
    joint: bool = False

    def __post_init__(self) -> None:
        df = check_number(self.df, "df", above=1.0, hint=" The mean must exist.")
        set_fields(self, df=df, joint=bool(self.joint))

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Array:
        if not self.joint:
            return rng.standard_t(self.df, (n, d))
        return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(self.df, (n, 1)) / self.df)


@dataclass(frozen=True)
class Laplace(Inliers):
    """Rows of independent Laplace entries of variance 2, with exponential tails."""

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Array:
        return rng.laplace(size=(n, d))


@dataclass(frozen=True)
class Uneven(Inliers):
    """Gaussian rows whose variance differs between directions.

    Euclidean distances do not show outliers in a direction of small variance.
    """

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Array:
        return self.rotate(rng.standard_normal((n, d)) * self.scales(d), rng)

    @abstractmethod
    def scales(self, d: int) -> Array:
        """Return the standard deviations in the principal directions, in decreasing order."""

    def rotate(self, X: Array, rng: np.random.Generator) -> Array:
        """Rotate rows from principal directions to columns, at random."""
        return X


@dataclass(frozen=True)
class Spiked(Uneven):
    """Gaussian columns with standard deviations 5 / sqrt(j), j = 1, ..., d.

    Few columns hold most of the variance, as in most real tables. Scaling the columns removes it.
    """

    def scales(self, d: int) -> Array:
        return np.asarray(5 / np.sqrt(np.arange(1, d + 1)))


@dataclass(frozen=True)
class Rotated(Uneven):
    """Gaussian rows with standard deviations from 3 down to 0.15, geometric, in random directions.

    Scaling the columns does not remove it; only the covariance shows it.
    """

    def scales(self, d: int) -> Array:
        return np.geomspace(3, 0.15, d)

    def rotate(self, X: Array, rng: np.random.Generator) -> Array:
        d = X.shape[1]
        return np.asarray(X @ np.linalg.qr(rng.standard_normal((d, d)))[0])


def check_inliers(value: Any, name: str, kind: type[Any] = Inliers) -> Any:
    """Return the value if it is a distribution of the given kind."""
    if not isinstance(value, kind):
        examples = "Spiked() or Rotated()" if kind is Uneven else "Gaussian() or StudentT(3)"
        raise ValueError(f"{name} must be rows such as {examples}, but is {value!r}.")
    return value


def second_generator(random_state: Seed, key: int) -> np.random.Generator:
    """Return a second stream of the same seed, beside that of a model that is changed."""
    seed = seed_of(random_state)
    of_seed = None if seed is None else np.random.default_rng([seed, key])
    return of_seed or check_random_state(random_state)


def random_direction(d: int, rng: np.random.Generator) -> Array:
    """Draw a unit vector, uniform on the sphere."""
    direction = rng.standard_normal(d)
    return np.asarray(direction / np.linalg.norm(direction))


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
    angle : float
        Angle between the two centers as seen from zero, in degrees, in [0, 180).
    """

    angle: float = parameter(60.0, check_number, at_least=0.0, below=180.0)
    spread = 0.3  # standard deviation about a center; that of good rows is 1
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
    inliers : Inliers
        Distribution of the rows.
    """

    alpha: float = field(default=0.0, init=False, repr=False)
    inliers: Inliers = parameter(Gaussian(), check_inliers)

    def _draw(self, random_state: Seed) -> Sample:
        X = self.inliers.draw(self.n, self.d, check_random_state(random_state))
        return Sample(X, np.zeros(self.n, dtype=np.bool_))


@dataclass(frozen=True)
class Huber(Contamination):
    """Huber's epsilon model: each row is bad with probability alpha, independently of all others.

    Good rows are drawn from N(0, I); bad rows too, shifted in a random direction. The number of
    outliers varies about alpha n, which misleads methods that assume a known number. Labels without
    a majority of good rows are drawn again.
    """

    distance = 10.0  # length of the shift

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        is_outlier = rng.random(self.n) < self.alpha
        while 2 * is_outlier.sum() >= self.n:
            is_outlier = rng.random(self.n) < self.alpha
        X = rng.standard_normal((self.n, self.d))
        bad = rng.standard_normal((int(is_outlier.sum()), self.d))
        X[is_outlier] = bad + self.distance * random_direction(self.d, rng)
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
    distance : float
        Distance of the center to the true mean, in sigma; hard between 2 and 10.
    """

    distance: float = parameter(3.0, check_number, at_least=0.0)
    spread = 0.3  # standard deviation of the entries about the center

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
    inliers : Inliers
        Distribution of the good rows, for example ``StudentT(5, joint=True)`` or ``Laplace()``.
    """

    inliers: Inliers = parameter(StudentT(3), check_inliers)

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
    inliers : Spiked or Rotated
        Distribution of the good rows.
    where : {"both", "one each"}
        Whether an outlier is shifted in both directions, or half of the outliers in each.
    """

    inliers: Uneven = parameter(Spiked(), check_inliers, kind=Uneven)
    where: str = parameter("both", check_choice, choices=("both", "one each"))
    distance = 6.0  # length of the shift, in standard deviations of good rows in that direction
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
