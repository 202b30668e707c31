"""Drop the bad rows of a training set, as a sampler in the pipelines of imbalanced-learn."""

from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from inlier.api import Assumption
from inlier.estimators.base import OfRobustMeans, validated


class RobustMeanSampler(OfRobustMeans):
    """Drop the bad rows before other steps are fitted.

    A pipeline of scikit-learn cannot leave rows out, one of imbalanced-learn can: there a sampler
    changes the rows of a fit, and no others. Where y has classes, rows are judged within each: a
    rare class is not bad. Missing cells (NaN) count as in `robust_mean`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_samples,)
        The rows that are kept.
    sample_indices_ : ndarray of int
        Their numbers, in their order.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier import RobustMeanSampler
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> X[:10] += 1000.0
    >>> kept, _ = RobustMeanSampler().fit_resample(X)
    >>> kept.shape
    (90, 2)
    """

    def __init__(
        self,
        *,
        sigma: float | None = None,
        assume: Assumption = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.sigma, self.assume, self.random_state = sigma, assume, random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bad rows, within each class if y has classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. Cells may be missing.
        y : array of shape (n_samples,), optional
            The classes of the rows.
        """
        X = validated(self, X, fitting=True, sparse=True, missing=True)
        labels, n_labels = np.zeros(X.shape[0], np.intp), 1
        if y is not None:
            check_consistent_length(X, y)
            if type_of_target(y, input_name="y") in ("binary", "multiclass"):
                classes, labels = np.unique(column_or_1d(y), return_inverse=True)
                n_labels = len(classes)
        _, self.support_ = self._robust_means(X, labels, n_labels)
        self.sample_indices_ = np.flatnonzero(self.support_)
        return self

    def fit_resample(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        """Return the rows of X that are kept, and those of y; both are of the type given.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. Cells may be missing.
        y : array of shape (n_samples,), optional
            The classes of the rows.
        """
        rows = self.fit(X, y).sample_indices_
        return _safe_indexing(X, rows), None if y is None else _safe_indexing(y, rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
