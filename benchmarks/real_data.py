"""Real rows with real outliers: from packages, and from a folder that the user names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from inlier.research.datasets import Shuffled, digits, faces


def folder_data(folder: Path | None) -> Iterator[tuple[str, Shuffled]]:
    """The .npz files (`X`, `y`) of a folder."""
    for path in sorted(folder.glob("*.npz")) if folder else []:
        with np.load(path) as content:
            yield path.stem, Shuffled(content["X"], content["y"])


def real_data(folder: Path | None) -> Iterator[tuple[str, Shuffled]]:
    """Scikit-image's faces, the .npz files (`X`, `y`) of a folder, scikit-learn's digits."""
    try:
        yield "lfw_subset", faces()
    except ImportError as error:
        print(error, file=sys.stderr)
    yield from folder_data(folder)
    for good, bad in ((0, 1), (3, 7), (6, 4), (8, 1)):
        model = digits(good, bad)
        yield model.name, model
