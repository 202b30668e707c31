"""What holds in a process while tasks are at work: one thread for each, and memory used again."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from inlier.data.dask.libraries import ThreadpoolController

# Numbers of glibc's malloc.h. Workers are started with the variable set; that also makes every
# array above the second threshold one that the system has to find pages for.
TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MMAP_DEFAULT = 128 * 1024
KEPT_BYTES = 32 * 1024 * 1024


class _Working:
    """What holds in a process while at least one of its tasks is at work.

    Linear algebra keeps to one thread, and memory that was freed is used again. Settings that each
    task made and took back on its own would outlast all tasks, or end too early.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = _libraries().limit(limits=1)
                _reuse_memory(True)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.restore_original_limits()
                    _reuse_memory(False)


def _reuse_memory(on: bool) -> None:
    """Let glibc keep what is freed; or give it back to the system, as Dask tells its workers to.

    Each small block makes a temporary array. If its pages come anew from the system each time, a
    pass takes up to four times as long.
    """
    trim = os.environ.get(TRIM_VARIABLE)
    if trim is None or (mallopt := _mallopt()) is None:
        return
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES if on else int(trim))
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES if on else MMAP_DEFAULT)


@cache
def _mallopt() -> Any:
    """The function of glibc, if this is glibc."""
    return getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None


@cache
def _libraries() -> Any:
    return ThreadpoolController()


working = _Working()
