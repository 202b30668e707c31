"""Functions of higher layers that results offer as methods, registered by name.

They are imported when they are called, so that no lower layer depends on a higher one.
"""

from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}


def connect(places: dict[str, str]) -> None:
    """Register functions, each as "package.module:function"."""
    _PLACES.update(places)


def late(name: str) -> Any:
    """Import and return a registered function."""
    module, _, function = _PLACES[name].partition(":")
    return getattr(import_module(module), function)
