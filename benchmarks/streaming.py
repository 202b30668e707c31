"""How fast a table in a file is passed over, against reading the same file with plain numpy.

    python benchmarks/streaming.py                    a .npy file of 4 GB, in the page cache
    python benchmarks/streaming.py --cold             the same from the disk
    python benchmarks/streaming.py --gigabytes 0.5    a smaller one
    python benchmarks/streaming.py --folder DIR       where it is written (a temporary folder)
    python benchmarks/streaming.py --threads 2        of the linear algebra (1)
    python benchmarks/streaming.py --write            both into docs/results/streaming.md

Plain numpy is `np.load` of the whole file. The lines below it are harder comparisons, which hold
no more than a block, as a pass does: `np.fromfile` into a new array for each block of the size that
the passes read, and reading into one buffer, which then stays in the cache. From the page cache all
of them are copies in memory; a pass, which computes, is compared with nothing that computes.
"""

from __future__ import annotations

import argparse
import os

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the file (4)")
parser.add_argument("--columns", type=int, default=2048, help="of the table (2048)")
parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
parser.add_argument("--folder", help="where the file is written (a temporary folder)")
parser.add_argument("--threads", type=int, default=1, help="of the linear algebra (1)")
parser.add_argument("--repeats", type=int, default=3, help="the fastest counts (3)")
parser.add_argument("--cold", action="store_true", help="from the disk, not the page cache")
parser.add_argument("--write", action="store_true", help="write docs/results/streaming.md")
parser.add_argument("--page", help="another place for the page that --write writes")
OPTIONS = parser.parse_args()

# Read by the linear algebra libraries when numpy loads them.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = str(OPTIONS.threads)

import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from pages import RESULTS, write_page

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


def read_new(path: Path) -> None:
    """With numpy, into a new array for each block."""
    dtype = np.dtype(OPTIONS.dtype)
    with open(path, "rb") as file:
        while len(np.fromfile(file, dtype, READ_BYTES // dtype.itemsize)):
            pass


def read_into(path: Path) -> None:
    """Into one buffer of the size of a block."""
    buffer = np.empty(READ_BYTES, np.uint8)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def forget(path: Path) -> None:
    """Drop the file from the page cache."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def fastest(calls: dict[str, Callable[[], object]], dropped: Path | None) -> dict[str, float]:
    """Seconds of each call, in turn, so that a slow moment of the machine meets all."""
    seconds = dict.fromkeys(calls, np.inf)
    for _ in range(OPTIONS.repeats):
        for title, call in calls.items():
            if dropped is not None:
                forget(dropped)
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


def compared(path: Path, cold: bool, computing: dict[str, float]) -> str:
    """A table of all rates, with a line on what the machine did beside."""
    # Also if it is cached: pages that were written one by one are read slower than those that
    # the system read ahead.
    forget(path)
    before = os.getloadavg()[0]
    start = perf_counter()
    table = open_file(path)
    table.sq_distances(np.full(table.shape[1], 0.01))
    first = perf_counter() - start
    plain = {
        "np.load, whole": lambda: np.load(path),
        "np.fromfile, new blocks": lambda: read_new(path),
        "readinto, one buffer": lambda: read_into(path),
    }
    seconds = fastest(plain | passes(table), path if cold else None)
    size = path.stat().st_size
    whole, blocks, buffer = (size / seconds[title] for title in plain)
    lines = [
        f"Load (processes that want a core, mean of a minute): {before:.2f} before, "
        f"{os.getloadavg()[0]:.2f} after. The first pass, sq_distances from the disk with the "
        f"check for NaN, took {first:.2f} s.",
        "",
        f"| | seconds | GB/s | of np.load (target {TARGET}) | of np.fromfile | of one buffer | "
        "in memory, GB/s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for title, took in seconds.items():
        rate = size / took
        alone = f"{computing[title] / 1e9:.2f}" if title in computing else ""
        lines.append(
            f"| {title} | {took:.2f} | {rate / 1e9:.2f} | {rate / whole:.2f} | "
            f"{rate / blocks:.2f} | {rate / buffer:.2f} | {alone} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Write a file into a folder that is removed afterwards, time everything, print tables."""
    d = OPTIONS.columns
    n = int(OPTIONS.gigabytes * 1e9 / (d * np.dtype(OPTIONS.dtype).itemsize))
    note = (
        f"A .npy file, {n} x {d} {OPTIONS.dtype}, {OPTIONS.gigabytes:g} GB, in blocks of "
        f"{READ_BYTES >> 20} MB, on {platform.processor() or platform.machine()} with "
        f"{os.cpu_count()} cores. Threads: one that computes ({OPTIONS.threads} in the linear "
        f"algebra) and one that reads; plain reading has one. Fastest of {OPTIONS.repeats}. Made "
        "by `python benchmarks/streaming.py --write`."
    )
    with tempfile.TemporaryDirectory(dir=OPTIONS.folder) as folder:
        path = Path(folder) / "table.npy"
        write(path, n, d, OPTIONS.dtype)
        computing = in_memory(path)
        parts = []
        for cold in (False, True) if OPTIONS.write else (OPTIONS.cold,):
            title = "From the disk" if cold else "In the page cache"
            parts.append(f"\n## {title}\n\n{compared(path, cold, computing)}")
    text = "\n".join(parts)
    print(note, text, sep="\n")
    if OPTIONS.write:
        page = Path(OPTIONS.page) if OPTIONS.page else RESULTS / "streaming.md"
        write_page(page, "Tables in files", note, text)


if __name__ == "__main__":
    main()
