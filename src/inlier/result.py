"""What a fit returns: one frozen result that can prove itself."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inlier import theory
from inlier._arrays import double, every, like, namespace, on_host
from inlier._typing import Array, Mask, Rows
from inlier.data import LooksLater
from inlier.problem import fewest_removed
from inlier.rules import Group, GroupRule, Multiplier, rule_of

# The first score above the threshold of a group.
OVER = float(np.nextafter(1.0, 2.0))


class WeakEvidenceWarning(UserWarning):
    """The data do not say clearly which rows are bad; the message says why and what to look at."""


@dataclass(frozen=True)
class Step:
    """One step of a fit.

    Attributes
    ----------
    stage : str
        "selection", "continuation" or "algorithm 1"; other methods have words of their own.
    budget : float
        What `lambda_max` is held against; nan if it is against nothing.
    n_removed : float
        Rows removed; where weights are lowered, rows with less than half of the largest.
    h_sum : float
        ||h||_1: how much weight has gone, in rows.
    rank : int
        In how many directions the budget is contested.
    lambda_max : float
        Largest eigenvalue of the weighted scatter about the centre, at the tolerance of the step.
    n_passes : int
        Passes over the data so far.
    """

    stage: str
    budget: float
    n_removed: float
    h_sum: float
    rank: int
    lambda_max: float
    n_passes: int


@dataclass(frozen=True)
class Certificate:
    """What is known about an answer, computed at the answer.

    Attributes
    ----------
    budget : float
        B = c1^2 n sigma^2.
    lambda_max : float
        Largest eigenvalue of the scatter of the kept rows about their mean.
    residual : float
        Of that eigenpair: an eigenvalue of the scatter lies within it of `lambda_max`.
    n, n_removed : int
    most_kept : float
        From the dual of the l1 problem: about this mean no w in [0, 1]^n within the budget has
        a larger sum.
    """

    budget: float
    lambda_max: float
    residual: float
    n: int
    n_removed: int
    most_kept: float

    @property
    def feasible(self) -> bool:
        """Whether the kept rows stay within the budget."""
        return self.lambda_max <= self.budget * (1.0 + 1e-9)

    @property
    def l0_lower_bound(self) -> int:
        """About this mean, at least so many rows have to go."""
        return fewest_removed(self.n, self.most_kept)

    @property
    def gap(self) -> float:
        """Duality gap of the l1 problem at the kept rows, in rows."""
        return self.most_kept - (self.n - self.n_removed)

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of all rows."""
        return self.gap / self.n

    @property
    def sigma_kept(self) -> float:
        """Largest standard deviation of the kept rows in any direction; 0 if there are none."""
        return float(np.sqrt(self.lambda_max / max(1, self.n - self.n_removed)))

    def error_radius(self, alpha: Any, sigma: float | None = None) -> float | Array:
        """How far the location can be from the mean of the good rows.

        See `inlier.theory.error_radius`; it assumes that at most a fraction alpha of the rows is
        bad and that the good rows have standard deviation at most sigma in every direction. An
        array of fractions gives the curve over alpha; without sigma, that of the kept rows is used.
        """
        n_kept = self.n - self.n_removed
        sigma = self.sigma_kept if sigma is None else sigma
        if not np.isfinite(self.lambda_max):  # rows too far away to square
            return np.full(np.shape(alpha), np.inf)[()]
        radius: float | Array = theory.error_radius(self.sigma_kept, n_kept, self.n, alpha, sigma)
        return radius

    def statement(self, alpha: float | None = None, sigma: float | None = None) -> str:
        """The error radius in plain words.

        Parameters
        ----------
        alpha : float, optional
            The fraction of bad rows that is assumed; as many as were removed, if not given, and at
            least one row, or one in a hundred.
        sigma : float, optional
            The assumed bound on the good rows; that of the kept rows, if not given.
        """
        if alpha is None:
            alpha = max(0.01, 1.0 / self.n, np.ceil(100.0 * self.n_removed / self.n) / 100.0)
        if not np.isfinite(self.lambda_max):
            return "Some of the kept rows are so far away that nothing is known about the mean."
        sigma = self.sigma_kept if sigma is None else sigma
        radius = float(self.error_radius(alpha, sigma))
        assumed = (
            f"If at most {100.0 * alpha:.3g}% of the rows are bad and the good rows vary by at "
            f"most {sigma:.3g} in any direction"
        )
        if not np.isfinite(radius):
            return f"{assumed}, nothing is known: all of the kept rows may be bad."
        return f"{assumed}, the mean is within {radius:.3g} of that of the good rows."


