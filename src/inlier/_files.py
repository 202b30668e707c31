"""Files are written under another name first: nobody finds a half-written one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name to write to; the file takes its place only if all went well."""
    final = Path(path)
    unfinished = final.with_name(f".{os.getpid()}.{final.name}")
    try:
        yield unfinished
        os.replace(unfinished, final)
    finally:
        unfinished.unlink(missing_ok=True)
