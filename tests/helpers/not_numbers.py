"""Where a result holds NaN."""

import dataclasses
from typing import Any

import numpy as np


def not_numbers(value: Any, where: str = "result") -> list[str]:
    """The fields that do, of a result and of all that is in it; its data may have missing cells."""
    if isinstance(value, float | np.floating | np.ndarray):
        numbers = np.asarray(value)
        return [where] if numbers.dtype.kind == "f" and np.isnan(numbers).any() else []
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.name != "data"]
        parts = [(f"{where}.{name}", getattr(value, name)) for name in names]
    elif isinstance(value, tuple | list):
        parts = [(f"{where}[{i}]", part) for i, part in enumerate(value)]
    else:
        return []
    return [found for name, part in parts for found in not_numbers(part, name)]
