"""What a fit returns: one frozen result that can prove itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from inlier._internal.arrays import count, like, on_host
from inlier._internal.late import late
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import check_number
from inlier.data import Gaps, as_table
from inlier.results import choosing, wording
from inlier.results.cells import Cell, cells_of, gross_cells
from inlier.results.certificate import Certificate
from inlier.results.explanation import Explanation, explain, of_cells
from inlier.results.named_table import NamedTable
from inlier.results.outcome import Outcome
from inlier.results.outlyingness import RobustDistance
from inlier.results.records import MeanResult, PathPoint
from inlier.results.rules import Group, GroupRule, Multiplier, Suspect
from inlier.results.weighting import effective_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class RobustMeanResult(MeanResult):
    """The mean of the good rows, the rows that were removed, and the proof.

    Attributes
    ----------
    location, support, weights, scores, history, n_iter, n_passes, converged, message
        As in `MeanResult`. The location is the mean of the kept rows, of each column over those
        that have the cell. Weights are 1 for the kept rows and 0 for the others; 1 - h, if none is
        kept; with `sample_weight` times that, in units of the largest. A score is how much of the
        budget a row would take, at its price. Without sigma, iterations are rounds of the search
        for groups.
    indicator : array of shape (n,)
        h: zero for the kept rows, in (0, 1] for the removed ones.
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
        about one center; `drop` removes one.
    path : tuple of PathPoint
        From the budget of all rows to that of the kept ones, a point for each group that left, and
        on below it; empty if sigma was given.
    data : NamedTable, optional
        What the fit was about: a reference, which a pickled result has no more.
    outcome : Outcome
        How the fit ended, as fields; `message` says it in words.
    gaps : Gaps, optional
        The missing cells, if there are some: how many, and the medians that they count as.
    sample_weight : array of shape (n,), optional
        What each row counts in the location, if that is a weighted mean. Support, scores, groups,
        path, sigma and certificate are about rows that count once.
    unweighted : array of shape (d,), optional
        The mean of the kept rows with each counted once, if the location is weighted.
    """

    message: str = field(init=False)
    indicator: Rows = field(repr=False)
    sigma: float
    budget: float
    certificate: Certificate
    rule: Multiplier | GroupRule = field(repr=False)
    outcome: Outcome = field(default=Outcome(), repr=False)
    groups: tuple[Group, ...] = field(default=(), repr=False)
    suspects: tuple[Suspect, ...] = field(default=(), repr=False)
    path: tuple[PathPoint, ...] = field(default=(), repr=False)
    data: NamedTable | None = field(default=None, repr=False)
    gaps: Gaps | None = field(default=None, repr=False)
    sample_weight: Array | None = field(default=None, repr=False)
    unweighted: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", wording.message(self))

    @property
    def remarks(self) -> str:
        """What the message says beyond numbers of rows, groups and the certificate."""
        return wording.remarks(self)

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
        """Return the same fit with means over the cells that are not missing.

        What is about the table without gaps says so. In one pass, if there were gaps.
        """
        data = self.known_data()
        table = data.table
        if table.gaps is None:
            return self
        mean, counts = table.observed_mean(on_host(self.support), self.fill)
        gaps = replace(table.gaps, all_missing=np.flatnonzero(counts == 0))
        n_missing = int(gaps.counts.sum())

        def noted(certificate: Certificate) -> Certificate:
            return replace(certificate, n_missing=n_missing, aside=gaps.ignored)

        return replace(
            self,
            location=mean.astype(table.dtype),
            certificate=noted(self.certificate),
            path=tuple(replace(x, certificate=noted(x.certificate)) for x in self.path),
            n_passes=self.n_passes + 1,
            gaps=gaps,
        )

    @property
    def effective_size(self) -> float:
        """How many rows of one weight have a mean of the same variance, (sum w)^2 / sum w^2.

        The number of kept rows or, with `sample_weight`, at most that.
        """
        return effective_size(on_host(self.weights))

    @property
    def standard_error(self) -> Any:
        """Standard error of the location in each column, (d,), in double precision.

        The standard deviation of the m kept rows, with m - 1 in the denominator, over sqrt(m): what
        chance alone does to their mean. That some bad rows may be left, or good ones gone, is no
        part of it: see `Certificate.error_radius`. Where cells are missing, m is the number of kept
        rows that have the cell; infinite for fewer than two. One pass over the data, once.

        With `sample_weight` the deviation is weighted and m is the effective size. That takes the
        rows to vary alike, whatever they weigh: too large if heavy rows vary less than light ones,
        as means of more samples do, and too small if they vary more.
        """
        return like(self._mean_and_error[1], self.location)

    @property
    def deviation(self) -> Any:
        """Standard deviation of the kept rows in each column, (d,), in double precision.

        About the location, weighted as it is: with the sum of the weights in the denominator, the
        number of kept rows if there is no `sample_weight`. 0 if fewer than two have the cell.
        """
        _, error, m = self._mean_and_error
        deviation = np.zeros(len(m))
        deviation[m > 1.0] = error[m > 1.0] * np.sqrt(m[m > 1.0] - 1.0)
        return like(deviation, self.location)

    def confidence_interval(self, level: float = 0.95) -> Any:
        """Return a Student's t interval for the mean of the good rows in each column.

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
        """Of each column: the mean, not rounded, its standard error, and its effective size."""
        n_kept = self.n_counting
        if n_kept < 2:
            weighed = "" if self.sample_weight is None else " of positive weight"
            raise ValueError(
                f"A standard error takes at least 2 kept rows{weighed}, but this result keeps "
                f"{n_kept}: one row does not show how much rows vary."
            )
        table = as_table(self.known_data().table)
        center = on_host(self.location).astype(np.float64)
        center, squares, drift, mass, mass_squared = table.observed_sums(self.weights, center)
        own = np.where(mass > 0.0, mass, 1.0)
        m = mass * (mass / np.where(mass_squared > 0.0, mass_squared, 1.0))
        with np.errstate(over="ignore", invalid="ignore"):
            # About the mean itself: the location may have been rounded to single precision.
            about = squares - drift * (drift / own)
            # Of a constant column that leaves rounding, in place of zero.
            about = np.where(about > 4.0 * n_kept * np.finfo(float).eps * squares, about, 0.0)
            # Rows too far away to square were kept, or put back; or one cell is all there is.
            about = np.where(np.isfinite(squares) & (m > 1.0), about, np.inf)
            return center + drift / own, np.sqrt(about / np.where(m > 1.0, m - 1.0, 1.0) / own), m

    @property
    def n_counting(self) -> int:
        """How many of the kept rows have a positive weight."""
        return count(self.support & (self.weights > 0.0))

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
        return choosing.at(self, point, sigma, budget, threshold, p)

    def keep(self, group: int | Group) -> RobustMeanResult:
        """Return the answer with a group put back, without a new fit.

        To take out a whole good sub-population is the typical mistake; who knows the rows can undo
        it. Some fifteen passes over the data.

        Parameters
        ----------
        group : int or Group
            One of `groups`, or its index.
        """
        return choosing.keep(self, group)

    def drop(self, suspect: int | Suspect) -> RobustMeanResult:
        """Return the answer with a suspected group removed, without a new fit.

        Parameters
        ----------
        suspect : int or Suspect
            One of `suspects`, or its index. Some fifteen passes over the data.
        """
        return choosing.drop(self, suspect)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The gross cells of the rows that left for them; of at most a thousand rows."""
        return gross_cells(self.groups, self.known_data())

    def explain(self, row: int, X: Any = None) -> Explanation:
        """Explain the score of a row by directions and features, whose parts add up to it.

        Parameters
        ----------
        row : int
            Its number, from 0; negative numbers count from the end.
        X : array of shape (n, d), optional
            The data, if this result has been pickled since the fit.
        """
        there = self if X is None else self.with_data(X)
        n = there.known_data().table.shape[0]
        if not choosing.is_index(row, n):
            raise ValueError(f"row must be the number of one of {n} rows, but is {row!r}.")
        return there.explanations(np.array([range(n)[row]]))[0]

    def explanations(self, rows: Array) -> list[Explanation]:
        """Explain the scores of some rows by the groups that they left with.

        Parameters
        ----------
        rows : int array
            Their numbers.
        """
        data = self.known_data()
        found = []
        # Those of the rule: another threshold leaves it as it is, and groups without some rows.
        judges = self.rule.groups if isinstance(self.rule, GroupRule) else ()
        for i, values in zip(rows.tolist(), data.table.fetch(rows), strict=True):
            suspect = _group_with([suspect.group for suspect in self.suspects], i)
            why = replace(
                explain(self.rule, i, values, data.columns, _group_with(judges, i)),
                removed=not bool(self.support[i]),
                cells=tuple(str(cell) for cell in cells_of(self.cells, i)),
                suspected=""
                if suspect is None
                else f"suspect {suspect + 1}: {self.suspects[suspect]}",
            )
            found.append(of_cells(why, data.table))
        return found

    def with_data(self, X: Any, *, columns: Any = None, names: Any = None) -> RobustMeanResult:
        """Return the same result with its data: after unpickling, or to give names.

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
        return replace(self, data=data)

    def known_data(self) -> NamedTable:
        """Return the data behind the result, or raise an error that says how to bring them back."""
        if self.data is None:
            raise ValueError(
                "The data are not with this result any more: they are left out when a result is "
                "pickled or copied. Bring them back with result.with_data(X)."
            )
        return self.data

    @cached_property
    def robust_distance(self) -> RobustDistance:
        """How far out any row lies, measured by the kept rows; one pass, once."""
        table = as_table(self.known_data().table).with_new_counter()
        return RobustDistance.of(table, self.support, self.rule)

    @cached_property
    def outlyingness(self) -> Any:
        """How far out each row lies, (n,): a ranking of all rows, the worst of them highest.

        In [0, 1] and increasing with the robust distance for the kept rows, where 1/2 is that of a
        typical row, and in (1, 2] for the removed ones. The scores say how near a row is to being
        removed, and nothing of directions in which none was. Two passes over the data, once.
        """
        table = as_table(self.known_data().table).with_new_counter()
        removed = table.to_device(~on_host(self.support))
        return self.robust_distance.outlyingness(table, removed)

    @cached_property
    def summary(self) -> Any:
        """What a report is made of, an `inlier.results.summary.Summary`: some ten passes, once."""
        return late("summarise")(self)

    def to_html(
        self, path: Any = None, *, title: str | None = None, image: tuple[int, int] | None = None
    ) -> str:
        """Write a page that explains the answer: one file that needs no network.

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
        """Plot the score of every row, and the threshold.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones, if not given.
        """
        return self._plotted("scores", ax)

    def plot_means(self, ax: Axes | None = None) -> Axes:
        """Plot the columns in which the plain mean and the median are off most.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones, if not given.
        """
        return self._plotted("means", ax)

    def plot_rows(self, ax: Axes | None = None) -> Axes:
        """Plot the rows in the two directions that matter most.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones, if not given.
        """
        return self._plotted("rows", ax)

    def plot_spectrum(self, ax: Axes | None = None) -> Axes:
        """Plot the largest standard deviations of all rows and of the kept ones.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones, if not given.
        """
        return self._plotted("spectrum", ax)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Plot what leaves as the budget falls, its price, and the chosen point.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones, if not given.
        """
        return self._plotted("path", ax)

    def _plotted(self, what: str, ax: Axes | None) -> Axes:
        drawn: Axes = late(f"plot_{what}")(self.summary, ax)
        return drawn

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the data, which may be larger than memory, and what was derived from them."""
        made = ("summary", "cells", "_mean_and_error")
        state = {name: value for name, value in self.__dict__.items() if name not in made}
        return {**state, "data": None}


def _group_with(groups: Sequence[Group], row: int) -> int | None:
    """Return the index of the group that contains a row."""
    return next((i for i, group in enumerate(groups) if (on_host(group.rows) == row).any()), None)
