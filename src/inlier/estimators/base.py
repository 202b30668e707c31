"""What all estimators share: how they validate, and what they copy from a result."""

import inspect
import re
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from inlier._internal.arrays import namespace
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import is_device_array
from inlier.api import Assumption, robust_mean
from inlier.data import Table, is_external
from inlier.data.checks import check_columns, check_table, without_mask
from inlier.results.result import RobustMeanResult


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
    result_ : RobustMeanResult
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
        return validated(self, X, fitting, sparse=True, missing=self._takes_missing)

    def _copied(self, result: Any, weights: Rows, n_iter: int) -> Self:
        self.result_, self.n_iter_ = result, n_iter
        self.location_, self.support_ = result.location, result.support
        self.weights_ = weights
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.int_]:
        """Fit; return +1 for the rows of X that count, those of `support_`, -1 for the others.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            As in all of scikit-learn's outlier detectors.
        **fit_params
            Passed on to `fit`.
        """
        return in_signs(self.fit(X, **fit_params).support_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        return tags


class OfRobustMeans(BaseEstimator):
    """A scikit-learn estimator that is made of robust means of its rows.

    Parameters
    ----------
    sigma, assume, random_state
        Of `robust_mean`.
    """

    sigma: float | None
    assume: Assumption
    random_state: int | np.random.RandomState | None

    def __init_subclass__(cls, **options: Any) -> None:
        """Put the parameters that all share into the docstring."""
        super().__init_subclass__(**options)
        shared = entries(robust_mean, "Parameters", ("sigma", "assume", "random_state"))
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("{parameters}", shared)

    def _robust_mean(self, X: Any) -> RobustMeanResult:
        return robust_mean(X, sigma=self.sigma, assume=self.assume, random_state=self.random_state)

    def _robust_means(self, X: Any, labels: Array, n_labels: int) -> tuple[Array, Mask]:
        """Return the robust mean of the rows of each label, and which rows count in them.

        A single row is its own mean; that of no row is not a number.
        """
        means = np.full((n_labels, X.shape[1]), np.nan, X.dtype)
        support = np.ones(X.shape[0], np.bool_)
        for label in range(n_labels):
            rows = np.flatnonzero(labels == label)
            if len(rows) > 1:
                result = self._robust_mean(X[rows])
                means[label], support[rows] = result.location, result.support
            elif len(rows):
                means[label] = X[rows].sum(axis=0)
        return means, support


def validated(
    estimator: BaseEstimator,
    X: Any,
    fitting: bool = False,
    *,
    sparse: bool = False,
    missing: bool = False,
    **options: Any,
) -> Any:
    """Validate rows in memory as scikit-learn does; y too, if it is among the options."""
    check_columns(X)
    if missing:
        X = without_mask(X)  # which scikit-learn would look through
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn looks at the sum of X
        return validate_data(
            estimator,
            X,
            reset=fitting,
            accept_sparse=("csr", "csc") if sparse else False,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if missing else True,
            ensure_min_samples=2 if fitting else 1,
            **options,
        )


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
