"""Files are written under another name first: nobody finds a half-written one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_place(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Where a file can be written: links are followed."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return Path(path)  # a pipe, whose real name cannot be opened
    final = Path(os.path.realpath(path))
    if final.is_symlink():  # a real path has no links, unless they lead in a circle
        raise ValueError(f"{name}={str(path)!r} is a link that leads to itself. Choose another.")
    if final.is_dir():
        raise ValueError(f"{name}={str(path)!r} is a folder: give the name of a file in it.")
    if not final.parent.is_dir():
        raise ValueError(
            f"{name}={str(path)!r}: there is no folder {str(final.parent)!r}. Make it."
        )
    if not os.access(final.parent, os.W_OK):
        raise ValueError(f"{name}={str(path)!r}: nothing may be written to that folder.")
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
    # The end of the name tells the format; a name may be as long as names can be.
    unfinished = final.with_name(f".{os.getpid()}.{final.name[-40:]}")
    try:
        yield unfinished
        if final.exists():
            shutil.copymode(final, unfinished)
        os.replace(unfinished, final)
    finally:
        unfinished.unlink(missing_ok=True)
