"""What all models of contamination share: their parameters, and what a draw gives."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inlier._internal.validation import check_number, check_whole
from inlier.datasets._typing import FloatArray, RandomState, Rows
from inlier.datasets.directions import largest_eigenvalue


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Rows of which one knows the good ones.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    is_outlier : ndarray of bool, shape (n,)
        Which of them are corrupted.
    target : ndarray of shape (d,), optional
        Where good rows were taken away: the mean of all good rows as they were drawn.
    model : Contamination, optional
        What the rows were drawn from.
    random_state : int, optional
        The seed, where they were drawn from a seed.
    """

    X: FloatArray
    is_outlier: NDArray[np.bool_]
    target: FloatArray | None = None
    model: Contamination | None = None
    random_state: int | None = None

    def __post_init__(self) -> None:
        settle(self, X=np.asarray(self.X), is_outlier=np.asarray(self.is_outlier))
        if self.X.ndim != 2 or 0 in self.X.shape:
            raise ValueError(f"X has shape {self.X.shape}: give a table with one row per point.")
        if self.is_outlier.dtype != np.bool_ or self.is_outlier.shape != self.X.shape[:1]:
            raise ValueError(
                f"is_outlier has dtype {self.is_outlier.dtype} and shape {self.is_outlier.shape}: "
                f"give one bool for each of the {len(self.X)} rows of X."
            )
        if self.is_outlier.all():
            raise ValueError("is_outlier is True for every row: leave at least one good row.")
        if self.target is not None and self.target.shape != self.X.shape[1:]:
            raise ValueError(
                f"target has shape {self.target.shape}: "
                f"give one number for each of the {self.X.shape[1]} columns of X."
            )

    def __repr__(self) -> str:
        n, d = self.X.shape
        origin = "" if self.model is None else f", {self.model}"
        seed = "" if self.random_state is None else f", random_state={self.random_state}"
        return f"<Sample: {n} x {d}, {int(self.is_outlier.sum())} outliers{origin}{seed}>"

    @property
    def inliers(self) -> FloatArray:
        """The good rows, in their order in `X`."""
        return self.X[~self.is_outlier]

    @property
    def alpha(self) -> float:
        """Fraction of the rows of `X` that are bad; rows that are missing do not count."""
        return float(self.is_outlier.mean())

    @cached_property
    def mean(self) -> FloatArray:
        """What errors are measured from: the mean of the good rows, as in the paper, or `target`.

        Where good rows were taken away, the mean of those that are left is no longer the truth.
        """
        return np.asarray(self.inliers.mean(axis=0)) if self.target is None else self.target

    @cached_property
    def sigma(self) -> float:
        """Square root of the largest eigenvalue of the good rows' covariance.

        The covariance is taken about their own mean and normalised by their number.
        """
        return sqrt(largest_eigenvalue(self.inliers))


@dataclass(frozen=True)
class Contamination(ABC):
    """A way in which rows go bad: n rows in R^d, of which about alpha n are corrupted.

    A model is its parameters: its repr states all of them and tells it from any other. Unless a
    model says otherwise, `round(alpha n)` rows are bad and they stand at random places.

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
        settle(self, n=check_whole(self.n, "n"), d=check_whole(self.d, "d"))
        hint = " Beyond it the good rows are not the majority."
        settle(self, alpha=check_number(self.alpha, "alpha", at_least=0.0, below=0.5, hint=hint))

    @property
    def n_outliers(self) -> int:
        """Number of corrupted rows."""
        return round(self.alpha * self.n)

    def sample(self, random_state: RandomState = None) -> Sample:
        """Draw a sample.

        Parameters
        ----------
        random_state : int, numpy.random.Generator or None
            The same whole number gives the same rows. A generator moves on.

        Returns
        -------
        Sample
            The rows, which of them are outliers, this model and the seed.
        """
        drawn = self._draw(random_state)
        return replace(drawn, model=self, random_state=seed_of(random_state))

    @abstractmethod
    def _draw(self, random_state: RandomState) -> Sample:
        """Draw the rows and the truth about them."""

    def _pick(self, rng: np.random.Generator) -> Rows:
        """Random places for the outliers."""
        return rng.permutation(self.n)[: self.n_outliers]

    def _flags(self, rows: Rows) -> NDArray[np.bool_]:
        """True for the given rows."""
        is_outlier = np.zeros(self.n, dtype=np.bool_)
        is_outlier[rows] = True
        return is_outlier


def seed_of(random_state: object) -> int | None:
    """The whole number, where it is one."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else None


def settle(frozen: object, **values: Any) -> None:
    """Store checked values, in plain types: numpy's would change the repr."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)
