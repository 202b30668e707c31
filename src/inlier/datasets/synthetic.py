"""The paper's two synthetic settings: Gaussian rows, some of them replaced by outliers."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

FloatArray = NDArray[np.float64]
RandomState = int | np.random.Generator | None


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of which one knows the good ones.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    is_outlier : ndarray of bool, shape (n,)
        Which of them are corrupted.
    """

    X: FloatArray
    is_outlier: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or 0 in self.X.shape:
            raise ValueError(f"X has shape {self.X.shape}: give a table with one row per point.")
        if self.is_outlier.dtype != np.bool_ or self.is_outlier.shape != self.X.shape[:1]:
            raise ValueError(
                f"is_outlier has dtype {self.is_outlier.dtype} and shape {self.is_outlier.shape}: "
                f"give one bool for each of the {len(self.X)} rows of X."
            )
        if self.is_outlier.all():
            raise ValueError("is_outlier is True for every row: leave at least one good row.")

    @property
    def inliers(self) -> FloatArray:
        """The good rows, in their order in `X`."""
        return self.X[~self.is_outlier]

    @cached_property
    def mean(self) -> FloatArray:
        """Mean of the good rows: what the paper measures errors from."""
        return np.asarray(self.inliers.mean(axis=0))

    @cached_property
    def sigma(self) -> float:
        """Square root of the largest eigenvalue of the good rows' covariance.

        The covariance is taken about their own mean and normalised by their number.
        """
        rows = self.inliers - self.mean
        m, d = rows.shape
        # The scatter and the Gram matrix share their largest eigenvalue; take the smaller one.
        moment = rows.T @ rows if d <= m else rows @ rows.T
        last = len(moment) - 1
        top = eigh(moment, eigvals_only=True, subset_by_index=(last, last), driver="evr")
        return sqrt(max(float(top[0]), 0.0) / m)  # rounding can leave a zero below zero


@dataclass(frozen=True)
class GaussianContamination(ABC):
    """Standard Gaussian rows in R^d, of which two halves of `round(alpha n)` are corrupted.

    Subclasses say how. When the number of outliers is odd, the first half has one more. Outliers
    stand at random places among the good rows.

    Attributes
    ----------
    n : int
        Number of rows.
    d : int
        Dimension.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``; `alpha n` is rounded, halves to the even number.
    """

    n: int
    d: int
    alpha: float

    def __post_init__(self) -> None:
        _check_count("n", self.n, 1)
        _check_count("d", self.d, 1)
        if not 0 <= self.alpha < 0.5:
            raise ValueError(
                f"alpha={self.alpha}: give a fraction with 0 <= alpha < 1/2; "
                "beyond it the good rows are not the majority."
            )

    @property
    def n_outliers(self) -> int:
        """Number of corrupted rows."""
        return round(self.alpha * self.n)

    def sample(self, random_state: RandomState = None) -> Sample:
        """Draw a sample.

        Parameters
        ----------
        random_state : int, numpy.random.Generator or None
            As taken by `numpy.random.default_rng`.

        Returns
        -------
        Sample
            The rows, and which of them are outliers.
        """
        rng = _generator(random_state)
        X = rng.standard_normal((self.n, self.d))
        rows = rng.permutation(self.n)[: self.n_outliers]
        first, second = np.array_split(rows, 2)  # an odd one goes to the first
        self._corrupt(X, first, second, rng)
        is_outlier = np.zeros(self.n, dtype=np.bool_)
        is_outlier[rows] = True
        return Sample(X, is_outlier)

    @abstractmethod
    def _corrupt(
        self,
        X: FloatArray,
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> None:
        """Turn the rows `first` and `second` of X, still Gaussian, into outliers, in place."""


@dataclass(frozen=True)
class SettingA(GaussianContamination):
    """Setting A of the paper: one cluster about as far out as the good rows, and others.

    Good rows are drawn from N(0, I). The first half of the outliers are absolute values of such
    rows, entry by entry; the second half are such rows with an independent draw from U(0, 3)
    added to each entry.

    Examples
    --------
    >>> sample = SettingA(n=800, d=400, alpha=0.1).sample(random_state=0)
    >>> sample.X.shape, int(sample.is_outlier.sum())
    ((800, 400), 80)
    """

    def _corrupt(
        self,
        X: FloatArray,
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> None:
        X[first] = np.abs(X[first])
        X[second] += rng.uniform(0, 3, size=(len(second), self.d))


@dataclass(frozen=True)
class SettingB(GaussianContamination):
    """Setting B of the paper: two point masses about as far out as the good rows.

    Good rows are drawn from N(0, I). The first half of the outliers all equal
    [sqrt(d/2), sqrt(d/2), 0, ..., 0], the second half [sqrt(d/2), -sqrt(d/2), 0, ..., 0]. Their
    distance to the mean of the distribution is sqrt(d). It needs ``d >= 2``.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_count("d", self.d, 2)

    def _corrupt(
        self,
        X: FloatArray,
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> None:
        X[first] = X[second] = 0.0
        X[first, :2] = sqrt(self.d / 2)
        X[second, :2] = [sqrt(self.d / 2), -sqrt(self.d / 2)]


def _check_count(name: str, value: int, least: int) -> None:
    try:
        enough = operator.index(value) >= least
    except TypeError:
        enough = False
    if not enough:
        raise ValueError(f"{name}={value!r}: give a whole number of at least {least}.")


def _generator(random_state: RandomState) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={random_state!r}: give a whole number that is not negative, "
            "a numpy.random.Generator or None."
        ) from error
