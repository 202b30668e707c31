"""Settings of a worker process while tasks run: one BLAS thread for each, and memory reused."""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from inlier.data.dask.libraries import ThreadpoolController

# Parameters of glibc's malloc.h. Dask starts workers with the variable set, which also fixes the
# mmap threshold: every array above it gets new pages.
TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MMAP_DEFAULT = 128 * 1024
KEPT_BYTES = 32 * 1024 * 1024


class _WorkerSettings:
    """Limit BLAS to one thread and reuse freed memory while at least one task runs.

    The first task of a process sets the limits and the last one restores them.
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
    """Let glibc keep freed memory, or return it to the system, which is Dask's setting.

    Each block makes a temporary array. With new pages each time a pass takes up to four times as
    long.
    """
    trim = os.environ.get(TRIM_VARIABLE)
    if trim is None or (mallopt := _mallopt()) is None:
        return
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES if on else int(trim))
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES if on else MMAP_DEFAULT)


@cache
def _mallopt() -> Any:
    """Return `mallopt` of glibc, if there is one."""
    return getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None


@cache
def _libraries() -> Any:
    return ThreadpoolController()


worker_settings = _WorkerSettings()
