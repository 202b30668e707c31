"""How fast a fit is where the data are already on a GPU, and where its time goes.

    python benchmarks/gpu.py                       1,000,000 and 10,000,000 rows of 1,024 columns
    python benchmarks/gpu.py --rows 1000000        one size
    python benchmarks/gpu.py --device cpu --rows 20000 --columns 256 --repeats 1

Settings A and B of the paper are drawn on the device in single precision, and uneven rows (standard
deviations 5 / sqrt(j)), clean or with outliers 6 sigma out in the two weakest columns, where the
two parts overlap. For each fit: how many rows are wrong, and how many would be by the best rule,
which knows both parts; seconds (best of several), passes, the part of the time that is spent in
passes that move bytes at half of the device's copy bandwidth or more, how often the host waits for
the device, and the most memory used beside the data. `--write` puts the table into docs/results.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import math
import os
import platform
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

# The host decomposes small matrices: more threads would only wait for each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "4")

import torch
from pages import RESULTS, write_page

import inlier
from inlier.data import passes
from inlier.data.arrays import DenseTable

ALPHAS = (0.1, 0.2, 0.3, 0.4)
# Of tables of more rows than these, which take long to draw.
FEW_ALPHAS, MANY_ROWS = (0.2,), 1_000_000
# Added to every column.
SHIFTS = (0.0, 5.0)
# Times that a pass goes through its bytes: products read the rows where they lie; where rows are
# centered first, the copy is written and read again.
READS = {
    passes.Sizes: 1.0,
    passes.Project: 1.0,
    passes.Moments: 2.0,
    passes.DriftingMoments: 2.0,
    passes.Combine: 1.0,
    passes.Distances: 1.0,
    passes.ScatterPass: 2.0,
}
# A centered copy is read, written and read.
COPIED = 2.0
SECONDS = {
    (1_000_000, "sigma"): 0.06,
    (1_000_000, "nothing"): 0.15,
    (10_000_000, "sigma"): 0.25,
    (10_000_000, "nothing"): 0.5,
}


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def timed(work: Callable[[], Any], device: str) -> tuple[float, Any]:
    wait(device)
    start = perf_counter()
    answer = work()
    wait(device)
    return perf_counter() - start, answer


def copy_bandwidth(device: str, elements: int = 1 << 29) -> float:
    """Bytes that are read and written in a second by a copy."""
    source = torch.ones(elements, device=device)
    target = torch.empty_like(source)
    best = min(timed(lambda: target.copy_(source), device)[0] for _ in range(5))
    return 2.0 * source.numel() * source.element_size() / best


def setting(
    name: str, n: int, d: int, alpha: float, shift: float, device: str
) -> tuple[Any, Any, float, int]:
    """Rows, which are bad, the largest deviation of good ones, wrong rows of the best rule.

    The shift is added to every column: the paper's rows lie about the origin, those of users not.
    """
    torch.manual_seed(0)
    X = torch.empty((n, d), device=device)
    for part in X.split(1 << 18):
        part.normal_()
    bad = torch.randperm(n, device=device)[: round(alpha * n)]
    first, second = bad.tensor_split(2)
    if name == "quiet":
        scales = 5.0 / torch.arange(1, d + 1, device=device) ** 0.5
        X *= scales
        X[bad, d - 2 :] += 6.0 * scales[d - 2 :]
        # Where the densities of the two parts, each with its share, are equal.
        equal = 6.0 + math.log((1.0 - alpha) / alpha) / 6.0 if alpha else math.inf
        called_bad = (X[:, d - 2 :] / scales[d - 2 :]).sum(1) > equal
    for rows in () if name == "quiet" else first.split(1 << 17):
        if name == "A":
            X[rows] = X[rows].abs()
        else:
            X[rows] = 0.0
            X[rows, :2] = (d / 2) ** 0.5
    for rows in () if name == "quiet" else second.split(1 << 17):
        if name == "A":
            X[rows] += 3.0 * torch.rand((len(rows), d), device=device)
        else:
            X[rows] = 0.0
            X[rows, 0], X[rows, 1] = (d / 2) ** 0.5, -((d / 2) ** 0.5)
    X += shift
    is_bad = torch.zeros(n, dtype=torch.bool, device=device)
    is_bad[bad] = True
    overlap = int((called_bad != is_bad).sum()) if name == "quiet" else 0
    good = (~is_bad).to(X.dtype)
    mean = (good @ X) / good.sum()
    scatter = torch.zeros((d, d), device=device, dtype=torch.float64)
    for rows, weights in zip(X.split(1 << 17), good.split(1 << 17), strict=True):
        centered = (rows - mean) * weights[:, None]
        scatter += (centered.T @ centered).double()
    top = torch.linalg.eigvalsh(scatter)[-1] / good.sum()
    return X, is_bad, float(top) ** 0.5, overlap


@dataclass
class Watched:
    """Adds up the seconds and bytes of each pass of a fit."""

    device: str
    passes: list[tuple[str, float, float]] = field(default_factory=list)

    def __enter__(self) -> Watched:
        self._run = DenseTable._run

        def run(table: DenseTable, work: Any, *inputs: Any) -> Any:
            seconds, answer = timed(lambda: self._run(table, work, *inputs), self.device)
            n, d = table.shape
            times = READS[type(work)] + (0.0 if work.in_place else COPIED)
            size = times * n * d * 4.0
            self.passes.append((type(work).__name__, seconds, size))
            return answer

        DenseTable._run = run  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        DenseTable._run = self._run  # type: ignore[method-assign]


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
    name: str,
    n: int,
    d: int,
    alpha: float,
    shift: float,
    given: str,
    data: Any,
    bandwidth: float,
    options: Any,
) -> dict[str, Any]:
    X, is_bad, sigma, overlap = data
    device = options.device
    arguments: dict[str, Any] = {
        "sigma": {"sigma": sigma},
        "nothing": {},
        "scatter identity": {"scatter": "identity"},
    }[given]

    def fit() -> Any:
        return inlier.robust_mean(X, **arguments)

    fit()  # once, for what a library loads at its first use
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    seconds = min(timed(lambda: fit() and None, device)[0] for _ in range(options.repeats))
    extra = (
        (torch.cuda.max_memory_allocated() - before) / (X.numel() * 4) if device == "cuda" else 0
    )
    with Watched(device) as watched:
        watched_seconds, result = timed(fit, device)
    fast = sum(s for _, s, size in watched.passes if size / s >= 0.5 * bandwidth)
    inside = sum(s for _, s, _ in watched.passes)
    moved = sum(size for _, _, size in watched.passes)
    assert result.location.device == X.device
    return {
        "setting": name,
        "rows": f"{n:,}",
        "alpha": alpha,
        "shift": f"{shift:g}",
        "given": given,
        "wrong rows": int((result.support == is_bad).sum()),
        "by the best rule": overlap,
        "seconds": f"{seconds:.3f}",
        "passes": result.n_passes,
        "in passes": f"{inside / watched_seconds:.0%}",
        "in fast passes": f"{fast / watched_seconds:.0%}",
        "of copy bandwidth": f"{moved / inside / bandwidth:.0%}",
        "host waits": host_waits(fit, device),
        "extra memory": f"{extra:.1%}",
        "target": SECONDS.get((n, given), ""),
        "split": watched.passes,
    }


def split(records: list[dict[str, Any]], bandwidth: float) -> str:
    """Where the time of all fits went, by kind of pass."""
    lines = ["| pass | how often | ms each | of copy bandwidth |", "|---|---|---|---|"]
    for size in sorted({r["rows"] for r in records}, key=len):
        every = [p for r in records if r["rows"] == size for p in r["split"]]
        for kind in sorted({p[0] for p in every}):
            own = [p for p in every if p[0] == kind]
            seconds, moved = sum(p[1] for p in own), sum(p[2] for p in own)
            lines.append(
                f"| {kind}, {size} rows | {len(own)} | {1e3 * seconds / len(own):.2f} "
                f"| {moved / seconds / bandwidth:.0%} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--settings", nargs="+", default=["A", "B", "quiet"])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    cuda = options.device == "cuda"
    device = torch.cuda.get_device_name() if cuda else platform.processor() or platform.machine()
    bandwidth = copy_bandwidth(options.device)
    records = []
    for n in options.rows:
        for name in options.settings:
            alphas = ALPHAS if n <= MANY_ROWS else FEW_ALPHAS
            if name == "quiet":  # of more rows it is a question which part is the good one
                alphas = (0.0, *(alpha for alpha in alphas if alpha < 0.25))
            for alpha, shift in itertools.product(alphas, SHIFTS):
                data = setting(name, n, options.columns, alpha, shift, options.device)
                # Not even the best bound on the variance shows outliers in quiet directions.
                quiet = name == "quiet"
                for given in ("nothing", "scatter identity" if quiet else "sigma"):
                    made = measure(
                        name, n, options.columns, alpha, shift, given, data, bandwidth, options
                    )
                    records.append(made)
                    shown = {k: v for k, v in made.items() if k != "split"}
                    print(shown, flush=True)
                del data
                gc.collect()
                if cuda:
                    torch.cuda.empty_cache()
    heads = [key for key in records[0] if key != "split"]
    table = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    table += ["| " + " | ".join(str(r[key]) for key in heads) + " |" for r in records]
    note = (
        f"{device}, torch {torch.__version__}, copy bandwidth {bandwidth / 1e9:,.0f} GB/s (read "
        f"and written), {options.columns} columns in single precision, data on the device, "
        f"{os.environ['OMP_NUM_THREADS']} threads of the host. Times are the best of "
        f"{options.repeats}; the split is from a run of its own, in which the host waits after "
        "each pass. Fast passes move bytes at half of the copy bandwidth or more. "
        "Made by `python benchmarks/gpu.py --write`."
    )
    text = "\n".join(table) + "\n\n## Where the time goes\n\n" + split(records, bandwidth)
    print(note, text, sep="\n\n")
    if options.write:
        write_page(RESULTS / "gpu.md", "Fits on a GPU", note, text)


if __name__ == "__main__":
    main()
