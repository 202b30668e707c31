"""Contaminated data with known inliers: Settings A and B of the paper, and handwritten digits.

Each model is a dataclass of its parameters; ``model.sample(seed)`` draws rows and their labels.
`inlier.research.datasets` has more models, distributions of good rows, and pictures.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from hashlib import sha256
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse

from inlier._internal.typing import Array, Mask, Seed
from inlier._internal.validation import check_number, check_random_state, check_whole
from inlier.data.checks import check_table

__all__ = ["Contamination", "Images", "Sample", "SettingA", "SettingB", "Shuffled", "digits"]


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
        X, flags, target = self.X, self.is_outlier, self.target
        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(f"X has shape {X.shape}: give a table with one row per point.")
        if flags.dtype != np.bool_ or flags.shape != X.shape[:1]:
            raise ValueError(
                f"is_outlier has dtype {flags.dtype} and shape {flags.shape}: give one bool for "
                f"each of the {len(X)} rows of X."
            )
        if flags.all():
            raise ValueError("is_outlier is True for every row: leave at least one good row.")
        if target is not None and target.shape != X.shape[1:]:
            raise ValueError(
                f"target has shape {target.shape}: give one number for each column of X."
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
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``; `alpha n` is rounded, halves to even numbers.
    """

    n: int
    d: int
    alpha: float
    min_n: ClassVar[int] = 1
    min_d: ClassVar[int] = 1

    def __post_init__(self) -> None:
        hint = " Beyond it the good rows are not the majority."
        set_fields(
            self,
            n=check_whole(self.n, "n", self.min_n),
            d=check_whole(self.d, "d", self.min_d),
            alpha=check_number(self.alpha, "alpha", at_least=0.0, below=0.5, hint=hint),
        )
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

    def _flags(self, rows: Array) -> Mask:
        """Return a mask of the given rows."""
        return np.isin(np.arange(self.n), rows)


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


def largest_eigenvalue(rows: Array) -> float:
    """Return the largest eigenvalue of the covariance, normalised by the number of rows."""
    centered: Array = rows - rows.mean(axis=0)
    m, d = centered.shape
    # The scatter and the Gram matrix share their largest eigenvalue; use the smaller matrix.
    moment = centered.T @ centered if d <= m else centered @ centered.T
    last = len(moment) - 1
    top = eigh(moment, eigvals_only=True, subset_by_index=(last, last), driver="evr")
    return float(max(top[0], 0.0) / m)  # rounding can make a zero negative


