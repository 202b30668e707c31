"""A scikit-learn meta-estimator: fit, remove the rows that spoil the fit, fit again."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from inlier._internal.typing import Array, Mask, Seed
from inlier._internal.validation import fit_generator
from inlier.api import Contamination, robust_mean
from inlier.fits.filtering import SAMPLE, extreme_rows, trimmed
from inlier.fits.gradients import final
from inlier.fits.judging import (
    LEVEL,
    GradientFunction,
    evidence,
    gradients_of,
    judged,
    losses,
    smallest_difference,
)
from inlier.given.contamination import check_contamination
from inlier.results.result import RobustMeanResult

# Rounds in which gradients are filtered: as they are, and with small ones counted as typical ones.
ROUNDS = (False, True, False, True)
# Of the rows each removes at most this many, or the fraction that is told.
STEP = 0.125
# Rounds in which rows return, judged by a fit that saw them, and then by one that did not.
RETURNS, CONFIRMATIONS, FOLDS = 4, 4, 3

# Fewer rows, or rows of a class, than this are not judged.
FEWEST = 20


def _passed(name: str, does: str) -> Any:
    """Return a method that the fitted estimator carries out, if it has it."""

    def has(self: "RobustFit") -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    def method(self: "RobustFit", X: Any, **params: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, name)(X, **params)

    method.__name__, method.__qualname__ = name, f"RobustFit.{name}"
    method.__doc__ = f"""{does} by the fitted estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        **params
            Passed on to the estimator.
        """
    return available_if(has)(method)


class RobustFit(MetaEstimatorMixin, BaseEstimator):
    """Fit an estimator to the good rows of a contaminated training set.

    Rows that `robust_mean` of the columns of X removes, or of which it sets a cell aside, leave
    first. Others leave by their gradients, as in Sever (Diakonikolas et al. 2019): those that lie
    farthest out along the direction in which gradients vary most are removed, the estimator is
    fitted again, and so on. What is left is where the fit starts from. These rows then return
    unless their losses, at a fit that has not seen them, are too large to be those of good rows. In
    a classifier each class is judged on its own, so that no class leaves as a group.

    If no row is removed, or if the plain fit describes the kept rows better, the answer is the
    plain fit.

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
        That of `estimator_` over the same rows; never larger.
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
        self.n_iter_ = 1
        self._training = training = _Training(self, plain, X, y, params, n)
        self._result: RobustMeanResult | None = None
        stays = _trusted(trusted, n)
        groups = training.groups()
        everything = np.ones(n, dtype=np.bool_)
        self.support_, self.p_values_ = everything, np.ones(n)
        found = training.evidence(plain)
        losses = training.losses(plain, found)
        self.plain_loss_ = self.robust_loss_ = float(losses.mean())
        if not groups:
            self.message_ = f"Fewer than {FEWEST} rows, in every class: none were judged."
            return self
        most = n if told is None else int(2.0 * told * n * (1.0 + 1e-12))

        def take(kept: Mask, model: Any, chance: Array) -> bool:
            """Take a fit, unless the plain one describes the kept rows better."""
            if not 0 < int((~kept).sum()) <= most:
                return False
            own = training.losses(model, training.evidence(model))
            before, after = float(losses[kept].mean()), float(own[kept].mean())
            if after > before:
                return False
            self.estimator_, self.support_, self.p_values_ = model, kept, chance
            self.plain_loss_, self.robust_loss_ = before, after
            return True

        inside = ~training.extreme(groups, random) | stays
        model = training.fit(inside)
        if not take(inside, model, inside.astype(np.float64)):
            inside, model = everything, plain
        kept = _sampled(groups, inside, stays, random)
        for floored in ROUNDS:
            gradients = training.gradients(model)
            for rows in groups:
                own = np.zeros(n, dtype=np.bool_)
                own[rows] = kept[rows]
                left = trimmed(gradients, own, step, stays, random, floored)
                kept[rows] = left[rows]
            model = training.fit(kept)
        kept, model, chance = self._returned(training, kept, model, groups, inside, stays, random)
        if chance is not None:
            take(kept, model, chance)
        self.message_ = _message(self.support_, inside)
        return self

    def _returned(
        self,
        training: "_Training",
        kept: Mask,
        model: Any,
        groups: list[Array],
        inside: Mask,
        stays: Mask,
        random: np.random.Generator,
    ) -> tuple[Mask, Any, Array | None]:
        """Return the rows that belong to a fit, that fit, and the p-values of all rows.

        There are no p-values if the fit describes fewer than half of the rows.
        """
        unseen, rounds = False, {False: RETURNS, True: CONFIRMATIONS}
        while rounds[unseen]:
            rounds[unseen] -= 1
            found = training.evidence(model)
            if unseen:
                found = training.unseen(kept, found, random)
            chance, leave = training.judged(found, inside, stays)
            before = kept
            kept, agree = _kept(chance, leave, groups, inside)
            same = bool((kept == before).all())
            if not same:
                model = training.fit(kept)
            if same and unseen:
                break
            unseen = unseen or same or not rounds[False]
        return kept, model, chance if agree else None

    @property
    def result_(self) -> RobustMeanResult:
        """`robust_mean` of the gradients at the fit, with the sigma of the kept ones.

        Its certificate bounds how many rows have to go for the others to vary no more; it explains
        each row by features. Its support solves that problem, and may differ from `support_`.
        Computed on first use from the data of the fit, which are not pickled.
        """
        check_is_fitted(self)
        if not hasattr(self, "_training"):
            raise AttributeError("result_ needs the data of the fit: fit again.")
        if self._result is None:
            self._result = _certified(self._training.gradients(self.estimator_), self.support_)
        return self._result

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return {key: value for key, value in state.items() if key not in ("_training", "_result")}

    predict = _passed("predict", "Predict")
    predict_proba = _passed("predict_proba", "Predict probabilities of classes")
    predict_log_proba = _passed("predict_log_proba", "Predict log-probabilities of classes")
    decision_function = _passed("decision_function", "Compute the decision function")
    transform = _passed("transform", "Transform")

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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """Score by the fitted estimator; all rows count.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of the fit.
        y : array of shape (n_samples,) or (n_samples, n_outputs), optional
            The targets.
        sample_weight : array of shape (n_samples,), optional
            Passed on to the estimator.
        **params
            Passed on to the estimator.
        """
        check_is_fitted(self)
        if _routing_enabled():
            given = process_routing(self, "score", sample_weight=sample_weight, **params)
            params = given.estimator.score
        elif sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        return float(self.estimator_.score(X, y, **params))

    @property
    def classes_(self) -> Any:
        """The labels that a classifier knows."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen by `fit`."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Their names, where X has names that are all strings."""
        return np.asarray(self.estimator_.feature_names_in_)

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


