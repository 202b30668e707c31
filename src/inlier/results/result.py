"""What a fit returns: one frozen result that can prove itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from inlier._internal.arrays import any_true, count, double, like, namespace, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import check_number
from inlier.data import Table, as_table
from inlier.data.checks import as_rows, named_table
from inlier.results import choosing, wording
from inlier.results.cells import Cell, extreme_cells
from inlier.results.certificate import Certificate, same_table
from inlier.results.details import Details
from inlier.results.explanation import Explanation, explained
from inlier.results.labels import Labels, labelled
from inlier.results.outlyingness import RobustDistance, outlyingness, sample_of
from inlier.results.weighting import ColumnMeans, bounds, column_means, effective_size
from inlier.verdict import (
    Finding,
    Group,
    GroupRule,
    Kind,
    Multiplier,
    Outcome,
    Suspect,
    Verdict,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from inlier.given.sensitivity import Sensitivity
    from inlier.given.trusted import Tested

# Cells of larger tables are not gone through again for what nobody has asked for.
SHOWN_CELLS = 1 << 24
Plot = Literal["scores", "rows", "spectrum", "sensitivity"]


@dataclass(frozen=True, eq=False)
class RobustMeanResult:
    """The mean of the good rows, the rows that were removed, and the proof.

    Attributes
    ----------
    location : array of shape (d,)
        The mean of the kept rows; of each column over the cells that are neither missing nor set
        aside. Of a data frame of pandas a Series by column, of polars a frame of one row; so are
        `standard_error`, `deviation` and `guarantee()`.
    support : boolean array of shape (n,)
        The kept rows.
    sigma : float
        The bound on the standard deviation that was used.
    certificate : Certificate
    groups : tuple of Group
        The removed rows, by group; empty if sigma was given.
    suspects : tuple of Suspect
        Groups that were kept although they are well separated, because the rest is not noise about
        one center; `drop` removes one.
    converged : bool
    """

    location: Any
    support: Rows = field(repr=False)
    sigma: float
    certificate: Certificate
    groups: tuple[Group, ...] = field(repr=False)
    suspects: tuple[Suspect, ...] = field(repr=False)
    converged: bool
    _rule: Multiplier | GroupRule = field(repr=False)
    _outcome: Outcome = field(repr=False)
    _verdict: Verdict = field(repr=False)
    """That of the fit, in its own coordinates."""
    _indicator: Rows | None = field(repr=False)
    _scores: Rows | None = field(repr=False)
    _n_passes: int = field(repr=False)
    _data: Table | None = field(repr=False)
    """A reference, unless cells are missing; a pickled result has it no more."""
    _fingerprint: int | None = field(repr=False)
    """That of the data at the time of the fit."""
    _sample_weight: Array | None = field(repr=False)
    _tested: Tested | None = field(default=None, repr=False)
    _trusted: Mask | None = field(default=None, repr=False)
    _labels: Labels | None = field(default=None, repr=False)
    """Of a data frame."""

    def _with_labels(self, labels: Labels | None) -> RobustMeanResult:
        """Return the same result with labels for what there is by column and by row."""
        return replace(self, location=labelled(self._location, labels), _labels=labels)

    @property
    def _location(self) -> Any:
        """The location without labels."""
        return self.location if self._labels is None else self._labels.values(self.location)

    @cached_property
    def message(self) -> str:
        """How the fit ended and, if not well, what to try."""
        return wording.message(self)

    @property
    def outliers(self) -> Any:
        """Indices of the removed rows; of a data frame of pandas their labels."""
        return self._rows(namespace(self.support).nonzero(~self.support)[0])

    def _rows(self, positions: Rows) -> Any:
        """Return some rows by their labels, if they have any."""
        return positions if self._labels is None else self._labels.rows(positions)

    @cached_property
    def scores(self) -> Rows:
        """The score of each row, (n,): the part of the budget that it would use, at its price.

        A row with a score above 1 (with sigma, above the threshold of the rule) was removed. A pass
        over the data for each group, once.
        """
        if self._scores is not None:
            return self._scores
        with np.errstate(over="ignore", invalid="ignore"):
            return self._rule.scores(self._known_data())

    @cached_property
    def ranking(self) -> Any:
        """The rows from the most to the least outlying, (n,), the removed ones first.

        By the Mahalanobis distance with center and covariance of the kept rows in the middle. The
        scores tell how near a row is to being removed, and nothing about directions in which none
        was. Two passes over the data, once.
        """
        return self._rows(np.argsort(-on_host(self._outlyingness), kind="stable"))

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """What would change if a fraction of bad rows were known: for 1 to 40%, in order.

        For each fraction the rows that would leave, how far the mean would move, the columns in
        which it moves most, and how far it can then be from that of the good rows; see
        `inlier.given.sensitivity.Change`. ``at(contamination=...)`` gives such an answer. It prints
        as a table. Computed on first use, in some ten passes and a few for each fraction.
        """
        from inlier.given.sensitivity import sensitivity

        with np.errstate(all="ignore"):  # removed rows may be too far away to square
            return sensitivity(self)

    @property
    def _shows_sensitivity(self) -> bool:
        """Whether `sensitivity` is shown without being asked for."""
        data = self._data
        if self._verdict.given or data is None or not data.in_memory or data.sparse:
            return False  # files and clusters are slow
        if np.prod(data.shape) > SHOWN_CELLS:
            return False
        varies = count(self.support & (self._weights > 0.0)) > 1
        return varies and data.fingerprint() == self._fingerprint

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The extreme cells, by row: those that were set aside, and those of removed rows.

        A cell that was set aside does not count; its row may be kept. Cells of removed rows are far
        out for their column. A cell that seems swapped with one of these is listed too.
        """
        return extreme_cells(self.groups, self._known_data())

    @property
    def details(self) -> Details:
        """Weights, budget, rule, steps and counts behind the result."""
        indicator = double(~self.support) if self._indicator is None else self._indicator
        gaps, none = self.certificate.gaps, np.zeros(self._location.shape[0], np.intp)
        return Details(
            weights=self._weights,
            indicator=indicator,
            budget=self.certificate.budget,
            rule=self._rule,
            history=self._verdict.steps,
            n_iter=self._verdict.n_iter,
            n_passes=self._n_passes,
            effective_size=effective_size(on_host(self._weights)),
            n_missing=none if gaps is None else gaps.counts,
            n_set_aside=none if gaps is None else gaps.n_set_aside,
            _tested=self._tested,
        )

    @property
    def _weights(self) -> Rows:
        if not any_true(self.support):
            assert self._indicator is not None
            return 1.0 - self._indicator
        if self._sample_weight is None:
            return double(self.support)
        weights = on_host(self.support) * self._sample_weight
        return like(weights / weights.max(), self.support, None)

    @property
    def standard_error(self) -> Any:
        """Standard error of the location in each column, (d,), in double precision.

        The standard deviation of the m kept rows, with m - 1 in the denominator, over sqrt(m). It
        covers chance only; that some bad rows may be left, or good ones removed, is the subject of
        `Certificate.error_radius`. Where cells are missing or set aside, m is the number of the
        other cells of the kept rows; infinite for fewer than two. One pass over the data, once.

        With `sample_weight` the deviation is weighted and m is the effective size. This assumes
        that rows vary alike regardless of their weight: too large if heavy rows vary less than
        light ones, as means of more samples do, and too small if they vary more.
        """
        return labelled(like(self._means.error, self._location), self._labels)

    @property
    def deviation(self) -> Any:
        """Standard deviation of the kept rows in each column, (d,), in double precision.

        About the location, weighted as it is: with the sum of the weights in the denominator, the
        number of kept rows if there is no `sample_weight`. 0 if fewer than two have the cell.
        """
        return labelled(like(self._means.deviation, self._location), self._labels)

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
            The lower ends and the upper ends, in double precision: ``low, high = ...``. Of a data
            frame two of what `location` is.
        """
        level = check_number(level, "level", below=1.0)
        low, high = self._means.interval(level, on_host(self._location).astype(np.float64))
        if self._labels is not None:
            return labelled(low, self._labels), labelled(high, self._labels)
        return like(np.stack([low, high]), self._location)

    def guarantee(self, fraction: float = 0.25) -> Any:
        """Bound how far the mean of the good rows is from the location, whatever the bad rows are.

        In each column it is s sqrt(f / (t - f)) + S sqrt((1 - t) / (t - f)), where f is the
        fraction, s the standard deviation of the cells that count, t their share of all rows, and S
        a bound on the standard deviation of the good values. It holds if at most this fraction of
        the rows is bad. Where every cell counts, nothing else is assumed; where some were removed,
        set aside or missing, good ones among them are bounded by S: good values must deviate by at
        most four of their units, a unit being half of the shortest interval that holds 65% of them.
        Gaussian values deviate by 1.1 units, exponential ones by 1.9, log-normal ones by 3.1. The
        proof is in docs/no-knobs.md.

        Parameters
        ----------
        fraction : float
            Of bad rows, at most; below one half.

        Returns
        -------
        array of shape (d,)
            In the units of the columns, in double precision. Infinite where no bound can be stated:
            where too few rows count, and where cells do not count of a column of which 65% of the
            good values may be equal. Whether those cells are bad, or the good ones that differ, the
            column does not tell.
        """
        fraction = check_number(fraction, "fraction", below=0.5)
        if self._sample_weight is not None:
            raise ValueError(
                "guarantee counts each row once, but this result has a sample_weight: fit without."
            )
        bound = bounds(self._known_data(), on_host(self.support), fraction, self._means)
        return labelled(like(bound, self._location), self._labels)

    @cached_property
    def _means(self) -> ColumnMeans:
        """The mean of each column, not rounded, and how sure it is."""
        weights = self._weights
        n_kept = count(self.support & (weights > 0.0))
        if n_kept < 2:
            weighed = "" if self._sample_weight is None else " of positive weight"
            raise ValueError(
                f"A standard error takes at least 2 kept rows{weighed}, but this result keeps "
                f"{n_kept}: one row does not show how much rows vary."
            )
        center = on_host(self._location).astype(np.float64)
        return column_means(self._known_data(), weights, n_kept, center)

    def at(
        self,
        *,
        contamination: float | None = None,
        threshold: float | None = None,
    ) -> RobustMeanResult:
        """Move the cutoff without a new fit, by one of the arguments.

        Parameters
        ----------
        contamination : float
            At most this fraction of the rows is bad, as in `robust_mean`; some twenty passes.
            Trusted rows stay.
        threshold : float
            Rows with a higher score are removed; some ten passes.

        Returns
        -------
        RobustMeanResult
            The answer with this cutoff.
        """
        if (threshold is None) == (contamination is None):
            raise ValueError("Give either threshold or contamination.")
        if contamination is not None:
            from inlier.given.contamination import with_contamination

            fraction = check_number(contamination, "contamination", below=0.5)
            return with_contamination(self, fraction)
        threshold = check_number(threshold, "threshold", at_least=0.0)
        support = on_host(self.scores <= threshold)
        if not support.any():
            raise ValueError(
                f"threshold={threshold:g} is below every score, so that no row would be kept. The "
                f"lowest score is {float(on_host(self.scores).min()):.4g}."
            )
        groups = choosing.without_kept(self.groups, support)
        rule = replace(self._rule, threshold=threshold)
        return replace(choosing.chosen(self, support, groups, rule), _scores=self.scores)

    def keep(self, group: int) -> RobustMeanResult:
        """Return the answer with a group put back, without a new fit.

        Use this when a removed group is a legitimate subpopulation. Some fifteen passes.

        Parameters
        ----------
        group : int
            Index of one of `groups`.
        """
        back: Group = choosing.one_of(self.groups, group, "group")
        groups = tuple(other for other in self.groups if other is not back)
        support = on_host(self.support).copy()
        support[on_host(back.rows)] = True
        found = Finding(Kind.PUT_BACK, group=back)
        return choosing.chosen(self, support, groups, finding=found)

    def drop(self, suspect: int) -> RobustMeanResult:
        """Return the answer with a suspected group removed, without a new fit.

        Parameters
        ----------
        suspect : int
            Index of one of `suspects`. Some fifteen passes.
        """
        gone: Group = choosing.one_of(self.suspects, suspect, "suspect").group
        support = on_host(self.support).copy()
        support[on_host(gone.rows)] = False
        found = Finding(Kind.DROPPED, group=gone)
        return choosing.chosen(self, support, (*self.groups, gone), finding=found)

    def explain(self, row: Any) -> Explanation:
        """Explain the score of a row by directions and features, whose parts add up to it.

        Parameters
        ----------
        row : int or label
            Its number, from 0; negative numbers count from the end. Of a data frame of pandas with
            an index of its own, the label of the row, as for ``X.loc``; rows of groups and cells
            have numbers, ``X.index[cell.row]``.
        """
        n, label = self._known_data().shape[0], ""
        if self._labels is not None and self._labels.index is not None:
            row, label = self._labels.position(row), str(row)
        if not choosing.is_index(row, n):
            raise ValueError(f"row must be the number of one of {n} rows, but is {row!r}.")
        return replace(explained(self, np.array([range(n)[row]]))[0], label=label)

    def with_data(self, X: Any, *, columns: Any = None, names: Any = None) -> RobustMeanResult:
        """Return the same result with its data: after unpickling, or to name columns and rows.

        Parameters
        ----------
        X : array of shape (n, d)
            What the fit was about.
        columns : sequence of str, optional
            The names of the columns.
        names : sequence, optional
            The names of the rows.
        """
        labels, own = Labels.of(as_rows(X)), self._labels
        if own is not None and labels is not None and not own.agrees(labels):
            raise ValueError(
                "X has the rows or columns of the fit in another order, or other rows. Pass the "
                "data of the fit."
            )
        shape = (self.support.shape[0], self._location.shape[0])
        table = same_table(X, shape, self.certificate.gaps, columns)
        columns = table.columns if columns is None else columns  # those of a file
        table = named_table(table, as_rows(X), columns, names)
        there = replace(self, _data=table, _fingerprint=table.fingerprint())
        return there._with_labels(labels)

    def _known_data(self) -> Table:
        """Return the data behind the result, or raise an error if they are gone or changed."""
        if self._data is None:
            raise ValueError(
                "The data are not with this result any more: they are left out when a result is "
                "pickled or copied. Bring them back with result.with_data(X)."
            )
        if self._data.fingerprint() != self._fingerprint:
            raise ValueError(
                "X was changed in place since the fit, so that this result is not about it any "
                "more. Fit again, or bring back the data of the fit with result.with_data(X)."
            )
        return as_table(self._data)

    @cached_property
    def _robust_distance(self) -> RobustDistance:
        """The robust distance of any row, measured by the kept rows; one pass, once."""
        return RobustDistance.of(sample_of(self._known_data(), on_host(self.support)))

    @cached_property
    def _outlyingness(self) -> Rows:
        """Outlyingness of each row: in [0, 1] for the kept rows, in (1, 2] for the removed ones."""
        table = self._known_data()
        removed = table.to_device(~on_host(self.support))
        return outlyingness(self._robust_distance.distances(table), removed)

    @cached_property
    def _summary(self) -> Any:
        """What a report shows, an `inlier.results.summary.Summary`: some ten passes, once."""
        from inlier.results.summary import summarise

        return summarise(self)

    def plot(self, kind: Plot = "scores", ax: Axes | None = None) -> Axes:
        """Plot the result.

        Parameters
        ----------
        kind : {"scores", "rows", "spectrum", "sensitivity"}
            "scores": the score of every row, and the threshold. "rows": the rows in the two
            directions that matter most. "spectrum": the largest standard deviations of all rows
            and of the kept ones. "sensitivity": how far the mean would move if a fraction of the
            rows were known to be bad.
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones, if not given.
        """
        from inlier.report import plot

        return plot(self._summary, kind, ax)

    def to_html(self, path: Any = None, *, title: str | None = None) -> str:
        """Write a page that explains the answer: one file that needs no network.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.
        title : str, optional
            What the data are called.
        """
        from inlier.report import page

        html: str = page(self._summary, title=title, path=path)
        return html

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        from inlier.report import card

        return card(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the data, which may be larger than memory, and most of what is derived."""
        made = ("_summary", "cells", "_means", "_data", "sensitivity")
        state = {name: value for name, value in self.__dict__.items() if name not in made}
        return {
            **state,
            "_data": None,
            "_scores": self._scores if self._data is None else self.scores,
            "message": self.message,
        }
