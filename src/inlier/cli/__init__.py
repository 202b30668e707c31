"""The command line, `inlier`.

Nothing here may take time to import: until `main` has run, Ctrl-C ends in a traceback.
"""

import signal
import sys


def main() -> None:
    """Run the command `inlier`."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # as by nohup
            # By an exception, as for Ctrl-C: nothing is left half written.
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    for stream in (sys.stdout, sys.stderr):
        # A name that a terminal cannot show is no reason to fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        from inlier.cli.app import app

        app()
    except KeyboardInterrupt:  # while packages are imported
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f'The command line needs {error.name}: pip install "inlier[cli]".')
