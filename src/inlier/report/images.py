"""Rows as grey images."""

import base64
import io
from typing import NamedTuple

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array

# Larger images are averaged down, to at most so many pixels a side.
LARGEST_SIDE = 128


class Picture(NamedTuple):
    """An image as a data URI, and what it shows."""

    uri: str
    label: str


def check_image(image: tuple[int, int] | None, d: int) -> tuple[int, int] | None:
    """Return height and width, or raise an error if d columns do not fill them."""
    if image is None:
        return None
    try:
        height, width = (int(side) for side in image)
    except (TypeError, ValueError, OverflowError):
        height = width = 0
    if height < 1 or width < 1 or height * width != d:
        raise ValueError(
            f"image must be (height, width) with height * width = {d}, the number of columns, but "
            f"is {image!r}."
        )
    return height, width


def picture(
    values: Array, image: tuple[int, int], limits: tuple[float, float], label: str
) -> Picture:
    """Encode a row as a PNG image, black at the lower limit and white at the upper one."""
    pillow = optional("PIL.Image", "To show rows as images", "report")
    low, high = limits
    grey = (np.asarray(values, dtype=float).reshape(image) - low) / (high - low)
    grey = np.clip(np.nan_to_num(grey, nan=0.5, posinf=1.0, neginf=0.0), 0.0, 1.0)
    shown = pillow.fromarray((255.0 * grey).round().astype(np.uint8))
    shown = shown.reduce(-(-max(image) // LARGEST_SIDE))
    data = io.BytesIO()
    shown.save(data, format="PNG", optimize=True)
    return Picture(f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}", label)


def limits_of(*rows: Array) -> tuple[float, float]:
    """Return the lowest and the highest finite value."""
    values = np.concatenate([np.ravel(row) for row in rows])
    values = values[np.abs(values) <= 1e300]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
