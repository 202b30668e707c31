"""What estimators share: validation, and the attributes that they copy from a result."""

from os import PathLike
from typing import Any, Self
from warnings import catch_warnings, filterwarnings

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import validate_data

from inlier._internal.arrays import namespace
from inlier._internal.typing import Rows
from inlier._internal.validation import is_device_array
from inlier.data import Table, is_external
from inlier.data.checks import check_columns, check_table, opened, without_mask
from inlier.data.sources.base import listed


class MeanEstimator(BaseEstimator):
    """A scikit-learn estimator of a mean, with the attributes of `RobustMean` that all have."""

    @property
    def _takes_missing(self) -> bool:
        """Whether cells of a table in memory may be missing."""
        return False

    def _validated(self, X: Any, fitting: bool = False) -> Any:
        names = None
        if isinstance(X, str | PathLike):
            X, names = opened(X)
        is_array = isinstance(X, np.ndarray)  # memory maps are arrays too
        if not is_array and (is_external(X) or isinstance(X, Table) or is_device_array(X)):
            # scikit-learn would load the whole table into memory.
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
        missing = self._takes_missing
        return validated(self, X, fitting, sparse=True, missing=missing, names=names)

    def _copied(self, result: Any, weights: Rows, n_iter: int) -> Self:
        self.result_, self.n_iter_ = result, n_iter
        self.location_, self.support_ = result.location, result.support
        self.weights_ = weights
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.int_]:
        """Fit; return +1 for the rows of X that are kept, those of `support_`, -1 for the others.

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


class RowTransformer(TransformerMixin, BaseEstimator):
    """A scikit-learn transformer of rows, of which cells may be missing."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def validated(
    estimator: BaseEstimator,
    X: Any,
    fitting: bool = False,
    *,
    sparse: bool = False,
    missing: bool = False,
    names: tuple[str, ...] | None = None,
) -> Any:
    """Validate rows in memory as scikit-learn does, or those of a path, which are loaded.

    `names` are those of the columns of a file that was loaded; a path brings its own.
    """
    if isinstance(X, str | PathLike):
        X, names = opened(X)
        if isinstance(X, Table):
            raise ValueError(
                f"{type(estimator).__name__} takes tables in memory, and X is too large to be "
                "loaded by itself. Load it, or a sample of its rows."
            )
    check_columns(X)
    if missing:
        X = without_mask(X)  # scikit-learn ignores masks
    # scikit-learn adds up X to check it, and knows the names of data frames only.
    with np.errstate(over="ignore", invalid="ignore"), catch_warnings():
        if names is not None:
            filterwarnings("ignore", "X does not have valid feature names")
        X = validate_data(
            estimator,
            X,
            reset=fitting,
            accept_sparse=("csr", "csc") if sparse else False,
            dtype=_precision(X),
            ensure_all_finite="allow-nan" if missing else True,
            ensure_min_samples=2 if fitting else 1,
        )
    if names is not None:
        if fitting:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        elif list(getattr(estimator, "feature_names_in_", names)) != list(names):
            raise ValueError(
                "The columns of X have other names than those of the fit, or another order: "
                f"{listed(names)} instead of {listed(estimator.feature_names_in_)}."
            )
    return X


def _precision(X: Any) -> Any:
    """Return the precision of a fit: single for float16 too, as `robust_mean` has it."""
    single = not hasattr(X, "columns")  # no data frame
    kinds = {str(kind) for kind in ([getattr(X, "dtype", "")] if single else X.dtypes)}
    return np.float32 if kinds == {"float16"} else (np.float64, np.float32)


def in_signs(good: Rows) -> NDArray[np.int_]:
    """Return +1 for good rows and -1 for the others."""
    xp = namespace(good)
    signs: NDArray[np.int_] = 2 * xp.astype(good, xp.int64) - 1
    return signs
