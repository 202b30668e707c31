"""Functions of higher layers that results offer as methods.

The package connects them by name when it is imported, and they are loaded when they are called. So
no lower layer depends on a higher one.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}


def connect(places: dict[str, str]) -> None:
    """Say where functions are, as "package.module:function"."""
    _PLACES.update(places)


def late(name: str) -> Any:
    """Return a connected function."""
    module, _, function = _PLACES[name].partition(":")
    return getattr(import_module(module), function)
