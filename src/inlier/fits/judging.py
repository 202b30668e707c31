"""How well a fit describes each row: losses, and the chance of one as large."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

from inlier._internal.typing import Array, Mask
from inlier.fits.filtering import false_discoveries, judged_labels, size_p_values
from inlier.fits.gradients import Gradients, final, linear_predictions, loss_of, targets

# Of the rows that leave at most this many are good ones, if their law is true.
LEVEL = 0.25

GradientFunction = Callable[[Any, Any, Any], Any]


def gradients_of(
    estimator: Any, X: Any, y: Any, function: GradientFunction | None, n: int
) -> Gradients:
    """Return the gradients of a fitted estimator, by a user's function if there is one."""
    if function is not None:
        return Gradients.given(function(estimator, X, y), n)
    if hasattr(estimator, "module_") and hasattr(estimator, "criterion_"):  # as skorch has it
        from inlier.fits.torch_modules import torch_gradients

        table = torch_gradients(estimator.module_, estimator.criterion_, X, y)
        return Gradients.given(table, n)
    return Gradients.of(estimator, X, y)


def evidence(estimator: Any, X: Any, y: Any, function: GradientFunction | None) -> Array:
    """Return what speaks for or against the rows, (n, k).

    The scores of all labels for classifiers; the size of the residual for regressors, of the
    deviance where it is not squared; the length of the gradient otherwise.
    """
    if is_classifier(estimator):
        return scores(estimator, X)
    if is_regressor(estimator):
        model, rows = final(estimator, X)
        if isinstance(model, PoissonRegressor | GammaRegressor | TweedieRegressor):
            y = targets(model, y)
            loss, best = loss_of(model).value, np.log(np.maximum(y, 1e-300))
            excess = loss(linear_predictions(model, rows), y) - loss(best, y)
            return np.sqrt(np.maximum(2.0 * excess, 0.0))[:, None]
        residual = np.asarray(y, dtype=np.float64) - np.asarray(estimator.predict(X))
        return np.asarray(np.linalg.norm(residual.reshape(len(residual), -1), axis=1))[:, None]
    n = X.shape[0]
    gradients = gradients_of(estimator, X, y, function, n)
    squares = (
        gradients.X.multiply(gradients.X) if hasattr(gradients.X, "multiply") else gradients.X**2
    )
    return np.asarray(np.sqrt(np.asarray(squares.sum(axis=1)).reshape(n, 1)))


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


def smallest_difference(y: Any) -> float:
    """Return how near two targets can be and yet differ: what is less is an error of rounding."""
    columns = np.atleast_2d(np.asarray(y, dtype=np.float64).T)
    gaps = [np.diff(np.unique(column)).min(initial=np.inf) for column in columns]
    return float(np.linalg.norm(gaps)) if np.isfinite(gaps).all() else 0.0


def judged(
    found: Array, labels: Array | None, least: float, trusted: Mask | None
) -> tuple[Array, Mask]:
    """Return for each row the chance of evidence as strong against it, and which rows leave."""
    if labels is not None:
        return judged_labels(found, labels, trusted)
    chance = size_p_values(found[:, 0], least, trusted)
    return chance, false_discoveries(chance, LEVEL)


def losses(estimator: Any, X: Any, y: Any, found: Array, labels: Array | None) -> Array:
    """Return the loss of each row: that of the model if it is known, else squared or log loss."""
    model, rows = final(estimator, X)
    if hasattr(model, "coef_"):
        try:
            return loss_of(model).value(linear_predictions(model, rows), targets(model, y))
        except TypeError:
            pass
    if labels is None:
        return np.asarray(found[:, 0] ** 2)
    return np.asarray(-log_softmax(found, axis=1)[np.arange(len(found)), labels])
