"""A table of Dask beside the same numbers in memory."""

from collections.abc import Callable
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from inlier.data import Metric
from inlier.data.arrays import DenseTable
from inlier.data.dask import open_dask

N, D = 300, 7
# One chunk of a single row, and two without any.
UNEVEN = ((100, 1, 0, 99, 80, 20, 0), (3, 4))


def real_numbers(shape: tuple[int, int] = (N, D), seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + np.linspace(-1.0, 1.0, shape[1])


def frame(X: np.ndarray, n_partitions: int = 4) -> Any:
    columns = [f"c{j}" for j in range(X.shape[1])]
    return dd.from_pandas(pd.DataFrame(X, columns=columns), npartitions=n_partitions)


def unknown_lengths(X: np.ndarray) -> Any:
    array = frame(X).to_dask_array()
    assert np.isnan(array.shape[0])
    return array


# Name of the kind -> the data as a user would hold them, from an array.
KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "uneven": lambda X: da.from_array(X, chunks=UNEVEN),
    "float32": lambda X: da.from_array(X.astype(np.float32), chunks=UNEVEN),
    "far float32": lambda X: da.from_array((X + 1e3).astype(np.float32), chunks=(64, D)),
    "int8": lambda X: da.from_array((30 * X).astype(np.int8), chunks=(77, 2)),
    "one chunk": lambda X: da.from_array(X, chunks=X.shape),
    "Fortran": lambda X: da.from_array(np.asfortranarray(X), chunks=(128, D)),
    "dataframe": frame,
    "unknown lengths": unknown_lengths,
}


class Case:
    """A table beside the same numbers in memory, and arguments for the passes."""

    def __init__(self, data: Any, client: Any = None) -> None:
        self.table = open_dask(data, client=client)
        Y = np.asarray(data.compute(scheduler="synchronous"))
        self.dense = DenseTable(Y)
        self.Y = Y.astype(np.float64)
        n, d = Y.shape
        rng = np.random.default_rng(1)
        self.center = self.Y.mean(axis=0) + 0.1 * rng.standard_normal(d)
        self.basis = np.linalg.qr(rng.standard_normal((d, 3)))[0].T
        self.weights = rng.random(n)
        self.coefficients = rng.standard_normal((2, n))
        self.mask = rng.random(n) < 0.7
        self.mask[:120] = False  # all rows of the first chunk
        self.tol = 1e-5 if self.table.dtype == np.float32 else 1e-12

    def near(self, actual: Any, expected: Any) -> None:
        """Every entry is right to within `tol` of the largest."""
        assert type(actual) is np.ndarray
        assert actual.shape == expected.shape
        assert actual.dtype == expected.dtype
        largest = np.abs(expected).max()
        np.testing.assert_allclose(actual, expected, rtol=0.0, atol=self.tol * largest)

    def check(self, name: str) -> None:
        verb = VERBS[name]
        actual, expected = verb(self.table, self), verb(self.dense, self)
        if not isinstance(actual, tuple):
            actual, expected = (actual,), (expected,)
        for one, other in zip(actual, expected, strict=True):
            self.near(one, other)


def weigh(rows: slice, seen: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.square(seen).sum(axis=0))


def seen_in_metric(table: Any, case: Case) -> np.ndarray:
    metric = Metric(case.center, np.linalg.cholesky(np.cov(case.Y.T)))
    return table.in_metric(metric).sq_distances(np.zeros(table.shape[1]))


def some_rows(table: Any) -> np.ndarray:
    n = table.shape[0]
    return table.fetch(np.array([n - 1, 0, 5, 5, n // 2]))


VERBS: dict[str, Callable[[Any, Case], Any]] = {
    "project": lambda t, c: t.project(c.center, c.basis),
    "moment": lambda t, c: t.moment(c.center, c.weights, c.basis),
    "moment of a function": lambda t, c: t.moment(c.center, weigh, c.basis),
    "moment of no direction": lambda t, c: t.moment(c.center, c.weights, c.basis[:0])[2],
    "scatter": lambda t, c: t.scatter(c.center, c.weights),
    "squares": lambda t, c: t.squares(c.center, c.weights),
    "combine": lambda t, c: t.combine(c.center, c.coefficients),
    "mean": lambda t, c: t.mean(c.weights, c.center),
    "median": lambda t, c: t.median(),
    "sampled median": lambda t, c: t.median(np.random.default_rng(3)),
    "sq_distances": lambda t, c: t.sq_distances(c.center),
    "gram": lambda t, c: t.gram(c.center),
    "some": lambda t, c: some_rows(t),
    "take": lambda t, c: t.take(c.mask).moment(c.center, c.weights[c.mask], c.basis),
    "take twice": lambda t, c: t.take(c.mask).take(np.arange(c.mask.sum()) % 2 == 0).median(),
    "some of those taken": lambda t, c: some_rows(t.take(c.mask)),
    "gram of those taken": lambda t, c: t.take(c.mask).gram(c.center),
    "metric": seen_in_metric,
    "metric of those taken": lambda t, c: seen_in_metric(t.take(c.mask), c),
}
