"""Rows as grey images."""

import base64
import io

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier.report.numbers import finite_range

# Larger images are averaged down, to at most this number of pixels a side.
LARGEST_SIDE = 128


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
    values: Array, image: tuple[int, int], limits: tuple[float, float] | None = None
) -> str:
    """Encode a row as the address of a PNG image, black at the lower limit, white at the upper."""
    pillow = optional("PIL.Image", "To show rows as images", "report")
    low, high = limits or finite_range(values)
    grey = (np.asarray(values, dtype=float).reshape(image) - low) / (high - low)
    grey = np.clip(np.nan_to_num(grey, nan=0.5, posinf=1.0, neginf=0.0), 0.0, 1.0)
    shown = pillow.fromarray((255.0 * grey).round().astype(np.uint8))
    shown = shown.reduce(-(-max(image) // LARGEST_SIDE))
    data = io.BytesIO()
    shown.save(data, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
