"""What a fit returns: one frozen result that can prove itself."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from inlier._internal.arrays import count, double, every, like, namespace, on_host
from inlier._internal.late import late
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import check_budget, check_number
from inlier.data import FilledTable, Gaps, LazyFields, Table, as_table
from inlier.results.cells import Cell, cells_of, gross_cells
from inlier.results.certificate import Certificate, spectrum_of_kept
from inlier.results.explanation import Explanation, explain, of_cells
from inlier.results.named_table import NamedTable
from inlier.results.rules import Group, GroupRule, Multiplier, Suspect, rule_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows of which nothing but so many roundings is left do not vary.
ROUNDINGS = 8.0
# The first score above the threshold of a group.
OVER = float(np.nextafter(1.0, 2.0))
# Said of a fit in another metric.
IN_UNITS = "(Sigma and distances are in units of the scatter.)"


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


@dataclass(frozen=True, eq=False)
class PathPoint(LazyFields):
    """One point on the way down in the budget.

    Attributes
    ----------
    budget : float
        B = n sigma^2.
    sigma : float
        Upper bound on the standard deviation of the rows that are kept, in any direction; with
        more than 256 columns `RobustMeanResult.at` finds a closer one.
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
        The mean of the others, in which a missing cell counts as the median of its column.
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
        The mean of the kept rows; of each column over those that have the cell.
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
    suspects : tuple of Suspect
        Groups that were kept although they are clear of the rest, because the rest is not noise
        about one centre; `drop` removes one.
    path : tuple of PathPoint
        From the budget of all rows to that of the kept ones, a point for each group that left, and
        on below it; empty if sigma was given.
    data : NamedTable, optional
        What the fit was about: a reference, which a pickled result has no more.
    remarks : str
        What the message says beyond how many rows were kept, the groups, the suspects and the
        certificate.
    choices : tuple of str
        What was chosen in place of the fit's answer, with `keep` and `drop`.
    gaps : Gaps, optional
        The missing cells, if there are some: how many, and the medians that they count as.
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
    suspects: tuple[Suspect, ...] = field(default=(), repr=False)
    path: tuple[PathPoint, ...] = field(default=(), repr=False)
    data: NamedTable | None = field(default=None, repr=False)
    remarks: str = field(default="", repr=False)
    choices: tuple[str, ...] = field(default=(), repr=False)
    gaps: Gaps | None = field(default=None, repr=False)

    @property
    def n_missing(self) -> Array:
        """How many cells are missing in each column, d."""
        if self.gaps is None:
            return np.zeros(self.location.shape[0], dtype=np.intp)
        return self.gaps.counts

    @property
    def fill(self) -> Array:
        """What a missing cell of a new row counts as, d: the median of its column in the fit.

        A fit without missing cells has not looked for medians; there it is the location.
        """
        if self.gaps is None:
            return on_host(self.location).astype(np.float64)
        return self.gaps.fill

    def over_cells(self) -> RobustMeanResult:
        """A fit of a table without gaps, with the means over the cells that were there.

        What is about the table without gaps says so. In one pass, if there were gaps.
        """
        data = self.known_data()
        table = data.table
        if not isinstance(table, FilledTable):
            return self
        mean, counts = table.known(on_host(self.support))
        gaps = replace(table.gaps, unknown=np.flatnonzero(counts == 0))
        n_missing = int(gaps.counts.sum())
        certificate = replace(self.certificate, n_missing=n_missing, aside=gaps.aside)
        statement = certificate.statement()
        said = self.message.replace(self.certificate.statement(), statement)
        note = gaps.note(data.columns)
        path = [
            replace(
                point,
                certificate=replace(point.certificate, n_missing=n_missing, aside=gaps.aside),
            )
            for point in self.path
        ]
        return replace(
            self,
            location=mean.astype(table.dtype),
            certificate=certificate,
            message=_with_remark(said, self.remarks, statement, note),
            remarks=f"{self.remarks} {note}".lstrip(),
            path=tuple(path),
            n_passes=self.n_passes + 1,
            gaps=gaps,
        )

    @property
    def standard_error(self) -> Any:
        """Standard error of the location in each column, (d,), in double precision.

        The standard deviation of the m kept rows, with m - 1 in the denominator, over sqrt(m): what
        chance alone does to their mean. That some bad rows may be left, or good ones gone, is no
        part of it: see `Certificate.error_radius`. Where cells are missing, m is the number of kept
        rows that have the cell; infinite for fewer than two. One pass over the data, once.
        """
        return like(self._mean_and_error[1], self.location)

    def confidence_interval(self, level: float = 0.95) -> Any:
        """Where the mean of the good rows' distribution lies, column by column, by Student's t.

        It takes the kept rows for the good ones, as `standard_error` does, and each column for
        itself: all d intervals hold together less often than each of them. How often they hold is
        in docs/results/coverage.md.

        Parameters
        ----------
        level : float
            How often an interval should hold, between 0 and 1.

        Returns
        -------
        array of shape (2, d)
            The lower ends and the upper ends, in double precision: ``low, high = ...``.
        """
        level = check_number(level, "level", below=1.0)
        mean, error, m = self._mean_and_error
        # From the tail: (1 + level) / 2 is rounded to 1 where the level is nearly so.
        reach = np.full(len(error), np.inf)
        known = np.isfinite(error)
        reach[known] = -stdtrit(m[known] - 1, (1.0 - level) / 2.0) * error[known]
        return like(np.stack([mean - reach, mean + reach]), self.location)

    @cached_property
    def _mean_and_error(self) -> tuple[Array, Array, Array]:
        """Of each column: the mean, not rounded, its standard error, and of how many kept cells."""
        n_kept = count(self.support)
        if n_kept < 2:
            raise ValueError(
                f"A standard error takes at least 2 kept rows, but this result keeps {n_kept}: one "
                "row does not show how much rows vary."
            )
        table = as_table(self.known_data().table)
        if isinstance(table, FilledTable):
            center = table.fill
            squares, drift, m = table.sums(on_host(self.support))
        else:
            center = on_host(self.location).astype(np.float64)
            squares, drift = table.squares(center, double(self.support))
            m = np.full(len(center), n_kept)
        own = np.maximum(m, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            # About the mean itself: the location may have been rounded to single precision.
            about = squares - drift * (drift / own)
            # Of a constant column that leaves rounding, in place of zero.
            about = np.where(about > 4.0 * own * np.finfo(float).eps * squares, about, 0.0)
            # Rows too far away to square were kept, or put back; or one cell is all there is.
            about = np.where(np.isfinite(squares) & (m > 1), about, np.inf)
            return center + drift / own, np.sqrt(about / np.maximum(m - 1, 1) / own), m

    def at(
        self,
        point: int | None = None,
        *,
        sigma: float | None = None,
        budget: float | None = None,
        threshold: float | None = None,
        p: float | None = None,
    ) -> RobustMeanResult:
        """Choose again, without a new fit: by one of the arguments.

        Parameters
        ----------
        point : int
            Index into `path`. Below the chosen point rows leave that belong to no group.
        sigma, budget : float
            The point of the path that is nearest. Where there is no path, because sigma was given
            to the fit, the paper's problem is solved again from where the fit ended, with
            re-weighted l2 and p = 0.5, in some ten passes over the data.
        threshold : float
            Rows with a higher score are removed, whatever the fit has said; some ten passes.
        p : float
            The power of h in the surrogate, in the paper's problem with the same budget, from where
            the fit ended; some ten passes. Without sigma that is another answer: the problem knows
            one bound for all directions, and no groups.

        Returns
        -------
        RobustMeanResult
            It has no path of its own: that stays with this one.
        """
        chosen = [x for x in (point, sigma, budget, threshold, p) if x is not None]
        if len(chosen) != 1:
            raise ValueError(
                "Give one of point (an index into path), sigma, budget, threshold and p, but "
                f"{len(chosen)} were given."
            )
        if threshold is not None:
            return self._beyond(check_number(threshold, "threshold", at_least=0.0))
        if p is not None:
            return self._solved_again(p=check_number(p, "p", at_most=1.0))
        given = f"sigma={sigma}"
        if budget is not None:
            # A budget is c1^2 n sigma^2, and c1 stays what it was.
            ratio = check_number(budget, "budget", below=np.inf) / self.budget
            given = f"budget={budget:g}"
            sigma = self.sigma * float(np.sqrt(ratio))
        if sigma is not None:
            sigma = check_number(sigma, "sigma", below=np.inf)
            if not self.path:
                ratio = sigma / self.sigma
                check_budget(self.budget * ratio * ratio, given)
                return self._solved_again(sigma=sigma)
            logs = np.log([max(step.sigma, np.finfo(float).tiny) for step in self.path])
            point = int(np.argmin(np.abs(logs - np.log(sigma))))
        if not self.path:
            raise ValueError(
                "This result has no path: sigma was given to the fit, or it was itself taken from "
                "a path. Call `at` on the result of robust_mean(X), or give sigma instead of point."
            )
        if not _is_index(point, len(self.path)):
            raise ValueError(
                f"point must be an index into path, which has {len(self.path)} points, but is "
                f"{point!r}."
            )
        assert point is not None
        groups = self.groups[: range(len(self.path))[point]]
        support = np.ones(self.support.shape[0], dtype=np.bool_)
        support[on_host(self.path[point].removed)] = False
        return self._with(support, groups, dual=self.path[point].certificate.multiplier)

    def _solved_again(self, **changes: float) -> RobustMeanResult:
        if not 0.0 < self.sigma < np.inf:
            raise ValueError(
                f"This result has sigma = {self.sigma:g}, for which there is no problem to solve "
                "again."
            )
        again: RobustMeanResult = late("solve_again")(self, **changes)
        told = f"The paper's problem, told sigma = {again.sigma:.4g}."
        return replace(
            again,
            message=f"{told} {again.message}",
            remarks=f"{told} {again.remarks}".rstrip(),
        )

    def _beyond(self, threshold: float) -> RobustMeanResult:
        """The rows with a score above a threshold removed."""
        support = on_host(self.scores <= threshold)
        if not support.any():
            raise ValueError(
                f"threshold={threshold:g} is below every score, so that no row would be kept. The "
                f"lowest score is {float(on_host(self.scores).min()):.4g}."
            )
        groups = tuple(
            replace(group, rows=group.rows[like(~support, group.rows)[group.rows]])
            for group in self.groups
        )
        groups = tuple(group for group in groups if group.size)
        rule = replace(self.rule, threshold=threshold)
        return replace(self._with(support, groups, rule), scores=self.scores)

    def keep(self, group: int | Group) -> RobustMeanResult:
        """The answer with a group put back, without a new fit.

        To take out a whole good sub-population is the typical mistake; who knows the rows can undo
        it. Some fifteen passes over the data.

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
        support[on_host(back.rows)] = True
        return self._with(support, groups, choice=f"Put back: {back}.")

    def drop(self, suspect: int | Suspect) -> RobustMeanResult:
        """The answer with a suspected group removed, without a new fit.

        Parameters
        ----------
        suspect : int or Suspect
            One of `suspects`, or its index. Some fifteen passes over the data.
        """
        if isinstance(suspect, Suspect):
            same = [i for i, own in enumerate(self.suspects) if own is suspect]
            if not same:
                raise ValueError("suspect is not one of the suspects of this result.")
            suspect = same[0]
        if not _is_index(suspect, len(self.suspects)):
            raise ValueError(
                f"suspect must be one of suspects, of which there are {len(self.suspects)}, or its "
                f"index, but is {suspect!r}."
            )
        gone = self.suspects[suspect]
        support = on_host(self.support).copy()
        support[on_host(gone.rows)] = False
        return self._with(support, (*self.groups, gone.group), choice=f"Dropped: {gone.group}.")

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The gross cells of the rows that left for them; of at most a thousand rows."""
        return gross_cells(self.groups, self.known_data())

    def _with(
        self,
        support: Mask,
        groups: tuple[Group, ...],
        rule: Multiplier | GroupRule | None = None,
        dual: Multiplier | None = None,
        choice: str = "",
    ) -> RobustMeanResult:
        """The answer that keeps these rows, looked at anew: some fifteen passes."""
        table = as_table(self.known_data().table)
        n, kept = len(support), int(support.sum())
        inside = like(support, self.support)
        # From a kept row: where the fit ended may be so far away that their digits are lost there.
        central = np.where(support, on_host(self.scores), np.inf).argmin()
        location = table.some(np.array([central]))[0].astype(np.float64)
        for _ in range(2):
            location = table.mean(double(inside), location)
        certificate = self._certified(table, inside, location, dual)
        if rule is None:
            rule = self._rule_of(groups, location, certificate.budget, table)
        with np.errstate(over="ignore", invalid="ignore"):
            q = rule.scores(table)
        xp = namespace(q)
        choices = (*self.choices, choice) if choice else self.choices
        remarks = " ".join([*choices, f"Kept {kept} of {n} rows by choice."])
        units = "" if rule.metric is None else f" {IN_UNITS}"
        chosen = replace(
            self,
            location=like(location, self.location, self.location.dtype),
            support=inside,
            weights=double(inside),
            indicator=double(~inside),
            # Where rows were chosen that no rule tells apart, moved to the side of the verdict.
            scores=xp.where(inside, xp.clip(q, None, 1.0), xp.clip(q, OVER, None)),
            sigma=certificate.sigma_kept,
            budget=certificate.budget,
            certificate=certificate,
            rule=rule,
            groups=groups,
            # Of a group that is gone there is nothing left to suspect.
            suspects=tuple(s for s in self.suspects if support[on_host(s.rows)].all()),
            path=(),
            n_passes=table.n_passes,
            message=f"{remarks} {certificate.statement()}{units}",
            remarks=remarks,
            choices=choices,
        )
        return chosen.over_cells()

    def _rule_of(
        self, groups: tuple[Group, ...], location: Array, budget: float, table: Table
    ) -> Multiplier | GroupRule:
        """The verdict of some groups; a row that differs by rounding alone breaks no budget."""
        metric = self.rule.metric
        if groups or not np.isfinite(budget):
            return rule_of(groups, location, budget, metric)
        size = float(np.linalg.norm(location)) if metric is None else metric.reach(location)
        noise = ROUNDINGS * float(np.finfo(table.dtype).eps) * size
        return rule_of(groups, location, max(budget, table.shape[0] * noise**2), metric)

    def _certified(
        self, table: Table, kept: Rows, location: Array, dual: Multiplier | None
    ) -> Certificate:
        """What is known about a choice of rows; its budget is what they need."""
        n, m = kept.shape[0], count(kept)
        low, high, failure, most_kept = np.inf, np.inf, 0.0, float(n)
        metric = self.rule.metric
        alike = Multiplier(location, None, np.empty(0), 1.0, 1.0, location, metric=metric)
        with np.errstate(over="ignore", invalid="ignore"):
            far = alike.scores(table)
        if every(namespace(far).isfinite(far) | ~kept):  # else some are too far away to square
            spectrum = spectrum_of_kept(table, double(kept), location, metric)
            low, high = max(0.0, float(spectrum.values[0])), spectrum.bound
            failure = spectrum.failure
        budget = high * n / m
        multiplier = alike if dual is None or not 0.0 < budget < np.inf else dual
        if multiplier is dual:
            most_kept = dual.most_kept(table, location, budget)
        return Certificate(
            budget=budget,
            lambda_max=low,
            bound=high,
            failure=failure,
            n=n,
            n_removed=n - m,
            most_kept=most_kept,
            removed=namespace(kept).nonzero(~kept)[0],
            multiplier=multiplier,
            # As many may be bad as the fit had removed, also if some of them are back.
            n_suspected=max(self.certificate.n_removed, self.certificate.n_suspected),
        )

    def explain(self, row: int, X: Any = None) -> Explanation:
        """Why a row got its score: directions and features, whose parts add up to it.

        Parameters
        ----------
        row : int
            Its number, from 0; negative numbers count from the end.
        X : array of shape (n, d), optional
            The data, if this result has been pickled since the fit.
        """
        there = self if X is None else self.with_data(X)
        n = there.known_data().table.shape[0]
        if not _is_index(row, n):
            raise ValueError(f"row must be the number of one of {n} rows, but is {row!r}.")
        return there.explanations(np.array([range(n)[row]]))[0]

    def explanations(self, rows: Array) -> list[Explanation]:
        """Why some rows got their scores, by the groups that they left with.

        Parameters
        ----------
        rows : int array
            Their numbers.
        """
        data = self.known_data()
        found = []
        # Those of the rule: another threshold leaves it as it is, and groups without some rows.
        judges = self.rule.groups if isinstance(self.rule, GroupRule) else ()
        for i, values in zip(rows.tolist(), data.table.some(rows), strict=True):
            why = replace(
                explain(self.rule, i, values, data.columns, _group_with(judges, i)),
                removed=not bool(self.support[i]),
                cells=tuple(str(cell) for cell in cells_of(self.cells, i)),
                suspected=self._suspected(i),
            )
            found.append(of_cells(why, data.table))
        return found

    def _suspected(self, row: int) -> str:
        """The suspect that a row belongs to, in words."""
        i = _group_with([suspect.group for suspect in self.suspects], row)
        return "" if i is None else f"suspect {i + 1}: {self.suspects[i]}"

    def with_data(self, X: Any, *, columns: Any = None, names: Any = None) -> RobustMeanResult:
        """The same result beside its data: after it was pickled, or to give names.

        Parameters
        ----------
        X : array of shape (n, d)
            What the fit was about.
        columns : sequence of str, optional
            The names of the columns.
        names : sequence, optional
            The names of the rows.
        """
        data = NamedTable.of(X, columns=columns, names=names, gaps=self.gaps)
        expected = (self.support.shape[0], self.location.shape[0])
        if data.table.shape != expected:
            raise ValueError(
                f"X has shape {data.table.shape}, but the fit was about a table of shape "
                f"{expected}."
            )
        message, remarks = self.message, self.remarks
        if self.gaps is not None:  # which columns they are in may have a name now
            before = None if self.data is None else self.data.columns
            notes = self.gaps.note(before), self.gaps.note(data.columns)
            message, remarks = message.replace(*notes), remarks.replace(*notes)
        return replace(self, data=data, message=message, remarks=remarks)

    def known_data(self) -> NamedTable:
        """The data behind the result, or an error that says how to bring them back."""
        if self.data is None:
            raise ValueError(
                "The data are not with this result any more: they are left out when a result is "
                "pickled or copied. Bring them back with result.with_data(X)."
            )
        return self.data

    @cached_property
    def summary(self) -> Any:
        """What a report is made of, an `inlier.results.summary.Summary`: some ten passes, once."""
        return late("summarise")(self)

    def to_html(
        self, path: Any = None, *, title: str | None = None, image: tuple[int, int] | None = None
    ) -> str:
        """A page that explains the answer: one file that needs no network.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.
        title : str, optional
            What the data are called.
        image : tuple of int, optional
            Height and width, if each row is a grey image.
        """
        if title is not None and not isinstance(title, str):
            raise ValueError(f"title must be a text, but is {title!r}.")
        html: str = late("page")(self.summary, title=title or "", image=image, path=path)
        return html

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        html: str = late("card")(self)
        return html

    def plot_scores(self, ax: Axes | None = None) -> Axes:
        """The score of every row, and the cut."""
        return self._plotted("scores", ax)

    def plot_means(self, ax: Axes | None = None) -> Axes:
        """The columns in which the plain mean is off most, beside the median."""
        return self._plotted("means", ax)

    def plot_rows(self, ax: Axes | None = None) -> Axes:
        """The rows in the two directions that matter most."""
        return self._plotted("rows", ax)

    def plot_spectrum(self, ax: Axes | None = None) -> Axes:
        """How much all rows vary, and the kept ones, in the directions in which they vary most."""
        return self._plotted("spectrum", ax)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """What leaves as the budget is lowered, its price, and the chosen point."""
        return self._plotted("path", ax)

    def _plotted(self, what: str, ax: Axes | None) -> Axes:
        drawn: Axes = late(f"plot_{what}")(self.summary, ax)
        return drawn

    def __getstate__(self) -> dict[str, Any]:
        """Without the data, which may be larger than memory, and what was made of them."""
        made = ("summary", "cells", "_mean_and_error")
        state = {name: value for name, value in self.__dict__.items() if name not in made}
        return {**state, "data": None}


def _with_remark(message: str, remarks: str, statement: str, note: str) -> str:
    """A message with a note after its remarks; without any, before what the certificate states."""
    if remarks and remarks in message:
        return message.replace(remarks, f"{remarks} {note}", 1)
    if not remarks and statement in message:
        return message.replace(statement, f"{note} {statement}", 1)
    said = message.removesuffix(IN_UNITS).rstrip()
    return f"{said} {note} {IN_UNITS}" if message.endswith(IN_UNITS) else f"{said} {note}"


def _group_with(groups: Sequence[Group], row: int) -> int | None:
    """The index of the group that a row is in."""
    return next((i for i, group in enumerate(groups) if (on_host(group.rows) == row).any()), None)


def _is_index(value: Any, length: int) -> bool:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    return whole and -length <= int(value) < length
