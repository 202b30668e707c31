"""Distributions of the good rows: symmetric about zero, with light or heavy tails."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_number
from inlier.datasets import set_fields


@dataclass(frozen=True)
class Inliers(ABC):
    """A distribution of rows with mean zero."""

    @abstractmethod
    def draw(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """Draw n rows of d entries.

        Parameters
        ----------
        n, d : int
            Number of rows and of columns.
        rng : numpy.random.Generator
            What they are drawn with.
        """


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
        """Return the standard deviations in the principal directions, in decreasing order.

        Parameters
        ----------
        d : int
            Number of columns.
        """

    def rotate(self, X: Array, rng: np.random.Generator) -> Array:
        """Rotate from principal directions to columns.

        Parameters
        ----------
        X : array of shape (n, d)
            Rows in principal directions.
        rng : numpy.random.Generator
            Of a random rotation.
        """
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


# Metadata of fields, for `inlier.datasets.checked_parameters`.
INLIERS = {"check": check_inliers}
UNEVEN = {"check": partial(check_inliers, kind=Uneven)}
