"""How fast a table in a file is passed over, against plain reading of the same file.

    python benchmarks/streaming.py                    a .npy file of 4 GB
    python benchmarks/streaming.py --gigabytes 0.5    a smaller one
    python benchmarks/streaming.py --folder DIR       where it is written (a temporary folder)
    python benchmarks/streaming.py --threads 2        of the linear algebra (1)
    python benchmarks/streaming.py --cold             not in the page cache when a read begins

Unless --cold is given the file is read once first, so that every line sees it in the page cache,
as far as that holds it: the lines then compare with copying from memory, the hardest case.
"""

from __future__ import annotations

import argparse
import os
import sys

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the file (4)")
parser.add_argument("--columns", type=int, default=2048, help="of the table (2048)")
parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
parser.add_argument("--folder", help="where the file is written (a temporary folder)")
parser.add_argument("--threads", type=int, default=1, help="of the linear algebra (1)")
parser.add_argument("--repeats", type=int, default=3, help="the fastest counts (3)")
parser.add_argument("--cold", action="store_true", help="drop the file from the page cache")
OPTIONS = parser.parse_args()

# Read by the linear algebra libraries when numpy loads them.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = str(OPTIONS.threads)

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from inlier.data import Table
from inlier.data.arrays import DenseTable
from inlier.data.files import READ_BYTES, open_file

DIRECTIONS = 8
TARGET = 0.7
# Of these the passes in memory are timed.
HELD_BYTES = 1 << 30


def write(path: Path, n: int, d: int, dtype: str) -> None:
    """A table of noise: one block of it, again and again, each time moved a little."""
    rng = np.random.default_rng(0)
    height = max(1, (1 << 26) // d)
    noise = rng.standard_normal((height, d), dtype=np.float32).astype(dtype)
    table = np.lib.format.open_memmap(path, "w+", dtype, (n, d))
    for start in range(0, n, height):
        rows = min(height, n - start)
        table[start : start + rows] = noise[:rows] + noise.dtype.type(1e-3 * rng.random())
        table.flush()


def read_into(path: Path) -> None:
    """Into one buffer, of the size of the blocks of a pass."""
    buffer = np.empty(READ_BYTES, np.uint8)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def read_new(path: Path) -> None:
    """Into a new array for each block."""
    with open(path, "rb", buffering=0) as file:
        while len(np.fromfile(file, np.uint8, READ_BYTES)):
            pass


def forget(path: Path) -> None:
    """Drop the file from the page cache."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def fastest(calls: dict[str, Callable[[], object]], path: Path | None) -> dict[str, float]:
    """Seconds of each call, in turn, so that a slow moment of the machine meets all."""
    seconds = dict.fromkeys(calls, np.inf)
    for _ in range(OPTIONS.repeats):
        for title, call in calls.items():
            if OPTIONS.cold and path is not None:
                forget(path)
            start = perf_counter()
            call()
            seconds[title] = min(seconds[title], perf_counter() - start)
    return seconds


def passes(table: Table) -> dict[str, Callable[[], object]]:
    """What is timed, from a file or in memory."""
    n, d = table.shape
    rng = np.random.default_rng(1)
    center, weights = np.full(d, 0.01), rng.random(n)
    basis = np.linalg.qr(rng.standard_normal((d, DIRECTIONS)))[0].T
    several = rng.random((DIRECTIONS, n))
    return {
        f"moment, {DIRECTIONS} directions": lambda: table.moment(center, weights, basis),
        f"project, {DIRECTIONS} directions": lambda: table.project(center, basis),
        "sq_distances": lambda: table.sq_distances(center),
        "combine, 1 row": lambda: table.combine(center, weights[None]),
        f"combine, {DIRECTIONS} rows": lambda: table.combine(center, several),
    }


def in_memory(path: Path) -> dict[str, float]:
    """Bytes per second of the passes over rows that are in memory: what computing alone takes."""
    table = np.load(path, mmap_mode="r")
    held = np.array(table[: HELD_BYTES // (table.shape[1] * table.itemsize)])
    seconds = fastest(passes(DenseTable(held)), None)
    return {title: held.nbytes / took for title, took in seconds.items()}


def measure(path: Path) -> None:
    """Write the file, time everything, print a table."""
    d = OPTIONS.columns
    n = int(OPTIONS.gigabytes * 1e9 / (d * np.dtype(OPTIONS.dtype).itemsize))
    write(path, n, d, OPTIONS.dtype)
    size = path.stat().st_size
    computing = in_memory(path)
    read_into(path)
    start = perf_counter()
    table = open_file(path)
    table.sq_distances(np.full(d, 0.01))
    first = perf_counter() - start
    plain = {
        "read into one buffer": lambda: read_into(path),
        "np.fromfile in blocks": lambda: read_new(path),
    }
    seconds = fastest(plain | passes(table), path)
    reading = size / min(seconds[title] for title in plain)
    cache = "not in the page cache" if OPTIONS.cold else "in the page cache (read once before)"
    print(
        f"{n} x {d} {OPTIONS.dtype}, {size / 1e9:.1f} GB, {cache}; blocks of "
        f"{READ_BYTES >> 20} MB; threads: {OPTIONS.threads} of the linear algebra and one that "
        f"reads, on {os.cpu_count()} cores; fastest of {OPTIONS.repeats}. The first pass, "
        f"sq_distances with the check for NaN, took {first:.2f} s.\n"
    )
    print(
        f"| | seconds | GB/s | of plain reading (target {TARGET}) | the same in memory, GB/s | "
        "of the slower of both |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for title, took in seconds.items():
        rate = size / took
        line = f"| {title} | {took:.2f} | {rate / 1e9:.2f} | {rate / reading:.2f} |"
        if title in computing:
            slower = min(computing[title], reading)
            line += f" {computing[title] / 1e9:.2f} | {rate / slower:.2f} |"
        else:
            line += " | |"
        print(line)


def main() -> None:
    """In a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=OPTIONS.folder) as folder:
        measure(Path(folder) / "table.npy")


if __name__ == "__main__":
    sys.exit(main())
