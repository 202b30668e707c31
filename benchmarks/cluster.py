"""What a pass costs on a Dask cluster of two workers, against numpy in one process.

    python benchmarks/cluster.py                            2,000,000 x 50
    python benchmarks/cluster.py --rows 200000 --columns 20

The same numbers on both sides: each verb, and a whole fit with sigma and with nothing given, is run
a few times, and the best time is kept. A worker has one thread; numpy is given one thread for
linear algebra, and then as many as there are workers.
"""

import os
import warnings
from collections.abc import Sequence
from functools import partial
from time import perf_counter

import common
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from streaming import DIRECTIONS, passes
from threadpoolctl import threadpool_limits

import inlier
from inlier.data import Table
from inlier.data.arrays import DenseTable
from inlier.data.dask import open_dask

N_WORKERS = 2
# A fifth of the rows of each chunk is moved by this much in all columns.
SHIFT = 1.5
FITS = {"fit, sigma": {"sigma": 1.01}, "fit, nothing given": {}}
# Floats that travel for each row, to a chunk and back.
TRAVELS = {
    f"moment, {DIRECTIONS} directions": (1, DIRECTIONS),
    f"project, {DIRECTIONS} directions": (0, DIRECTIONS),
    "sq_distances": (0, 1),
    "combine, 1 row": (1, 0),
    f"combine, {DIRECTIONS} rows": (DIRECTIONS, 0),
    "scatter": (1, 0),
}


def contaminated(block: np.ndarray) -> np.ndarray:
    """Some rows of a chunk are moved."""
    moved = block.copy()
    moved[: len(block) // 5] += SHIFT
    return moved


def seconds_of(table: Table, repeats: int) -> dict[str, float]:
    """Each verb, and each fit, after a call that is not counted."""
    center, weights = np.full(table.shape[1], 0.01), np.ones(table.shape[0])
    verbs = passes(table) | {"scatter": lambda: table.scatter(center, weights)}
    calls = {name: (call, repeats) for name, call in verbs.items()}
    calls |= {name: (partial(inlier.robust_mean, table, **o), 2) for name, o in FITS.items()}
    found = {}
    for name, (call, times) in calls.items():
        call()
        found[name] = common.fastest(call, repeats=times, clock=perf_counter)[0].seconds
    return found


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "cluster.md",
        given,
        rows=(2_000_000, "of the table"),
        columns=(50, "of the table"),
        chunk=(250_000, "rows of a chunk"),
        repeats=(5, "the fastest counts"),
    )
    warnings.simplefilter("ignore")
    n, d, repeats = arguments.rows, arguments.columns, arguments.repeats
    X = da.random.default_rng(0).standard_normal((n, d), chunks=(arguments.chunk, d))
    X = X.map_blocks(contaminated, dtype=X.dtype)
    table = DenseTable(X.compute(scheduler="threads"))
    with threadpool_limits(1):
        one = seconds_of(table, repeats)
    with threadpool_limits(N_WORKERS):
        two = seconds_of(table, repeats)
    del table
    workers = {"n_workers": N_WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(processes=True, **workers) as cluster, Client(cluster):
        dask = seconds_of(open_dask(X), repeats)
    lines = []
    for name, own in dask.items():
        sent, back = (f"{8e-6 * n * x:.0f}" for x in TRAVELS.get(name, (np.nan, np.nan)))
        line = {
            "verb": name,
            "numpy, 1 thread": f"{1e3 * one[name]:.0f} ms",
            f"numpy, {N_WORKERS} threads": f"{1e3 * two[name]:.0f} ms",
            f"Dask, {N_WORKERS} workers": f"{1e3 * own:.0f} ms",
            "Dask / numpy 1": f"{own / one[name]:.2f}",
            f"Dask / numpy {N_WORKERS}": f"{own / two[name]:.2f}",
            "MB sent": sent.replace("nan", ""),
            "MB back": back.replace("nan", ""),
        }
        lines.append(line)
    note = (
        f"{n:,} x {d}, float64, chunks of {arguments.chunk:,} rows, {os.cpu_count()} cores, load "
        f"before {common.LOAD_BEFORE}; best of {repeats}, of 2 for fits."
    )
    title, command = "Passes and fits on two Dask workers", "python benchmarks/cluster.py --write"
    common.publish(arguments, title, note, command, common.markdown(lines))


if __name__ == "__main__":
    main()
