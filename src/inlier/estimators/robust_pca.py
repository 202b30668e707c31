"""The principal components of the good rows as a scikit-learn estimator."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_array, check_is_fitted

from inlier._internal.typing import Array, Seed
from inlier.api import Contamination
from inlier.covariance import MomentAssumption, Moments, good_rows
from inlier.estimators.base import RowTransformer, validated
from inlier.given.trusted import check_names
from inlier.results.result import RobustMeanResult


class RobustPCA(ClassNamePrefixFeaturesOutMixin, RowTransformer):
    """The principal components of the good rows of a contaminated table.

    They are those of `sklearn.decomposition.PCA` for the rows that `RobustCovariance` would keep,
    with principal axes in the units of the data. There may be many more columns than rows: no
    matrix of shape (n_features, n_features) is formed, unless cells are missing: then they are
    those of the covariance of `RobustCovariance`.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        Number of components to keep, as in scikit-learn's PCA: all of them by default; below 1, the
        fraction of the variance that they explain.
    assume : {"auto", "gaussian", "nothing"}, default="auto"
        What is assumed of the good rows, as in `RobustCovariance`.
    random_state : int, Generator, RandomState or None, default=0
        As in `robust_mean`.
    contamination : float in (0, 0.5) or "auto", default="auto"
        The largest fraction of the rows that may spoil the mean, as in `robust_mean`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Principal axes, by decreasing variance; the sign of each is as scikit-learn has it.
    explained_variance_ : ndarray of shape (n_components,)
        The variance of the good rows along each.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of their whole variance.
    singular_values_ : ndarray of shape (n_components,)
        Of the centered good rows.
    mean_ : ndarray of shape (n_features,)
        The mean of the good rows.
    n_components_ : int
        Number of components.
    noise_variance_ : float
        Mean variance along the other directions.
    support_ : ndarray of bool, shape (n_samples,)
        The good rows.
    result_ : RobustMeanResult
        The fit of the mean: which rows were removed first, and why.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier import RobustPCA
    >>> X = np.random.default_rng(0).standard_normal((500, 5)) * [5.0, 1.0, 1.0, 1.0, 1.0]
    >>> X[:50, 4] *= 30.0
    >>> model = RobustPCA(n_components=1).fit(X)
    >>> bool(abs(model.components_[0, 0]) > 0.99)
    True
    """

    result_: RobustMeanResult

    def __init__(
        self,
        n_components: Any = None,
        *,
        assume: MomentAssumption = "auto",
        random_state: Seed = 0,
        contamination: Contamination = "auto",
    ) -> None:
        self.n_components, self.assume, self.random_state = n_components, assume, random_state
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None, trusted: Any = None) -> Self:
        """Find the good rows of X and their principal components; warn as `robust_mean` does.

        Parameters
        ----------
        X : array, data frame or path to a table of shape (n_samples, n_features)
            The rows. Cells may be missing.
        y : ignored
            There for scikit-learn's pipelines.
        trusted : int array, mask of shape (n,) or table of shape (m, d), optional
            Rows that somebody has checked, as in `robust_mean`.
        """
        check_names(trusted, X)  # which the array does not have
        X = validated(self, X, fitting=True, missing=True)
        good = good_rows(
            X,
            self.assume,
            self.random_state,
            standardized=False,
            contamination=self.contamination,
            trusted=trusted,
        )
        # Not from products of the columns, which lose the digits of columns far from zero.
        rows = X[good.support]
        if good.moments is not None:
            rows = _with_moments(rows, good.moments).astype(X.dtype)
        model = PCA(self.n_components, svd_solver="full").fit(rows)
        self.support_, self.result_ = good.support, good.mean_result
        self.mean_, self.components_ = model.mean_, model.components_
        self.explained_variance_ = model.explained_variance_
        self.explained_variance_ratio_ = model.explained_variance_ratio_
        self.singular_values_ = model.singular_values_
        self.n_components_, self.noise_variance_ = model.n_components_, model.noise_variance_
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Array:
        """Return the rows of X along the components, (n_samples, n_components).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit. A missing cell is what the others of its row predict,
            by the components and their variances.
        """
        check_is_fitted(self)
        X = validated(self, X, missing=True)
        if (missing := np.isnan(X)).any():
            excess = self.explained_variance_ - self.noise_variance_
            covariance = self.components_.T * np.maximum(excess, 0.0) @ self.components_
            covariance.flat[:: len(covariance) + 1] += self.noise_variance_
            X = Moments(self.mean_, covariance).filled(X, missing).astype(X.dtype)
        return np.asarray((X - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows whose `transform` is X, within the span of the components.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Rows along the components.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=(np.float64, np.float32))
        return np.asarray(X @ self.components_ + self.mean_)


def _with_moments(rows: Array, moments: Moments) -> Array:
    """Fill the missing cells of rows, and turn the rows so that they have these moments."""
    filled = moments.filled(rows, np.isnan(rows))
    filled -= filled.mean(axis=0)
    unit = np.sqrt(np.diag(moments.covariance))
    unit[unit == 0.0] = 1.0
    filled /= unit
    values, vectors = np.linalg.eigh(filled.T @ filled / len(filled))
    held = values > 1e-10 * values[-1]
    white = filled @ (vectors[:, held] / np.sqrt(values[held])) @ vectors[:, held].T
    values, vectors = np.linalg.eigh(moments.covariance / np.outer(unit, unit))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(moments.mean + white @ root * unit)
