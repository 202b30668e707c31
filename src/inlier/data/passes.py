"""The passes, as functions of one block of rows: the same for every home of the data.

A pass returns what it sees of each row of the block, or None, and what it adds to sums over all
rows. It holds nothing but small arrays, so it can be sent to where the block is.

Single-precision rows far from the origin are centred first, because their product with a direction
would already have lost what distinguishes them. Otherwise rows are multiplied where they lie, and
the centre is taken off the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from inlier._internal.arrays import double, like, namespace, on_host
from inlier._internal.typing import Array, Rows
from inlier.data.measures import Measure
from inlier.data.products import along, combined

Seen = tuple[Rows | None, tuple[Rows, ...]]


class Pass(Protocol):
    """What is done with each block."""

    @property
    def in_place(self) -> bool:
        """Whether nothing as large as the block is made of it."""

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        """Look at a block, with what belongs to its rows."""


@dataclass(frozen=True)
class BlockView:
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
    def about(cls, center: Array, precision: str, centred: bool) -> BlockView:
        """A view about a centre; `centred`, if rows have to be centred before they are used."""
        if not centred:
            return cls(precision, None, center)
        taken = center.astype(precision)
        return cls(precision, taken, center - taken)

    def columns(self, part: slice) -> BlockView:
        """The same view of some columns."""
        taken = None if self.taken is None else self.taken[part]
        return BlockView(self.precision, taken, self.left[part])

    def of(self, block: Rows) -> Rows:
        """The block as products see it."""
        block = _cast(block, self.precision)
        return block if self.taken is None else block - like(self.taken, block)


@dataclass(frozen=True)
class Project:
    """V A^T."""

    view: BlockView
    basis: Array
    shift: Array
    """Where the basis sees what is left of the centre, k x 1."""

    @classmethod
    def along(cls, basis: Array, view: BlockView) -> Self:
        """Along a basis, in the precision of the products."""
        basis = basis.astype(view.precision, copy=False)
        return cls(view, basis, (basis.astype(np.float64, copy=False) @ view.left)[:, None])

    @property
    def in_place(self) -> bool:
        return self.view.taken is None

    def projected(self, Y: Rows) -> Rows:
        """A block, as products see it, along the basis."""
        # Both on their way before the product: what follows a product on a device waits for it.
        basis, shift = like(self.basis, Y), like(self.shift, Y, Y.dtype)
        projected = along(basis, Y)
        projected -= shift
        return projected

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        return self.projected(self.view.of(block)), ()


@dataclass(frozen=True)
class Moments(Project):
    """V A^T, and the sums of `Combine` for V A^T W."""

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        (weights,) = inputs
        Y = self.view.of(block)
        xp = namespace(Y)
        projected = self.projected(Y)
        w = weights(projected) if callable(weights) else weights
        return projected, combined(self.weighted(projected, xp.astype(w, Y.dtype, copy=False)), Y)

    def weighted(self, projected: Rows, w: Rows) -> Rows:
        """What the rows are multiplied with."""
        return projected * w


@dataclass(frozen=True)
class DriftingMoments(Moments):
    """The same with w below V A^T W."""

    def weighted(self, projected: Rows, w: Rows) -> Rows:
        """What the rows are multiplied with."""
        return namespace(projected).concat([projected * w, w[None, :]], axis=0)


@dataclass(frozen=True)
class Combine:
    """C A, but for what is left of the centre, and the sums of C."""

    view: BlockView

    @property
    def in_place(self) -> bool:
        return self.view.taken is None

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        return None, combined(inputs[0], self.view.of(block))


@dataclass(frozen=True)
class Distances:
    """||a||^2; in single precision near the origin without a centred copy."""

    view: BlockView

    @property
    def in_place(self) -> bool:
        return self.view.taken is None and self.view.precision == "float32"

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        # A row too far away to square is infinitely far.
        with np.errstate(over="ignore", invalid="ignore"):
            far = self.view.of(block)
            xp, left = namespace(far), like(self.view.left, far, far.dtype)
            if self.in_place:
                own = double(xp.linalg.vector_norm(far, axis=1)) ** 2
            elif self.view.taken is None:
                far = far - left
                return xp.vecdot(far, far), ()
            else:
                own = double(xp.vecdot(far, far))
            if self.view.left.any():
                rest = float(self.view.left @ self.view.left) - 2.0 * double(far @ left)
                own = xp.where(xp.isfinite(own), own + rest, own)
            return xp.clip(own, 0.0, None), ()


@dataclass(frozen=True)
class Sizes:
    """What a measure says of each row."""

    measure: Measure
    in_place = False

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        return self.measure(double(block)), ()


@dataclass(frozen=True)
class ScatterPass:
    """A^T W A, and A^T w."""

    view: BlockView
    in_place = False

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        (weights,) = inputs
        far = self.view.of(block)
        far = far - like(self.view.left, far, far.dtype)
        xp = namespace(far)
        w = xp.astype(weights, far.dtype, copy=False)
        return None, (combined((far * w[:, None]).T, far)[0], combined(w[None, :], far)[0])


@dataclass(frozen=True)
class Squares:
    """The diagonal of A^T W A, and A^T w; the same for some of the columns.

    In double precision: a column may vary so much less than others that its squares are no numbers
    in single precision.
    """

    center: Array
    in_place = False

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        (weights,) = inputs
        # A row too far away to square makes an infinite sum, unless it has no weight.
        with np.errstate(over="ignore", invalid="ignore"):
            far = double(block)
            far = far - like(self.center, far)
            xp = namespace(far)
            weighted = far * double(weights)[:, None]
            drift = xp.sum(weighted, axis=0)
            weighted *= far
            return None, (xp.sum(weighted, axis=0), drift)


@dataclass(frozen=True)
class Histogram:
    """How many values of each column lie below its lowest edge, in each bin, and above.

    Mergeable: the histogram of two blocks is the sum of theirs.
    """

    low: Array
    width: Array
    """Of a bin, for each column; not 0."""
    n_bins: int
    in_place = False

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        if not hasattr(namespace(block), "bincount"):  # which the standard does not know
            block = on_host(block)
        xp = namespace(block)
        d, n_counts = len(self.low), self.n_bins + 2
        place = (double(block) - like(self.low, block)) / like(self.width, block)
        place = xp.clip(xp.floor(place), -1.0, float(self.n_bins)) + 1.0
        place = xp.astype(place, xp.int64) + like(n_counts * np.arange(d), block)
        counts = xp.bincount(xp.reshape(place, (-1,)), minlength=d * n_counts)
        return None, (xp.reshape(counts, (d, n_counts)),)


def _cast(block: Rows, precision: str) -> Rows:
    xp = namespace(block)
    return xp.astype(block, getattr(xp, precision), copy=False)
