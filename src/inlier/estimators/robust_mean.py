"""`robust_mean` as a scikit-learn estimator: it validates and copies."""

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from inlier._internal.typing import Array
from inlier.api import Assumption, MissingName, ScatterName, options_of, robust_mean
from inlier.data import Table, as_table
from inlier.data.checks import check_table
from inlier.estimators.base import MeanEstimator, entries, in_signs
from inlier.l0.options import Options
from inlier.results.outlyingness import THRESHOLD
from inlier.results.result import RobustMeanResult


class RobustMean(OutlierMixin, MeanEstimator):
    """The mean of the good rows of a contaminated table, as an outlier detector.

    `fit` minimises a surrogate of the number of removed rows, ||h||_0, subject to ::

        lambda_max( sum_i (1 - h_i) (y_i - x)(y_i - x)^T ) <= B,     B = c1^2 n sigma^2

    over h in [0, 1]^n and x, where the y_i are the rows of X; see `robust_mean`. The multiplier of
    the constraint then judges any row, in one pass. Without sigma, the groups that left do. Among
    the rows that are kept, and among those that are removed, the robust distance ranks: the
    Mahalanobis distance of the kept rows in the middle.

    A missing cell of a new row
    counts as the median of its column in the fit or, if no cell was missing there, as `location_`;
    a row without any cell is an error. The weights are 1 for the kept rows and 0 for the others or,
    with `sample_weight`, proportional to it in the kept rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    indicator_ : ndarray of shape (n_samples,)
        h: zero for the kept rows, in (0, 1] for the removed ones.
    offset_ : float
        ``decision_function = score_samples - offset_``; always -1.
    robust_distance_ : RobustDistance
        What ranks rows: center and metric of the kept rows, see `RobustMeanResult.ranking`.

    See Also
    --------
    robust_mean : The function behind it.

    Examples
    --------
    >>> from inlier import RobustMean
    >>> from inlier.datasets import SettingA
    >>> sample = SettingA(n=1000, d=50, alpha=0.1).sample(random_state=0)
    >>> model = RobustMean().fit(sample.X)
    >>> bool((model.support_ == ~sample.is_outlier).all())
    True
    >>> model.predict([[0.0] * 50, [2.0] * 50])
    array([ 1, -1])
    """

    result_: RobustMeanResult

    # What the fit has decided; scikit-learn's mixin would ask `predict`.
    fit_predict = MeanEstimator.fit_predict

    def __init__(
        self,
        *,
        sigma: float | None = None,
        assume: Assumption = "auto",
        scatter: ScatterName | Any = "auto",
        missing: MissingName = "auto",
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        l0: Options | None = None,
        **deprecated: Any,
    ) -> None:
        self.sigma, self.assume, self.scatter, self.missing = sigma, assume, scatter, missing
        self.random_state = random_state
        self.l0 = options_of(l0, deprecated) if deprecated else l0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the mean of the good rows of X, and its bad rows; warn as `robust_mean` does.

        Parameters
        ----------
        X : array, sparse matrix, data frame, file or Dask collection of shape (n, d)
            As for `robust_mean`. Single precision stays single precision. Cells may be missing.
        y : ignored
            As in all of scikit-learn's outlier detectors.
        sample_weight : array of shape (n,), optional
            What each row counts in `location_`. It is no evidence: rows are judged with each
            counted once.
        """
        result = robust_mean(
            self._table(X, fitting=True),
            sample_weight=sample_weight,
            **self.get_params(deep=False),
        )
        details = result.details
        self.indicator_ = details.indicator
        self.offset_ = -THRESHOLD
        self.robust_distance_ = result._robust_distance
        return self._copied(result, details.weights, details.n_iter)

    @property
    def _takes_missing(self) -> bool:
        return self.missing == "auto"

    def _table(self, X: Any, fitting: bool = False) -> Table:
        """Validate a table, and fill missing cells, in new rows as in the fit."""
        in_file = isinstance(X, np.memmap)  # as an array scikit-learn hides where it is from
        X = self._validated(X, fitting)
        if not self._takes_missing:
            return as_table(X)
        missing = "error" if in_file else "auto"
        if fitting:  # here the names of the columns are known
            names = getattr(self, "feature_names_in_", None)
            return as_table(check_table(X, wide_later=True, missing=missing, columns=names))
        fill, aside = self.result_._fill, self.result_.certificate.aside
        return as_table(check_table(X, least_rows=1, missing=missing, fill=fill, ignored=aside))

    def score_samples(self, X: Any) -> Array:
        """Return minus the outlyingness of each row of X, (n_samples,); higher is more normal.

        In [-1, 0] for rows that the rule of the fit keeps, -1/2 for a typical one, and in [-2, -1)
        for the others; see `RobustMeanResult.ranking`. Two passes, with the verdict.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        check_is_fitted(self, "result_")
        far: NDArray[np.float64] = self.robust_distance_.outlyingness(self._table(X))
        return -far

    def decision_function(self, X: Any) -> Array:
        """Return `score_samples` minus `offset_`, (n_samples,): negative for outliers.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return which rows of X are good, (n_samples,).

        +1 for inliers, whose decision function is not negative, and -1 for outliers. The rows of
        the fit are judged as in `support_`, except for Algorithm 1 as published with re-weighting:
        it judges a row by its weight in the steps before the last, which new rows do not have.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        return in_signs(self.decision_function(X) >= 0.0)


RobustMean.__doc__ = inspect.cleandoc(RobustMean.__doc__ or "").format(
    parameters=entries(robust_mean, "Parameters", tuple(RobustMean().get_params())),
    attributes=entries(MeanEstimator, "Attributes"),
)
