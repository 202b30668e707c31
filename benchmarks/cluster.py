"""What a pass costs on a Dask cluster of two workers, against numpy in one process.

    python benchmarks/cluster.py                            2,000,000 x 50
    python benchmarks/cluster.py --rows 200000 --columns 20

The same numbers on both sides: each verb, and a whole fit with sigma and with nothing given, is run
a few times, and the best time is kept. A worker has one thread; numpy is given one thread for
linear algebra, and then as many as there are workers. `--write` puts the table into docs/results.
"""

from __future__ import annotations

import os

# The most threads; numpy is limited to one of them below, and a task limits itself.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "2"

import argparse
import warnings
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from pages import RESULTS, write_page
from threadpoolctl import threadpool_limits

import inlier
from inlier.data import Table
from inlier.data.arrays import DenseTable
from inlier.data.dask import open_dask

N_DIRECTIONS = 8
N_WORKERS = 2
# Of the other processes: above the spare cores, the times are not to be trusted.
LOAD_BEFORE = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


class Arguments(NamedTuple):
    """What the verbs are called with."""

    center: np.ndarray
    basis: np.ndarray
    weights: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def of(cls, n: int, d: int) -> Arguments:
        rng = np.random.default_rng(1)
        basis = np.linalg.qr(rng.standard_normal((d, min(d, N_DIRECTIONS))))[0].T
        coefficients = rng.standard_normal((len(basis), n))
        return cls(0.1 * rng.standard_normal(d), basis, rng.random(n), coefficients)


# Name of the line -> the call, and how many floats travel for each row (to a chunk, and back).
VERBS: dict[str, tuple[Callable[[Table, Arguments], object], int, int]] = {
    "project": (lambda t, a: t.project(a.center, a.basis), 0, N_DIRECTIONS),
    "moment": (lambda t, a: t.moment(a.center, a.weights, a.basis), 1, N_DIRECTIONS),
    "scatter": (lambda t, a: t.scatter(a.center, a.weights), 1, 0),
    "combine, 1": (lambda t, a: t.combine(a.center, a.weights[None]), 1, 0),
    "combine, 8": (lambda t, a: t.combine(a.center, a.coefficients), N_DIRECTIONS, 0),
    "sq_distances": (lambda t, a: t.sq_distances(a.center), 0, 1),
}


# A fifth of the rows of each chunk is moved by this much in all columns.
SHIFT = 1.5
FITS = {"fit, sigma": {"sigma": 1.01}, "fit, nothing given": {}}


def contaminated(block: np.ndarray) -> np.ndarray:
    moved = block.copy()
    moved[: len(block) // 5] += SHIFT
    return moved


def best(call: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of a few calls, after one that is not counted."""
    call()
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    return min(seconds)


def times(table: Table, arguments: Arguments, repeats: int) -> list[float]:
    """Seconds of each verb, and of each fit."""
    verbs = [best(lambda v=verb: v(table, arguments), repeats) for verb, _, _ in VERBS.values()]
    fits = [best(lambda o=o: inlier.robust_mean(table, **o), 2) for o in FITS.values()]
    return verbs + fits


def as_markdown(n: int, numpy_1: list[float], numpy_2: list[float], dask: list[float]) -> str:
    """Milliseconds, ratios and what travels."""
    lines = []
    head = f"| verb | numpy, 1 thread | numpy, {N_WORKERS} threads | Dask, {N_WORKERS} workers |"
    lines.append(f"{head} Dask / numpy 1 | Dask / numpy {N_WORKERS} | MB sent | MB back |")
    lines.append("|---|---:|---:|---:|---:|---:|---:|---:|")
    travels = {name: (sent, back) for name, (_, sent, back) in VERBS.items()}
    travels |= dict.fromkeys(FITS, (None, None))
    for (name, moved), one, two, own in zip(travels.items(), numpy_1, numpy_2, dask, strict=True):
        cells = [f"{1e3 * x:.0f} ms" for x in (one, two, own)]
        cells += [f"{own / one:.2f}", f"{own / two:.2f}"]
        cells += ["" if x is None else f"{8e-6 * n * x:.0f}" for x in moved]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--chunk", type=int, default=250_000, help="rows of a chunk (250000)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    n, d = given.rows, given.columns
    X = da.random.default_rng(0).standard_normal((n, d), chunks=(given.chunk, d))
    X = X.map_blocks(contaminated, dtype=X.dtype)
    called = Arguments.of(n, d)

    table = DenseTable(X.compute(scheduler="threads"))
    with threadpool_limits(1):
        numpy_1 = times(table, called, given.repeats)
    with threadpool_limits(N_WORKERS):
        numpy_2 = times(table, called, given.repeats)
    del table
    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        dask = times(open_dask(X), called, given.repeats)
    load = f", load before {LOAD_BEFORE}" if LOAD_BEFORE is not None else ""
    note = (
        f"{n:,} x {d}, float64, chunks of {given.chunk:,} rows, {os.cpu_count()} cores{load}; best "
        f"of {given.repeats}, of 2 for fits. Made by `python benchmarks/cluster.py --write`."
    )
    text = as_markdown(n, numpy_1, numpy_2, dask)
    print(note, text, sep="\n\n")
    if given.write:
        write_page(RESULTS / "cluster.md", "Passes and fits on two Dask workers", note, text)


if __name__ == "__main__":
    main()
