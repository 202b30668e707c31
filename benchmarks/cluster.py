"""What a pass costs on a Dask cluster of two workers, against numpy in one process.

    python benchmarks/cluster.py                            2,000,000 x 50
    python benchmarks/cluster.py --rows 200000 --columns 20

The same numbers on both sides: each verb is run a few times, and the best time is kept. A worker
has one thread; numpy is given one thread for linear algebra, and then as many as there are workers.
"""

from __future__ import annotations

import os

# The most threads; numpy is limited to one of them below, and a task limits itself.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "2"

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

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
    """Seconds of each verb."""
    return [best(lambda v=verb: v(table, arguments), repeats) for verb, _, _ in VERBS.values()]


def print_table(n: int, numpy_1: list[float], numpy_2: list[float], dask: list[float]) -> None:
    """Milliseconds, ratios and what travels, as markdown."""
    head = f"| verb | numpy, 1 thread | numpy, {N_WORKERS} threads | Dask, {N_WORKERS} workers |"
    print(f"{head} Dask / numpy 1 | Dask / numpy {N_WORKERS} | MB sent | MB back |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for (name, (_, sent, back)), one, two, own in zip(
        VERBS.items(), numpy_1, numpy_2, dask, strict=True
    ):
        cells = [f"{1e3 * x:.0f} ms" for x in (one, two, own)]
        cells += [f"{own / one:.2f}", f"{own / two:.2f}"]
        cells += [f"{8e-6 * n * x:.0f}" for x in (sent, back)]
        print(f"| {name} | {' | '.join(cells)} |")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--chunk", type=int, default=250_000, help="rows of a chunk (250000)")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args(arguments)
    n, d = given.rows, given.columns
    X = da.random.default_rng(0).standard_normal((n, d), chunks=(given.chunk, d))
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
    print(f"\n{n} x {d}, float64, chunks of {given.chunk} rows, {os.cpu_count()} cores{load}\n")
    print_table(n, numpy_1, numpy_2, dask)


if __name__ == "__main__":
    main()
