"""Files are written under another name first: nobody finds a half-written one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_place(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Where a file can be written: links are followed."""
    final = Path(os.path.realpath(path))
    if final.is_dir():
        raise ValueError(f"{name}={str(path)!r} is a folder: give the name of a file in it.")
    if not final.parent.is_dir():
        raise ValueError(
            f"{name}={str(path)!r}: there is no folder {str(final.parent)!r}. Make it."
        )
    return final


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name to write to; the file takes its place only if all went well.

    A link is followed, and what is no file, such as a pipe, is written to as it is.
    """
    final = check_place(path)
    if final.exists() and not final.is_file():
        yield final
        return
    unfinished = final.with_name(f".{os.getpid()}.{final.name}")
    try:
        yield unfinished
        os.replace(unfinished, final)
    finally:
        unfinished.unlink(missing_ok=True)
