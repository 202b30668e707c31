"""`robust_mean` as a scikit-learn estimator."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array
from inlier.api import Assumption, Contamination, MissingName, ScatterName, robust_mean
from inlier.data import Gaps, Table, as_table
from inlier.data.checks import check_table, named_table
from inlier.estimators.base import MeanEstimator, in_signs
from inlier.given.trusted import check_names
from inlier.l0.fit import Options
from inlier.results.explanation import Explanation
from inlier.results.labels import Labels
from inlier.results.novelty import NewRows
from inlier.results.outlyingness import THRESHOLD
from inlier.results.result import RobustMeanResult


class RobustMean(OutlierMixin, MeanEstimator):
    """The mean of the good rows of a contaminated table, as an outlier detector.

    `fit` calls `robust_mean`, which describes the method and its parameters. A new row is an
    outlier if it lies beyond the cut of a group that was removed, or if a cell, or the row as a
    whole, lies farther out than one good row in a thousand, by the tails of the kept rows. A value
    that was set aside in the fit is set aside in a new row, unless it has many. With sigma, the
    multiplier of the constraint decides, and whether a row exceeds the budget on its own. Within
    the kept and within the removed rows, the robust distance ranks, the Mahalanobis distance from
    the central kept rows.

    A missing cell of a new row is replaced by the median of its column in the fit or, if no cell
    was missing there, by `location_`; a row without any cell is an error.

    Parameters
    ----------
    sigma : float, optional
        A bound on the standard deviation of the good rows in every direction.
    contamination : float in (0, 0.5) or "auto", default="auto"
        The largest fraction of the rows that may be bad, if one is known; `robust_mean` says what
        it does. Unlike in other detectors of scikit-learn, fewer rows may leave.
    assume : {"auto", "symmetric", "nothing"}, default="auto"
        What is assumed of the good rows if sigma is not given.
    scatter : {"auto", "identity", "diagonal"} or array, default="auto"
        The units in which rows are compared.
    missing : {"auto", "error"}, default="auto"
        Whether missing cells are imputed or refused.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the fit.
    l0 : inlier.l0.Options, optional
        Options of the published algorithm.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The mean of the kept rows, in the precision of X; of each column over the cells that are
        neither missing nor set aside.
    support_ : ndarray of bool, shape (n_samples,)
        The kept rows.
    weights_ : ndarray of shape (n_samples,)
        1 for the kept rows and 0 for the others; with `sample_weight`, proportional to it in the
        kept rows.
    indicator_ : ndarray of shape (n_samples,)
        h: zero for the kept rows, in (0, 1] for the removed ones.
    n_iter_ : int
        Number of iterations, such as those of Algorithm 1.
    offset_ : float
        ``decision_function = score_samples - offset_``; always -1.
    robust_distance_ : RobustDistance
        Center and metric of the kept rows; see `RobustMeanResult.ranking`.
    result_ : RobustMeanResult
        The result of the fit, with certificate, groups and explanations.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names that are all strings.

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

    # The decision of the fit; scikit-learn's mixin would call `predict`.
    fit_predict = MeanEstimator.fit_predict

    def __init__(
        self,
        *,
        sigma: float | None = None,
        contamination: Contamination = "auto",
        assume: Assumption = "auto",
        scatter: ScatterName | Any = "auto",
        missing: MissingName = "auto",
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        l0: Options | None = None,
    ) -> None:
        self.sigma, self.contamination, self.assume = sigma, contamination, assume
        self.scatter, self.missing = scatter, missing
        self.random_state = random_state
        self.l0 = l0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, trusted: Any = None) -> Self:
        """Find the mean of the good rows of X, and its bad rows; warn as `robust_mean` does.

        Parameters
        ----------
        X : array, sparse matrix, data frame, file or Dask collection of shape (n, d)
            As for `robust_mean`. Single precision stays single precision. Cells may be missing.
        y : ignored
            As in all of scikit-learn's outlier detectors.
        sample_weight : array of shape (n,), optional
            Weights of the rows in `location_`. They do not affect which rows are removed.
        trusted : int array, mask of shape (n,) or table of shape (m, d), optional
            Rows that somebody has checked, as in `robust_mean`.
        """
        check_names(trusted, X)  # which the table does not have
        result = robust_mean(
            self._table(X, fitting=True),
            sample_weight=sample_weight,
            trusted=trusted,
            **self.get_params(deep=False),
        )
        result = result._with_labels(Labels.of(X))
        details = result.details
        self.indicator_ = details.indicator
        self.offset_ = -THRESHOLD
        self.robust_distance_ = result._robust_distance
        self._new_rows = NewRows.of(result)
        self._copied(result, details.weights, details.n_iter)
        self.location_ = result._location
        return self

    @property
    def _takes_missing(self) -> bool:
        return self.missing == "auto"

    def _table(self, X: Any, fitting: bool = False) -> Table:
        """Validate a table; in new rows, fill missing and extreme cells as in the fit."""
        given, in_file = X, isinstance(X, np.memmap)  # scikit-learn returns a plain array
        X = self._validated(X, fitting)
        missing = "auto" if self._takes_missing and not in_file else "error"
        if fitting:  # here the names of the columns are known
            names = getattr(self, "feature_names_in_", None)
            if self._takes_missing:
                X = check_table(X, wide_later=True, missing=missing, columns=names)
            return named_table(as_table(X), given, names)
        gaps = self.result_.certificate.gaps
        if not self._takes_missing and gaps is None:
            return as_table(X)
        if gaps is None:  # a fit without missing cells has not computed medians
            known = Gaps(on_host(self.result_._location).astype(np.float64))
        else:
            known = Gaps(gaps.fill, ignored=gaps.ignored)
        table = as_table(check_table(X, least_rows=1, missing=missing, gaps=known))
        if not issparse(X) and len(cells := self._new_rows.known_cells(table)):
            known = replace(known, cells=cells, fences=self._new_rows.of_fit)
            table = as_table(check_table(X, least_rows=1, missing="auto", gaps=known))
        return table

    def score_samples(self, X: Any) -> Array:
        """Return minus the outlyingness of each row of X, (n_samples,); higher is more normal.

        In [-1, 0] for rows that the rule of the fit keeps, -1/2 for a typical one, and in [-2, -1)
        for the others; see `RobustMeanResult.ranking`. Two passes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        check_is_fitted(self, "result_")
        far: NDArray[np.float64] = self._new_rows.outlyingness(self._table(X))
        return -far

    def explain(self, X: Any) -> tuple[Explanation, ...]:
        """Explain the verdict on each row of X: by what decides about it, and its extreme cells.

        `result_.explain` does so for a row of the fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        check_is_fitted(self, "result_")
        names = getattr(self, "feature_names_in_", None)
        return self._new_rows.explain(self._table(X).named(names, None))

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

        +1 for inliers, whose decision function is not negative, and -1 for outliers. For the rows
        of the fit this agrees with `support_`, except for trusted rows, which stay wherever they
        lie, and for Algorithm 1 as published with re-weighting, where a row is judged by the weight
        that earlier steps left it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        return in_signs(self.decision_function(X) >= 0.0)