@dataclass(frozen=True)
class TwoHalves(Contamination):
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
class SettingA(TwoHalves):
    """Setting A of the paper: absolute values of good rows, and good rows plus uniform noise.

    Good rows are drawn from N(0, I). The first half of the outliers are absolute values of such
    rows, entry by entry; the second half are such rows with an independent draw from U(0, 3)
    added to each entry. The first half have the distances of good rows. All outliers move the mean
    along (1, ..., 1), so that coordinate-wise medians are biased too.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.

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
class SettingB(TwoHalves):
    """Setting B of the paper: two point masses about as far out as the good rows.

    Good rows are drawn from N(0, I). The first half of the outliers all equal
    [sqrt(d/2), sqrt(d/2), 0, ..., 0], the second half [sqrt(d/2), -sqrt(d/2), 0, ..., 0]. Their
    distance to the true mean is sqrt(d), so distances do not show them.

    Parameters
    ----------
    n, d : int
        Number of rows and of columns, ``d >= 2``.
    alpha : float
        Fraction of outliers, ``0 <= alpha < 1/2``.
    """

    min_d: ClassVar[int] = 2

    def _corrupt(self, X: Array, first: Array, second: Array, rng: np.random.Generator) -> None:
        X[first] = X[second] = 0.0
        X[first, :2] = sqrt(self.d / 2)
        X[second, :2] = [sqrt(self.d / 2), -sqrt(self.d / 2)]


@dataclass(frozen=True, init=False)
class Shuffled(Contamination):
    """Labelled real rows in random order.

    Only the order of the rows differs between seeds; it should not matter. `n`, `d` and `alpha`
    follow from the rows. A digest of the content identifies the table.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows. They are copied.
    is_outlier : array-like of bool, shape (n,)
        Which of them are bad; less than half.

    Attributes
    ----------
    digest : str
        Hash of `X` and `is_outlier`.
    """

    X: Array = field(repr=False, compare=False)
    is_outlier: Mask = field(repr=False, compare=False)
    digest: str

    def __init__(self, X: Any, is_outlier: Any) -> None:
        table = check_table(X)
        dense = table.toarray() if issparse(table) else table  # type: ignore[attr-defined]
        rows = np.array(dense, dtype=np.float64, order="C")
        given = np.asarray(is_outlier)
        if given.dtype != np.bool_ and not np.isin(given, (0, 1)).all():
            raise ValueError(
                "is_outlier must be True or 1 for bad rows and False or 0 for the others, but has "
                f"other values, such as {given[~np.isin(given, (0, 1))][0]!r}."
            )
        flags = given.astype(np.bool_)
        set_fields(self, X=rows, is_outlier=Sample(rows, flags).is_outlier)
        set_fields(self, n=rows.shape[0], d=rows.shape[1], alpha=float(flags.mean()))
        super().__post_init__()
        for array in (rows, flags):
            array.flags.writeable = False
        set_fields(self, digest=sha256(rows.tobytes() + flags.tobytes()).hexdigest()[:16])

    @property
    def n_outliers(self) -> int:
        """Number of bad rows."""
        return int(self.is_outlier.sum())

    def _draw(self, random_state: Seed) -> Sample:
        order = check_random_state(random_state).permutation(self.n)
        return Sample(self.X[order], self.is_outlier[order])


@dataclass(frozen=True, init=False)
class Images(Shuffled):
    """Labelled pictures in random order, one in each row.

    Parameters
    ----------
    X : array-like of shape (n, pixels)
        The pictures.
    is_outlier : array-like of bool, shape (n,)
        Which of them are bad; less than half.
    shape : tuple of int
        Height and width: ``row.reshape(shape)`` is the picture.
    name : str
        What the pictures are called.
    """

    name: str
    shape: tuple[int, int]

    def __init__(self, X: Any, is_outlier: Any, shape: Any, name: str) -> None:
        sides = np.asarray(shape)
        if sides.shape != (2,) or sides.dtype.kind not in "iu" or not (sides > 0).all():
            raise ValueError(f"shape must be a height and a width, but is {shape!r}.")
        set_fields(self, shape=(int(sides[0]), int(sides[1])), name=name)
        super().__init__(X, is_outlier)
        if sides.prod() != self.d:
            raise ValueError(
                f"shape={self.shape} does not fit: the pictures have {self.d} pixels each."
            )


def digits(good: int = 0, bad: int = 1, n_bad: int = 60) -> Images:
    """Return all of one handwritten digit and some of another, from scikit-learn, 8 x 8.

    Parameters
    ----------
    good, bad : int
        The two digits, from 0 to 9.
    n_bad : int
        Most pictures of the second.

    Examples
    --------
    >>> model = digits(good=0, bad=1)
    >>> model.n, model.n_outliers, model.shape
    (238, 60, (8, 8))
    """
    from sklearn.datasets import load_digits  # slow to import

    n_bad = check_whole(n_bad, "n_bad")

    X, digit = load_digits(return_X_y=True)
    for name, value in (("good", good), ("bad", bad)):
        if not (digit == value).any():
            raise ValueError(f"{name} must be a digit from 0 to 9, but is {value!r}.")
    rows = np.concatenate([np.flatnonzero(digit == good), np.flatnonzero(digit == bad)[:n_bad]])
    return Images(X[rows], digit[rows] == bad, (8, 8), f"digits {good} and {bad}")
