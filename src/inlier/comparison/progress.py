"""One line on a terminal that says how far a comparison is."""

from __future__ import annotations

import shutil
import sys
import time


class Progress:
    """Rewrites one line on the standard error.

    Parameters
    ----------
    total : int
        Fits.
    done : int
        Those that were in the store.
    shown : bool or None
        None: on a terminal only.
    """

    def __init__(self, total: int, done: int, shown: bool | None) -> None:
        self.total, self.done, self.found = total, done, done
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.begin = time.monotonic()
        self.width = 0

    def begins(self, method: str) -> None:
        """A fit begins."""
        self._write(f"compare {self.done}/{self.total}  {method}{self._remaining()}")

    def ends(self) -> None:
        """A fit is done."""
        self.done += 1

    def close(self) -> None:
        """Leave an empty line."""
        self._write("")

    def _remaining(self) -> str:
        fitted = self.done - self.found
        if not fitted:
            return ""
        left = (time.monotonic() - self.begin) / fitted * (self.total - self.done)
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
