"""k-means with robust means as centers."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from inlier._internal.typing import Array
from inlier._internal.validation import check_whole
from inlier.api import Assumption
from inlier.estimators.base import OfRobustMeans, validated
from inlier.estimators.kmeans_start import best_start, nearest


class RobustKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, OfRobustMeans):
    """Cluster rows about centers that are robust means.

    Each row belongs to the nearest center, and each center is the mean of the good rows of its
    cluster, until no good row changes its cluster. The start is that of k-means++, in which a row
    is drawn less often the farther its neighbours are, and then k-medians, the best of `n_init`:
    that in which the sum over clusters of their size times the median squared distance is least.

    Bad rows that are many and close together are a cluster like any other.

    Parameters
    ----------
    n_clusters : int, default=8
        How many there are.
    n_init : int, default=10
        How many starts are tried.
    max_iter : int, default=100
        Most updates of the centers.
    {parameters}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The robust mean of each cluster.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, the bad ones too.
    support_ : ndarray of bool, shape (n_samples,)
        The rows that count in the mean of their cluster.
    inertia_ : float
        The sum of the squared distances of these rows from their centers.
    n_iter_ : int
        Updates of the centers.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier import RobustKMeans
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 2)) + np.repeat([[0.0], [20.0]], 50, axis=0)
    >>> X[:5] = 1000.0 * rng.standard_normal((5, 2))
    >>> model = RobustKMeans(n_clusters=2).fit(X)
    >>> [round(float(x)) for x in np.sort(model.cluster_centers_[:, 0])]
    [0, 20]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        sigma: float | None = None,
        assume: Assumption = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters, self.n_init, self.max_iter = n_clusters, n_init, max_iter
        self.sigma, self.assume, self.random_state = sigma, assume, random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters; y is ignored.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for scikit-learn's pipelines.
        """
        X = validated(self, X, fitting=True)
        k, n_init = (check_whole(getattr(self, x), x) for x in ("n_clusters", "n_init"))
        max_iter = check_whole(self.max_iter, "max_iter")
        if len(X) < k:
            raise ValueError(f"n_clusters={k}, but there are only n_samples={len(X)} rows.")
        centers = best_start(X, k, n_init, check_random_state(self.random_state))
        labels = nearest(X, centers)
        seen = {labels.tobytes()}
        with warnings.catch_warnings(record=True) as said:  # only what is true of the last update
            warnings.simplefilter("always")
            for self.n_iter_ in range(1, max_iter + 1):
                said.clear()
                means, self.support_ = self._robust_means(X, labels, k)
                centers = np.where(np.isnan(means), centers, means)  # a cluster may lose its rows
                before, labels = labels, nearest(X, centers)
                # A bad row counts in no center: it may go to and fro.
                changed = bool((labels != before)[self.support_].any())
                circles = labels.tobytes() in seen
                if circles or not changed:
                    break
                seen.add(labels.tobytes())
        for one in said:
            warnings.warn(one.message, stacklevel=2)
        if changed:
            again = "the same clusters came back" if circles else "raise max_iter"
            warnings.warn(
                f"Good rows were still changing their clusters after {self.n_iter_} updates: "
                f"{again}. Another n_clusters may suit them better.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.cluster_centers_, self.labels_ = centers, labels
        kept = self.support_
        self.inertia_ = float(np.square(X[kept] - centers[labels[kept]], dtype=np.float64).sum())
        self._n_features_out = k
        return self

    def transform(self, X: Any) -> Array:
        """Return the distance of each row of X to each center, (n_samples, n_clusters).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        check_is_fitted(self)
        distances: Array = euclidean_distances(validated(self, X), self.cluster_centers_)
        return distances

    def predict(self, X: Any) -> Array:
        """Return the cluster with the nearest center for each row of X, (n_samples,).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        check_is_fitted(self)
        return nearest(validated(self, X), self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
