"""Removal of bad rows from a training set, as a sampler for pipelines of imbalanced-learn."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from inlier.api import Assumption, robust_mean
from inlier.estimators.base import validated


class RobustMeanSampler(BaseEstimator):
    """Remove bad rows before other steps of a pipeline are fitted.

    Pipelines of scikit-learn cannot remove rows; in those of imbalanced-learn a sampler changes the
    rows of a fit, and no others. If y has classes, each class is fitted on its own, so that a rare
    class is not removed. Missing cells (NaN) are treated as in `robust_mean`. Rows of which cells
    are set aside are removed too: the steps that follow would use these cells.

    Parameters
    ----------
    sigma : float, optional
        A bound on the standard deviation of the good rows in every direction.
    assume : {"auto", "symmetric", "nothing"}, default="auto"
        What is assumed of the good rows if sigma is not given; see `robust_mean`.
    random_state : int, RandomState or None, default=0
        Seed of the fit; see `robust_mean`.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_samples,)
        The kept rows.
    sample_indices_ : ndarray of int
        Their indices, in ascending order.
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
        labels = np.zeros(X.shape[0], np.intp)
        if y is not None:
            check_consistent_length(X, y)
            if type_of_target(y, input_name="y") in ("binary", "multiclass"):
                labels = np.unique(column_or_1d(y), return_inverse=True)[1]
        self.support_ = np.ones(X.shape[0], np.bool_)
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            if len(rows) > 1:  # a single row is its own mean
                result = robust_mean(
                    X[rows], sigma=self.sigma, assume=self.assume, random_state=self.random_state
                )
                self.support_[rows] = result.support
                self.support_[rows[result.certificate.cells[:, 0]]] = False
        self.sample_indices_ = np.flatnonzero(self.support_)
        return self

    def fit_resample(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        """Return the kept rows of X and of y, in the types given.

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
