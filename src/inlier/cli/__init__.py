"""The command line, `inlier`: it reads arguments and shows progress; the work is done elsewhere."""

from __future__ import annotations

import sys


def main() -> None:
    """What the command `inlier` runs."""
    try:
        from inlier.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f'The command line needs {error.name}: pip install "inlier[cli]".')
    app()
