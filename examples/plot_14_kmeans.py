"""
Robust means in k-means
=======================

k-means alternates between two steps: each row joins the cluster with the nearest center, and each
center becomes the mean of its cluster. Here eight of Fisher's irises were entered in millimeters
instead of centimeters, and k-means spends a cluster on them. With robust means as centers, the
three clusters are those of the correct rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import pairwise_distances_argmin

import inlier


def robust_kmeans(X, n_clusters, max_iter=100):
    """Return centers that are the robust means of their clusters, and the rows that count."""
    # Distances are computed from squares, which lose the digits of rows far from zero.
    whole = inlier.robust_mean(X)
    X = X - whole.location
    # Extreme rows attract the first centers, so these are found without them.
    start = whole.support
    centers = KMeans(n_clusters, n_init=10, random_state=0).fit(X[start]).cluster_centers_
    before = None
    for _ in range(max_iter):
        labels = pairwise_distances_argmin(X, centers)
        if before is not None and (labels == before).all():
            break
        support = np.zeros(len(X), dtype=bool)
        for j in range(n_clusters):
            rows = np.flatnonzero(labels == j)
            result = inlier.robust_mean(X[rows])
            centers[j], support[rows] = result.location, result.support
        before = labels
    return centers + whole.location, support


# %%
# The clusters of k-means, and those with robust means.

flowers = load_iris().data
X = flowers.copy()
bad = np.isin(np.arange(150), np.random.default_rng(0).choice(150, 8, replace=False))
X[bad] *= 10.0

plain = KMeans(3, n_init=10, random_state=0).fit(X).cluster_centers_
centers, support = robust_kmeans(X, 3)
clean = KMeans(3, n_init=10, random_state=0).fit(X[~bad]).cluster_centers_
for name, found in [("plain", plain), ("robust", centers)]:
    nearest = found[pairwise_distances_argmin(clean, found)]
    error = np.linalg.norm(clean - nearest, axis=1).max()
    print(f"{name:6} centers: at most {error:.2f} cm from those of the correct rows")
print(f"{(~support).sum()} rows removed, {(bad & ~support).sum()} of them in millimeters")

# %%
# Two of the four columns; the rows in millimeters are outside of the picture.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.scatter(X[~bad, 2], X[~bad, 0], c="#999999", s=14, label="correct rows")
axes.scatter(plain[:, 2], plain[:, 0], c="#D55E00", marker="x", s=80, label="k-means")
axes.scatter(centers[:, 2], centers[:, 0], c="#0072B2", marker="+", s=120, label="robust means")
axes.set(xlim=(0, 8), ylim=(4, 8.5), xlabel="petal length in cm", ylabel="sepal length in cm")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
