"""How fast a fit is where the data are already on a GPU, and where its time goes.

Settings A and B of the paper are drawn on the device in single precision, and uneven rows (standard
deviations 5 / sqrt(j)), clean or with outliers 6 sigma out in the two weakest columns, where the
two parts overlap. For each fit: how many rows are wrong, and how many would be by the best rule,
which knows both parts; seconds (best of several), passes, the part of the time that is spent in
passes that move bytes at half of the device's copy bandwidth or more, how often the host waits for
the device, and the most memory used beside the data.
"""

import gc
import math
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import perf_counter
from typing import Any
from unittest.mock import patch

import common
import pandas as pd
import torch

import inlier
from inlier.data.arrays import DenseTable

ALPHAS = (0.1, 0.2, 0.3, 0.4)
# Of tables of more rows than these, which take long to draw.
FEW_ALPHAS, MANY_ROWS = (0.2,), 1_000_000
# Added to every column: the paper's rows lie about the origin, those of users do not.
SHIFTS = (0.0, 5.0)
# Passes that center the rows first: the copy is written and read again.
CENTERING = ("Moments", "DriftingMoments", "ScatterPass")
SECONDS = {
    (1_000_000, "sigma"): 0.06,
    (1_000_000, "nothing"): 0.15,
    (10_000_000, "sigma"): 0.25,
    (10_000_000, "nothing"): 0.5,
}


