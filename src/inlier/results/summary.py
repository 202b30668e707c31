"""All that a reader wants to know about a result, in numbers: behind the report, plots and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.arrays import count, double, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Frame, Table
from inlier.data.base import RowNumbers
from inlier.linalg.eigenpairs import DENSE, Oracle, Spectrum, orthonormal_rows
from inlier.results import wording
from inlier.results.cells import Cell, cells_of, named
from inlier.results.certificate import Certificate
from inlier.results.explanation import Explanation, explained
from inlier.results.result import RobustMeanResult
from inlier.verdict import Group, GroupRule

if TYPE_CHECKING:
    from inlier.given.sensitivity import Sensitivity

# How many of the largest eigenvalues are shown; of more columns than the dense spectrum is for, as
# many as a block of the search has.
VALUES = 20
# Means that differ by less than this part of themselves differ by rounding.
SAME = 1e-9
# The exact median of more entries than these takes passes of its own: a sample will do.
MEDIAN_ELEMENTS = 1 << 24


@dataclass(frozen=True)
class Projections:
    """The rows in the few directions that matter."""

    names: tuple[str, ...]
    """What each direction is."""
    directions: Array = field(repr=False)
    """Orthonormal, k x d."""
    rows: Array = field(repr=False)
    """Relative to the robust mean, k x n."""


@dataclass(frozen=True)
class Summary:
    """A result and the data behind it, on the host."""

    n: int
    d: int
    columns: tuple[str, ...] | None = field(repr=False)
    """Their names; x0, x1, ... if there are none."""
    names: Array | RowNumbers | None = field(repr=False)
    """Of the rows."""
    support: Mask = field(repr=False)
    scores: Array = field(repr=False)
    """Infinite for rows that were too far away to be compared."""
    threshold: float
    """Rows with a higher score are removed."""
    robust: Array = field(repr=False)
    plain: Array = field(repr=False)
    median: Array = field(repr=False)
    deviation: Array = field(repr=False)
    """For each column the mean of the kept rows, the mean of all rows, the median of all rows, and
    the standard deviation of the kept rows; all but the median weighted, if there are weights."""
    standard_error: Array = field(repr=False)
    """Of the mean of the kept rows; not a number if there are fewer than two."""
    effective_size: float
    """Of the mean of the kept rows: their number, if there are no weights."""
    before: Array = field(repr=False)
    after: Array = field(repr=False)
    """Largest standard deviations in any direction, in descending order: of all rows and of the
    kept rows, about the mean of each; every row counts once."""
    view: Projections = field(repr=False)
    worst: tuple[Explanation, ...] = field(repr=False)
    """Of the rows with the highest scores, in descending order, but for kept ones of score 0; some
    of each group. Where nothing was removed, of those with the largest robust distance."""
    group_of: Array = field(repr=False)
    """The group with which each row was removed; -1 for none."""
    groups: tuple[str, ...]
    group_descriptions: tuple[str, ...]
    """The groups in words, and in fewer: how many rows, and how they differ from the others."""
    group_shifts: Array = field(repr=False)
    """How far the mean of each group lies from the robust mean, in deviations of the kept rows."""
    suspects: tuple[str, ...]
    """The groups that were kept although there is evidence against them, in words."""
    suspect_of: Array = field(repr=False)
    """Which of the suspects each row belongs to; -1 for none."""
    cells: tuple[Cell, ...] = field(repr=False)
    """The extreme cells that were set aside, and those of rows removed for them, by row."""
    searched: bool
    """Whether bad rows were searched for without sigma."""
    sensitivity: Sensitivity | None = field(repr=False)
    """What a fraction of bad rows would change; None for a given sigma, for large tables
    and for fewer than two kept rows."""
    sigma: float
    budget: float
    certificate: Certificate
    converged: bool
    message: str
    remarks: str
    """What the message says beyond the numbers of rows, groups, suspects and the certificate."""
    n_missing: Array = field(repr=False)
    """How many cells each column lacks: means and deviations are over the others."""
    n_set_aside: Array = field(repr=False)
    """How many of its cells are extreme and were set aside: they do not count either."""

    @property
    def n_removed(self) -> int:
        """How many rows were removed."""
        return self.n - int(self.support.sum())

    @property
    def shift(self) -> Array:
        """How far the plain mean is off in each column, in deviations of the kept rows.

        Infinite where only removed rows vary, and 0 where none does.
        """
        return in_deviations(self.plain, self.robust, self.deviation)

    @property
    def shift_in_errors(self) -> Array:
        """The same in standard errors of the robust mean."""
        return in_deviations(self.plain, self.robust, self.standard_error)

    @property
    def is_plain(self) -> bool:
        """Whether the robust mean is the plain mean: no row and no cell was left out."""
        return not self.n_removed and not self.n_set_aside.any()

    def cells_of(self, row: int) -> tuple[Cell, ...]:
        """Return the extreme cells of a row, the farthest out first."""
        return cells_of(self.cells, row)

    def column_name(self, j: int) -> str:
        """Return the name of a column."""
        return named(self.columns, j)

    def most_shifted(self, count: int = 3) -> str:
        """List the columns in which the plain mean is off by a tenth of a deviation or more."""
        shift = np.nan_to_num(self.shift, nan=0.0, posinf=np.inf, neginf=-np.inf)
        return self._listed(np.where(np.abs(shift) >= 0.1, shift, 0.0), count)

    def group_shift(self, i: int, count: int = 3) -> str:
        """List the columns in which the rows of a group lie farthest from the kept ones."""
        shift = self.group_shifts[i]
        size = np.abs(np.nan_to_num(shift, nan=0.0, posinf=np.inf, neginf=-np.inf))
        return self._listed(np.where(size >= 0.1 * size.max(), shift, 0.0), count)

    def _listed(self, shift: Array, count: int) -> str:
        most = np.argsort(-np.abs(shift), kind="stable")[:count].tolist()
        return ", ".join(f"{self.column_name(j)} ({_signed(shift[j])})" for j in most if shift[j])

    def distance(self) -> str:
        """Describe how far the plain mean is off, in standard deviations of each column."""
        if not np.isfinite(self.plain).all():
            return "The plain mean is worthless: some rows are too far away for it to be a number."
        if self.n_removed == self.n:
            return "No row is kept, so there is nothing to compare the plain mean with."
        if self.is_plain:
            return "Nothing was removed, so the robust mean is the plain mean."
        if not (most := self.most_shifted()):
            return "In no column is the plain mean off by a tenth of a standard deviation."
        return f"The plain mean is off most in {most}, in standard deviations of each column."

    def row_name(self, i: int) -> str:
        """Return the name of a row."""
        return f"row {i}" if self.names is None else str(self.names[i])


def in_deviations(mean: Array, robust: Array, deviation: Array) -> Array:
    """Return how far a mean is off, in standard deviations; infinite where nothing varies."""
    with np.errstate(all="ignore"):
        off = mean - robust
        constant = np.where(np.abs(off) <= SAME * np.abs(robust), 0.0, np.copysign(np.inf, off))
        return np.where(deviation > 0.0, off / deviation, constant)


def _signed(shift: float) -> str:
    if not np.isfinite(shift):
        return "where no kept row varies"
    return f"{float(f'{shift:.2g}'):+,.15g}" if 1.0 <= abs(shift) < 1e6 else f"{shift:+.2g}"


def _worst(scores: Array, group_of: Array, count: int) -> Array:
    """Return the rows with the highest scores; some of each group, if there are several."""
    order = np.argsort(-scores, kind="stable")
    n_groups = int(group_of.max(initial=-1)) + 1
    each = count // n_groups if n_groups else 0
    first = [order[group_of[order] == i][:each] for i in range(n_groups)]
    chosen = np.concatenate([*first, order])
    _, where = np.unique(chosen, return_index=True)
    chosen = chosen[np.sort(where)][:count]
    return np.asarray(chosen[np.argsort(-scores[chosen], kind="stable")])


@np.errstate(over="ignore", invalid="ignore")  # some rows may be too far away to square
def summarise(result: RobustMeanResult, n_worst: int = 10) -> Summary:
    """Summarise a result and its data, in some ten passes, and explain the worst rows."""
    table, details = result._known_data(), result.details
    n, d = table.shape
    support, scores = on_host(result.support), on_host(result.scores)
    kept = double(result.support)
    robust = on_host(result._location).astype(np.float64)
    middle, inner = table.mean(table.constant(1.0), robust), robust
    plain, weights = middle, result._sample_weight
    if weights is not None or table.gaps is not None:
        # Spectra are of the table without gaps in which each row counts once, means are not.
        weights = np.ones(n) if weights is None else weights / weights.max()
        plain = table.plain_mean(weights, robust)
        inner = table.mean(kept, robust)
    whole, rest = _spectra(table, middle, inner, kept)
    view = _view(result, table, robust, rest)
    group_of = _membership(n, result.groups)
    farthest = scores
    if result._outcome.searched and not result.groups and support.all():
        # Nothing decided about rows: their scores are squares in the units of all columns at once.
        farthest = on_host(result._outlyingness)
    chosen = _worst(farthest, group_of, n_worst)
    # Kept rows of score 0, as most are beside removed groups, are all alike: none is worse.
    worst = explained(result, chosen[~support[chosen] | (farthest[chosen] > 0.0)])
    error, deviation = np.full(d, np.nan), np.zeros(d)
    varies = count(result.support & (details.weights > 0.0)) > 1
    if varies:
        error, deviation = result._means.error, result._means.deviation
    large = n * d > MEDIAN_ELEMENTS
    group_shifts = [in_deviations(group.mean, robust, deviation) for group in result.groups]
    return Summary(
        n=n,
        d=d,
        columns=table.columns,
        names=table.names,
        support=support,
        scores=scores,
        threshold=result._rule.threshold,
        robust=robust,
        plain=plain,
        median=table.median(fit_generator(0) if large or table.sparse else None),
        deviation=deviation,
        standard_error=error,
        effective_size=details.effective_size,
        before=_deviations_of(whole, n),
        after=_deviations_of(rest, max(1, int(support.sum()))),
        view=view,
        worst=tuple(worst),
        group_of=group_of,
        groups=tuple(str(group) for group in result.groups),
        group_descriptions=tuple(group.description for group in result.groups),
        group_shifts=np.reshape(group_shifts, (len(group_shifts), d)),
        suspects=tuple(str(suspect) for suspect in result.suspects),
        suspect_of=_membership(n, [suspect.group for suspect in result.suspects]),
        cells=result.cells,
        searched=result._outcome.searched,
        sensitivity=result.sensitivity if result._shows_sensitivity else None,
        sigma=result.sigma,
        budget=result.certificate.budget,
        certificate=result.certificate,
        converged=result.converged,
        message=result.message,
        remarks=wording.remarks(result),
        n_missing=details.n_missing,
        n_set_aside=details.n_set_aside,
    )


def _membership(n: int, groups: Sequence[Group]) -> Array:
    """Return the index of the group of each row; -1 for none."""
    found = np.full(n, -1, np.int32)
    for i, group in enumerate(groups):
        found[on_host(group.rows)] = i
    return found


def _spectra(
    table: Table, plain: Array, robust: Array, kept: Rows
) -> tuple[Spectrum | None, Spectrum | None]:
    """Compute the spectra of all rows and of the kept ones; None if they overflow."""
    frame = Frame.of(table, kept >= 0.0, robust)
    rows, center = frame.table, frame.center
    oracle, d = Oracle(rows, fit_generator(0)), rows.shape[1]

    def spectrum(center: Array, weights: Rows) -> Spectrum | None:
        if not np.isfinite(center).all():
            return None
        far = ~np.isfinite(on_host(rows.sq_distances(center)))
        if (far & (on_host(weights) > 0.0)).any():
            return None
        if d <= DENSE:
            return oracle.top_dense(center, weights, min(d, VALUES))
        return oracle.top_rough(center, weights)

    everything = rows.constant(1.0)
    middle = plain if frame.rotation is None else rows.mean(everything, center)
    whole, after = spectrum(middle, everything), spectrum(center, kept)
    if frame.rotation is not None and after is not None:
        after = replace(after, vectors=frame.rotation.restored(after.vectors))
    return whole, after


def _deviations_of(spectrum: Spectrum | None, m: int) -> Array:
    if spectrum is None:
        return np.empty(0)
    return np.sqrt(np.maximum(spectrum.values, 0.0) / m)


def _view(
    result: RobustMeanResult, table: Table, robust: Array, after: Spectrum | None
) -> Projections:
    """Choose up to three directions: those that decided, then those of largest variance."""
    rule = result._rule
    wanted: list[tuple[str, Array]] = []
    if isinstance(rule, GroupRule):
        for i, group in enumerate(result.groups):
            if np.linalg.norm(group.direction) > 0.0:
                wanted.append((f"towards group {i + 1}", group.direction))
    elif rule.directions is not None:
        order = np.argsort(-rule.prices, kind="stable")
        wanted += [(f"direction {j + 1}", rule.directions[j]) for j in order]
    wanted += [
        (f"towards suspect {i + 1}", suspect.group.direction)
        for i, suspect in enumerate(result.suspects)
    ]
    wanted += [
        (f"largest variance {j + 1} of the kept rows", vector)
        for j, vector in enumerate(() if after is None else after.vectors)
    ]
    names: list[str] = []
    basis = np.empty((0, table.shape[1]))
    for name, vector in wanted:
        if len(basis) == min(3, table.shape[1]):
            break
        new = orthonormal_rows(vector[None], basis)
        if len(new) and float(new[0] @ vector) ** 2 > 0.05 * float(vector @ vector):
            names.append(name)
            basis = np.concatenate([basis, np.sign(new @ vector)[:, None] * new])
    return Projections(tuple(names), basis, on_host(table.project(robust, basis)))
