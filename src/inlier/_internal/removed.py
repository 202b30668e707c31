"""Names that were public in the release before, and what replaces them."""

from collections.abc import Callable, Mapping
from typing import NoReturn


def removed(module: str, instead: Mapping[str, str]) -> Callable[[str], NoReturn]:
    """Return a `__getattr__` for a module that states what replaces its removed names.

    An ImportError for these: of an AttributeError, ``from module import name`` hides the message.
    """

    def missing(name: str) -> NoReturn:
        if name in instead:
            raise ImportError(f"{module}.{name} was removed: {instead[name]}.")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return missing
