"""What all estimators share: how they validate, and what they copy from a result."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from inlier._internal.arrays import namespace
from inlier._internal.typing import Rows
from inlier._internal.validation import is_device_array
from inlier.data import Table, is_external
from inlier.data.checks import check_columns, check_table, without_mask
from inlier.results.records import MeanResult


class MeanEstimator(BaseEstimator):
    """A scikit-learn estimator of a mean.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The estimate, in the precision of X.
    support_ : ndarray of bool, shape (n_samples,)
        The rows that count.
    weights_ : ndarray of shape (n_samples,)
        With what weight, in [0, 1].
    n_iter_ : int
    result_ : MeanResult
        All that is known about the fit: also scores, history, passes and message.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X has names that are all strings.
    """

    @property
    def _takes_missing(self) -> bool:
        """Whether cells of a table in memory may be missing."""
        return False

    def _validated(self, X: Any, fitting: bool = False) -> Any:
        is_array = isinstance(X, np.ndarray)  # memory maps are arrays too
        if not is_array and (is_external(X) or isinstance(X, Table) or is_device_array(X)):
            return self._validated_there(check_table(X, least_rows=2 if fitting else 1), fitting)
        check_columns(X)
        if self._takes_missing:
            X = without_mask(X)  # which scikit-learn would look through
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn looks at the sum of X
            return validate_data(
                self,
                X,
                reset=fitting,
                accept_sparse=("csr", "csc"),
                dtype=(np.float64, np.float32),
                ensure_all_finite="allow-nan" if self._takes_missing else True,
                ensure_min_samples=2 if fitting else 1,
            )

    def _validated_there(self, X: Any, fitting: bool) -> Any:
        """Validate data that scikit-learn would bring into memory as a whole."""
        d = X.shape[1]
        if fitting:
            self.n_features_in_ = d
        elif d != self.n_features_in_:
            raise ValueError(
                f"X has {d} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return X

    def _copied(self, result: MeanResult) -> Self:
        self.result_ = result
        self.location_ = result.location
        self.support_ = result.support
        self.weights_ = result.weights
        self.n_iter_ = result.n_iter
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int_]:
        """Fit, and return which rows of X count.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of int, shape (n_samples,)
            +1 for the rows of `support_`, -1 for the others.
        """
        return in_signs(self.fit(X).support_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        return tags


def in_signs(good: Rows) -> NDArray[np.int_]:
    """Return +1 for good rows and -1 for the others."""
    xp = namespace(good)
    signs: NDArray[np.int_] = 2 * xp.astype(good, xp.int64) - 1
    return signs
