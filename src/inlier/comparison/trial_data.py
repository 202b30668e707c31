"""The rows of a trial: a fixed table, with or without labels, or a draw from a model."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
from scipy.sparse import issparse

from inlier.data.checks import check_table
from inlier.datasets import Sample


@dataclass(frozen=True, eq=False)
class FixedRows:
    """The same rows in every trial; `mean` and `is_outlier` are None without labels."""

    sample: Any

    trials = 1

    @property
    def truth_known(self) -> bool:
        """Whether the rows have labels."""
        return self.sample.mean is not None

    def draw(self, seed: int | None) -> Any:
        """Return the rows."""
        return self.sample

    def identity(self) -> str:
        """Return the same text for the same rows and labels."""
        s = self.sample
        return str(joblib.hash((s.X, s.mean, s.is_outlier) if self.truth_known else s.X))

    def __str__(self) -> str:
        n, d = self.sample.X.shape
        return repr(self.sample) if self.truth_known else f"a table of {n} x {d}"


@dataclass(frozen=True, eq=False)
class Model:
    """New rows in every trial."""

    model: Any

    trials = 20
    truth_known = True

    def draw(self, seed: int | None) -> Any:
        """Draw the sample of a seed."""
        return self.model.sample(seed)

    def identity(self) -> str:
        """Return all parameters."""
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


TrialData = FixedRows | Model


def check_sample(drawn: Any) -> Any:
    """Return a draw whose mean and labels fit its rows."""
    n, d = drawn.X.shape
    for name, shape in (("mean", (d,)), ("is_outlier", (n,))):
        value = getattr(drawn, name)
        if value is not None and np.shape(value) != shape:
            raise ValueError(f"{name} of the sample has shape {np.shape(value)}, not {shape}.")
    return drawn


def as_trial_data(data: Any) -> TrialData:
    """Interpret the first argument of `compare`."""
    if isinstance(data, Sample):
        check_table(data.X, "data.X")
        return FixedRows(data)
    # A data frame has a method `sample` as well.
    is_table = issparse(data) or hasattr(data, "to_numpy") or hasattr(data, "__array__")
    if not is_table and callable(getattr(data, "sample", None)):
        if isinstance(data, type):
            raise ValueError(
                f"data is the class {data.__name__}: give a model with its parameters, such as "
                "SettingA(n=1000, d=50, alpha=0.1)."
            )
        return Model(data)
    return FixedRows(SimpleNamespace(X=check_table(data, "data"), mean=None, is_outlier=None))
