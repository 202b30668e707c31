"""The covariance of the good rows as a scikit-learn estimator."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import check_is_fitted

from inlier._internal.arrays import count, double
from inlier._internal.typing import Array, Seed
from inlier.api import Contamination
from inlier.covariance import MomentAssumption, Moments, good_rows
from inlier.data import as_table
from inlier.estimators.base import validated
from inlier.given.trusted import check_names
from inlier.results.result import RobustMeanResult


class RobustCovariance(EmpiricalCovariance):
    """The covariance of the good rows of a contaminated table.

    It is the plain covariance of the kept rows. First the rows are removed that `robust_mean`
    removes, then those that inflate the covariance: rows that vary more than the others along some
    directions, about the same center, which do not affect the mean. If no row is removed, it equals
    `sklearn.covariance.EmpiricalCovariance`. Where cells are missing, mean and covariance of the
    kept rows are those of maximum likelihood for Gaussian rows, by EM.

    Parameters
    ----------
    assume : {"auto", "gaussian", "nothing"}, default="auto"
        What is assumed of the good rows. "gaussian": the variance of their second moments is known,
        so that any excess is evidence. "auto": rows that inflate the covariance more than a
        heavy-tailed column would are removed if rows look Gaussian along most directions; in
        heavy-tailed and skewed tables none are. "nothing": none are.
    store_precision : bool, default=True
        Whether the inverse covariance is stored.
    random_state : int, Generator, RandomState or None, default=0
        As in `robust_mean`.
    contamination : float in (0, 0.5) or "auto", default="auto"
        The largest fraction of the rows that may spoil the mean, as in `robust_mean`.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The mean of the good rows.
    covariance_ : ndarray of shape (n_features, n_features)
        Their covariance, divided by their number as in `EmpiricalCovariance`.
    precision_ : ndarray of shape (n_features, n_features)
        Its pseudo-inverse, if `store_precision`.
    support_ : ndarray of bool, shape (n_samples,)
        The good rows.
    dist_ : ndarray of shape (n_samples,)
        Squared Mahalanobis distances of all rows of the fit.
    result_ : RobustMeanResult
        The fit of the mean: which rows were removed first, and why.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.

    See Also
    --------
    RobustPCA : Principal components of the good rows, also for many more columns than rows.
    sklearn.covariance.MinCovDet : Keeps the half of the rows whose covariance is smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier import RobustCovariance
    >>> X = np.random.default_rng(0).standard_normal((500, 5))
    >>> X[:50, 2] *= 10.0
    >>> model = RobustCovariance().fit(X)
    >>> bool(np.var(X[:, 2]) > 10.0 and 0.8 < model.covariance_[2, 2] < 1.3)
    True
    """

    result_: RobustMeanResult
    # The base class has constraints for parameters that do not exist here.
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        *,
        assume: MomentAssumption = "auto",
        store_precision: bool = True,
        random_state: Seed = 0,
        contamination: Contamination = "auto",
    ) -> None:
        self.assume, self.store_precision, self.random_state = assume, store_precision, random_state
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None, trusted: Any = None) -> Self:
        """Find the good rows of X and their covariance; warn as `robust_mean` does.

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
            X, self.assume, self.random_state, contamination=self.contamination, trusted=trusted
        )
        self.support_, self.location_, self.result_ = good.support, good.location, good.mean_result
        if good.moments is None:
            scatter, _ = as_table(X).scatter(good.location, double(good.support))
            self._set_covariance(scatter / count(good.support))
        else:
            self._set_covariance(good.moments.covariance)
        self.dist_ = self._distances(X)
        return self

    def mahalanobis(self, X: Any) -> Array:
        """Return the squared Mahalanobis distance of each row of X, (n_samples,).

        Of a row with missing cells, that of the others: it is smaller, as if those were what the
        others predict.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit. Cells may be missing.
        """
        check_is_fitted(self)
        return self._distances(validated(self, X, missing=True))

    def _distances(self, X: Array) -> Array:
        if (missing := np.isnan(X)).any():
            X = Moments(self.location_, self.covariance_).filled(X, missing)
        offsets = X - self.location_
        return np.asarray(np.sum((offsets @ self.get_precision()) * offsets, axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
