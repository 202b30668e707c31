"""Atomic writes: a file appears under its name only when it is complete."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_place(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Return the path to write to, with links resolved; raise if nothing can be written there."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        return Path(path)  # a pipe, whose resolved name cannot be opened
    final = Path(os.path.realpath(path))
    if final.is_symlink():  # realpath leaves a link only in a cycle
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
    """Yield a temporary path, and move it to `path` if no exception was raised.

    Links are followed. A path that is not a regular file, such as a pipe, is written directly.
    """
    final = check_place(path)
    if final.exists() and not final.is_file():
        yield final
        return
    # Keep the suffix, which names the format, and stay within the limit on file names.
    unfinished = final.with_name(f".{os.getpid()}.{final.name[-40:]}")
    try:
        yield unfinished
        if final.exists():
            shutil.copymode(final, unfinished)
        os.replace(unfinished, final)
    finally:
        unfinished.unlink(missing_ok=True)
