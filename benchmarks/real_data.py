"""Real rows with real outliers: from packages, and from a folder that the user names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from inlier.datasets import Shuffled


def real_data(folder: Path | None) -> Iterator[tuple[str, Shuffled]]:
    """Scikit-image's faces, the .npz files (`X`, `y`) of a folder, scikit-learn's digits."""
    from sklearn.datasets import load_digits

    try:
        from skimage.data import lfw_subset
    except ImportError:
        print("no faces: pip install scikit-image", file=sys.stderr)
    else:
        faces = lfw_subset().reshape(200, -1)[:140]
        yield "lfw_subset", Shuffled(255 * faces / faces.max(), np.arange(140) >= 100)
    for path in sorted(folder.glob("*.npz")) if folder else []:
        with np.load(path) as content:
            yield path.stem, Shuffled(content["X"], content["y"])
    X, digit = load_digits(return_X_y=True)
    for good, bad in ((0, 1), (3, 7), (6, 4), (8, 1)):
        rows = np.concatenate([np.flatnonzero(digit == good), np.flatnonzero(digit == bad)[:60]])
        yield f"digits {good} and {bad}", Shuffled(X[rows], digit[rows] == bad)
