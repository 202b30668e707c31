"""The command line, `inlier`.

Nothing here may take time to import: until `main` has run, Ctrl-C ends in a traceback.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Signals that end a job. Those that are ignored, as by `nohup`, stay so.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def main() -> None:
    """Run the command `inlier`."""
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
    """Raise an exception when a job is ended, so that files are cleaned up."""
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
    """Exit without an exception, which an import might take for another; no file is open."""
    os._exit(128 + number)


def _leave(number: int, _: Any) -> None:
    """Exit by an exception: nothing is left half written."""
    sys.exit(128 + number)
