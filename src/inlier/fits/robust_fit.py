"""A scikit-learn meta-estimator: fit, remove the rows that spoil the fit, fit again."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _num_samples, check_is_fitted

from inlier._internal.typing import Array, Mask, Seed
from inlier._internal.validation import fit_generator
from inlier.api import Contamination, robust_mean
from inlier.data import as_table
from inlier.fits.filtering import SAMPLE, along_largest, extreme_rows
from inlier.fits.gradients import Gradients, final
from inlier.fits.judging import LEVEL
from inlier.fits.training import FEWEST, GradientFunction, Training
from inlier.given.contamination import check_contamination
from inlier.given.trusted import trusted_mask
from inlier.linalg.eigenpairs import verified_top
from inlier.results.result import RobustMeanResult

# Rounds in which gradients are filtered: as they are, and with small ones counted as typical ones.
ROUNDS = (False, True, False, True)
# Of the rows each removes at most this many, or the fraction that is told.
STEP = 0.125
# Rounds in which rows return, judged by a fit that saw them, and then by one that did not.
RETURNS = ((False, 4), (True, 2))


class RobustFit(MetaEstimatorMixin, BaseEstimator):
    """Fit an estimator to the good rows of a contaminated training set.

    Rows that `robust_mean` of the columns of X removes, or of which it sets a cell aside, leave
    first. Others leave by their gradients, as in Sever (Diakonikolas et al. 2019): those that lie
    farthest out along the direction in which gradients vary most are removed, the estimator is
    fitted again, and so on. What is left is where the fit starts from. These rows then return
    unless their losses, at a fit that has not seen them, are too large to be those of good rows. In
    a classifier each class is judged on its own, so that no class leaves as a group.

    If no row is removed, or if too many would be, the answer is the plain fit.

    Parameters
    ----------
    estimator : estimator
        A linear model of scikit-learn, a pipeline or a search that ends in one, or any regressor or
        classifier, if `gradients` is given.
    contamination : float in (0, 0.5) or "auto", default="auto"
        The largest fraction of the rows that may be bad, if one is known. Twice as many leave at
        most, because good rows may leave with bad ones.
    gradients : callable, optional
        A function of the fitted estimator, X and y that returns the gradient of the loss of each
        row, as an array or sparse matrix of shape (n_samples, n_parameters). See
        `inlier.fits.torch_gradients` for networks; those of skorch need no function.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the directions that start the search, and of the folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to the kept rows.
    support_ : ndarray of bool, shape (n_samples,)
        The kept rows.
    p_values_ : ndarray of shape (n_samples,)
        For each row the chance that a good one is described as badly or worse; 0 for rows that are
        extreme in X, and 1 for all if none left.
    plain_loss_ : float
        The robust loss of the plain fit: its mean loss over the rows of `support_`.
    robust_loss_ : float
        That of `estimator_` over the same rows; never larger, unless the estimator has a penalty.
        Then this holds of the sum of both, which is what the estimator minimises.
    n_iter_ : int
        How many times the estimator was fitted.
    message_ : str
        What was removed and why.

    See Also
    --------
    RobustMeanSampler : Remove rows that are outliers of X before a fit.
    sklearn.linear_model.HuberRegressor : Limits the influence of residuals, not that of rows of X.

    Notes
    -----
    Other methods and attributes, such as `predict`, `score` or `coef_`, are those of `estimator_`.
    `sample_weight` weights the rows of the fits, and does not affect which rows are removed.

    References
    ----------
    I. Diakonikolas, G. Kamath, D. M. Kane, J. Li, J. Steinhardt, A. Stewart. Sever: a robust
    meta-algorithm for stochastic optimization. ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from inlier import RobustFit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.standard_normal(200)
    >>> y[:20] *= -10.0
    >>> model = RobustFit(LinearRegression()).fit(X, y)
    >>> model.estimator_.coef_.round(1)
    array([1., 2., 3.])
    """

    estimator_: Any
    _result: RobustMeanResult | None

    def __init__(
        self,
        estimator: Any,
        *,
        contamination: Contamination = "auto",
        gradients: GradientFunction | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.estimator, self.contamination = estimator, contamination
        self.gradients, self.random_state = gradients, random_state

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, trusted: Any = None, **params: Any
    ) -> Self:
        """Fit the estimator to the good rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,) or (n_samples, n_outputs), optional
            The targets.
        sample_weight : array of shape (n_samples,), optional
            Passed on to the estimator.
        trusted : int array or mask of shape (n_samples,), optional
            Rows that somebody has checked: their indices, or which rows they are. They stay, and
            from 20 on the other rows are judged by their losses.
        **params
            Passed on to the `fit` of the estimator, without the rows that leave.
        """
        told = check_contamination(self.contamination)
        step = STEP if told is None else min(told, STEP)
        if not (self.gradients is None or callable(self.gradients)):
            raise TypeError(f"gradients must be a function or None, but is {self.gradients!r}.")
        random = fit_generator(self.random_state)
        if _routing_enabled():
            given = process_routing(self, "fit", sample_weight=sample_weight, **params)
            params = given.estimator.fit
        elif sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        self.estimator_ = plain = clone(self.estimator).fit(X, y, **params)
        n = _num_samples(X)
        stays = np.zeros(n, dtype=np.bool_) if trusted is None else trusted_mask(trusted, n)
        training = Training(self.estimator, self.gradients, X, y, params, stays)
        self._training, self._result = training, None
        everything = np.ones(n, dtype=np.bool_)
        self.support_, self.p_values_, self.n_iter_ = everything, np.ones(n), 1
        losses = training.losses(plain)
        self.plain_loss_ = self.robust_loss_ = float(losses.mean())
        if not training.groups:
            self.message_ = f"Fewer than {FEWEST} rows, in every class: none were judged."
            return self
        most = n if told is None else int(2.0 * told * n * (1.0 + 1e-12))

        def take(kept: Mask, model: Any, chance: Array) -> bool:
            """Take a fit, unless no row or too many would leave.

            It minimises the loss of the kept rows and a penalty. That the plain one may have the
            smaller loss alone says nothing against it: a penalty weighs less against more rows.
            """
            if not 0 < int((~kept).sum()) <= most:
                return False
            self.estimator_, self.support_, self.p_values_ = model, kept, chance
            self.plain_loss_ = float(losses[kept].mean())
            self.robust_loss_ = float(training.losses(model)[kept].mean())
            return True

        inside = ~extreme_rows(final(plain, training.X)[1], training.groups, random) | stays
        model = plain if inside.all() else training.fit(inside)
        if not take(inside, model, inside.astype(np.float64)):
            inside, model = everything, plain
        kept = inside.copy()
        for group in training.groups:
            if len(group) > SAMPLE:
                kept[random.choice(group, len(group) - SAMPLE, replace=False)] = False
        kept |= stays
        for floored in ROUNDS:
            gradients = training.gradients(model)
            for group in training.groups:
                rows = group[kept[group]]
                length = along_largest(gradients, rows, random, floored)
                length[stays[rows]] = 0.0
                kept[rows[length > np.quantile(length, 1.0 - step)]] = False
            model = training.fit(kept)
        for unseen, rounds in RETURNS:
            for _ in range(rounds):
                found = training.evidence(model)
                if unseen:
                    found = training.unseen(kept, found, random)
                before = kept
                chance, kept, agree = training.judged(found, inside)
                if (kept == before).all():
                    break
                model = plain if kept.all() else training.fit(kept)
        if agree:
            take(kept, model, chance)
        self.n_iter_ += training.n_fits
        self.message_ = _message(self.support_, inside)
        return self

    @property
    def result_(self) -> RobustMeanResult:
        """`robust_mean` of the gradients at the fit, with the sigma of the kept ones.

        Its certificate bounds how many rows have to go for the others to vary no more; it explains
        each row by features. Its support solves that problem, and may differ from `support_`.
        Computed on first use from the data of the fit, which are not pickled.
        """
        if self._result is None:
            self._result = _certified(self._training.gradients(self.estimator_), self.support_)
        return self._result

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key not in ("_training", "_result")}

    def __getattr__(self, name: str) -> Any:
        """Return a method or attribute of the estimator, the fitted one as soon as there is one."""
        if name == "result_":  # its property did not find the data
            raise AttributeError(
                "result_ needs the data of the fit, which are not pickled: fit, or fit again."
            )
        fitted, own = vars(self).get("estimator_"), vars(self).get("estimator")
        if own is None or name.startswith(("_", "fit", "partial_fit", "set_")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if fitted is not None:
            return getattr(fitted, name)
        if name.endswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no {name!r} before a fit")
        found = getattr(own, name)
        # The estimator may be fitted already, but not to the good rows.
        return (lambda *_, **__: check_is_fitted(self, "estimator_")) if callable(found) else found

    def set_output(self, *, transform: Any = None) -> Self:
        """Set the container of `transform`, as scikit-learn's transformers do.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            Passed on to the estimator.
        """
        for estimator in (self.estimator, getattr(self, "estimator_", None)):
            if estimator is not None:
                estimator.set_output(transform=transform)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what is passed on to the estimator."""
        mapping = (
            MethodMapping().add(caller="fit", callee="fit").add(caller="score", callee="score")
        )
        router = MetadataRouter(owner=type(self).__name__)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.target_tags, tags.input_tags = own.target_tags, own.input_tags
        tags.transformer_tags = own.transformer_tags
        return tags


def _message(support: Mask, inside: Mask) -> str:
    gone, extreme = int((~support).sum()), int((~inside).sum())
    if not gone:
        return "No row removed: this is the plain fit."
    why = [
        f"{extreme} are extreme in the columns of X",
        f"the losses of {gone - extreme} are too large for a fit of the others, at a false "
        f"discovery rate of {100 * LEVEL:g}%",
    ]
    given = [text for text, k in zip(why, (extreme, gone - extreme), strict=True) if k]
    return f"{gone} of {len(support)} rows removed: {', and '.join(given)}."


def _certified(gradients: Gradients, support: Mask) -> RobustMeanResult:
    """Return the robust mean of gradients, with the largest deviation of the kept ones as sigma."""
    table, kept = gradients.table(), support.astype(np.float64)
    top = verified_top(as_table(table), kept, (kept @ table) / kept.sum(), None)
    sigma = float(np.sqrt(top.high / kept.sum()))
    found = robust_mean(table, sigma=sigma * (1.0 + 1e-6)) if sigma > 0.0 else robust_mean(table)
    return found.with_data(table, columns=gradients.columns)
