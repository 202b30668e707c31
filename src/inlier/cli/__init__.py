"""The command line, `inlier`: it reads arguments and shows progress; the work is done elsewhere."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """What the command `inlier` runs."""
    for name in ("SIGTERM", "SIGHUP"):  # an exit as any other: nothing is left half written
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    for stream in (sys.stdout, sys.stderr):
        # A name that a terminal cannot show is no reason to fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        from inlier.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f'The command line needs {error.name}: pip install "inlier[cli]".')
    app()


def _leave(number: int, _: Any) -> None:
    sys.exit(128 + number)
