"""First centers for k-means that bad rows do not attract."""

import numpy as np
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array

# Starts are drawn among so many rows, at most.
SAMPLE = 2000
# Rows without so large a part of an average cluster near them are rarely drawn.
COMPANY = 0.1


def best_start(X: Array, k: int, n_init: int, random: np.random.RandomState) -> Array:
    """Return the best of some starts, each by k-means++ and then k-medians."""
    starts = [by_medians(X, start) for start in first_centers(X, k, n_init, random)]
    return min(starts, key=lambda start: cost(X, start))


def nearest(X: Array, centers: Array) -> Array:
    """Return which center is nearest to each row."""
    found: Array = euclidean_distances(X, centers, squared=True).argmin(axis=1)
    return found


def first_centers(X: Array, k: int, n_init: int, random: np.random.RandomState) -> list[Array]:
    """Draw first centers by k-means++, with distances in units of that to a row's neighbours.

    A row far from all others would otherwise be drawn nearly always.
    """
    if len(X) > SAMPLE:
        X = X[random.choice(len(X), SAMPLE, replace=False)]
    company = min(len(X), 1 + int(np.ceil(COMPANY * len(X) / k)))
    apart = NearestNeighbors(n_neighbors=company).fit(X).kneighbors(X)[0][:, -1]
    unit = max(float(np.median(apart)), TINY)
    weights = 1.0 / np.maximum(apart / unit, 1.0) ** 2
    return [
        kmeans_plusplus(X, k, sample_weight=weights, random_state=random)[0] for _ in range(n_init)
    ]


def by_medians(X: Array, centers: Array, most: int = 100) -> Array:
    """Run k-medians, in which bad rows that are far away do little harm."""
    labels = None
    for _ in range(most):
        before, labels = labels, nearest(X, centers)
        if before is not None and (labels == before).all():
            break
        centers = np.stack(
            [
                np.median(X[labels == j], axis=0) if (labels == j).any() else center
                for j, center in enumerate(centers)
            ]
        )
    return centers


def cost(X: Array, centers: Array) -> float:
    """Sum the median squared distance within each cluster, times its size."""
    far = euclidean_distances(X, centers, squared=True)
    labels, least = far.argmin(axis=1), far.min(axis=1).astype(np.float64)
    return sum(float(np.median(least[labels == j]) * (labels == j).sum()) for j in set(labels))
