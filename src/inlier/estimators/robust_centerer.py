"""Centering by the robust mean, as a scikit-learn transformer."""

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from inlier._internal.typing import Array
from inlier.api import Assumption, robust_mean
from inlier.estimators.base import RowTransformer, validated
from inlier.results.result import RobustMeanResult


class RobustCenterer(OneToOneFeatureMixin, RowTransformer):
    """Subtract the mean of the good rows, and optionally divide by their standard deviation.

    All rows are transformed, including the bad ones and cells that were set aside. Missing cells
    (NaN) stay missing, and are treated as in `robust_mean`.

    Parameters
    ----------
    with_scaling : bool, default=False
        Whether to divide each column by the standard deviation of the kept rows, with their number
        in the denominator. A column in which they do not vary is only centered.
    sigma : float, optional
        A bound on the standard deviation of the good rows in every direction.
    assume : {"auto", "symmetric", "nothing"}, default="auto"
        What is assumed of the good rows if sigma is not given; see `robust_mean`.
    random_state : int, RandomState or None, default=0
        Seed of the fit; see `robust_mean`.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The mean of the kept rows.
    scale_ : ndarray of shape (n_features,) or None
        Their standard deviations, if `with_scaling`.
    support_ : ndarray of bool, shape (n_samples,)
        The kept rows.
    result_ : RobustMeanResult
        The result of the fit.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier import RobustCenterer
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> X[:10] += 1000.0
    >>> centered = RobustCenterer(with_scaling=True).fit_transform(X)
    >>> [round(float(x), 6) for x in centered[10:].std(axis=0)]
    [1.0, 1.0]
    """

    result_: RobustMeanResult

    def __init__(
        self,
        *,
        with_scaling: bool = False,
        sigma: float | None = None,
        assume: Assumption = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.with_scaling, self.sigma, self.assume = with_scaling, sigma, assume
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the mean of the good rows; y is ignored.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The rows. Cells may be missing.
        y : ignored
            There for scikit-learn's pipelines.
        """
        X = validated(self, X, fitting=True, missing=True)
        result = self.result_ = robust_mean(
            X, sigma=self.sigma, assume=self.assume, random_state=self.random_state
        )
        self.location_, self.support_ = result._location, result.support
        self.scale_ = None
        if self.with_scaling:
            deviation = result._means.deviation.astype(X.dtype)
            self.scale_ = np.where(deviation > 0.0, deviation, 1.0).astype(X.dtype)
        return self

    def transform(self, X: Any) -> Array:
        """Return the rows of X about the robust mean, (n_samples, n_features).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        check_is_fitted(self)
        centered: Array = validated(self, X, missing=True) - self.location_
        return centered if self.scale_ is None else centered / self.scale_

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows whose `transform` is X, (n_samples, n_features).

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows that were transformed.
        """
        check_is_fitted(self)
        X = validated(self, X, missing=True)
        original: Array = (X if self.scale_ is None else X * self.scale_) + self.location_
        return original
