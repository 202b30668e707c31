"""The base class of contamination models, the sample they draw, and directions in it."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from inlier._internal.typing import Array, Mask, Seed
from inlier._internal.validation import check_number, check_random_state, check_whole


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Rows with labels.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    is_outlier : ndarray of bool, shape (n,)
        Which of them are corrupted.
    target : ndarray of shape (d,), optional
        The mean of all good rows as drawn, where some were removed.
    model : Contamination, optional
        The model that drew the rows.
    random_state : int, optional
        The seed, if there is one.
    """

    X: Array
    is_outlier: Mask
    target: Array | None = None
    model: Contamination | None = None
    random_state: int | None = None

    def __post_init__(self) -> None:
        set_fields(self, X=np.asarray(self.X), is_outlier=np.asarray(self.is_outlier))
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
    def inliers(self) -> Array:
        """The good rows, in their order in `X`."""
        return self.X[~self.is_outlier]

    @property
    def alpha(self) -> float:
        """Fraction of the rows of `X` that are bad; missing rows do not count."""
        return float(self.is_outlier.mean())

    @cached_property
    def mean(self) -> Array:
        """The true mean: `target`, or otherwise the mean of the good rows, as in the paper."""
        return np.asarray(self.inliers.mean(axis=0)) if self.target is None else self.target

    @cached_property
    def sigma(self) -> float:
        """Square root of the largest eigenvalue of the good rows' covariance.

        The covariance is taken about their own mean and normalised by their number.
        """
        return sqrt(largest_eigenvalue(self.inliers))


@dataclass(frozen=True)
class Contamination(ABC):
    """A contamination model: n rows in R^d, of which about alpha n are corrupted.

    The repr states all parameters and identifies the model. Unless documented otherwise,
    `round(alpha n)` rows at random positions are bad.

    Parameters
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
    min_n: ClassVar[int] = 1
    min_d: ClassVar[int] = 1

    def __post_init__(self) -> None:
        set_fields(self, n=check_whole(self.n, "n"), d=check_whole(self.d, "d"))
        hint = " Beyond it the good rows are not the majority."
        alpha = check_number(self.alpha, "alpha", at_least=0.0, below=0.5, hint=hint)
        set_fields(self, alpha=alpha)
        check_whole(self.n, "n", self.min_n)
        check_whole(self.d, "d", self.min_d)
        set_fields(self, **checked_parameters(self))

    @property
    def n_outliers(self) -> int:
        """Number of corrupted rows."""
        return round(self.alpha * self.n)

    def sample(self, random_state: Seed = None) -> Sample:
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
    def _draw(self, random_state: Seed) -> Sample:
        """Draw the rows and their labels."""

    def _pick(self, rng: np.random.Generator) -> Array:
        """Draw random positions for the outliers."""
        return rng.permutation(self.n)[: self.n_outliers]

    def _second_generator(self, random_state: Seed, key: int) -> np.random.Generator:
        """Return a second stream of the same seed, beside that of a model that is changed."""
        seed = seed_of(random_state)
        of_seed = None if seed is None else np.random.default_rng([seed, key])
        return of_seed or check_random_state(random_state)

    def _flags(self, rows: Array) -> Mask:
        """Return a mask of the given rows."""
        is_outlier = np.zeros(self.n, dtype=np.bool_)
        is_outlier[rows] = True
        return is_outlier


def seed_of(random_state: object) -> int | None:
    """Return the seed if it is a whole number."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else None


def set_fields(frozen: object, **values: Any) -> None:
    """Set fields of a frozen dataclass, in plain types: numpy's would change the repr."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def parameter(default: Any, check: Callable[..., Any], **options: Any) -> Any:
    """Declare a field that `checked_parameters` passes to ``check(value, name, **options)``."""
    return field(default=default, metadata={"check": partial(check, **options)})


def checked_parameters(model: Any) -> dict[str, Any]:
    """Check the fields declared by `parameter`; None passes where it is the default."""
    checked = {}
    for item in fields(model):
        if check := item.metadata.get("check"):
            value = getattr(model, item.name)
            missing = value is None and item.default is None
            checked[item.name] = None if missing else check(value, item.name)
    return checked


DIRECTIONS = ("random", "top", "bottom")


def largest_eigenvalue(rows: Array) -> float:
    """Return the largest eigenvalue of the covariance, normalised by the number of rows."""
    centered: Array = rows - rows.mean(axis=0)
    m, d = centered.shape
    # The scatter and the Gram matrix share their largest eigenvalue; use the smaller matrix.
    moment = centered.T @ centered if d <= m else centered @ centered.T
    last = len(moment) - 1
    top = eigh(moment, eigvals_only=True, subset_by_index=(last, last), driver="evr")
    return float(max(top[0], 0.0) / m)  # rounding can make a zero negative


def random_direction(d: int, rng: np.random.Generator) -> Array:
    """Draw a unit vector, uniform on the sphere."""
    direction = rng.standard_normal(d)
    return np.asarray(direction / np.linalg.norm(direction))


def principal_direction(rows: Array, which: str) -> Array:
    """Return the unit vector of largest ("top") or smallest positive ("bottom") variance."""
    centered = rows - rows.mean(axis=0)
    m, d = centered.shape
    wide = d >= m
    moment = centered @ centered.T if wide else centered.T @ centered
    # The Gram matrix of centered rows has one zero eigenvalue, which belongs to no direction.
    place = len(moment) - 1 if which == "top" else min(int(wide), m - 1)
    vector = eigh(moment, subset_by_index=(place, place), driver="evr")[1][:, 0]
    direction = centered.T @ vector if wide else vector
    length = np.linalg.norm(direction)
    if length == 0.0:  # a single row, or equal ones
        return np.asarray(np.eye(1, d)[0])
    # Fix the sign of the eigenvector, which depends on the machine.
    sign = np.sign(direction[np.argmax(np.abs(direction))])
    return np.asarray(direction * (sign / length))


def choose_direction(rows: Array, which: str, rng: np.random.Generator) -> Array:
    """Return one of `DIRECTIONS` as a unit vector."""
    if which == "random":
        return random_direction(rows.shape[1], rng)
    return principal_direction(rows, which)
