"""Rows as grey images."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from inlier._internal.typing import Array
from inlier.report.markup import Html, el, text

# Larger images are averaged down, to at most so many pixels a side.
SIDE = 128


def check_image(image: tuple[int, int] | None, d: int) -> tuple[int, int] | None:
    """Height and width, if they fit."""
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


def picture(values: Array, image: tuple[int, int], ends: tuple[float, float], label: str) -> Html:
    """A row as an image, black at the lower end and white at the upper one."""
    pixels = _averaged(np.asarray(values, dtype=float).reshape(image))
    low, high = ends
    grey = np.nan_to_num((pixels - low) / (high - low), nan=0.5, posinf=1.0, neginf=0.0)
    data = base64.b64encode(_png((255.0 * np.clip(grey, 0.0, 1.0)).round().astype(np.uint8)))
    return el(
        "figure",
        el("img", src=f"data:image/png;base64,{data.decode()}", alt=label, class_="picture"),
        el("figcaption", text(label)),
        class_="picture-frame",
    )


def ends_of(*rows: Array) -> tuple[float, float]:
    """From the lowest to the highest finite value."""
    values = np.concatenate([np.ravel(row) for row in rows])
    values = values[np.abs(values) <= 1e300]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _averaged(pixels: Array) -> Array:
    factor = -(-max(pixels.shape) // SIDE)
    if factor <= 1:
        return pixels
    starts = [np.arange(0, side, factor) for side in pixels.shape]
    sums = np.add.reduceat(np.add.reduceat(pixels, starts[0], axis=0), starts[1], axis=1)
    sizes = [
        np.diff(np.append(start, side)) for start, side in zip(starts, pixels.shape, strict=True)
    ]
    return np.asarray(sums / np.outer(*sizes))


def _png(grey: Array) -> bytes:
    """Eight bits of grey, no filter: PNG (ISO/IEC 15948), sections 5 and 11."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    height, width = grey.shape
    lines = b"".join(b"\0" + line.tobytes() for line in np.ascontiguousarray(grey))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )
