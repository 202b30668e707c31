"""The rows of a result by what became of them, and its figures as panels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from inlier._internal.typing import Array
from inlier.figures.numbers import count, counted, number
from inlier.figures.panel import Axis, Bars, Level, Note, Panel, Series
from inlier.results.certificate import Certificate
from inlier.results.explanation import shortened
from inlier.results.summary import Summary
from inlier.results.wording import certified_mean


@dataclass(frozen=True)
class RowClass:
    """Rows that are drawn alike."""

    role: str  # "kept", "suspect", "group" or "others": removed with no group
    index: int  # which suspect or group
    label: str
    rows: Array
    drawn: Array  # those of the rows that are drawn
    description: str = ""  # how the rows differ from the others

    @property
    def removed(self) -> bool:
        """Whether these rows were removed."""
        return self.role in ("group", "others")

    @property
    def key(self) -> str:
        """A name that no other class has."""
        return f"{self.role}-{self.index}"

    @property
    def legend(self) -> str:
        """Label, number of rows, and how they differ."""
        return f"{self.label}: {self.description or counted(len(self.rows), 'row')}"

    def series(self, x: Array, y: Array) -> Series:
        """Return the drawn ones of n points as a series."""
        at = self.drawn
        return Series(x[at], y[at], self.role, self.index, self.legend, rows=self.key)


def row_classes(summary: Summary, most_groups: int | None = None) -> list[RowClass]:
    """Divide the rows into classes, the kept rows first; of many groups the last form one class."""
    removed = ~summary.support
    group_of = np.where(removed, summary.group_of, -1)
    suspect_of = np.where(removed, -1, summary.suspect_of)
    n_groups = len(summary.groups)
    shown = n_groups if most_groups is None or n_groups <= most_groups else most_groups - 1
    found = [("kept", 0, "kept", summary.support & (suspect_of < 0), "")]
    for i in range(len(summary.suspects)):
        found.append(("suspect", i, f"kept, suspect {i + 1}", suspect_of == i, ""))
    for i in range(shown):
        label = "removed" if n_groups == 1 else f"group {i + 1}"
        found.append(("group", i, label, group_of == i, summary.group_descriptions[i]))
    found.append(("group", shown, f"{n_groups - shown} more groups", group_of >= shown, ""))
    role, label = ("others", "removed, in no group") if n_groups else ("group", "removed")
    found.append((role, 0, label, removed & (group_of < 0), ""))
    classes = []
    for role, index, label, mask, description in found:
        rows = np.flatnonzero(mask)
        if len(rows) or role == "kept":
            classes.append(RowClass(role, index, label, rows, rows, description))
    return classes


def sample_rows(classes: Sequence[RowClass], most_kept: int, most_removed: int) -> list[RowClass]:
    """Draw at most so many kept and removed rows, chosen at random from each class."""
    random = np.random.default_rng(0)
    removed = sum(len(one.rows) for one in classes if one.removed)
    fraction = min(1.0, most_removed / max(1, removed))
    sampled = []
    for one in classes:
        most = max(1, int(len(one.rows) * fraction)) if one.removed else most_kept
        if len(one.rows) > most:
            one = replace(one, drawn=np.sort(random.choice(one.rows, most, replace=False)))
        sampled.append(one)
    return sampled


def sampling_note(classes: Sequence[RowClass]) -> str:
    """Say how many rows are drawn, if not all of them are."""
    parts = []
    for what, removed in (("kept", False), ("removed", True)):
        drawn = sum(len(one.drawn) for one in classes if one.removed == removed)
        rows = sum(len(one.rows) for one in classes if one.removed == removed)
        if drawn < rows:
            parts.append(f"{count(drawn)} of the {count(rows)} {what} rows")
    if not parts:
        return ""
    return f" To keep the page small, {' and '.join(parts)} are drawn, taken at random."


# Bins of the histogram of scores.
BINS = 28
# The figure of the means shows so many columns, those with the largest shift.
MOST_COLUMNS = 20
# Letters of a column's name beside an axis.
LONGEST_NAME = 28
# Two directions have the same unit, unless one range is longer by this factor.
EQUAL_RANGES = 2.5

# Infinite and huge numbers are shown, not computed with: there is nothing to warn of.
_any_numbers = np.errstate(all="ignore")


@_any_numbers
def scores_panel(summary: Summary, classes: Sequence[RowClass]) -> Panel:
    """Describe the score of every row, with the cut."""
    scores, cut = summary.scores, summary.threshold
    cut_at = cut if 0.0 < cut < np.inf else 0.0
    y = Axis.positive(
        np.append(scores, cut_at), scores[summary.support], "score", reference=cut_at / 4.0
    )
    finite = scores[np.isfinite(scores)]
    highest = f"; the highest finite one is {number(finite.max())}" if len(finite) else ""
    infinite = int(np.isinf(scores).sum())
    remarks = ""
    if y.scale == "log":
        remarks += " The scale is logarithmic."
        if below := int((scores < y.low).sum()):
            remarks += f" The {counted(below, 'row')} with the lowest scores lie on its lower edge."
    if infinite:
        remarks += (
            f" {counted(infinite, 'row').capitalize()} with an infinite score, too far away to be "
            "compared with the others, lie on its upper edge, below an arrow."
        )
    if cut <= 0.0:
        remarks += " The cut lies below every score: no row is kept."
    heights = np.maximum(scores, y.low)
    return Panel(
        "Score of every row",
        f"{counted(summary.n, 'row')}, {count(summary.n_removed)} of them above the cut at "
        f"{number(cut)}{highest}.",
        _row_axis(summary),
        y,
        tuple(one.series(np.arange(float(summary.n)), heights) for one in classes),
        levels=_cut(summary, y),
        remarks=remarks,
    )


def _row_axis(summary: Summary) -> Axis:
    return Axis.linear(np.array([0.0, max(1, summary.n - 1)]), "row", pad=0.02, whole=True)


def _cut(summary: Summary, y: Axis) -> tuple[Level, ...]:
    cut = summary.threshold
    return (Level(cut, f"cut {number(cut)}"),) if y.low < cut < y.high else ()


@_any_numbers
def histogram_panel(summary: Summary, y: Axis) -> Panel:
    """Describe how many rows have which score, on the axis of `scores_panel`."""
    place = (y.position(np.nan_to_num(summary.scores, nan=0.0)) * BINS).astype(int)
    place = np.minimum(place, BINS - 1)
    kept = np.bincount(place[summary.support], minlength=BINS)
    all_rows = np.bincount(place, minlength=BINS)
    most = int(all_rows.max())
    edges = np.array([y.value(i / BINS) for i in range(BINS + 1)])
    zero = np.zeros(BINS)
    # A single row among thousands is visible too.
    thin = np.where(all_rows > kept, np.maximum(all_rows, kept + 0.005 * most), all_rows)
    return Panel(
        "Histogram of the scores",
        f"A histogram of all {counted(summary.n, 'score')}; at most {count(most)} in one bar.",
        Axis(0.0, most * 1.04, "rows", whole=True),
        y,
        bars=(
            Bars(zero, kept.astype(float), edges[:-1], edges[1:], "kept"),
            Bars(kept.astype(float), thin, edges[:-1], edges[1:], "removed"),
        ),
        levels=_cut(summary, y),
    )


@_any_numbers
def means_panel(summary: Summary) -> Panel:
    """Describe the offsets of plain mean and median from the robust mean, where they are largest.

    Columns in which only removed rows vary have no unit; their number is in the label.
    """
    shift = np.nan_to_num(summary.shift, nan=np.inf)
    no_unit = np.isinf(summary.shift) & (summary.deviation == 0.0)
    order = np.argsort(-np.abs(shift), kind="stable")
    shown = order[~no_unit[order]][:MOST_COLUMNS]
    unit = summary.deviation[shown]
    plain = shift[shown]
    median: Array = np.zeros(len(shown))
    np.divide((summary.median - summary.robust)[shown], unit, out=median, where=unit > 0.0)
    label = "offset from the robust mean,\nin standard deviations of the kept rows"
    if hidden := int(no_unit.sum()):
        label += f"\n(without {counted(hidden, 'column')} in which only removed rows vary)"
    columns = ""
    if 0 < len(shown) < summary.d - hidden:
        columns = f"{len(shown)} of {summary.d} columns, those with the largest offset"
    # Offsets by rounding alone are drawn as none.
    values = np.concatenate([plain, median, [0.0]])
    values = values if np.abs(values).max() > 1e-9 else np.zeros(1)
    x = Axis.centered(values, 1.0, label)
    names = tuple(short_name(summary.column_name(int(j))) for j in shown)
    at = np.arange(float(len(shown)))
    return Panel(
        "Plain mean and median beside the robust mean",
        "The largest offset comes first.",
        x,
        Axis(len(shown) - 0.3, -0.7, columns, names=names),
        (
            Series(np.zeros(2), np.array([-0.6, len(shown) - 0.4]), "zero",
                   label="robust mean", joined=True, marked=False),
            Series(plain, at, "offset", label="plain mean"),
            Series(median, at, "median", label="median"),
        ),
        bars=(Bars(np.zeros(len(shown)), np.clip(plain, x.low, x.high), at - 0.05, at + 0.05,
                   "removed"),),
    )  # fmt: skip


def short_name(name: str) -> str:
    """Return a name on one line, without control characters, cut in the middle if it is long."""
    printable = "".join(c if c.isprintable() else " " for c in name)
    return shortened(" ".join(printable.split()), LONGEST_NAME)


@_any_numbers
def projection_panels(summary: Summary, classes: Sequence[RowClass]) -> tuple[Panel, ...]:
    """Describe the rows in the directions that matter, each pair of directions in a panel.

    A single direction is shown against the number of the row.
    """
    rows, names = summary.view.rows, summary.view.names
    if not len(rows):
        rows, names = np.zeros((1, summary.n)), ("distance",)
        offset = np.zeros(1)
    else:
        offset = summary.view.directions @ (summary.plain - summary.robust)
    axes = [
        _projection_axis(summary, values, plain, name)
        for values, plain, name in zip(rows, offset, names, strict=True)
    ]
    described = (
        f"{counted(int(summary.support.sum()), 'kept row')} about the robust mean and "
        f"{counted(summary.n_removed, 'removed row')}; the plain mean is "
        f"{number(summary.offset)} away from the robust one."
    )
    remarks = ""
    if any(axis.scale == "asinh" for axis in axes):
        remarks += " Far out, the scale is logarithmic, so that the kept rows still show."
    outside = [(v < axis.low) | (v > axis.high) for v, axis in zip(rows, axes, strict=True)]
    if beyond := int(np.any(outside, axis=0).sum()):
        remarks += f" {counted(beyond, 'row').capitalize()} too far away to draw are at the edge."
    if len(rows) == 1:
        return (
            Panel(
                f"The rows: {names[0]}",
                described,
                _row_axis(summary),
                axes[0],
                tuple(one.series(np.arange(float(summary.n)), rows[0]) for one in classes),
                levels=(Level(0.0, "robust mean"),),
                remarks=remarks,
            ),
        )
    panels = []
    for i, j in combinations(range(len(rows)), 2):
        ranges = sorted(axis.high - axis.low for axis in (axes[i], axes[j]))
        means = (
            Series(np.zeros(1), np.zeros(1), "robust mean", label="robust mean"),
            Series(offset[[i]], offset[[j]], "plain mean", label="plain mean"),
        )
        panels.append(
            Panel(
                f"The rows: {names[i]}, and {names[j]}",
                described,
                axes[i],
                axes[j],
                (*(one.series(rows[i], rows[j]) for one in classes), *means),
                remarks=remarks,
                equal=axes[i].scale == axes[j].scale == "linear"
                and ranges[1] < EQUAL_RANGES * ranges[0],
            )
        )
    return tuple(panels)


def _projection_axis(summary: Summary, values: Array, plain: float, name: str) -> Axis:
    kept = values[summary.support & (np.abs(values) <= 1e300)]
    unit = 3.0 * float(np.median(np.abs(kept))) if len(kept) else 0.0
    return Axis.centered(np.append(values, [plain, 0.0]), unit, name)


@_any_numbers
def spectrum_panel(summary: Summary) -> Panel:
    """Describe the largest standard deviations in any direction, of all rows and of the kept."""
    before, after = summary.before, summary.after
    y = Axis.positive(np.append(before, after), after, "standard deviation")
    first = [number(values[0]) if len(values) else "unknown" for values in (before, after)]
    return Panel(
        "Largest standard deviations",
        f"Largest standard deviation of all rows {first[0]}, of the kept rows {first[1]}; then in "
        "further directions.",
        Axis(0.5, max(len(before), len(after), 2) + 0.5, "direction, by rank", whole=True),
        y,
        tuple(
            Series(np.arange(1.0, len(values) + 1), values, role, label=role, joined=True)
            for values, role in ((before, "all rows"), (after, "kept rows"))
            if len(values)
        ),
    )


@_any_numbers
def path_panels(summary: Summary) -> tuple[Panel, Panel]:
    """Describe sigma and its price against the number of removed rows, with the chosen point."""
    removed = np.array([float(point.removed.shape[0]) for point in summary.path])
    sigma = np.array([point.sigma for point in summary.path])
    price = np.array([point.price for point in summary.path])
    chosen = min(summary.chosen, len(summary.path) - 1)
    x = Axis.linear(removed, "rows removed", zero=True, pad=0.06, whole=True)
    sigma_axis = Axis.positive(sigma, sigma[chosen : chosen + 1], "sigma")
    price_axis = Axis.linear(price, "price", zero=True)
    sigma_panel = _path_panel(x, sigma_axis, removed, sigma, chosen)
    return sigma_panel, _path_panel(x, price_axis, removed, price, chosen)


def _path_panel(x: Axis, y: Axis, removed: Array, values: Array, chosen: int) -> Panel:
    here = slice(chosen, chosen + 1)
    return Panel(
        f"The path: {y.label}",
        f"{counted(len(values), 'point')}. At the chosen one {counted(int(removed[chosen]), 'row')}"
        f" are removed and the {y.label} is {number(values[chosen])}.",
        x,
        y,
        (
            Series(removed, values, "path", joined=True),
            Series(removed[here], values[here], "chosen"),
        ),
        notes=(Note(float(removed[chosen]), float(values[chosen]), "chosen"),),
    )


@_any_numbers
def radius_panel(certificate: Certificate) -> Panel | None:
    """Describe the error radius over the fraction of bad rows; None if it is infinite for all."""
    stated = certificate.assumed
    fractions = np.unique(np.append(np.linspace(0.0, 0.5, 101), stated))
    radii = np.atleast_1d(certificate.error_radius(fractions))
    known = np.isfinite(radii)
    if not known.any():
        return None
    x, y = 100.0 * fractions[known], radii[known]
    here = np.isin(fractions[known], stated)
    return Panel(
        "Error radius over the fraction of bad rows",
        f"How far {certified_mean(certificate)} can be off, if a fraction of the rows is bad: the "
        "larger the more are.",
        Axis(0.0, 50.0, "bad rows, at most (%)"),
        Axis.linear(y, "error radius", zero=True),
        (Series(x, y, "radius", joined=True, marked=False), Series(x[here], y[here], "chosen")),
        notes=tuple(
            Note(at, radius, number(radius), centered=True)
            for at, radius in zip(x[here].tolist(), y[here].tolist(), strict=True)
        ),
    )
