"""Errors about arguments that Python and the command line spell in their own way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Argument:
    """An argument that a message mentions."""

    name: str
    """As the function calls it."""
    value: Any = None
    """None to mention the name alone, ... for any value."""

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        return f"{self.name}={'...' if self.value is ... else repr(self.value)}"


class ArgumentError(ValueError):
    """A wrong argument, or one that would help; the message in parts."""

    def __init__(self, *parts: str | Argument) -> None:
        super().__init__("".join(map(str, parts)))
        self.parts = parts

    def spelled(self, spell: Callable[[Argument], str]) -> str:
        """Return the message with another spelling of its arguments."""
        return "".join(spell(part) if isinstance(part, Argument) else part for part in self.parts)
