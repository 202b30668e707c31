"""How fast a table in a file is passed over, against reading the same file with plain numpy.

Plain numpy is `np.load` of the whole file. The lines below it are harder comparisons, which hold
no more than a block, as a pass does: `np.fromfile` into a new array for each block of the size that
the passes read, and reading into one buffer, which then stays in the cache. From the page cache all
of them are copies in memory; a pass, which computes, is compared with nothing that computes.
"""

import os
import platform
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import common
import numpy as np

from inlier.data import Table
from inlier.data.arrays import DenseTable
from inlier.data.files import READ_BYTES, open_file

DIRECTIONS = 8
# Of these bytes the passes in memory are timed.
HELD_BYTES = 1 << 30

Calls = dict[str, Callable[[], object]]


def write(path: Path, n: int, d: int) -> None:
    """A table of noise: one block of it, again and again, each time moved a little."""
    rng = np.random.default_rng(0)
    height = max(1, (1 << 26) // d)
    noise = rng.standard_normal((height, d), dtype=np.float32)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    for start in range(0, n, height):
        rows = min(height, n - start)
        table[start : start + rows] = noise[:rows] + np.float32(1e-3 * rng.random())
        table.flush()


def read_whole(path: Path) -> None:
    """With numpy, all at once."""
    np.load(path)


def read_new(path: Path) -> None:
    """With numpy, into a new array for each block."""
    with open(path, "rb") as file:
        while len(np.fromfile(file, np.uint8, READ_BYTES)):
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


def seconds_of(calls: Calls, repeats: int, dropped: Path | None = None) -> dict[str, float]:
    """On the wall; before each call a file may be dropped from the page cache."""
    before = partial(forget, dropped) if dropped else lambda: None
    runs = common.fastest(*calls.values(), repeats=repeats, clock=perf_counter, before=before)
    return {title: run.seconds for title, run in zip(calls, runs, strict=True)}


def passes(table: Table) -> Calls:
    """What is timed, from a file or in memory."""
    n, d = table.shape
    rng = np.random.default_rng(1)
    center, weights = np.full(d, 0.01), rng.random(n)
    basis = np.linalg.qr(rng.standard_normal((d, min(d, DIRECTIONS))))[0].T
    several = rng.random((DIRECTIONS, n))
    return {
        f"moment, {DIRECTIONS} directions": lambda: table.moment(center, weights, basis),
        f"project, {DIRECTIONS} directions": lambda: table.project(center, basis),
        "sq_distances": lambda: table.sq_distances(center),
        "combine, 1 row": lambda: table.combine(center, weights[None]),
        f"combine, {DIRECTIONS} rows": lambda: table.combine(center, several),
    }


def in_memory(path: Path, repeats: int) -> dict[str, float]:
    """Bytes per second of the passes over rows that are in memory: what computing alone takes."""
    table = np.load(path, mmap_mode="r")
    held = np.array(table[: HELD_BYTES // (table.shape[1] * table.itemsize)])
    seconds = seconds_of(passes(DenseTable(held)), repeats)
    return {title: held.nbytes / took for title, took in seconds.items()}


def compared(path: Path, dropped: Path | None, computing: dict[str, float], repeats: int) -> str:
    """A table of all rates, with a line on what the machine did beside."""
    # Also if it is cached: pages that were written one by one are read slower than those that
    # the system read ahead.
    forget(path)
    load = os.getloadavg()[0]
    start = perf_counter()
    table = open_file(path)
    table.sq_distances(np.full(table.shape[1], 0.01))
    first = perf_counter() - start
    plain: Calls = {
        "np.load, whole": partial(read_whole, path),
        "np.fromfile, new blocks": partial(read_new, path),
        "readinto, one buffer": partial(read_into, path),
    }
    seconds = seconds_of(plain | passes(table), repeats, dropped)
    size = path.stat().st_size
    whole, blocks, buffer = (seconds[title] for title in plain)
    lines = [
        {
            "": title,
            "seconds": f"{took:.2f}",
            "GB/s": f"{size / took / 1e9:.2f}",
            "of np.load (target 0.7)": f"{whole / took:.2f}",
            "of np.fromfile": f"{blocks / took:.2f}",
            "of one buffer": f"{buffer / took:.2f}",
            "in memory, GB/s": f"{computing[title] / 1e9:.2f}" if title in computing else "",
        }
        for title, took in seconds.items()
    ]
    return (
        f"Load (processes that want a core, mean of a minute): {load:.2f} before, "
        f"{os.getloadavg()[0]:.2f} after. The first pass, sq_distances from the disk with the "
        f"check for NaN, took {first:.2f} s.\n\n{common.markdown(lines)}"
    )


def main(given: Sequence[str] | None = None) -> None:
    """Write a file into a folder that is removed afterwards, time everything, print tables."""
    arguments = common.options(
        __doc__,
        "streaming.md",
        given,
        gigabytes=(4.0, "size of the file"),
        columns=(2048, "of the table"),
        threads=(1, "of the linear algebra"),
        repeats=(3, "the fastest counts"),
    )
    d, repeats = arguments.columns, arguments.repeats
    n = int(arguments.gigabytes * 1e9 / (4 * d))
    sections = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        write(path, n, d)
        computing = in_memory(path, repeats)
        for title, dropped in (("In the page cache", None), ("From the disk", path)):
            sections[title] = compared(path, dropped, computing, repeats)
    note = (
        f"A .npy file, {n} x {d} float32, {arguments.gigabytes:g} GB, in blocks of "
        f"{READ_BYTES >> 20} MB, on {platform.processor() or platform.machine()} with "
        f"{os.cpu_count()} cores. Threads: one that computes ({arguments.threads} in the linear "
        f"algebra) and one that reads; plain reading has one. Fastest of {repeats}."
    )
    command = "python benchmarks/streaming.py --write"
    common.publish(arguments, "Tables in files", note, command, sections)


if __name__ == "__main__":
    main()
