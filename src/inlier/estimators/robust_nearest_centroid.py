"""Classify by the nearest of the robust means of the classes."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from inlier._internal.typing import Array
from inlier.api import Assumption
from inlier.estimators.base import OfRobustMeans, validated


class RobustNearestCentroid(ClassifierMixin, OfRobustMeans):
    """Assign each row to the class whose robust mean is nearest.

    As scikit-learn's `NearestCentroid`, with the mean of the good rows of each class in place of
    its mean: rows that are far off, or have the label of another class, do not move it. A class
    with too few rows to tell which are bad has its plain mean.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    centroids_ : ndarray of shape (n_classes, n_features)
        The robust mean of each class.
    support_ : ndarray of bool, shape (n_samples,)
        The rows that count in the mean of their class.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier import RobustNearestCentroid
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.standard_normal((50, 2)), rng.standard_normal((50, 2)) + 5.0])
    >>> y = np.repeat(["low", "high"], 50)
    >>> X[:5] = 1000.0
    >>> model = RobustNearestCentroid().fit(X, y)
    >>> [str(label) for label in model.predict([[0.0, 0.0], [5.0, 5.0]])]
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        sigma: float | None = None,
        assume: Assumption = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.sigma, self.assume, self.random_state = sigma, assume, random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the mean of the good rows of each class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            The classes of the rows.
        """
        X, y = validated(self, X, fitting=True, sparse=True, y=y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.centroids_, self.support_ = self._robust_means(X, labels, len(self.classes_))
        return self

    def _sq_distances(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validated(self, X, sparse=True)
        distances: Array = euclidean_distances(X, self.centroids_, squared=True)
        return distances

    def decision_function(self, X: Any) -> Array:
        """Return minus the squared distance to each centroid, (n_samples, n_classes).

        Of two classes the difference, (n_samples,): positive where the second is nearer.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        far = self._sq_distances(X)
        return far[:, 0] - far[:, 1] if far.shape[1] == 2 else -far

    def predict(self, X: Any) -> Array:
        """Return the class of the nearest centroid, (n_samples,).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        nearest = self._sq_distances(X).argmin(axis=1)
        labels: Array = self.classes_[nearest]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
