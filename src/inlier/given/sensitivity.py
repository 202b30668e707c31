"""What a fraction of bad rows would change if a user knew it, without fitting again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from inlier import theory
from inlier._internal.arrays import double, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.given.contamination import NOTABLE, leaving, most_bad
from inlier.given.trimming import Trimming
from inlier.linalg.eigenpairs import spectrum_of_kept
from inlier.results.cells import named
from inlier.results.grouped import aligned

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)
# Columns that are named.
COLUMNS = 3
# In standard errors: from this shift on, a fraction is worth knowing.
MATTERS = 5.0


@dataclass(frozen=True)
class Change:
    """What `contamination=fraction` would change.

    Attributes
    ----------
    fraction : float
        Of the rows, the largest that is bad.
    n_removed : int
        Rows that would leave in all.
    shift : float
        How far the mean moves, in standard errors of the mean in that direction.
    columns : tuple of str
        The columns in which it moves most, in their own standard errors; at most three.
    radius : float
        How far the mean can then be from that of the good rows, if these vary no more than those
        that would be kept: Theorem 1 of the paper, `Certificate.error_radius`.
    location : array of shape (d,)
        The mean that is left, each row counted once.
    """

    fraction: float
    n_removed: int
    shift: float
    columns: tuple[str, ...]
    radius: float
    location: Array = field(repr=False)

    def __str__(self) -> str:
        where = f", most in {', '.join(self.columns)}" if self.columns else ""
        return (
            f"contamination={self.fraction:g}: {self.n_removed} rows removed, the mean moves by "
            f"{self.shift:.2g} standard errors{where}"
        )


class Sensitivity(Sequence[Change]):
    """The changes for fractions from 1% to 40%; prints as a table, with advice if it matters."""

    def __init__(self, changes: Sequence[Change], n_found: int) -> None:
        self._changes, self._n_found = tuple(changes), n_found

    def __len__(self) -> int:
        return len(self._changes)

    def __getitem__(self, i: Any) -> Any:
        """Return a change, or some of them."""
        return self._changes[i]

    @property
    def advice(self) -> str:
        """What to pass if it is known, where that matters; empty if no fraction changes much."""
        # A fraction below what was found puts bad rows back.
        larger = [change for change in self._changes if change.n_removed > self._n_found]
        largest = max((change.shift for change in larger), default=0.0)
        if largest < MATTERS:
            return ""
        change = next(one for one in larger if one.shift >= largest / 2.0)
        where = f", most in {change.columns[0]}" if change.columns else ""
        return (
            f"If you know that {100.0 * change.fraction:g}% of the rows may be bad, pass "
            f"contamination={change.fraction:g}: the mean then moves by {change.shift:.2g} "
            f"standard errors{where}."
        )

    def __repr__(self) -> str:
        return f"<Sensitivity to {len(self)} fractions>"

    def __str__(self) -> str:
        head = ("contamination", "rows removed", "mean moves", "radius", "most in")
        lines = [
            (
                f"{change.fraction:g}",
                str(change.n_removed),
                f"{change.shift:.2g} se",
                f"{change.radius:.3g}",
                ", ".join(change.columns),
            )
            for change in self._changes
        ]
        table = aligned([head, *lines], left=4)
        return f"{table}\n{self.advice}" if self.advice else table


def sensitivity(result: RobustMeanResult) -> Sensitivity:
    """Compute what each fraction would change; eight passes, and some for each that differs."""
    trimming = Trimming.of(result, never=result._trusted)
    n = trimming.table.shape[0]
    counts = leaving(trimming, [most_bad(fraction, n) for fraction in FRACTIONS])
    ends = np.unique(counts)
    metric, present = result._rule.metric, result.certificate.mean
    means = trimming.means(ends) + trimming.center
    offsets = means - (present if metric is None else metric.transform(present[None])[0])
    offsets[ends == trimming.n_found] = 0.0  # the present answer, up to rounding
    shifts = _shifts(result, trimming, offsets)
    locations = means if metric is None else metric.restored(means)
    of_columns = locations - present
    sigmas = [
        result.certificate.sigma_kept if same else _sigma(trimming, j, mean)
        for j, mean, same in zip(ends.tolist(), means, ends == trimming.n_found, strict=True)
    ]
    place = {j: i for i, j in enumerate(ends.tolist())}
    found = []
    for fraction, j in zip(FRACTIONS, counts, strict=True):
        i = place[j]
        radius = float(np.inf)
        if np.isfinite(sigmas[i]):
            radius = float(theory.error_radius(sigmas[i], n - j, n, fraction, sigmas[i]))
        names = _most_moved(result, of_columns[i]) if shifts[i] >= NOTABLE else ()
        found.append(Change(fraction, j, float(shifts[i]), names, radius, locations[i]))
    return Sensitivity(found, trimming.n_found)


def _shifts(result: RobustMeanResult, trimming: Trimming, offsets: Array) -> Array:
    """Return the lengths of offsets of the mean, in its standard errors along them; one pass."""
    sizes = np.maximum(np.abs(offsets).max(axis=1), TINY)  # the squares may overflow
    lengths = np.linalg.norm(offsets / sizes[:, None], axis=1)
    directions = offsets / sizes[:, None] / np.maximum(lengths, TINY)[:, None]
    lengths *= sizes
    along = on_host(trimming.table.project(trimming.center, directions)).astype(np.float64)
    kept = on_host(result.support)
    if not kept.any():  # nothing shows how much the mean of no row varies
        return np.where(lengths > 0.0, np.nan, 0.0)
    errors = along[:, kept].std(axis=1) / np.sqrt(int(kept.sum()))
    return np.where(lengths > 0.0, lengths / np.maximum(errors, TINY), 0.0)


def _sigma(trimming: Trimming, j: int, mean: Array) -> float:
    """Return by how much the rows that are left vary at most, in any direction."""
    table, left = trimming.table, trimming.kept(j)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(on_host(table.sq_distances(mean))[left]).all():
            return float(np.inf)  # some are too far away to square
    bound = spectrum_of_kept(table, double(table.to_device(left)), mean, None).bound
    return float(np.sqrt(bound / (table.shape[0] - j)))


def _most_moved(result: RobustMeanResult, offset: Array) -> tuple[str, ...]:
    """Return the names of the columns in which the mean moves most, in their standard errors."""
    errors = result._means.error
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.nan_to_num(np.abs(offset) / errors, posinf=np.finfo(float).max)
    first = np.argsort(-moved, kind="stable")[:COLUMNS]
    columns = result._known_data().columns
    return tuple(named(columns, int(i)) for i in first if moved[i] > 0.0)
