"""The command line, `inlier`.

Nothing here may take time to import: until `main` has run, Ctrl-C ends in a traceback.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def main() -> None:
    """Run the command `inlier`."""
    for number in _ending_signals():
        # At once, while packages are imported: an import might take an exception for its own.
        signal.signal(number, lambda number, _: os._exit(128 + number))
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
    before = {number: signal.signal(number, _leave) for number in _ending_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ending_signals() -> list[signal.Signals]:
    """Return the signals that end a job, unless they are ignored, as by `nohup`."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    return [number for number in known if signal.getsignal(number) != signal.SIG_IGN]


def _leave(number: int, _: Any) -> None:
    """Exit by an exception: nothing is left half written."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)
