"""Estimators that count, hang, fail or lie, which worker processes have to find by name."""

import os
import sys
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from inlier.research.datasets import SettingB

MODEL = SettingB(n=60, d=5, alpha=0.2)
CHEAP = ["mean", "norm-trimmed-mean", "inlier-sigma"]


class Mean(BaseEstimator):
    """Counts its calls in a file, which works across processes."""

    def __init__(self, log=None, stop_at=None, shift=0.0):
        self.log = log
        self.stop_at = stop_at
        self.shift = shift

    def fit(self, X):
        if self.log is not None:
            with open(self.log, "a") as file:
                file.write("x")
            if os.path.getsize(self.log) == self.stop_at:
                raise KeyboardInterrupt
        self.location_ = X.mean(axis=0) + self.shift
        return self


class Hang(Mean):
    def fit(self, X):
        while True:
            pass


class Fail(Mean):
    def fit(self, X):
        raise ArithmeticError("no such luck")


class Crash(Mean):
    def fit(self, X):
        os._exit(3)


class Wrong(Mean):
    def fit(self, X):
        self.location_ = np.zeros(X.shape[1] + 1)


class Warns(Mean):
    def fit(self, X):
        import warnings

        warnings.warn("beware", UserWarning, stacklevel=2)
        return super().fit(X)


def without_seconds(comparison):
    """The records as tuples that compare equal."""
    located = [
        None if location is None else tuple(location) for location in comparison.records["location"]
    ]
    records = comparison.records.drop(columns="seconds").assign(location=located)
    return [tuple(map(repr, record)) for record in records.itertuples(index=False)]


@dataclass(frozen=True)
class Impossible:
    def sample(self, random_state):
        raise LookupError("no rows left")


class Writes(Mean):
    def fit(self, X):
        X -= 1.0
        return super().fit(X)


class WritesSparse(Mean):
    def fit(self, X):
        X.data[:] = 0.0
        self.location_ = np.zeros(X.shape[1])


class Odd(Mean):
    def __init__(self, location=None):
        self.location = location

    def fit(self, X):
        if self.location is not None:
            self.location_ = self.location


class Exits(Mean):
    def fit(self, X):
        sys.exit(2)


SEVERAL = [
    (MODEL, CHEAP, {"trials": 2}),
    (SettingB(n=40, d=3, alpha=0.1), {"m": Mean(), "told": "norm-trimmed-mean"}, {"trials": 3}),
    (MODEL.sample(5), ["mean", "inlier"], {}),
    (MODEL.sample(5).X, ["mean", "norm-trimmed-mean"], {"alpha": 0.1, "trials": 2}),
    (MODEL, [Fail(), Mean()], {"trials": 2, "random_state": 9}),
    (MODEL, CHEAP, {"trials": 2}),  # the first once more
]