class _Training:
    """The data of a fit, and what a fitted estimator says of them."""

    def __init__(
        self, owner: RobustFit, plain: Any, X: Any, y: Any, params: dict[str, Any], n: int
    ) -> None:
        self.plain, self.owner, self.X, self.y, self.params, self.n = plain, owner, X, y, params, n
        self.labels = None
        if is_classifier(owner.estimator):
            if np.asarray(y).size != n:
                raise ValueError(
                    f"y must have one label for each row, but has shape {np.asarray(y).shape}: fit "
                    "one classifier for each column of y."
                )
            self.labels = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
        if hasattr(X, "tocsr"):
            self.X = X.tocsr()
        elif not hasattr(X, "columns"):
            self.X = np.asarray(X)
        if y is not None and not hasattr(y, "iloc"):
            self.y = np.asarray(y)
        self.least = smallest_difference(y) if is_regressor(owner.estimator) else 0.0

    def groups(self) -> list[Array]:
        """Return the rows that are judged together: all, or those of each class."""
        labels = np.zeros(self.n, dtype=int) if self.labels is None else self.labels
        groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        return [rows for rows in groups if len(rows) >= FEWEST]

    def fit(self, kept: Mask) -> Any:
        if kept.all():
            return self.plain
        rows = np.flatnonzero(kept)
        params = {
            key: _safe_indexing(value, rows)
            if value is not None and hasattr(value, "__len__") and len(value) == self.n
            else value
            for key, value in self.params.items()
        }
        self.owner.n_iter_ += 1
        target = None if self.y is None else _safe_indexing(self.y, rows)
        return clone(self.owner.estimator).fit(_safe_indexing(self.X, rows), target, **params)

    def gradients(self, model: Any) -> Any:
        return gradients_of(model, self.X, self.y, self.owner.gradients, self.n)

    def evidence(self, model: Any) -> Array:
        return evidence(model, self.X, self.y, self.owner.gradients)

    def extreme(self, groups: list[Array], random: np.random.Generator) -> Mask:
        return extreme_rows(final(self.plain, self.X)[1], groups, random)

    def judged(self, found: Array, inside: Mask, stays: Mask) -> tuple[Array, Mask]:
        """Return the p-values of the rows inside, 0 for the others, and which of them leave."""
        rows = np.flatnonzero(inside)
        known = stays.sum() >= FEWEST and self.has_all(stays)
        labels = None if self.labels is None else self.labels[rows]
        chance, leave = np.zeros(self.n), np.zeros(self.n, dtype=np.bool_)
        chance[rows], leave[rows] = judged(
            found[rows], labels, self.least, stays[rows] if known else None
        )
        return chance, leave & ~stays

    def losses(self, model: Any, found: Array) -> Array:
        return losses(model, self.X, self.y, found, self.labels)

    def unseen(self, kept: Mask, found: Array, random: np.random.Generator) -> Array:
        """Return the evidence, that of kept rows by fits that have not seen them."""
        rows = np.flatnonzero(kept)
        seed = int(random.integers(2**31 - 1))
        if self.labels is None:
            folds = KFold(FOLDS, shuffle=True, random_state=seed).split(rows)
        else:
            least = int(np.bincount(self.labels[rows]).min())
            if least < FOLDS:
                return found
            kind = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
            folds = kind.split(rows, self.labels[rows])
        found = found.copy()
        for seen, other in folds:
            mask = np.zeros(self.n, dtype=np.bool_)
            mask[rows[seen]] = True
            found[rows[other]] = self.evidence_of(self.fit(mask), rows[other])
        return found

    def evidence_of(self, model: Any, rows: Array) -> Array:
        y = None if self.y is None else _safe_indexing(self.y, rows)
        return evidence(model, _safe_indexing(self.X, rows), y, self.owner.gradients)

    def has_all(self, rows: Mask) -> bool:
        """Return whether every class is among some rows."""
        return self.labels is None or bool(
            np.bincount(self.labels[rows], minlength=self.labels.max() + 1).all()
        )