@dataclass(frozen=True, eq=False)
class PathPoint(LooksLater):
    """One point on the way down in the budget.

    Attributes
    ----------
    budget : float
        B = n sigma^2.
    sigma : float
        Largest standard deviation of the rows that are kept, in any direction.
    price : float
        kappa = B tr(Lambda) / n: the fraction of the rows that has to go for each e-fold of the
        budget. Small while groups leave; it jumps where good rows would have to pay.
    rank : float
        Effective rank of Lambda, tr(Lambda)^2 / tr(Lambda^2).
    share : float
        p / h for the rows that left last; 1 where nothing speaks for their leaving.
    removed : int array
        Indices of the rows that have left.
    location : array of shape (d,)
        The mean of the others.
    certificate : Certificate
    """

    budget: float
    sigma: float
    price: float
    rank: float
    share: float
    removed: Rows = field(repr=False)
    location: Array = field(repr=False)
    certificate: Certificate = field(repr=False)


@dataclass(frozen=True)
class MeanResult:
    """A mean, and what became of each row: what every method returns.

    Attributes
    ----------
    location : array of shape (d,)
        The estimate.
    support : boolean array of shape (n,)
        The rows that count: with at least half of the largest weight.
    weights : array of shape (n,)
        In [0, 1]: the location is the mean of the rows with these weights, unless the method says
        otherwise. Methods that judge no rows, such as medians, give all of them weight 1.
    scores : array of shape (n,)
        How bad each row is, as the method sees it; larger is worse.
    history : tuple of Step
    n_iter : int
    n_passes : int
        Times that the data were read.
    converged : bool
    message : str
        How it ended and, if not well, what to try.
    """

    location: Any
    support: Rows = field(repr=False)
    weights: Rows = field(repr=False)
    scores: Rows = field(repr=False)
    history: tuple[Step, ...] = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    message: str

    @property
    def outliers(self) -> Rows:
        """Indices of the removed rows."""
        return namespace(self.support).nonzero(~self.support)[0]


