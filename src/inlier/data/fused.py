"""Passes over single-precision rows on an NVIDIA GPU, each in one kernel that reads them once.

The center is subtracted in registers: no centered copy is made, and rows far from the origin cost
the same as rows near it. Products run on the tensor cores as three products in TF32, which together
have the precision of single precision. Needs Triton, which comes with PyTorch for CUDA; without it
the plain passes are used. `benchmarks/gpu.py` measures the passes of whole fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]

from inlier._internal.arrays import like
from inlier.data.measures import FARTHEST, MEDIAN_SIZE, Fences, TailLength

# Fewer rows do not fill a device: a program goes through all columns of its rows.
FEWEST_ROWS = 1 << 12
# Directions in a tile: the fewest that the tensor cores multiply.
WIDTH = 16
# Rows whose sum is held in single precision: as in `inlier.data.passes`.
LEAST_ROWS, MOST_ROWS = 1024, 8192
# Programs for each multiprocessor and tile of columns, so that all have work until the end.
PROGRAMS = 2
PROJECT = {"BN": 128, "BD": 64, "num_warps": 4, "num_stages": 2}
COMBINE = {"BN": 32, "BD": 128, "num_warps": 4, "num_stages": 3}
SIZES = {"BN": 8, "BD": 256, "num_warps": 4, "num_stages": 2}
DISTANCES = {"BN": 16, "BD": 512, "num_warps": 8, "num_stages": 2}


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def _centered(Y, high, low, rows, columns, inside, n_columns):  # type: ignore[no-untyped-def]
    """Load some entries, and subtract the center: its leading digits first, then the others."""
    there = columns < n_columns
    mask = inside[:, None] & there[None, :]
    y = tl.load(Y + rows[:, None].to(tl.int64) * n_columns + columns[None, :], mask=mask, other=0.0)
    y -= tl.load(high + columns, mask=there, other=0.0)[None, :]
    y -= tl.load(low + columns, mask=there, other=0.0)[None, :]
    return tl.where(mask, y, 0.0)


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def _project(  # type: ignore[no-untyped-def]
    Y, high, low, V, out, n, d, k, K: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr
):
    rows = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = rows < n
    ks = tl.arange(0, K)
    P = tl.zeros((K, BN), dtype=tl.float32)
    for j in range(0, d, BD):
        columns = j + tl.arange(0, BD)
        a = _centered(Y, high, low, rows, columns, inside, d)
        mask = (ks < k)[:, None] & (columns < d)[None, :]
        v = tl.load(V + ks[:, None] * d + columns[None, :], mask=mask, other=0.0)
        P = tl.dot(v, tl.trans(a), P, input_precision="tf32x3")
    place = out + ks[:, None].to(tl.int64) * n + rows[None, :]
    tl.store(place, P, mask=(ks < k)[:, None] & inside[None, :])


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def _combine(  # type: ignore[no-untyped-def]
    Y, high, low, C, sums, n, d, k, per, K: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr
):
    ks = tl.arange(0, K)
    columns = tl.program_id(1) * BD + tl.arange(0, BD)
    total = tl.zeros((K, BD), dtype=tl.float32)
    for start in range(0, per, BN):
        rows = tl.program_id(0) * per + start + tl.arange(0, BN)
        inside = rows < n
        a = _centered(Y, high, low, rows, columns, inside, d)
        mask = inside[None, :] & (ks < k)[:, None]
        c = tl.load(C + ks[:, None].to(tl.int64) * n + rows[None, :], mask=mask, other=0.0)
        total = tl.dot(c, a, total, input_precision="tf32x3")
    place = sums + tl.program_id(0).to(tl.int64) * K * d + ks[:, None] * d + columns[None, :]
    tl.store(place, total, mask=(columns < d)[None, :])


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def _distances(  # type: ignore[no-untyped-def]
    Y, high, low, out, n, d, BN: tl.constexpr, BD: tl.constexpr
):
    rows = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = rows < n
    total = tl.zeros((BN, BD), dtype=tl.float32)
    for j in range(0, d, BD):
        a = _centered(Y, high, low, rows, j + tl.arange(0, BD), inside, d)
        total += a * a
    tl.store(out + rows, tl.sum(total, axis=1), mask=inside)


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def _sizes(  # type: ignore[no-untyped-def]
    Y, high, low, unit, power, out, n, d, farthest,
    LARGEST: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = rows < n
    total = tl.zeros((BN, BD), dtype=tl.float32)
    for j in range(0, d, BD):
        columns = j + tl.arange(0, BD)
        there = columns < d
        a = _centered(Y, high, low, rows, columns, inside, d)
        above = tl.load(unit + columns, mask=there, other=0.0)[None, :]
        below = tl.load(unit + columns + d, mask=there, other=0.0)[None, :]
        ratio = tl.log2(tl.abs(a)) - tl.where(a > 0.0, above, below)
        above = tl.load(power + columns, mask=there, other=0.0)[None, :]
        below = tl.load(power + columns + d, mask=there, other=0.0)[None, :]
        squared = tl.exp2(tl.where(a > 0.0, above, below) * tl.minimum(ratio, farthest))
        squared = tl.where(a == 0.0, 0.0, squared)  # 0 / 0 where a column has no unit
        if LARGEST:
            total = tl.maximum(total, squared)
        else:
            total += squared
    size = tl.max(total, axis=1) if LARGEST else tl.sum(total, axis=1)
    tl.store(out + rows, tl.sqrt(size), mask=inside)


def measures(measure: object) -> bool:
    """Return whether there is a kernel for a measure."""
    plain = isinstance(measure, TailLength) and measure.whitener is None
    return plain or type(measure) is Fences  # another kind of fences counts the cells beyond


def sizes(measure: TailLength | Fences, Y: Any) -> Any:
    """Compute the sizes of rows, in double precision; one read.

    Each cell has the square (a / unit)^(2 power) on its side of the center. A row has the root of
    their sum or, beyond fences, of the largest.
    """
    n, d = Y.shape
    rows = CenteredRows.about(measure.center, Y)
    out = torch.empty(n, dtype=torch.float32, device=Y.device)
    grid = (triton.cdiv(n, SIZES["BN"]),)
    fences = isinstance(measure, Fences)
    if isinstance(measure, Fences):
        unit, power = np.stack([measure.above, measure.below]), np.ones((2, d))
    else:
        unit, power = measure.unit, measure.power
    with np.errstate(divide="ignore"):
        # Units as logarithms, and powers of squares: it is cheapest to raise 2 to a power.
        unit, power = (like(x.astype(np.float32), Y) for x in (np.log2(unit), 2.0 * power))
    farthest = float(np.log2(FARTHEST))
    _sizes[grid](Y, rows.high, rows.low, unit, power, out, n, d, farthest, LARGEST=fences, **SIZES)
    return out.to(torch.float64) * (1.0 if fences else MEDIAN_SIZE)


def supports(Y: Any) -> bool:
    """Return whether the kernels can read an array."""
    return (
        isinstance(Y, torch.Tensor)
        and Y.is_cuda
        and Y.dtype == torch.float32
        and Y.ndim == 2
        and Y.is_contiguous()
    )


@dataclass(frozen=True)
class CenteredRows:
    """Rows on a device about a center, which is never subtracted in memory."""

    Y: Any
    high: Any
    low: Any
    """The leading digits of the center, and the others, in single precision."""

    @classmethod
    def about(cls, center: Any, Y: Any) -> CenteredRows:
        """Return rows about a center of double precision."""
        high = np.asarray(center, np.float32)
        low = (np.asarray(center, np.float64) - high).astype(np.float32)
        return cls(Y, *like(np.stack([high, low]), Y))  # one transfer

    def project(self, basis: Any) -> Any:
        """Compute basis @ A^T, k x n; one read of the rows for 16 directions."""
        n, d = self.Y.shape
        out: Any = torch.empty((basis.shape[0], n), dtype=torch.float32, device=self.Y.device)
        grid = (triton.cdiv(n, PROJECT["BN"]),)
        for part, V in zip(out.split(WIDTH), basis.split(WIDTH), strict=True):
            _project[grid](
                self.Y, self.high, self.low, V, part, n, d, len(V), K=WIDTH, **PROJECT
            )  # fmt: skip
        return out

    def combine(self, coefficients: Any) -> Any:
        """Compute coefficients @ A, k x d, in double precision; one read for 16 of them."""
        n, d = self.Y.shape
        per = self._rows_per_program()
        programs = triton.cdiv(n, per)
        shape = (programs, WIDTH, d)
        sums = torch.empty(shape, dtype=torch.float32, device=self.Y.device)
        grid = (programs, triton.cdiv(d, COMBINE["BD"]))
        images = []
        for C in coefficients.to(torch.float32).contiguous().split(WIDTH):
            _combine[grid](
                self.Y, self.high, self.low, C, sums, n, d, len(C), per, K=WIDTH, **COMBINE
            )  # fmt: skip
            images.append(torch.sum(sums, dim=0, dtype=torch.float64)[: len(C)])
        return torch.cat(images)

    def distances(self) -> Any:
        """Compute the squared length of each row of A; one read."""
        n, d = self.Y.shape
        out = torch.empty(n, dtype=torch.float32, device=self.Y.device)
        grid = (triton.cdiv(n, DISTANCES["BN"]),)
        _distances[grid](self.Y, self.high, self.low, out, n, d, **DISTANCES)
        return out

    def _rows_per_program(self) -> int:
        device = torch.cuda.get_device_properties(self.Y.device)
        rows = self.Y.shape[0] // (PROGRAMS * device.multi_processor_count)
        return int(max(LEAST_ROWS, min(MOST_ROWS, triton.next_power_of_2(max(rows, 1)))))
