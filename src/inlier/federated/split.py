"""A group that stands apart: two clear sides in the direction in which clients differ most.

If the differences between honest clients are noise, the leading left singular vector of the
centered updates is uniform on the sphere orthogonal to (1, ..., 1), whatever the noise and its
dimension, so that the share of its variance between the two sides of its best cut has a
distribution that depends on n only. Clients with different kinds of data have several directions of
about the same strength; a group that acts together has one that dominates. Both are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from inlier._internal.typing import Array, Mask

FEWEST = 7
"""With fewer different updates a pair is a third of all."""
DOMINANT = 2.0
"""Least ratio of the largest variance to the second. Without liars it stays below 1.7 in the
trainings of benchmarks/federated.py, though clients have few classes each."""
# The share of the variance between the sides of the best cut that a Gaussian sample of size n
# exceeds with probability .001, from 200,000 draws up to 100, and 20,000 above.
SIZES = (7, 8, 10, 12, 15, 20, 30, 50, 100, 200, 500, 1000)
CUTS = (0.981, 0.971, 0.949, 0.929, 0.902, 0.87, 0.831, 0.789, 0.744, 0.712, 0.685, 0.67)


@dataclass(frozen=True)
class Apart:
    """Clients that stand apart from the rest.

    Attributes
    ----------
    members : array of bool, shape (n,)
        The smaller side.
    share : float
        Of the variance in the direction, that between the two sides.
    """

    members: Mask
    share: float


def best_cut(u: Array) -> tuple[float, Mask]:
    """Cut a vector in two where most of its variance is between the sides.

    Returns
    -------
    float
        The share of the variance that is between them.
    array of bool
        The smaller side.
    """
    n = len(u)
    order = np.argsort(u, kind="stable")
    ascending = u[order] - u.mean()
    below = np.cumsum(ascending)[:-1]
    k = np.arange(1, n)
    between = below**2 * (1.0 / k + 1.0 / (n - k))
    cut = int(np.argmax(between))
    low = np.zeros(n, dtype=np.bool_)
    low[order[: cut + 1]] = True
    total = float(ascending @ ascending)
    share = float(between[cut]) / total if total > 0.0 else 0.0
    return share, low if 2 * (cut + 1) <= n else ~low


def critical_share(n: int) -> float:
    """Return the share that noise exceeds once in a thousand times."""
    return float(np.interp(np.log(n), np.log(SIZES), CUTS))


def group_apart(C: Array) -> Apart | None:
    """Find a group of at least two that stands apart from the rest, if there is one.

    Parameters
    ----------
    C : array of shape (n, n)
        Correlations between clients about a common center, of one round or averaged over rounds.
    """
    n = len(C)
    if n < FEWEST:
        return None
    centered = C - C.mean(axis=0)
    centered = centered - centered.mean(axis=1)[:, None]
    values, vectors = eigh((centered + centered.T) / 2.0, subset_by_index=[n - 2, n - 1])
    share, members = best_cut(vectors[:, 1])
    if members.sum() < 2 or share < critical_share(n) or values[1] < DOMINANT * max(values[0], 0.0):
        return None
    return Apart(members, share)
