"""Pictures as rows: digits, faces, and pictures of the user.

The paper's faces are those of the FEI database (https://fei.edu.br/~cet/facedatabase.html), which
may not be redistributed: users who have it give its folder. Other data come with packages.
"""

import os
from pathlib import Path

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier.datasets import Images

# The size of the paper's pictures.
HEIGHT, WIDTH = 36, 30
# Fraction of the height that is kept; the paper does not state its own.
CROP = 0.7


def faces() -> Images:
    """Return 100 faces and 40 other pictures, 25 x 25, with the paper's n and alpha.

    From scikit-image's `lfw_subset`: photographs in all poses and lights, scaled to 0 to 255.
    """
    pictures = optional("skimage.data", "To load faces", "research").lfw_subset()[:140]
    rows = pictures.reshape(140, -1)
    return Images(255.0 * rows / rows.max(), np.arange(140) >= 100, (25, 25), "faces")


def read_images(path: str | os.PathLike[str]) -> Images:
    """Read pictures of the user from an .npz file, or those of the FEI database from a folder.

    A file has `X` (n x pixels), `y` (1 or True for outliers) and optionally `shape` (height and
    width; by default 36 x 30), and is read without unpickling.

    Of a folder with the pictures of the FEI database under their names, the paper's numbers are
    used: ``1a`` to ``100a`` (frontal, neutral) are good; ``101-01``, ``102-10``, ..., ``119-01``,
    ``120-10`` (profiles) and ``121b`` to ``140b`` (smiling), upside down, are bad. They are
    converted to grey, cropped to the middle, scaled to 36 x 30, and their histograms equalised. The
    paper does not state its choice of persons and its crop.
    """
    path = Path(path)
    if path.is_dir():
        return _fei(path)
    if not path.is_file():
        raise ValueError(
            f"There is no file or folder {str(path)!r}: give an .npz file, or a folder with the "
            "pictures of the FEI database."
        )
    try:
        # numpy leaves a damaged file open.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
            missing = {"X", "y"} - set(content.files)
            if missing:
                raise ValueError(f"it has no {' and no '.join(sorted(missing))}")
            shape = content["shape"] if "shape" in content.files else (HEIGHT, WIDTH)
            X = content["X"].reshape(len(content["X"]), -1)
            return Images(X, content["y"], shape, path.stem)
    except Exception as error:  # numpy and zipfile raise many types for a damaged file
        raise ValueError(
            f"{str(path)!r} cannot be used ({error}). It should be an .npz file with X (a row for "
            "each picture), y (1 for what does not belong there) and shape (height and width)."
        ) from error


def _fei(folder: Path) -> Images:
    """Return the paper's pictures of the FEI database."""
    by_name = {path.stem.lower(): path for path in folder.iterdir() if path.is_file()}
    good = [f"{person}a" for person in range(1, 101)]
    profiles = [f"{p}-{'01' if p % 2 else '10'}" for p in range(101, 121)]
    turned = [f"{person}b" for person in range(121, 141)]
    wanted = good + profiles + turned
    missing = [name for name in wanted if name not in by_name]
    if missing:
        raise ValueError(
            f"{str(folder)!r} has {len(by_name)} files, but {len(missing)} of the 140 of the FEI "
            f"database are missing, such as {missing[0]}.jpg. Put them there under their names, or "
            "give an .npz file with pictures of your own."
        )
    rows = [_row(by_name[name], upside_down=name in turned) for name in wanted]
    return Images(np.stack(rows), np.arange(140) >= len(good), (HEIGHT, WIDTH), folder.name)


def _row(path: Path, upside_down: bool) -> Array:
    """Read a picture in grey, cropped to the middle, scaled and equalised."""
    image_file, exposure, transform = (
        optional(f"skimage.{module}", "To read a folder of pictures", "research")
        for module in ("io", "exposure", "transform")
    )
    try:
        picture = image_file.imread(path, as_gray=True)
    except Exception as error:  # each format raises its own
        raise ValueError(f"{str(path)!r} is no picture that can be read ({error}).") from error
    height, width = picture.shape
    rows = max(1, round(CROP * height))
    columns = max(1, min(width, round(rows * WIDTH / HEIGHT)))
    top, left = (height - rows) // 2, (width - columns) // 2
    middle = picture[top : top + rows, left : left + columns].astype(np.float64)
    small = transform.resize(middle, (HEIGHT, WIDTH), anti_aliasing=True, preserve_range=True)
    turned = small[::-1, ::-1] if upside_down else small
    return np.asarray(255.0 * exposure.equalize_hist(turned, nbins=HEIGHT * WIDTH)).ravel()