@dataclass(frozen=True)
class RobustMeanResult(MeanResult):
    """The mean of the good rows, the rows that were removed, and the proof.

    Attributes
    ----------
    location : array of shape (d,)
        The mean of the kept rows.
    support : boolean array of shape (n,)
        The kept rows.
    weights : array of shape (n,)
        1 for the kept rows and 0 for the others; 1 - h, if none is kept.
    indicator : array of shape (n,)
        h: zero for the kept rows, in (0, 1] for the removed ones.
    scores : array of shape (n,)
        q: how much of the budget a row would take, at its price; larger is worse.
    sigma : float
        The bound on the standard deviation that was used.
    budget : float
        c1^2 n sigma^2.
    certificate : Certificate
    rule : Multiplier or GroupRule
        What is behind the scores: the directions and prices of the fit or, without sigma, the
        groups. It gives a verdict on other rows too.
    groups : tuple of Group
        The rows that left, by group; empty if sigma was given.
    path : tuple of PathPoint
        From the budget of all rows to that of the kept ones, a point for each group that left, and
        on below it; empty if sigma was given.
    history : tuple of Step
    n_iter : int
        Iterations of Algorithm 1; without sigma, rounds of the search for groups.
    n_passes : int
        Times that the data were read.
    converged : bool
    message : str
        How the fit ended and, if not well, what to try.
    """

    indicator: Rows = field(repr=False)
    sigma: float
    budget: float
    certificate: Certificate
    rule: Multiplier | GroupRule = field(repr=False)
    groups: tuple[Group, ...] = field(default=(), repr=False)
    path: tuple[PathPoint, ...] = field(default=(), repr=False)

    def at(self, point: int | None = None, *, sigma: float | None = None) -> RobustMeanResult:
        """The answer at another point of the path, without a new fit.

        Below the chosen point rows leave that belong to no group. The path stays with this result.

        Parameters
        ----------
        point : int, optional
            Index into `path`.
        sigma : float, optional
            Instead: the point whose sigma is nearest.
        """
        if not self.path:
            raise ValueError(
                "This result has no path: sigma was given to the fit, or it was itself taken from "
                "a path. Call `at` on the result of robust_mean(X)."
            )
        if (point is None) == (sigma is None):
            raise ValueError("Give either point, an index into path, or sigma.")
        if sigma is not None:
            if not _is_number(sigma) or not 0.0 < sigma < np.inf:
                raise ValueError(f"sigma must be a finite number above 0, but is {sigma!r}.")
            logs = np.log([max(step.sigma, np.finfo(float).tiny) for step in self.path])
            point = int(np.argmin(np.abs(logs - np.log(sigma))))
        if not _is_index(point, len(self.path)):
            raise ValueError(
                f"point must be an index into path, which has {len(self.path)} points, but is "
                f"{point!r}."
            )
        assert point is not None
        step = self.path[point]
        groups = self.groups[: range(len(self.path))[point]]
        support = np.ones(self.support.shape[0], dtype=np.bool_)
        support[on_host(step.removed)] = False
        return self._with(support, step.location, step.certificate, groups, step.sigma)

    def keep(self, group: int | Group) -> RobustMeanResult:
        """The answer with a group put back, without a new fit.

        To take out a whole good sub-population is the typical mistake; who knows the rows can undo
        it. The certificate then holds a bound: what the rows had before the group left.

        Parameters
        ----------
        group : int or Group
            One of `groups`, or its index.
        """
        if isinstance(group, Group):
            rows = group.rows
            sizes = [own.size for own in self.groups]
            same = [
                i
                for i, own in enumerate(self.groups)
                if sizes[i] == group.size and every(own.rows == rows)
            ]
            if not same:
                raise ValueError("group is not one of the groups of this result.")
            group = same[0]
        if not _is_index(group, len(self.groups)):
            raise ValueError(
                f"group must be one of groups, of which there are {len(self.groups)}, or its "
                f"index, but is {group!r}."
            )
        back = self.groups[group]
        groups = tuple(other for other in self.groups if other is not back)
        support = on_host(self.support).copy()
        m = int(support.sum())
        support[on_host(back.rows)] = True
        n = len(support)
        total = m + back.size
        kept = on_host(self.location).astype(np.float64)
        location = kept + (back.mean - kept) * (back.size / total)
        # All these rows were there before the first of the groups left: their scatter was larger.
        top = max(back.budget, self.certificate.lambda_max)
        certificate = replace(
            self.certificate,
            budget=top * n / total,
            lambda_max=top,
            n_removed=n - total,
            most_kept=float(n),
        )
        return self._with(support, location, certificate, groups, certificate.sigma_kept)

    def _with(
        self,
        support: Mask,
        location: Array,
        certificate: Certificate,
        groups: tuple[Group, ...],
        sigma: float,
    ) -> RobustMeanResult:
        kept, n = int(support.sum()), len(support)
        inside, q = like(support, self.support), self.scores
        xp = namespace(q)
        removed = max(self.certificate.n_removed, certificate.n_removed, 1)
        alpha = max(0.01, float(np.ceil(100.0 * removed / n)) / 100.0)
        metric = self.rule.metric if isinstance(self.rule, Multiplier) else None
        if self.groups:
            metric = self.groups[0].metric
        return replace(
            self,
            location=like(location, self.location, self.location.dtype),
            support=inside,
            weights=double(inside),
            indicator=double(~inside),
            # Without the data a score can only be moved to the side of the verdict.
            scores=xp.where(inside, xp.clip(q, None, 1.0), xp.clip(q, OVER, None)),
            sigma=sigma,
            budget=certificate.budget,
            certificate=certificate,
            rule=rule_of(groups, location, certificate.budget, metric),
            groups=groups,
            path=(),
            # As many may be bad as the fit had removed, also if some of them are back.
            message=f"Kept {kept} of {n} rows by choice. {certificate.statement(alpha)}",
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def _is_index(value: Any, length: int) -> bool:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    return whole and -length <= int(value) < length
