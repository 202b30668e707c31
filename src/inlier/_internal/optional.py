"""Optional dependencies."""

from importlib import import_module
from typing import Any


def optional(module: str, purpose: str, extra: str) -> Any:
    """Import a module, or raise an error that names the extra which installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f'{purpose}, {module} is needed: pip install "inlier[{extra}]" ({error})'
        ) from error
