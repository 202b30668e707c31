"""`robust_mean` as a scikit-learn estimator: it validates and copies."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from inlier._internal.typing import Array
from inlier.api import Algorithm, Assumption, MissingName, ScatterName, StartName, robust_mean
from inlier.data import Table, as_table
from inlier.data.checks import check_table
from inlier.estimators.base import MeanEstimator, in_signs
from inlier.packing.surrogates import SurrogateName
from inlier.results.result import RobustMeanResult


class RobustMean(OutlierMixin, MeanEstimator):
    """The mean of the good rows of a contaminated table, as an outlier detector.

    `fit` minimises a surrogate of the number of removed rows, ||h||_0, subject to

        lambda_max( sum_i (1 - h_i) (y_i - x)(y_i - x)^T ) <= B,     B = c1^2 n sigma^2

    over h in [0, 1]^n and x, where the y_i are the rows of X; see `robust_mean`. The multiplier of
    the constraint then scores any row, in one pass. Without sigma, the groups that left do.

    Parameters
    ----------
    sigma : float, default=None
        A bound on the standard deviation of the good rows in every direction. Without it, groups of
        rows leave while there is evidence for one, and what is left fixes it.
    assume : {"auto", "symmetric", "nothing"}, default="auto"
        What is assumed of the good rows where sigma is not known; see `robust_mean`.
    scatter : {"auto", "identity", "diagonal"} or array, default="auto"
        In which units rows are compared; see `robust_mean`.
    p : float, default=None
        The power of h in the surrogate sum_i h_i^p, 0 < p <= 1; None is 0.5. At 1 it is the convex
        l1 problem. Like `c1`, `surrogate`, `prune`, `max_iter` and `tol` it is of the problem with
        a known bound: `fit` refuses it without sigma, unless the algorithm is "paper".
    c1 : float, default=None
        The paper's factor on sigma; None is 1. Its theorems want sqrt(3/2) or more.
    algorithm : {"continuation", "paper"}, default="continuation"
        Continuation in the budget, then Algorithm 1; or Algorithm 1 as published.
    surrogate : {"reweighted-l2", "reweighted-l1", "l1"}, default=None
        How sum_i h_i^p is minimised; None is "reweighted-l2". "l1" ignores p.
    start : {"auto", "coordinate-median", "geometric-median"} or array of shape (d,), default="auto"
        The first centre.
    prune : float, default=None
        Before the fit, remove the rows farther than sigma sqrt(40 d / prune) from the start.
    max_iter : int, default=None
        Most iterations of Algorithm 1; None is 100.
    tol : float, default=None
        Relative duality gap of the convex problems in `algorithm="paper"`; None is 1e-6.
    missing : {"auto", "error"}, default="auto"
        Whether NaN is a missing cell, of which a row is not judged, or an error. A missing cell of
        a new row counts as the median of its column in the fit or, if no cell was missing there,
        as `location_`. A row without any cell is an error. Only for tables in memory that are not
        sparse; see `robust_mean`.
    random_state : int, Generator, RandomState or None, default=0
        Of the random directions with which eigenvectors are looked for, and of all samples of
        rows.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The mean of the kept rows, in the precision of X; of each column over those that have the
        cell.
    support_ : ndarray of bool, shape (n_samples,)
        The kept rows.
    weights_ : ndarray of shape (n_samples,)
        1 for the kept rows, 0 for the others.
    indicator_ : ndarray of shape (n_samples,)
        h: zero for the kept rows, in (0, 1] for the removed ones.
    offset_ : float
        ``decision_function = score_samples - offset_``.
    n_iter_ : int
        Iterations of Algorithm 1.
    result_ : RobustMeanResult
        All that is known about the fit: certificate, rule, groups, path, history and message.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
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

    # What the fit has decided; scikit-learn's mixin would ask `predict`.
    fit_predict = MeanEstimator.fit_predict

    def __init__(
        self,
        *,
        sigma: float | None = None,
        assume: Assumption = "auto",
        scatter: ScatterName | Any = "auto",
        p: float | None = None,
        c1: float | None = None,
        algorithm: Algorithm = "continuation",
        surrogate: SurrogateName | None = None,
        start: StartName | Any = "auto",
        prune: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        missing: MissingName = "auto",
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    ) -> None:
        self.sigma = sigma
        self.assume = assume
        self.scatter = scatter
        self.p = p
        self.c1 = c1
        self.algorithm = algorithm
        self.surrogate = surrogate
        self.start = start
        self.prune = prune
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the mean of the good rows, and the rows that are bad.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Single precision stays single precision. Cells may be missing.
        y : ignored

        Returns
        -------
        RobustMean
            The estimator itself.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the result is not what was asked for; its message says why and what to try.
        WeakEvidenceWarning
            If, without sigma, the data do not say clearly which rows are bad.
        """
        result = robust_mean(self._table(X, fitting=True), **self.get_params(deep=False))
        self.indicator_ = result.indicator
        self.offset_ = -result.rule.threshold
        return self._copied(result)

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
        fill, aside = self.result_.fill, self.result_.certificate.aside
        return as_table(check_table(X, least_rows=1, missing=missing, fill=fill, aside=aside))

    def score_samples(self, X: Any) -> Array:
        """Return minus the score of each row under the rule of the fit; lower is worse.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            At most zero; the higher, the more normal. Minus infinity beyond the radius of `prune`.
        """
        check_is_fitted(self, "result_")
        scores: NDArray[np.float64] = self.result_.rule.scores(self._table(X))
        return -scores

    def decision_function(self, X: Any) -> Array:
        """Return `score_samples` minus `offset_`: negative for outliers.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return which rows are good.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
            +1 for inliers, whose decision function is not negative, and -1 for outliers. The rows
            of the fit are judged as in `support_`, but for `algorithm="paper"` with re-weighted l1:
            there a row that re-weighting left with a part of its weight is judged by that part,
            which other rows do not have.
        """
        return in_signs(self.decision_function(X) >= 0.0)
