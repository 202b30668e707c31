"""How far a long computation is, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inlier._internal.optional import optional

Tell = Callable[[int, float], object]
"""Takes the number of passes over the data, and the part of the last one that is done."""

_watcher: ContextVar[Tell | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(tell: Tell) -> Iterator[None]:
    """Have `tell` called during passes, in this thread."""
    token = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(token)


def watched(blocks: Any, n: int, n_passes: int) -> Any:
    """Yield the blocks of a pass over n rows, and tell who is watching."""
    tell = _watcher.get()
    if tell is None:
        yield from blocks
        return
    for rows, block in blocks:
        tell(n_passes, rows.start / n)
        yield rows, block


@contextmanager
def bar(shown: bool) -> Iterator[Callable[[str, float], None]]:
    """Show a bar on the standard error; yield what gives it a text and the part that is done."""
    if not shown:
        yield lambda text, part: None
        return
    rich = optional("rich.progress", "To show progress", "cli")
    from rich.console import Console
    from rich.markup import escape

    with rich.Progress(console=Console(stderr=True), transient=True) as display:
        task = display.add_task("", total=1.0)
        yield lambda text, part: display.update(task, description=escape(text), completed=part)
