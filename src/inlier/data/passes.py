"""The passes as functions of one block of rows, and tables that are read in blocks.

A pass is the same for every kind of table. It returns its result for each row of the block, or
None, and its contributions to sums over all rows. It holds only small arrays, so that it can be
sent to the block.

Single-precision rows far from the origin are centered first, because their products with a
direction would cancel. Otherwise rows are multiplied uncentered, and the center is subtracted
afterwards.

Both products of a pass are skinny, for which BLAS is not tuned. OpenBLAS multiplies small matrices
without packing them first, which is faster. So a block is multiplied as a stack of small matrices,
in one call of numpy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, Self

import numpy as np

from inlier._internal.arrays import column_medians, double, like, namespace, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier.data.base import Moment, Table

# Longest sum in single precision: it loses two digits, not four.
ROWS_AT_ONCE = 1 << 14
# Multiplications up to which OpenBLAS does not pack; `make bench` measures the seconds of a pass.
UNPACKED = 1_000_000
# Rows of a stacked product. With more, and hundreds of columns, OpenBLAS is slower again.
MOST_ROWS = 128
# With more directions a centered copy is cheaper than a read of the rows for each 16 of them.
MOST_DIRECTIONS = 64

PassResult = tuple[Rows | None, tuple[Rows, ...]]


class Pass(Protocol):
    """A function of one block of rows."""

    @property
    def in_place(self) -> bool:
        """Whether the pass makes no copy of the block."""

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
        """Evaluate a block, with the inputs of its rows."""


@cache
def fused_kernels() -> Any:
    """Return the kernels for NVIDIA GPUs; None where Triton is not installed."""
    try:
        from inlier.data import fused
    except ImportError:
        return None
    return fused


@dataclass(frozen=True)
class BlockView:
    """Precision and center of the products with a block."""

    precision: str
    taken: Array | None
    """The part of the center that is subtracted from the rows."""
    left: Array
    """The part that is subtracted from their products."""
    fused: bool = False
    """Whether kernels subtract the center as they read the rows, see `inlier.data.fused`."""

    @classmethod
    def about(cls, center: Array, precision: str, centered: bool) -> BlockView:
        """Return a view about a center; with `centered`, rows are centered before the products."""
        if not centered:
            return cls(precision, None, center)
        taken = center.astype(precision)
        return cls(precision, taken, center - taken)

    def in_place(self, k: int = 1) -> bool:
        """Return whether no copy of the block is made for products with k directions."""
        return self.taken is None or (self.fused and k <= MOST_DIRECTIONS)

    def kernel_rows(self, block: Rows, k: int = 1) -> Any:
        """Return the rows for a kernel with k directions, or None."""
        kernels = fused_kernels() if self.fused and k <= MOST_DIRECTIONS else None
        if kernels is None or not kernels.supports(block):
            return None
        return kernels.CenteredRows.about(self.left + self.taken, block)

    def columns(self, part: slice) -> BlockView:
        """Return the view of some columns."""
        taken = None if self.taken is None else self.taken[part]
        return BlockView(self.precision, taken, self.left[part])

    def of(self, block: Rows) -> Rows:
        """Cast and center a block."""
        xp = namespace(block)
        block = xp.astype(block, getattr(xp, self.precision), copy=False)
        return block if self.taken is None else block - like(self.taken, block)

    def centered(self, block: Rows) -> Rows:
        """Cast and center a block; by the digits, too, that single precision has left."""
        far = self.of(block)
        return far - like(self.left, far, far.dtype) if self.left.any() else far


@dataclass(frozen=True)
class Project:
    """V A^T."""

    view: BlockView
    basis: Array
    shift: Array
    """The product of the basis with `view.left`, k x 1."""

    @classmethod
    def along(cls, basis: Array, view: BlockView, **options: Any) -> Self:
        """Return the pass for a basis, in the precision of the products."""
        basis = basis.astype(view.precision, copy=False)
        shift = (basis.astype(np.float64, copy=False) @ view.left)[:, None]
        return cls(view, basis, shift, **options)

    @property
    def in_place(self) -> bool:
        return self.view.in_place(len(self.basis))

    def projected(self, Y: Rows) -> Rows:
        """Project a block, already cast and centered, onto the basis."""
        # Both transfers before the product: on a device, later ones would wait for it.
        basis, shift = like(self.basis, Y), like(self.shift, Y, Y.dtype)
        projected = along(basis, Y)
        projected -= shift
        return projected

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
        if (rows := self.view.kernel_rows(block, len(self.basis))) is not None:
            return double(rows.project(like(self.basis, block))), ()
        return double(self.projected(self.view.of(block))), ()


@dataclass(frozen=True)
class Moments(Project):
    """V A^T, and the sums of `Combine` for V A^T W."""

    drift: bool = True
    """Whether w is the last row of V A^T W."""

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
        (weights,) = inputs
        xp = namespace(block)
        rows = self.view.kernel_rows(block, len(self.basis))
        Y = self.view.of(block) if rows is None else block
        projected = self.projected(Y) if rows is None else rows.project(like(self.basis, Y))
        w = xp.astype(weights, Y.dtype, copy=False)
        weighted = projected * w
        if self.drift:
            weighted = xp.concat([weighted, w[None, :]], axis=0)
        return projected, combined(weighted, Y) if rows is None else _centered(rows, weighted)


@dataclass(frozen=True)
class Combine:
    """C A, up to `view.left`, and the row sums of C."""

    view: BlockView

    @property
    def in_place(self) -> bool:
        return self.view.in_place()

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
        if (rows := self.view.kernel_rows(block, inputs[0].shape[0])) is not None:
            return None, _centered(rows, inputs[0])
        return None, combined(inputs[0], self.view.of(block))


@dataclass(frozen=True)
class Distances:
    """||a||^2."""

    view: BlockView

    @property
    def in_place(self) -> bool:
        return self.view.in_place()

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
        if (rows := self.view.kernel_rows(block)) is not None:
            return double(rows.distances()), ()
        # A row too far away to square is infinitely far.
        with np.errstate(over="ignore", invalid="ignore"):
            far = self.view.centered(block)
            return double(namespace(far).linalg.vecdot(far, far)), ()


@dataclass(frozen=True)
class Sizes:
    """The sizes that a measure gives the rows."""

    measure: Callable[[Rows], Rows]
    in_place: bool = False
    """Whether a kernel reads the rows where they lie, see `inlier.data.fused`."""

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
        if self.in_place:
            return fused_kernels().sizes(self.measure, block), ()
        return self.measure(double(block)), ()


@dataclass(frozen=True)
class ScatterPass:
    """A^T W A, and A^T w."""

    view: BlockView
    in_place = False

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
        (weights,) = inputs
        far = self.view.centered(block)
        xp = namespace(far)
        w = xp.astype(weights, far.dtype, copy=False)
        return None, (combined((far * w[:, None]).T, far)[0], combined(w[None, :], far)[0])


@dataclass(frozen=True)
class Squares:
    """The diagonal of A^T W A, and A^T w, of all or some columns.

    In double precision, because squares of a column of small scale may underflow.
    """

    center: Array
    in_place = False

    def __call__(self, block: Rows, *inputs: Any) -> PassResult:
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


def _centered(rows: Any, coefficients: Rows) -> tuple[Rows, Rows]:
    """Combine centered rows: nothing is left to subtract from the sums."""
    image = rows.combine(coefficients)
    return image, 0.0 * image[:, 0]


def along(basis: Rows, Y: Rows) -> Rows:
    """Compute basis @ Y.T."""
    if not isinstance(Y, np.ndarray):
        return basis @ Y.T
    (n, d), k = Y.shape, len(basis)
    height = _height(Y, k)
    whole = n // height * height
    projected = np.empty((k, n), Y.dtype)
    rows = Y[:whole].reshape(-1, height, d).transpose(0, 2, 1)
    np.matmul(basis, rows, out=_stacked(projected, height))
    np.matmul(basis, Y[whole:].T, out=projected[:, whole:])
    return projected


def combined(coefficients: Rows, Y: Rows) -> tuple[Rows, Rows]:
    """Compute coefficients @ Y and the row sums of the coefficients, in double precision."""
    xp = namespace(Y)
    C = xp.astype(coefficients, Y.dtype, copy=False)
    (k, n), d = C.shape, Y.shape[1]
    height = _height(Y, k)
    whole = n // height * height
    image: Rows = 0.0
    if whole:
        images = _stacked(C, height) @ xp.reshape(Y[:whole, :], (-1, height, d))
        enough = images.dtype if n <= ROWS_AT_ONCE else xp.float64
        image = double(xp.sum(images, axis=0, dtype=enough))
    if whole < n:
        image = image + double(C[:, whole:] @ Y[whole:, :])
    return image, xp.sum(coefficients, axis=1, dtype=xp.float64)


def _height(Y: Rows, width: int) -> int:
    """Return the number of rows that are multiplied at a time."""
    if not isinstance(Y, np.ndarray):
        return ROWS_AT_ONCE
    height: int = UNPACKED // max(1, width * Y.shape[1])
    if height < max(width, 16):  # the sums of a stack would cost more than its products
        return ROWS_AT_ONCE
    return min(MOST_ROWS, 1 << height.bit_length() - 1)


def _stacked(C: Rows, height: int) -> Rows:
    """Reshape k x n to a stack of k x height, without the remainder."""
    xp = namespace(C)
    k, n = C.shape
    count = n // height
    return xp.permute_dims(xp.reshape(C[:, : count * height], (k, count, height)), (1, 0, 2))


def kept_among(before: Mask | None, rows: Any) -> Mask:
    """Return the mask over all rows of a mask over the rows that were kept before."""
    kept: Mask = np.asarray(on_host(rows), dtype=np.bool_)
    if before is None:
        return kept
    among_all = before.copy()
    among_all[before] = kept
    return among_all


class BlockTable(Table):
    """A table that is read in blocks of rows.

    No copy of the data is made: a block is cast and centered, if necessary, when it is read. The
    dtype is the precision of the products: single or double.
    """

    block_bytes = 1 << 21
    least_block_rows = 16
    """A block stays in the cache between the two products of a fused pass."""
    column_elements = 1 << 20
    """Elements of a block of columns."""
    near = 2.0
    """Single-precision rows farther from the origin than this many typical distances are centered
    before they are multiplied, because they would lose precision."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        super().__init__(shape)
        self.dtype = dtype
        self._reach: float | None = None

    @abstractmethod
    def _run(self, work: Pass, *inputs: Any) -> tuple[Rows, list[Array]]:
        """Run a pass: return its results for all rows, and its sums over all blocks, on the host.

        Inputs are sliced along the last axis for each block.
        """

    @abstractmethod
    def _by_columns(self) -> Iterator[tuple[slice, Any]]:
        """Yield groups of columns, and all rows of each; one pass, or one for each group."""

    def cached_rows(self, dtype: np.dtype[Any]) -> int:
        """Return the number of rows in a block on the host."""
        # With the temporaries of about 16 numbers a row.
        row_bytes = (self.shape[1] + 16) * dtype.itemsize
        rows = max(self.least_block_rows, self.block_bytes // row_bytes)
        # A multiple of the height of the stacked products.
        return rows // MOST_ROWS * MOST_ROWS or 1 << rows.bit_length() - 1

    def project(self, center: Array, basis: Array) -> Rows:
        return self._run(Project.along(basis, self._view(center)))[0]

    def moment(self, center: Array, weights: Rows, basis: Array, drift: bool = True) -> Moment:
        k, work = len(basis), Moments.along(basis, self._view(center), drift=drift)
        projected, (image, totals) = self._run(work, weights)
        image = image - totals[:, None] * work.view.left
        return Moment(projected, image[:k], image[-1] if drift else np.empty(0))

    def scatter(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        work = ScatterPass(self._view(center, centered=True))
        _, (image, drift) = self._run(work, weights)
        return (image + image.T) / 2.0, drift[0]

    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        _, (squares, drift) = self._run(Squares(center), weights)
        return squares, drift

    def combine(self, center: Array, coefficients: Rows) -> Array:
        work = Combine(self._view(center))
        _, (image, totals) = self._run(work, coefficients)
        combined: Array = image - totals[:, None] * work.view.left
        return combined

    def sq_distances(self, center: Array) -> Rows:
        return self._run(Distances(self._view(center, centered=True)))[0]

    def measured(self, measure: Callable[[Rows], Rows]) -> Rows:
        return self._run(Sizes(measure))[0]

    def median(self, sample: np.random.Generator | None = None) -> Array:
        if sample is not None:
            return column_medians(self.to_gpu(self.sampled(sample)))
        return self.of_columns(column_medians)

    def of_columns(self, function: Callable[[Rows], Array]) -> Array:
        return np.concatenate([function(block) for _, block in self._by_columns()], axis=-1)

    def _view(self, center: Array, centered: bool = False) -> BlockView:
        """Return a view about a center; rows are centered first if asked for or necessary."""
        if self.dtype == np.float32 and not centered:
            centered = not self._is_near(center)
        return BlockView.about(center, self.dtype.name, centered)

    def _is_near(self, center: Array) -> bool:
        """Return whether a center is near enough to the origin to multiply uncentered rows."""
        if self._reach is None:
            part = self._part_for_scale().astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = np.linalg.norm(part - column_medians(part), axis=1)
            columns = (self.shape[1] / part.shape[1]) ** 0.5  # extrapolate to all columns
            self._reach = self.near * float(np.median(lengths)) * columns
        return float(np.linalg.norm(center)) <= self._reach

    def _part_for_scale(self) -> Array:
        """Return 64 rows, or some columns of all rows, to estimate the typical distance."""
        rows = np.linspace(0, self.shape[0] - 1, 64)
        return self.fetch(np.unique(rows.astype(np.intp)))
