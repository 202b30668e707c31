"""Arrays of other libraries than numpy, beside those of numpy."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fits import arguments
from inlier import WeakEvidenceWarning
from inlier.data import Table
from inlier.data.base import Metric

PRECISIONS = ["float64", "float32"]


@dataclasses.dataclass(frozen=True)
class Library:
    """How a library makes an array of one of numpy; it never shares memory with it."""

    name: str
    make: Callable[[np.ndarray], Any]

    def __call__(self, X: np.ndarray) -> Any:
        return self.make(X.copy())


def host(x: Any) -> np.ndarray:
    """The numbers of any array."""
    return x.detach().numpy() if hasattr(x, "detach") else np.asarray(x)


def is_beside(x: Any, X: Any) -> bool:
    """Whether an array is of the same library and on the same device."""
    return type(x) is type(X) and x.device == X.device


def on_a_device(monkeypatch: pytest.MonkeyPatch) -> Callable[[np.ndarray], Any]:
    """Arrays of a device of which every mixture with another one is an error.

    They refuse to come to the host as well; there, explicit requests are what drivers fulfil.
    """
    strict = pytest.importorskip("array_api_strict")
    kind = type(strict.asarray([0.0]))
    device = strict.Device("device1")

    def fetched(self: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self._array, dtype=dtype)

    monkeypatch.delattr(kind, "__buffer__", raising=False)
    monkeypatch.setattr(kind, "__array__", fetched)
    return lambda X: strict.asarray(X, device=device)


def quietly(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, list[Any]]:
    """What a function returns, and the kinds of warnings; weak evidence alone is allowed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", WeakEvidenceWarning)
        answer = function(*args, **arguments(options))
    return answer, [warning.category for warning in caught]


def scatter_matrix(d: int) -> np.ndarray:
    M = np.random.default_rng(3).standard_normal((d, d))
    return M @ M.T / d + np.eye(d)


def whole_numbers() -> tuple[np.ndarray, np.ndarray]:
    """Rows that every dtype holds exactly, and which of them are bad."""
    rng = np.random.default_rng(0)
    X = np.clip(np.round(8.0 * rng.standard_normal((200, 6))), -24, 24) + 24
    X[:30] += 70.0
    return X, np.arange(200) < 30


WHOLE = ["int8", "int16", "int32", "int64", "uint8"]


class Verbs:
    """Every pass over two tables that hold the same numbers."""

    def __init__(self, there: Any, X: np.ndarray, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.X, self.there = X, there
        self.n, self.d = X.shape
        self.near = 1e-12 if X.dtype == np.float64 else 1e-5
        self.counts = True  # whether both take the same number of passes
        self.center = X.astype(np.float64).mean(axis=0) + rng.standard_normal(self.d)
        self.basis = np.linalg.qr(rng.standard_normal((self.d, 3)))[0].T
        self.weights = rng.random(self.n)
        self.coefficients = rng.standard_normal((2, self.n))
        self.mask = rng.random(self.n) < 0.7
        self.scales = rng.uniform(0.5, 2.0, self.d)
        self.factor = np.linalg.cholesky(scatter_matrix(self.d))

    def check_rows(self, actual: Any, expected: np.ndarray) -> None:
        assert is_beside(actual, self.there)
        self.check(host(actual), expected)

    def check(self, actual: Any, expected: np.ndarray) -> None:
        assert type(actual) is np.ndarray
        assert actual.shape == expected.shape
        atol = self.near * max(1.0, float(np.abs(expected).max(initial=0.0)))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)

    def check_all(self, table: Table, numpy: Table, deep: bool = True) -> None:
        """Of two tables with the same rows; `deep`, also of what is made of them."""
        to_device, n = table.to_device, numpy.shape[0]
        w, C = self.weights[:n], self.coefficients[:, :n]
        c, V = self.center, self.basis
        ahead = table.n_passes - numpy.n_passes
        assert table.shape == numpy.shape and table.dtype == numpy.dtype
        self.check_rows(table.project(c, V), numpy.project(c, V))
        for drift in (True, False):
            own = table.moment(c, to_device(w), V, drift)
            other = numpy.moment(c, w, V, drift)
            self.check_rows(own.projection, other.projection)
            self.check(own.image, other.image)
            self.check(own.drift, other.drift)
        for own, other in zip(table.scatter(c, to_device(w)), numpy.scatter(c, w), strict=True):
            self.check(own, other)
        for own, other in zip(table.squares(c, to_device(w)), numpy.squares(c, w), strict=True):
            self.check(own, other)
        self.check(table.combine(c, to_device(C)), numpy.combine(c, C))
        self.check(table.mean(to_device(w), c), numpy.mean(w, c))
        self.check(table.mean(table.constant(0.0), c), c)
        self.check(table.median(), numpy.median())
        for seed in range(2):
            own, other = (np.random.default_rng(seed) for _ in range(2))
            self.check(table.median(own), numpy.median(other))
        own, other = (np.random.default_rng(5) for _ in range(2))
        self.check(table.sampled(own), numpy.sampled(other))
        self.check_rows(table.sq_distances(c), numpy.sq_distances(c))
        self.check(table.gram(c), numpy.gram(c))
        some = np.array([n - 1, 0, n // 2, 0])
        self.check(table.fetch(some), numpy.fetch(some))
        self.check_rows(table.constant(2.5), numpy.constant(2.5))
        assert not self.counts or table.n_passes - numpy.n_passes == ahead
        if not deep:
            return
        mask = self.mask[:n]
        self.check_all(table.take(to_device(mask)), numpy.take(mask), deep=False)
        again = mask[: int(mask.sum())]
        twice = table.take(to_device(mask)).take(to_device(again))
        self.check_all(twice, numpy.take(mask).take(again), deep=False)
        for factor in (self.scales, self.factor):
            metric = Metric(c, factor)
            self.check_all(table.in_metric(metric), numpy.in_metric(metric), deep=False)
        assert not self.counts or table.n_passes - numpy.n_passes == ahead
