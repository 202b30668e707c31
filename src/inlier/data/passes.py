"""The passes, as functions of one block of rows: the same for every home of the data.

A pass returns what it sees of each row of the block, or None, and what it adds to sums over all
rows. It holds nothing but small arrays, so it can be sent to where the block is.

Single-precision rows far from the origin are centred first, because their product with a direction
would already have lost what distinguishes them. Otherwise rows are multiplied where they lie, and
the centre is taken off the product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from inlier._arrays import double, like, namespace, on_host
from inlier._typing import Array, Rows

Seen = tuple[Rows | None, tuple[Rows, ...]]
Pass = Callable[..., Seen]


@dataclass(frozen=True)
class View:
    """How a block is seen: in which precision, and about which centre.

    Attributes
    ----------
    precision : str
        The dtype of the products.
    taken : array of shape (d,) or None
        The part of the centre that is taken off the rows themselves.
    left : array of shape (d,)
        The part that is left for their products.
    """

    precision: str
    taken: Array | None
    left: Array

    @classmethod
    def about(cls, center: Array, precision: str, centred: bool) -> View:
        """A view about a centre; `centred`, if rows have to be centred before they are used."""
        if not centred:
            return cls(precision, None, center)
        taken = center.astype(precision)
        return cls(precision, taken, center - taken)

    def of(self, block: Rows) -> Rows:
        """The block as products see it."""
        block = _cast(block, self.precision)
        return block if self.taken is None else block - like(self.taken, block)


@dataclass(frozen=True)
class Project:
    """V A^T."""

    view: View
    basis: Array
    shift: Array
    """Where the basis sees what is left of the centre, k x 1."""

    @classmethod
    def along(cls, basis: Array, view: View) -> Self:
        """Along a basis, in the precision of the products."""
        basis = basis.astype(view.precision, copy=False)
        return cls(view, basis, (basis.astype(np.float64, copy=False) @ view.left)[:, None])

    def seen(self, Y: Rows) -> Rows:
        """A block, as products see it, along the basis."""
        return double(like(self.basis, Y) @ Y.T) - like(self.shift, Y)

    def __call__(self, block: Rows) -> Seen:
        return self.seen(self.view.of(block)), ()


@dataclass(frozen=True)
class Moments(Project):
    """V A^T, and the weighted sums of `Combine` for V A^T W with w below it."""

    def __call__(self, block: Rows, weights: Any = None) -> Seen:
        Y = self.view.of(block)
        xp = namespace(Y)
        seen = self.seen(Y)
        w = weights(seen) if callable(weights) else weights
        weighted = xp.concat([seen * w, w[None, :]], axis=0)
        return seen, combined(weighted, Y)


@dataclass(frozen=True)
class Combine:
    """C A, but for what is left of the centre, and the sums of C."""

    view: View

    def __call__(self, block: Rows, coefficients: Rows) -> Seen:
        return None, combined(coefficients, self.view.of(block))


@dataclass(frozen=True)
class Distances:
    """||a||^2."""

    view: View

    def __call__(self, block: Rows) -> Seen:
        far = self.view.of(block)
        far = far - like(self.view.left, far, far.dtype)
        with np.errstate(over="ignore"):  # a row too far away to square is infinitely far
            return double(namespace(far).vecdot(far, far)), ()


@dataclass(frozen=True)
class Scatter:
    """A^T W A, with A^T w below it."""

    view: View

    def __call__(self, block: Rows, weights: Rows) -> Seen:
        far = self.view.of(block)
        far = far - like(self.view.left, far, far.dtype)
        xp = namespace(far)
        w = xp.astype(weights, far.dtype, copy=False)[:, None]
        weighted = xp.concat([(far * w).T, w.T], axis=0)
        return None, (double(weighted @ far),)


@dataclass(frozen=True)
class Histogram:
    """How many values of each column lie below its lowest edge, in each bin, and above.

    Mergeable: the histogram of two blocks is the sum of theirs.
    """

    low: Array
    width: Array
    """Of a bin, for each column; not 0."""
    n_bins: int

    def __call__(self, block: Rows) -> Seen:
        if not hasattr(namespace(block), "bincount"):  # which the standard does not know
            block = on_host(block)
        xp = namespace(block)
        d, n_counts = len(self.low), self.n_bins + 2
        place = (double(block) - like(self.low, block)) / like(self.width, block)
        place = xp.clip(xp.floor(place), -1.0, float(self.n_bins)) + 1.0
        place = xp.astype(place, xp.int64) + like(n_counts * np.arange(d), block)
        counts = xp.bincount(xp.reshape(place, (-1,)), minlength=d * n_counts)
        return None, (xp.reshape(counts, (d, n_counts)),)


def combined(coefficients: Rows, Y: Rows) -> tuple[Rows, Rows]:
    """Combinations of rows as they are, and the sums of the coefficients."""
    xp = namespace(Y)
    image = xp.astype(coefficients, Y.dtype, copy=False) @ Y
    return double(image), xp.sum(coefficients, axis=1)


def _cast(block: Rows, precision: str) -> Rows:
    xp = namespace(block)
    return xp.astype(block, getattr(xp, precision), copy=False)
