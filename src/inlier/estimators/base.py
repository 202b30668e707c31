"""What all estimators share: how they validate, and what they copy from a result."""

import inspect
import re
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
        The estimate, in the precision of X; where cells are missing, of each column over the rows
        that have the cell.
    support_ : ndarray of bool, shape (n_samples,)
        The rows that count.
    weights_ : ndarray of shape (n_samples,)
        With what weight, in [0, 1].
    n_iter_ : int
        Iterations, such as those of Algorithm 1.
    result_ : MeanResult
        All that is known about the fit: also scores, history, passes and message; of `robust_mean`
        certificate, rule, groups and path as well.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.
    """

    @property
    def _takes_missing(self) -> bool:
        """Whether cells of a table in memory may be missing."""
        return False

    def _validated(self, X: Any, fitting: bool = False) -> Any:
        is_array = isinstance(X, np.ndarray)  # memory maps are arrays too
        if not is_array and (is_external(X) or isinstance(X, Table) or is_device_array(X)):
            # Which scikit-learn would bring into memory as a whole.
            X = check_table(X, least_rows=2 if fitting else 1)
            d = X.shape[1]
            if fitting:
                self.n_features_in_ = d
            elif d != self.n_features_in_:
                raise ValueError(
                    f"X has {d} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return X
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

    def _copied(self, result: MeanResult) -> Self:
        self.result_, self.n_iter_ = result, result.n_iter
        self.location_, self.support_ = result.location, result.support
        self.weights_ = result.weights
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int_]:
        """Fit; return +1 for the rows of X that count, those of `support_`, -1 for the others.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            As in all of scikit-learn's outlier detectors.
        """
        return in_signs(self.fit(X).support_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        return tags


def entries(documented: Any, section: str, names: tuple[str, ...] = ()) -> str:
    """Return the entries of a section of a docstring, or those with some names."""
    start = f"{section}\n{'-' * len(section)}\n"
    text = (inspect.getdoc(documented) or "").partition(start)[2].partition("\n\n")[0]
    found = re.split(r"\n(?=\S)", text)
    return "\n".join(x for x in found if not names or x.partition(" : ")[0] in names)


def in_signs(good: Rows) -> NDArray[np.int_]:
    """Return +1 for good rows and -1 for the others."""
    xp = namespace(good)
    signs: NDArray[np.int_] = 2 * xp.astype(good, xp.int64) - 1
    return signs
