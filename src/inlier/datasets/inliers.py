"""Good rows: symmetric about zero, light or heavy in the tails, even or uneven in their spread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.validation import check_number
from inlier.datasets._typing import FloatArray
from inlier.datasets.base import settle


@dataclass(frozen=True)
class Inliers(ABC):
    """A distribution of rows with mean zero."""

    @abstractmethod
    def draw(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Draw n rows of d entries."""


@dataclass(frozen=True)
class Gaussian(Inliers):
    """Rows from N(0, I): all at a distance of about sqrt(d), what most methods are made for."""

    def draw(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Draw n rows of d entries."""
        return rng.standard_normal((n, d))


@dataclass(frozen=True)
class StudentT(Inliers):
    """Rows with Student's t distribution: some good entries, or rows, are far out.

    They fool whoever takes a large entry or a distant row for an outlier, and thresholds that come
    from Gaussian tails. Each entry has variance df / (df - 2) where df > 2.

    Attributes
    ----------
    df : float
        Degrees of freedom, above 1: there is no mean otherwise. The fewer, the heavier the tails.
    joint : bool
        False: entries are independent, with a large one here and there. True: multivariate t, the
        entries of a row are large together, and distances differ by orders of magnitude.
    """

    df: float
    joint: bool = False

    def __post_init__(self) -> None:
        settle(self, df=check_number(self.df, "df", above=1.0, hint=" The mean must exist."))
        settle(self, joint=bool(self.joint))

    def draw(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Draw n rows of d entries."""
        if not self.joint:
            return rng.standard_t(self.df, (n, d))
        return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(self.df, (n, 1)) / self.df)


@dataclass(frozen=True)
class Laplace(Inliers):
    """Rows of independent Laplace entries, of variance 2: peaked, with exponential tails.

    Their tails are heavier than Gaussian ones, and lighter than a power.
    """

    def draw(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Draw n rows of d entries."""
        return rng.laplace(size=(n, d))


@dataclass(frozen=True)
class Uneven(Inliers):
    """Gaussian rows that vary much in some directions and little in others.

    What is far in a quiet direction is near for whoever measures plain distances.
    """

    def draw(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Draw n rows of d entries."""
        return self.turn(rng.standard_normal((n, d)) * self.scales(d), rng)

    @abstractmethod
    def scales(self, d: int) -> FloatArray:
        """Standard deviations in the d principal directions, falling."""

    def turn(self, X: FloatArray, rng: np.random.Generator) -> FloatArray:
        """From principal directions to columns."""
        return X


@dataclass(frozen=True)
class Spiked(Uneven):
    """Gaussian columns with standard deviations 5 / sqrt(j), j = 1, ..., d.

    Few columns hold most of the variance, as in most real tables. A scale for each column puts it
    right.
    """

    def scales(self, d: int) -> FloatArray:
        """Standard deviations in the d principal directions, falling."""
        return np.asarray(5 / np.sqrt(np.arange(1, d + 1)))


@dataclass(frozen=True)
class Rotated(Uneven):
    """Gaussian rows with standard deviations from 3 down to 0.15, geometric, in random directions.

    No column shows it: a scale for each column does not help, only the covariance does.
    """

    def scales(self, d: int) -> FloatArray:
        """Standard deviations in the d principal directions, falling."""
        return np.geomspace(3, 0.15, d)

    def turn(self, X: FloatArray, rng: np.random.Generator) -> FloatArray:
        """From principal directions to columns."""
        d = X.shape[1]
        return np.asarray(X @ np.linalg.qr(rng.standard_normal((d, d)))[0])


def check_inliers(value: Any, name: str = "inliers", kind: type[Any] = Inliers) -> None:
    """An instance of a kind of rows."""
    if not isinstance(value, kind):
        examples = "Spiked() or Rotated()" if kind is Uneven else "Gaussian() or StudentT(3)"
        raise ValueError(f"{name} must be rows such as {examples}, but is {value!r}.")