def _trusted(trusted: Any, n: int) -> Mask:
    """Return which rows are trusted."""
    stays = np.zeros(n, dtype=np.bool_)
    if trusted is None:
        return stays
    rows = np.asarray(trusted)
    whole = rows.dtype == bool and rows.shape == (n,)
    numbers = rows.ndim == 1 and rows.dtype.kind in "iu" and bool((np.abs(rows + 0.5) < n).all())
    if not whole and not numbers:
        raise ValueError(
            f"trusted must be numbers of rows below {n}, or a mask of that length, but is an array "
            f"of {rows.dtype} of shape {rows.shape}."
        )
    stays[rows] = True
    return stays


def _sampled(groups: list[Array], rows: Mask, stays: Mask, random: np.random.Generator) -> Mask:
    """Return all rows without those of large groups that are not in a sample."""
    rows = rows.copy()
    for group in groups:
        if len(group) > SAMPLE:
            rows[random.choice(group, len(group) - SAMPLE, replace=False)] = False
    return rows | stays


def _kept(chance: Array, leave: Mask, groups: list[Array], inside: Mask) -> tuple[Mask, bool]:
    """Return the rows that are kept, at least half of each group, and whether those agree."""
    kept, agree = inside.copy(), True
    for group in groups:
        rows = group[inside[group]]
        gone = leave[rows]
        if 2 * (len(group) - len(rows) + gone.sum()) >= len(group):
            agree = False
            gone &= chance[rows] < np.median(chance[rows])
        kept[rows[gone]] = False
    return kept, agree


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


def _certified(gradients: Any, support: Mask) -> RobustMeanResult:
    """Return the robust mean of gradients, with the largest deviation of the kept ones as sigma."""
    table = gradients.table()
    kept = table[np.flatnonzero(support)]
    center = np.asarray(kept.mean(axis=0)).ravel()
    v = np.ones(len(center)) / np.sqrt(len(center))
    for _ in range(50):
        along = np.asarray(kept @ v).ravel() - center @ v
        w = np.asarray(kept.T @ along).ravel() - center * along.sum()
        length = float(np.linalg.norm(w))
        if length == 0.0:
            break
        v = w / length
    sigma = float(np.sqrt(np.mean((np.asarray(kept @ v).ravel() - center @ v) ** 2)))
    if sigma == 0.0:
        return robust_mean(table)
    return robust_mean(table, sigma=sigma * 1.01)
