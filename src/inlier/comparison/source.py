"""Where the rows of a trial come from: a table, a sample with its truth, or a model."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from scipy.sparse import issparse

from inlier.data.checks import check_table
from inlier.datasets import Sample


@dataclass(frozen=True, eq=False)
class UnlabelledRows:
    """Rows of which nobody knows the truth; a draw of them is the same as they."""

    X: Any

    trials = 1
    mean = None
    is_outlier = None

    def draw(self, seed: int | None) -> Any:
        """Always the same."""
        return self

    def identity(self) -> str:
        """The same text for the same rows."""
        return str(joblib.hash(self.X))

    def __str__(self) -> str:
        n, d = self.X.shape
        return f"a table of {n} x {d}"


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of which one knows the good ones."""

    sample: Sample

    trials = 1

    def draw(self, seed: int | None) -> Any:
        """Always the same."""
        return self.sample

    def identity(self) -> str:
        """The same text for the same rows and the same truth."""
        return str(joblib.hash((self.sample.X, self.sample.mean, self.sample.is_outlier)))

    def __str__(self) -> str:
        return f"{self.sample!r}"


@dataclass(frozen=True, eq=False)
class Model:
    """Rows that are drawn anew in each trial."""

    model: Any

    trials = 20

    def draw(self, seed: int | None) -> Any:
        """The sample of a seed."""
        return self.model.sample(seed)

    def identity(self) -> str:
        """The parameters, in full."""
        kind = type(self.model)
        if "__repr__" not in {name for base in kind.__mro__[:-1] for name in vars(base)}:
            raise ValueError(
                f"{kind.__name__} cannot be kept in a store: its repr does not say which model it "
                "is. Make it a dataclass, or give it a __repr__ with all parameters."
            )
        with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
            return f"{kind.__module__}.{self.model!r}"

    def __str__(self) -> str:
        return f"{self.model}"


Source = UnlabelledRows | LabelledRows | Model


def checked(drawn: Any) -> Any:
    """A draw whose truth fits its rows."""
    n, d = drawn.X.shape
    for name, shape in (("mean", (d,)), ("is_outlier", (n,))):
        value = getattr(drawn, name)
        if value is not None and np.shape(value) != shape:
            raise ValueError(f"{name} of the sample has shape {np.shape(value)}, not {shape}.")
    return drawn


def source_of(data: Any) -> Source:
    """What the first argument of `compare` is."""
    if isinstance(data, Sample):
        check_table(data.X, "data.X")
        return LabelledRows(data)
    # A data frame has a method `sample` as well.
    is_table = issparse(data) or hasattr(data, "to_numpy") or hasattr(data, "__array__")
    if not is_table and callable(getattr(data, "sample", None)):
        if isinstance(data, type):
            raise ValueError(
                f"data is the class {data.__name__}: give a model with its parameters, such as "
                "SettingA(n=1000, d=50, alpha=0.1)."
            )
        return Model(data)
    return UnlabelledRows(check_table(data, "data"))
