"""The paper's settings: standard Gaussian rows with two kinds of outliers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import cos, radians, sin, sqrt
from typing import ClassVar

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number, check_random_state
from inlier.datasets.base import Contamination, Sample, parameter


@dataclass(frozen=True)
class _TwoHalves(Contamination):
    """Rows from N(0, I) with two groups of outliers, the first one larger if the number is odd."""

    def _draw(self, random_state: Seed) -> Sample:
        rng = check_random_state(random_state)
        X = rng.standard_normal((self.n, self.d))
        rows = self._pick(rng)
        first, second = np.array_split(rows, 2)
        self._corrupt(X, first, second, rng)
        return Sample(X, self._flags(rows))

    @abstractmethod
    def _corrupt(self, X: Array, first: Array, second: Array, rng: np.random.Generator) -> None:
        """Turn the Gaussian rows `first` and `second` of X into outliers, in place."""


@dataclass(frozen=True)
class SettingA(_TwoHalves):
    """Setting A of the paper: absolute values of good rows, and good rows plus uniform noise.

    Good rows are drawn from N(0, I). The first half of the outliers are absolute values of such
    rows, entry by entry; the second half are such rows with an independent draw from U(0, 3)
    added to each entry. The first half have the distances of good rows. All outliers move the mean
    along (1, ..., 1), so that coordinate-wise medians are biased too.

    Examples
    --------
    >>> sample = SettingA(n=800, d=400, alpha=0.1).sample(random_state=0)
    >>> sample.X.shape, int(sample.is_outlier.sum())
    ((800, 400), 80)
    """

    def _corrupt(self, X: Array, first: Array, second: Array, rng: np.random.Generator) -> None:
        X[first] = np.abs(X[first])
        X[second] += rng.uniform(0, 3, size=(len(second), self.d))


@dataclass(frozen=True)
class SettingB(_TwoHalves):
    """Setting B of the paper: two point masses about as far out as the good rows.

    Good rows are drawn from N(0, I). The first half of the outliers all equal
    [sqrt(d/2), sqrt(d/2), 0, ..., 0], the second half [sqrt(d/2), -sqrt(d/2), 0, ..., 0]. Their
    distance to the true mean is sqrt(d), so distances do not show them. It requires ``d >= 2``.
    """

    min_d: ClassVar[int] = 2

    def _corrupt(self, X: Array, first: Array, second: Array, rng: np.random.Generator) -> None:
        X[first] = X[second] = 0.0
        X[first, :2] = sqrt(self.d / 2)
        X[second, :2] = [sqrt(self.d / 2), -sqrt(self.d / 2)]


@dataclass(frozen=True)
class TwoClusters(_TwoHalves):
    """Figure 1 of the paper: two clusters about as far out as the good rows, at an angle.

    Good rows are drawn from N(0, I). Half of the outliers lie around each of two centres in a
    random plane, at a distance of about sqrt(d) like good rows, so distances do not show them. A
    filter along one direction may remove many good rows: with a wide angle the direction of largest
    variance joins the two clusters, while the mean is moved across it. Setting B is the case of 90
    degrees and spread 0, in the plane of two columns. It requires ``d >= 2``.

    Attributes
    ----------
    angle : float
        Angle between the two centres as seen from zero, in degrees, in [0, 180).
    spread : float
        Standard deviation of the entries about a centre, below 1, that of good rows.
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
