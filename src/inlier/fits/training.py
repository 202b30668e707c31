"""The data of a fit, and what fitted estimators say of them: gradients, evidence, losses."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from inlier._internal.typing import Array, Mask
from inlier.fits.gradients import Gradients, final, linear_predictions, loss_of, targets
from inlier.fits.judging import (
    false_discoveries,
    judged_labels,
    size_p_values,
    smallest_difference,
)

GradientFunction = Callable[[Any, Any, Any], Any]
# Fewer rows, or rows of a class, than this are not judged.
FEWEST = 20
# Of the fits that judge the rows that they have not seen.
FOLDS = 3


class Training:
    """The rows of a fit, those of them that stay whatever they are, and the groups to judge.

    Parameters
    ----------
    estimator : estimator
        As it was given.
    function : callable or None
        Computes gradients, of the estimator, X and y.
    X, y : array, sparse matrix or data frame
        The rows.
    params : dict
        For the `fit` of the estimator.
    stays : bool array of shape (n,)
        The rows that are trusted.
    """

    def __init__(
        self, estimator: Any, function: GradientFunction | None, X: Any, y: Any,
        params: dict[str, Any], stays: Mask,
    ) -> None:  # fmt: skip
        self.estimator, self.function, self.params, self.stays = estimator, function, params, stays
        self.n, self.n_fits = len(stays), 0
        self.X = X.tocsr() if hasattr(X, "tocsr") else X if hasattr(X, "columns") else np.asarray(X)
        self.y = y if y is None or hasattr(y, "iloc") else np.asarray(y)
        self.least = smallest_difference(y) if is_regressor(estimator) else 0.0
        self.labels = None
        groups = [np.arange(self.n)]
        if is_classifier(estimator):
            if np.asarray(y).size != self.n:
                raise ValueError(
                    f"y must have one label for each row, but has shape {np.asarray(y).shape}: fit "
                    "one classifier for each column of y."
                )
            self.labels = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
            groups = [np.flatnonzero(self.labels == k) for k in range(self.labels.max() + 1)]
        # The rows that are judged together: all, or those of each class.
        self.groups = [rows for rows in groups if len(rows) >= FEWEST]

    def fit(self, kept: Mask) -> Any:
        """Fit the estimator to some rows."""
        rows = np.flatnonzero(kept)
        params = {
            key: _safe_indexing(value, rows)
            if value is not None and hasattr(value, "__len__") and len(value) == self.n
            else value
            for key, value in self.params.items()
        }
        self.n_fits += 1
        target = None if self.y is None else _safe_indexing(self.y, rows)
        return clone(self.estimator).fit(_safe_indexing(self.X, rows), target, **params)

    def gradients(self, model: Any) -> Gradients:
        """Return the gradients of all rows, by a user's function if there is one."""
        if self.function is not None:
            return Gradients.given(self.function(model, self.X, self.y), self.n)
        if hasattr(model, "module_") and hasattr(model, "criterion_"):  # as skorch has it
            from inlier.fits.torch_modules import torch_gradients

            table = torch_gradients(model.module_, model.criterion_, self.X, self.y)
            return Gradients.given(table, self.n)
        return Gradients.of(model, self.X, self.y)

    def evidence(self, model: Any) -> Array:
        """Return what speaks for or against the rows.

        The scores of all labels for classifiers, (n, labels); the size of the residual for
        regressors, of the deviance where it is not squared; the length of the gradient otherwise.
        """
        if self.labels is not None:
            return scores(model, self.X)
        if not is_regressor(model):
            table = self.gradients(model).X
            squares = table.multiply(table) if hasattr(table, "multiply") else table**2
            return np.asarray(np.sqrt(np.asarray(squares.sum(axis=1)).reshape(-1)))
        last, rows = final(model, self.X)
        if isinstance(last, PoissonRegressor | GammaRegressor | TweedieRegressor):
            y = targets(last, self.y)
            loss, best = loss_of(last).value, np.log(np.maximum(y, 1e-300))
            excess = loss(linear_predictions(last, rows), y) - loss(best, y)
            return np.sqrt(np.maximum(2.0 * excess, 0.0))
        residual = np.asarray(self.y, dtype=np.float64) - np.asarray(model.predict(self.X))
        return np.asarray(np.linalg.norm(residual.reshape(self.n, -1), axis=1))

    def unseen(self, kept: Mask, found: Array, random: np.random.Generator) -> Array:
        """Return the evidence, that of kept rows by fits that have not seen them."""
        rows = np.flatnonzero(kept)
        seed = int(random.integers(2**31 - 1))
        labels = None if self.labels is None else self.labels[rows]
        if labels is not None and np.bincount(labels).min() < FOLDS:
            return found
        kind = KFold if labels is None else StratifiedKFold
        found = found.copy()
        for seen, other in kind(FOLDS, shuffle=True, random_state=seed).split(rows, labels):
            mask = np.zeros(self.n, dtype=np.bool_)
            mask[rows[seen]] = True
            found[rows[other]] = self.evidence(self.fit(mask))[rows[other]]
        return found

    def judged(self, found: Array, inside: Mask) -> tuple[Array, Mask, bool]:
        """Judge the rows inside by the evidence.

        Return the chance of evidence as strong against each row, 0 for rows that are not inside;
        the rows that are kept, at least half of each group; and whether no group would lose more.
        """
        rows, stays = np.flatnonzero(inside), self.stays[inside]
        labels = None if self.labels is None else self.labels[rows]
        every = labels is None or np.isin(labels, labels[stays]).all()
        known = stays if every and stays.sum() >= FEWEST else None
        chance, leave = np.zeros(self.n), np.zeros(self.n, dtype=np.bool_)
        if labels is None:
            chance[rows] = size_p_values(found[rows], self.least, known)
            leave[rows] = false_discoveries(chance[rows])
        else:
            chance[rows], leave[rows] = judged_labels(found[rows], labels, known)
        leave &= ~self.stays
        kept, agree = inside.copy(), True
        for group in self.groups:
            own = group[inside[group]]
            gone = leave[own]
            if 2 * (len(group) - len(own) + gone.sum()) >= len(group):
                agree = False
                gone &= chance[own] < np.median(chance[own])
            kept[own[gone]] = False
        return chance, kept, agree

    def losses(self, model: Any) -> Array:
        """Return the loss of each row: that of the model if it is known, else squared or log."""
        last, rows = final(model, self.X)
        if hasattr(last, "coef_"):
            try:
                return loss_of(last).value(linear_predictions(last, rows), targets(last, self.y))
            except TypeError:
                pass
        found = self.evidence(model)
        if self.labels is None:
            return found**2
        return np.asarray(-log_softmax(found, axis=1)[np.arange(self.n), self.labels])


def scores(estimator: Any, X: Any) -> Array:
    """Return what a classifier says of each label, (n, labels)."""
    if hasattr(estimator, "decision_function"):
        found = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return np.column_stack([-found, found]) / 2.0 if found.ndim == 1 else found
    if hasattr(estimator, "predict_proba"):
        return np.asarray(np.log(np.maximum(estimator.predict_proba(X), 1e-300)))
    raise TypeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, by which "
        "its rows could be judged: use a classifier that has one of them."
    )
