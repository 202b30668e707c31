"""Losses of scikit-learn's linear models, and the gradient of each row.

The gradient of a row in the coefficients is its derivative in the predictions times the row, so the
table of gradients is never formed: it is a table of derivatives, (n, outputs), and the rows of X.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.special import expit, log_softmax, softmax
from sklearn import linear_model, svm

from inlier._internal.typing import Array

# At a kink of its loss a row may have any gradient between those of both sides, and a row that
# holds the fit ends there: this near to it, as near as solvers go, it has the longer one.
AT_KINK = 1e-3

Function = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Loss:
    """A loss of linear predictions f and targets y, both (n, outputs), by row."""

    value: Function
    derivative: Function
    """(n, outputs)."""


SQUARED = Loss(lambda f, y: ((f - y) ** 2).sum(axis=1) / 2.0, lambda f, y: f - y)


def _huber(width: float) -> Loss:
    def value(f: Array, y: Array) -> Array:
        r = np.abs(f - y)
        return np.asarray(np.where(r < width, r**2 / 2.0, width * (r - width / 2.0)).sum(axis=1))

    return Loss(value, lambda f, y: np.clip(f - y, -width, width))


def _insensitive(width: float, squared: bool) -> Loss:
    def beyond(f: Array, y: Array) -> Array:
        return np.asarray(np.maximum(np.abs(f - y) - width, 0.0))

    def slope(f: Array, y: Array) -> Array:
        size = 2.0 * beyond(f, y) if squared else np.abs(f - y) >= width * (1.0 - AT_KINK)
        return np.asarray(np.sign(f - y) * size)

    return Loss(lambda f, y: (beyond(f, y) ** (1 + squared)).sum(axis=1), slope)


def _pinball(quantile: float) -> Loss:
    def value(f: Array, y: Array) -> Array:
        terms = np.maximum(quantile * (y - f), (quantile - 1.0) * (y - f))
        return np.asarray(terms.sum(axis=1))

    return Loss(value, lambda f, y: np.where(y > f, -quantile, 1.0 - quantile))


def _tweedie(power: float) -> Loss:
    """Half the deviance with a log link, up to a constant for each row: its derivative in f."""

    def value(f: Array, y: Array) -> Array:
        if power == 1.0:
            terms = np.exp(f) - y * f
        elif power == 2.0:
            terms = f + y * np.exp(-f)
        else:
            terms = np.exp((2.0 - power) * f) / (2.0 - power)
            terms = terms - y * np.exp((1.0 - power) * f) / (1.0 - power)
        return np.asarray(terms.sum(axis=1))

    return Loss(value, lambda f, y: np.exp((2.0 - power) * f) - y * np.exp((1.0 - power) * f))


def _of_margin(value: Callable[[Array], Array], slope: Callable[[Array], Array]) -> Loss:
    """Return a loss of the margin y f, with targets of -1 and 1; one against the rest."""
    return Loss(lambda f, y: value(y * f).sum(axis=1), lambda f, y: y * slope(y * f))


def _modified_huber(m: Array) -> Array:
    return np.where(m < -1.0, -4.0 * m, np.maximum(1.0 - m, 0.0) ** 2)


MARGIN = {
    "log_loss": _of_margin(lambda m: np.logaddexp(0.0, -m), lambda m: -expit(-m)),
    "hinge": _of_margin(lambda m: np.maximum(1.0 - m, 0.0), lambda m: -1.0 * (m <= 1.0 + AT_KINK)),
    "squared_hinge": _of_margin(
        lambda m: np.maximum(1.0 - m, 0.0) ** 2, lambda m: -2.0 * np.maximum(1.0 - m, 0.0)
    ),
    "modified_huber": _of_margin(
        _modified_huber, lambda m: np.where(m < -1.0, -4.0, -2.0 * np.maximum(1.0 - m, 0.0))
    ),
    "perceptron": _of_margin(lambda m: np.maximum(-m, 0.0), lambda m: -1.0 * (m < 0.0)),
}
# Targets are indicators of the classes.
MULTINOMIAL = Loss(
    lambda f, y: -(y * log_softmax(f, axis=1)).sum(axis=1), lambda f, y: softmax(f, axis=1) - y
)
# By model; None where its options ask for another loss, or another link.
LOSSES: dict[tuple[type, ...], Callable[[Any], Loss | None]] = {
    (
        linear_model.LinearRegression, linear_model.Ridge, linear_model.RidgeCV,
        linear_model.Lasso, linear_model.LassoCV, linear_model.ElasticNet,
        linear_model.ElasticNetCV, linear_model.BayesianRidge, linear_model.Lars,
        linear_model.LassoLars, linear_model.RidgeClassifier, linear_model.RidgeClassifierCV,
    ): lambda model: SQUARED,
    (linear_model.HuberRegressor,): lambda model: _huber(model.epsilon * model.scale_),
    (linear_model.QuantileRegressor,): lambda model: _pinball(model.quantile),
    (linear_model.PoissonRegressor,): lambda model: _tweedie(1.0),
    (linear_model.GammaRegressor,): lambda model: _tweedie(2.0),
    (linear_model.TweedieRegressor,): lambda model: (
        _tweedie(model.power) if model.link == "log" or (model.link == "auto" and model.power)
        else None
    ),
    (linear_model.LogisticRegression,): lambda model: (
        MARGIN["log_loss"] if len(model.classes_) == 2 or model.solver == "liblinear"
        else MULTINOMIAL
    ),
    (svm.LinearSVC,): lambda model: MARGIN[model.loss] if model.multi_class == "ovr" else None,
    (svm.LinearSVR,): lambda model: _insensitive(model.epsilon, "squared" in model.loss),
    (linear_model.SGDClassifier, linear_model.Perceptron): lambda model: MARGIN.get(model.loss),
    (linear_model.SGDRegressor,): lambda model: (
        SQUARED if model.loss == "squared_error"
        else _huber(model.epsilon) if model.loss == "huber"
        else _insensitive(model.epsilon, "squared" in model.loss)
    ),
}  # fmt: skip


def final(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a fitted pipeline or search, and its rows."""
    if hasattr(estimator, "best_estimator_"):
        return final(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return final(estimator[-1], X)
    return estimator, X


def feature_names(estimator: Any) -> Sequence[str] | None:
    """Return the names of the columns that the last step of a fitted estimator has seen."""
    if hasattr(estimator, "best_estimator_"):
        return feature_names(estimator.best_estimator_)
    if len(getattr(estimator, "steps", ())) > 1:
        try:
            return cast(Sequence[str], estimator[:-1].get_feature_names_out())
        except (AttributeError, ValueError):  # of a step that knows no names
            return None
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    return getattr(last, "feature_names_in_", None)


def loss_of(model: Any) -> Loss:
    """Return the loss that a fitted linear model minimises over its rows, penalties aside."""
    for models, known in LOSSES.items():
        if isinstance(model, models) and (loss := known(model)) is not None:
            return loss
    raise TypeError(
        f"The gradients of {type(model).__name__} are not known here. Pass gradients=, a function "
        "of the fitted estimator, X and y that returns an array or a sparse matrix with one row "
        "for each row of X; for a network, inlier.fits.torch_gradients computes one."
    )


def targets(model: Any, y: Any) -> Array:
    """Return y as the loss has it, (n, outputs)."""
    if not hasattr(model, "classes_"):
        y = np.asarray(y, dtype=np.float64)
        return np.asarray(y.reshape(len(y), -1))
    which = np.asarray(y)[:, None] == model.classes_[None, :]
    if isinstance(model, linear_model.LogisticRegression) and loss_of(model) is MULTINOMIAL:
        return np.asarray(which, dtype=np.float64)
    signs = np.where(which, 1.0, -1.0)
    return np.asarray(signs[:, 1:] if len(model.classes_) == 2 else signs)


def linear_predictions(model: Any, X: Any) -> Array:
    """Return X w + b, (n, outputs)."""
    coef = np.atleast_2d(model.coef_)
    return np.asarray(np.asarray(X @ coef.T) + np.ravel(model.intercept_))


def _array(X: Any) -> Any:
    """Return rows in double precision, dense or in CSR format."""
    return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)


