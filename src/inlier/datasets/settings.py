"""The paper's settings: standard Gaussian rows, of which two halves go bad in two ways."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import cos, radians, sin, sqrt

import numpy as np

from inlier._internal.validation import check_number, check_random_state, check_whole
from inlier.datasets._typing import FloatArray, RandomState, Rows
from inlier.datasets.base import Contamination, Sample, settle


@dataclass(frozen=True)
class _TwoHalves(Contamination):
    """Rows from N(0, I), of which two halves of `round(alpha n)` are corrupted.

    When the number of outliers is odd, the first half has one more.
    """

    def _draw(self, random_state: RandomState) -> Sample:
        rng = check_random_state(random_state)
        X = rng.standard_normal((self.n, self.d))
        rows = self._pick(rng)
        first, second = np.array_split(rows, 2)  # an odd one goes to the first
        self._corrupt(X, first, second, rng)
        return Sample(X, self._flags(rows))

    @abstractmethod
    def _corrupt(self, X: FloatArray, first: Rows, second: Rows, rng: np.random.Generator) -> None:
        """Turn the rows `first` and `second` of X, still Gaussian, into outliers, in place."""


@dataclass(frozen=True)
class SettingA(_TwoHalves):
    """Setting A of the paper: one cluster about as far out as the good rows, and others.

    Good rows are drawn from N(0, I). The first half of the outliers are absolute values of such
    rows, entry by entry; the second half are such rows with an independent draw from U(0, 3)
    added to each entry. The first half fools whoever looks at distances: they are those of good
    rows. All of them move the mean along (1, ..., 1), so that medians of columns are off too.

    Examples
    --------
    >>> sample = SettingA(n=800, d=400, alpha=0.1).sample(random_state=0)
    >>> sample.X.shape, int(sample.is_outlier.sum())
    ((800, 400), 80)
    """

    def _corrupt(self, X: FloatArray, first: Rows, second: Rows, rng: np.random.Generator) -> None:
        X[first] = np.abs(X[first])
        X[second] += rng.uniform(0, 3, size=(len(second), self.d))


@dataclass(frozen=True)
class SettingB(_TwoHalves):
    """Setting B of the paper: two point masses about as far out as the good rows.

    Good rows are drawn from N(0, I). The first half of the outliers all equal
    [sqrt(d/2), sqrt(d/2), 0, ..., 0], the second half [sqrt(d/2), -sqrt(d/2), 0, ..., 0]. Their
    distance to the mean of the distribution is sqrt(d): distances do not show them, and a filter
    that follows one direction at a time sees two. It needs ``d >= 2``.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.d, "d", 2)

    def _corrupt(self, X: FloatArray, first: Rows, second: Rows, rng: np.random.Generator) -> None:
        X[first] = X[second] = 0.0
        X[first, :2] = sqrt(self.d / 2)
        X[second, :2] = [sqrt(self.d / 2), -sqrt(self.d / 2)]


@dataclass(frozen=True)
class TwoClusters(_TwoHalves):
    """Figure 1 of the paper: two clusters about as far out as the good rows, at an angle.

    Good rows are drawn from N(0, I). Half of the outliers lie around each of two centres in a
    random plane, and their distances to zero are about sqrt(d), like those of good rows. Distances
    do not show them. A filter that looks at one direction at a time may remove many good rows:
    where the angle is wide, the direction of largest variance runs from one cluster to the other,
    and the mean is moved across it. Setting B is the case of 90 degrees and spread 0, in the plane
    of two columns. It needs ``d >= 2``.

    Attributes
    ----------
    angle : float
        Between the two centres as seen from zero, in degrees, from 0 to below 180.
    spread : float
        Standard deviation of the entries about a centre, below 1, which is that of good rows.
    """

    angle: float = 60.0
    spread: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.d, "d", 2)
        settle(self, angle=check_number(self.angle, "angle", at_least=0.0, below=180.0))
        settle(self, spread=check_number(self.spread, "spread", at_least=0.0, below=1.0))

    def _corrupt(self, X: FloatArray, first: Rows, second: Rows, rng: np.random.Generator) -> None:
        along, across = np.linalg.qr(rng.standard_normal((self.d, 2)))[0].T
        half = radians(self.angle / 2)
        # The spread adds spread^2 d to squared distances; centre and spread together make d.
        distance = sqrt(self.d * (1 - self.spread**2))
        for rows, side in ((first, 1), (second, -1)):
            X[rows] *= self.spread
            X[rows] += distance * (cos(half) * along + side * sin(half) * across)
