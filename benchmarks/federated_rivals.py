"""Rules of others, each told how many clients lie."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np
from federated_training import Rule


def sq_distances(U: np.ndarray) -> np.ndarray:
    U = U.astype(float)
    squares = (U**2).sum(axis=1)
    D = np.maximum(squares[:, None] + squares - 2.0 * U @ U.T, 0.0)
    np.fill_diagonal(D, 0.0)
    return D


def mean(n: int, f: int) -> Rule:
    return lambda U: U.mean(axis=0)


def coordinate_median(n: int, f: int) -> Rule:
    return lambda U: np.median(U, axis=0)


def trimmed_mean(n: int, f: int) -> Rule:
    """Without the f largest and the f smallest of every coordinate."""
    return lambda U: np.sort(U, axis=0)[f : n - f].mean(axis=0)


def geometric_median(n: int, f: int) -> Rule:
    """Weiszfeld's iteration on the coefficients of the clients."""

    def rule(U: np.ndarray) -> np.ndarray:
        X = U.astype(float)
        G, a = X @ X.T, np.full(n, 1.0 / n)
        for _ in range(200):
            Ga = G @ a
            distances = np.sqrt(np.maximum(np.diag(G) - 2.0 * Ga + a @ Ga, 0.0))
            weights = 1.0 / np.maximum(distances, 1e-6 * np.median(distances) + 1e-30)
            last, a = a, weights / weights.sum()
            if np.abs(a - last).sum() < 1e-6:
                break
        return a @ X

    return rule


def krum(n: int, f: int, selected: int = 1) -> Rule:
    """The client nearest to its n - f - 2 nearest."""
    near = max(1, n - f - 2)

    def rule(U: np.ndarray) -> np.ndarray:
        scores = np.sort(sq_distances(U), axis=1)[:, 1 : near + 1].sum(axis=1)
        return U[np.argsort(scores, kind="stable")[:selected]].mean(axis=0)

    return rule


def multi_krum(n: int, f: int) -> Rule:
    return krum(n, f, n - f)


def centered_clipping(n: int, f: int) -> Rule:
    """Three steps from the last aggregate, with the median distance as radius."""
    last: list[np.ndarray] = []

    def rule(U: np.ndarray) -> np.ndarray:
        v = last[-1] if last else np.median(U, axis=0)
        for _ in range(3):
            off = U - v
            lengths = np.linalg.norm(off, axis=1)
            share = np.minimum(1.0, np.median(lengths) / np.maximum(lengths, 1e-30))
            v = v + (share @ off) / n
        last[:] = [v]
        return v

    return rule


def mixed_trimmed_mean(n: int, f: int) -> Rule:
    """Nearest-neighbour mixing: each becomes the mean of its n - f nearest, then trimmed mean."""
    trim = trimmed_mean(n, f)

    def rule(U: np.ndarray) -> np.ndarray:
        nearest = np.argsort(sq_distances(U), axis=1, kind="stable")[:, : n - f]
        mixing = np.zeros((n, n), dtype=U.dtype)
        np.put_along_axis(mixing, nearest, 1.0 / (n - f), axis=1)
        return trim(mixing @ U)

    return rule


def smea(n: int, f: int) -> Rule:
    """The mean of the n - f updates whose covariance is smallest, by trying all such subsets.

    That of byzfl, whose aggregators are loaded alone: as a whole it asks for torchvision.
    """
    if "byzfl" not in sys.modules:
        where = find_spec("byzfl")
        if where is None:
            raise SystemExit("SMEA is an aggregator of byzfl: make bench-federated installs it")
        sys.modules["byzfl"] = package = ModuleType("byzfl")
        package.__path__ = list(where.submodule_search_locations or ())
    rule: Rule = import_module("byzfl.aggregators.aggregators").SMEA(f)
    return rule


RIVALS: dict[str, Callable[[int, int], Rule]] = {
    "mean": mean,
    "coordinate median": coordinate_median,
    "trimmed mean": trimmed_mean,
    "geometric median": geometric_median,
    "Krum": krum,
    "Multi-Krum": multi_krum,
    "centered clipping": centered_clipping,
    "NNM + trimmed mean": mixed_trimmed_mean,
    "SMEA": smea,
}
# Too many subsets: 167,960 of 20 clients of whom 9 lie.
MOST_CLIENTS = {"SMEA": 10}
