"""The command line, `inlier`: it reads arguments and shows progress; the work is done elsewhere.

Nothing here may take time to import: until `main` has run, Ctrl-C ends in a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# What ends a job. Those that are ignored stay so: `nohup` has the last word about its job.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def main() -> None:
    """What the command `inlier` runs."""
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _leave_at_once)
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


@contextmanager
def interruptible() -> Iterator[None]:
    """Let what ends a job be an exception: there are files to be tidied up."""
    ours = [number for number in ENDING if signal.getsignal(number) is _leave_at_once]
    for number in ours:
        softly = signal.default_int_handler if number == signal.SIGINT else _leave
        signal.signal(number, softly)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _leave_at_once)


def _leave_at_once(number: int, _: Any) -> None:
    """Nothing is open yet, or any more; an exception amid an import might be taken for another."""
    os._exit(128 + number)


def _leave(number: int, _: Any) -> None:
    """An exit as any other: nothing is left half written."""
    sys.exit(128 + number)