def timed(work: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Seconds on the wall until the device is done, and the answer."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()
    start = perf_counter()
    answer = work()
    wait()
    return perf_counter() - start, answer


def copy_bandwidth(device: str, elements: int) -> float:
    """Bytes that are read and written in a second by a copy."""
    source = torch.ones(elements, device=device)
    target = torch.empty_like(source)
    best = min(timed(partial(target.copy_, source), device)[0] for _ in range(5))
    return 2.0 * source.numel() * source.element_size() / best


@dataclass(frozen=True)
class Data:
    """Rows, which are bad, the largest deviation of good ones, wrong rows of the best rule."""

    X: Any
    is_bad: Any
    sigma: float
    overlap: int


def drawn(name: str, n: int, d: int, alpha: float, shift: float, device: str) -> Data:
    """Setting A or B of the paper, or uneven rows ("quiet")."""
    torch.manual_seed(0)
    X = torch.empty((n, d), device=device)
    for part in X.split(1 << 18):
        part.normal_()
    bad = torch.randperm(n, device=device)[: round(alpha * n)]
    is_bad = torch.zeros(n, dtype=torch.bool, device=device)
    is_bad[bad] = True
    overlap = 0
    if name == "quiet":
        scales = 5.0 / torch.arange(1, d + 1, device=device) ** 0.5
        X *= scales
        X[bad, d - 2 :] += 6.0 * scales[d - 2 :]
        # Where the densities of the two parts, each with its share, are equal.
        equal = 6.0 + math.log((1.0 - alpha) / alpha) / 6.0 if alpha else math.inf
        called_bad = (X[:, d - 2 :] / scales[d - 2 :]).sum(1) > equal
        overlap = int((called_bad != is_bad).sum())
    else:
        for half, indices in enumerate(bad.tensor_split(2)):
            for rows in indices.split(1 << 17):
                X[rows] = bad_rows(name, half, X[rows])
    X += shift
    good = (~is_bad).to(X.dtype)
    mean = (good @ X) / good.sum()
    scatter = torch.zeros((d, d), device=device, dtype=torch.float64)
    for rows, weights in zip(X.split(1 << 17), good.split(1 << 17), strict=True):
        centered = (rows - mean) * weights[:, None]
        scatter += (centered.T @ centered).double()
    top = torch.linalg.eigvalsh(scatter)[-1] / good.sum()
    return Data(X, is_bad, float(top) ** 0.5, overlap)


def bad_rows(name: str, half: int, rows: Any) -> Any:
    """What the first or the second half of the bad rows of a setting becomes."""
    if name == "A":
        return rows + 3.0 * torch.rand_like(rows) if half else rows.abs()
    far = torch.zeros_like(rows)
    far[:, 0] = far[:, 1] = (rows.shape[1] / 2) ** 0.5
    far[:, 1] *= -1.0 if half else 1.0
    return far


@contextmanager
def watched(device: str) -> Iterator[list[dict[str, Any]]]:
    """The seconds and bytes of each pass of a fit."""
    found: list[dict[str, Any]] = []
    run = DenseTable._run

    def watching(table: DenseTable, work: Any, *inputs: Any) -> Any:
        seconds, answer = timed(partial(run, table, work, *inputs), device)
        n, d = table.shape
        name = type(work).__name__
        reads = (2.0 if name in CENTERING else 1.0) + (0.0 if work.in_place else 2.0)
        found.append({"pass": name, "seconds": seconds, "moved": reads * n * d * 4.0})
        return answer

    with patch.object(DenseTable, "_run", watching):
        yield found


def host_waits(fit: Callable[[], Any], device: str) -> int:
    """How often the host waits for the device."""
    if device != "cuda":
        return 0
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing" in str(one.message) for one in caught)


def measure(
    data: Data, given: str, device: str, repeats: int, bandwidth: float
) -> tuple[dict[str, object], pd.DataFrame]:
    """One fit: a line of the table, and its passes."""
    options: dict[str, Any] = {"scatter": "identity"} if given == "scatter identity" else {}
    if given == "sigma":
        options["sigma"] = data.sigma
    fit = partial(inlier.robust_mean, data.X, **options)
    fit()  # once, for what a library loads at its first use
    extra = 0.0
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        extra = -torch.cuda.memory_allocated()
    seconds = min(timed(lambda: fit() and None, device)[0] for _ in range(repeats))
    if device == "cuda":
        extra += torch.cuda.max_memory_allocated()
    with watched(device) as found:
        whole, result = timed(fit, device)
    split = pd.DataFrame(found)
    inside = split.seconds.sum()
    fast = split.seconds[split.moved / split.seconds >= 0.5 * bandwidth].sum()
    assert result.location.device == data.X.device
    line = {
        "given": given,
        "wrong rows": int((result.support == data.is_bad).sum()),
        "by the best rule": data.overlap,
        "seconds": f"{seconds:.3f}",
        "passes": result.details.n_passes,
        "in passes": f"{inside / whole:.0%}",
        "in fast passes": f"{fast / whole:.0%}",
        "of copy bandwidth": f"{split.moved.sum() / inside / bandwidth:.0%}",
        "host waits": host_waits(fit, device),
        "extra memory": f"{extra / (data.X.numel() * 4):.1%}",
        "target": SECONDS.get((len(data.X), given), ""),
    }
    return line, split.assign(rows=len(data.X))


def table_of_passes(found: pd.DataFrame, bandwidth: float) -> str:
    """Where the time of all fits went, by kind of pass."""
    return common.markdown(
        {
            "pass": f"{kind}, {rows:,} rows",
            "how often": len(own),
            "ms each": f"{1e3 * own.seconds.mean():.2f}",
            "of copy bandwidth": f"{own.moved.sum() / own.seconds.sum() / bandwidth:.0%}",
        }
        for (rows, kind), own in found.groupby(["rows", "pass"])
    )


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "gpu.md",
        given,
        rows=("1000000,10000000", "sizes separated by commas"),
        columns=(1024, "of all tables"),
        device=("cuda", "or cpu"),
        repeats=(5, "the fastest counts"),
        # The host decomposes small matrices: more threads would only wait for each other.
        threads=(4, "of the host"),
    )
    device, d, repeats = arguments.device, arguments.columns, arguments.repeats
    cuda = device == "cuda"
    bandwidth = copy_bandwidth(device, 1 << 29 if cuda else 1 << 24)
    lines, splits = [], []
    for n, name in product(map(int, arguments.rows.split(",")), ("A", "B", "quiet")):
        alphas = ALPHAS if n <= MANY_ROWS else FEW_ALPHAS
        # Not even the best bound on the variance shows outliers in quiet directions.
        told = "sigma"
        if name == "quiet":  # of more rows it is a question which part is the good one
            alphas, told = (0.0, *(alpha for alpha in alphas if alpha < 0.25)), "scatter identity"
        for alpha, shift in product(alphas, SHIFTS):
            data = drawn(name, n, d, alpha, shift, device)
            for kind in ("nothing", told):
                line, split = measure(data, kind, device, repeats, bandwidth)
                case = {"setting": name, "rows": f"{n:,}", "alpha": alpha, "shift": f"{shift:g}"}
                lines.append(case | line)
                splits.append(split)
                common.print_progress(str(lines[-1]))
            del data
            gc.collect()
            if cuda:
                torch.cuda.empty_cache()
    machine = torch.cuda.get_device_name() if cuda else platform.processor() or platform.machine()
    note = (
        f"{machine}, torch {torch.__version__}, copy bandwidth {bandwidth / 1e9:,.0f} GB/s (read "
        f"and written), {d} columns in single precision, data on the device, {arguments.threads} "
        f"threads of the host. Times are the best of {repeats}; the split is from a run of its "
        "own, in which the host waits after each pass. Fast passes move bytes at half of the copy "
        "bandwidth or more."
    )
    sections = {
        "Fits": common.markdown(lines),
        "Where the time goes": table_of_passes(pd.concat(splits), bandwidth),
    }
    common.publish(arguments, "Fits on a GPU", note, "python benchmarks/gpu.py --write", sections)


if __name__ == "__main__":
    main()
