"""Packages that not everybody has."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(module: str, purpose: str, extra: str) -> Any:
    """A module, loaded when it is needed; the error names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f'{purpose}, {module} is needed: pip install "inlier[{extra}]" ({error})'
        ) from error
