"""A progress line on a terminal."""

from __future__ import annotations

import shutil
import sys
import time


class Progress:
    """Progress of a comparison, in one line on the standard error.

    Parameters
    ----------
    shown : bool or None
        None: on a terminal only.
    """

    def __init__(self, shown: bool | None) -> None:
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.begin = time.monotonic()
        self.found: int | None = None
        self.width = 0

    def __call__(self, done: int, total: int, method: str) -> None:
        """Show the number of fits done and the current method."""
        if self.found is None:  # fits from the store
            self.found = done
        self._write(f"compare {done}/{total}  {method}{self._remaining(done, total)}")

    def close(self) -> None:
        """Clear the line."""
        self._write("")

    def _remaining(self, done: int, total: int) -> str:
        fitted = done - (self.found or 0)
        if not fitted:
            return ""
        left = (time.monotonic() - self.begin) / fitted * (total - done)
        if left < 100.0:
            return f"  about {left:.0f} s left"
        return f"  about {left / 60.0:.0f} min left"

    def _write(self, text: str) -> None:
        if not self.shown:
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        end = "" if text else "\r"
        sys.stderr.write(f"\r{text.ljust(self.width)}{end}")
        sys.stderr.flush()
        self.width = len(text)
