"""`RobustMean` as a detector of PyOD: labels 0 and 1, and the higher a score, the worse the row."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from inlier._internal.arrays import on_host
from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier.estimators import RobustMean
from inlier.results.outlyingness import THRESHOLD

BaseDetector: Any = optional("pyod.models.base", "For detectors of PyOD", "pyod").BaseDetector


class RobustMeanDetector(BaseDetector):
    """The rows that `robust_mean` removes, and a ranking of all rows, as a detector of PyOD.

    Parameters
    ----------
    contamination : float in (0, 0.5], optional
        The share of the rows of the fit that are labelled as outliers, as in other detectors of
        PyOD. By default these are the rows that were removed; there may be none.
    sigma : float, optional
        As in `RobustMean`.
    assume : {"auto", "symmetric", "nothing"}, default="auto"
        As in `RobustMean`.
    scatter : {"auto", "identity", "diagonal"} or array, default="auto"
        As in `RobustMean`.
    random_state : int, Generator, RandomState or None, default=0
        As in `RobustMean`.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n_samples,)
        The outlyingness of the rows of the fit: above 1 for rows that were removed.
    labels_ : ndarray of int, shape (n_samples,)
        1 for outliers, 0 for the others.
    threshold_ : float
        The scores of outliers are above it.
    detector_ : RobustMean
        What is behind it; `detector_.result_` explains each verdict.

    See Also
    --------
    inlier.RobustMean : The same for scikit-learn, where outliers are labelled -1.

    Examples
    --------
    >>> from inlier.pyod import RobustMeanDetector
    >>> from inlier.datasets import SettingA
    >>> sample = SettingA(n=1000, d=50, alpha=0.1).sample(random_state=0)
    >>> detector = RobustMeanDetector().fit(sample.X)
    >>> bool((detector.labels_ == sample.is_outlier).all())
    True
    """

    def __init__(
        self,
        contamination: Any = None,
        sigma: float | None = None,
        assume: str = "auto",
        scatter: Any = "auto",
        random_state: Any = 0,
    ) -> None:
        super().__init__(contamination=contamination)
        self.sigma, self.assume, self.scatter = sigma, assume, scatter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bad rows of X; y is ignored.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for PyOD's interface.
        """
        self._set_n_classes(y)
        given = {name: getattr(self, name) for name in self.get_params() if name != "contamination"}
        self.detector_ = RobustMean(**given).fit(X)
        self.decision_scores_ = on_host(self.detector_.result_._outlyingness)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the outlyingness of each row of X, (n_samples,); higher is worse.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        return -on_host(self.detector_.score_samples(X))

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Return 1 for the outliers among the rows of X, 0 for the others.

        With `return_confidence` also what `predict_confidence` returns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        return_confidence : bool, default=False
            Whether to return confidences too.
        """
        return BaseDetector.predict(self._told(), X, return_confidence)

    def predict_confidence(self, X: Any) -> NDArray[np.float64]:
        """Return how sure each verdict is if the rows of the fit change a little, in [0, 1].

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        """
        confidence: NDArray[np.float64] = BaseDetector.predict_confidence(self._told(), X)
        return confidence

    def predict_with_rejection(self, X: Any, *args: Any, **options: Any) -> Any:
        """Return verdicts as `predict`, and -2 for rows about which none is sure; see PyOD.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        *args, **options
            As in PyOD's own method.
        """
        return BaseDetector.predict_with_rejection(self._told(), X, *args, **options)

    def compute_rejection_stats(self, *args: Any, **options: Any) -> Any:
        """Return how many verdicts `predict_with_rejection` leaves open; see PyOD.

        Parameters
        ----------
        *args, **options
            As in PyOD's own method.
        """
        told = self._told()
        if not self.labels_.any():
            raise ValueError(
                "No row of the fit is labelled as an outlier, so that nothing can be said about "
                "verdicts that are left open. Give contamination=..., such as 0.1."
            )
        return BaseDetector.compute_rejection_stats(told, *args, **options)

    def _process_decision_scores(self) -> Self:
        """Set threshold and labels: by the rule of PyOD if contamination is given."""
        if self.contamination is not None:
            super()._process_decision_scores()
            return self
        scores = self.decision_scores_
        self.threshold_, self.labels_ = THRESHOLD, (scores > THRESHOLD).astype(int)
        self._mu, self._sigma = float(np.mean(scores)), float(np.std(scores))
        return self

    def _told(self) -> Self:
        """Return the detector with the share of outliers that it was told, or has found.

        PyOD's own methods ask for a number.
        """
        check_is_fitted(self, ["decision_scores_", "threshold_", "labels_"])
        if self.contamination is not None:
            return self
        told = copy(self)
        told.contamination = float(np.mean(self.labels_))
        return told