@dataclass(frozen=True)
class Gradients:
    """A gradient for each row: the products of its derivatives and its features."""

    derivatives: Array
    """(n, outputs)."""
    X: Any
    """Dense or sparse, (n, columns)."""
    intercept: bool
    names: Sequence[str] | None = None
    """Of the columns of X."""

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any) -> "Gradients":
        """Return the gradients of a fitted linear model, perhaps at the end of a pipeline."""
        model, X = final(estimator, X)
        loss = loss_of(model)
        X, intercept = _array(X), bool(np.any(model.intercept_))
        derivatives = loss.derivative(linear_predictions(model, X), targets(model, y))
        names = feature_names(estimator)
        return cls(np.asarray(derivatives, dtype=np.float64), X, intercept, names)

    @classmethod
    def given(cls, table: Any, n: int) -> "Gradients":
        """Return gradients that a user has computed."""
        table = _array(table)
        if table.ndim != 2 or table.shape[0] != n:
            raise ValueError(
                f"gradients must return one row for each of the {n} rows of X, but what it "
                f"returned has shape {table.shape}."
            )
        values = table.data if hasattr(table, "tocsr") else table
        if not np.isfinite(values).all():
            raise ValueError("gradients returned values that are not finite: check the loss.")
        return cls(np.ones((n, 1)), table, False)

    @property
    def columns(self) -> Sequence[str] | None:
        """The names of the columns of `table`, if those of X have names."""
        if self.names is None:
            return None
        own, outputs = [*self.names, *["intercept"] * self.intercept], self.derivatives.shape[1]
        if outputs == 1:
            return own
        return [f"{name} in output {k}" for k in range(outputs) for name in own]

    def table(self) -> Any:
        """Return the gradients as a table of shape (n, outputs x columns), sparse where X is."""
        n = self.X.shape[0]
        ones = [np.ones((n, 1))] if self.intercept else []
        if hasattr(self.X, "tocsr"):
            parts: Any = [self.X, *map(sparse.csr_array, ones)]
            rows: Any = sparse.hstack(parts)
            parts = [sparse.diags_array(weights) @ rows for weights in self.derivatives.T]
            return sparse.hstack(parts).tocsr()
        rows = np.hstack([self.X, *ones])
        return np.hstack([weights[:, None] * rows for weights in self.derivatives.T])
