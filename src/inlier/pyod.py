"""`RobustMean` as a detector for PyOD: labels are 0 and 1, and high scores are outliers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from inlier._internal.arrays import on_host
from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier._internal.validation import check_number
from inlier.estimators import RobustMean
from inlier.results.outlyingness import THRESHOLD

BaseDetector: Any = optional("pyod.models.base", "For detectors of PyOD", "pyod").BaseDetector


class RobustMeanDetector(BaseDetector):
    """The rows that `robust_mean` removes, and a ranking of all rows, as a detector of PyOD.

    Parameters
    ----------
    contamination : float in (0, 0.5], optional
        The fraction of the rows of the fit to label as outliers, as in other detectors of PyOD;
        below 0.5 and without sigma, it is given to `robust_mean` too, so that rows removed there
        have the highest scores. By default the rows are labelled that were removed; there may be
        none. After a fit, the attribute is their fraction.
    sigma, assume, scatter, random_state : optional
        As in `RobustMean`.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n_samples,)
        The outlyingness of the rows of the fit: above 1 for rows that were removed.
    labels_ : ndarray of int, shape (n_samples,)
        1 for outliers, 0 for the others.
    threshold_ : float
        Outliers have scores above it.
    detector_ : RobustMean
        The fitted estimator; `detector_.result_` explains each label.

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

    def fit(self, X: Any, y: Any = None, trusted: Any = None) -> Self:
        """Find the bad rows of X; y is ignored.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for PyOD's interface.
        trusted : int array, mask of shape (n,) or table of shape (m, d), optional
            Rows that somebody has checked, as in `robust_mean`.
        """
        if self._given is not None:
            hint = " Leave it at None if no fraction is known."
            check_number(self._given, "contamination", at_most=0.5, hint=hint)
        self._set_n_classes(y)
        given = {name: getattr(self, name) for name in self.get_params() if name != "contamination"}
        if self._given is not None and self._given < 0.5 and self.sigma is None:
            given["contamination"] = self._given
        self.detector_ = RobustMean(**given).fit(X, trusted=trusted)
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

    @property
    def contamination(self) -> Any:
        """The fraction of outliers: as given, or otherwise as found by the fit.

        PyOD's methods require a number.
        """
        if self._given is None and hasattr(self, "labels_"):
            return float(np.mean(self.labels_))
        return self._given

    @contamination.setter
    def contamination(self, given: Any) -> None:
        self._given = given

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters as given.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of parameters.
        """
        return {**super().get_params(deep), "contamination": self._given}

    def _process_decision_scores(self) -> Self:
        """Set threshold and labels: as PyOD does if contamination is given."""
        if self._given is not None:
            super()._process_decision_scores()
            return self
        scores = self.decision_scores_
        self.threshold_, self.labels_ = THRESHOLD, (scores > THRESHOLD).astype(int)
        self._mu, self._sigma = float(np.mean(scores)), float(np.std(scores))
        return self
