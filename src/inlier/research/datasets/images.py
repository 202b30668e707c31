"""Pictures as rows: digits, faces, and pictures of the user.

The paper's faces are those of the FEI database (https://fei.edu.br/~cet/facedatabase.html), which
may not be redistributed: users who have it give its folder. Other data come with packages.
"""

import os
from pathlib import Path

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier._internal.validation import check_number
from inlier.research.datasets.base import Images

# The size of the paper's pictures.
HEIGHT, WIDTH = 36, 30
# Fraction of the height that is kept; the paper does not state its own.
CROP = 0.7
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".pgm", ".tif", ".tiff")


def faces() -> Images:
    """Return 100 faces and 40 other pictures, 25 x 25, with the paper's n and alpha.

    From scikit-image's `lfw_subset`: photographs in all poses and lights, scaled to 0 to 255.
    """
    pictures = optional("skimage.data", "To load faces", "research").lfw_subset()[:140]
    rows = pictures.reshape(140, -1)
    return Images(255.0 * rows / rows.max(), np.arange(140) >= 100, (25, 25), "faces")


def read_images(path: str | os.PathLike[str], crop: float = CROP) -> Images:
    """Read pictures of the user from an .npz file or a folder.

    A file has `X` (n x pixels), `y` (1 or True for outliers) and optionally `shape` (height and
    width; by default 36 x 30), and is read without unpickling.

    A folder has two folders, ``good`` and ``bad``, or pictures named as in the FEI database, of
    which the paper's numbers are used: ``1a`` to ``100a`` (frontal, neutral) are good; ``101-01``,
    ``102-10``, ..., ``119-01``, ``120-10`` (profiles) and ``121b`` to ``140b`` (smiling), upside
    down, are bad. They are converted to grey, cropped to the middle, scaled to 36 x 30, and their
    histograms equalised. The paper does not state its choice of persons and its crop.

    Parameters
    ----------
    path : path
        A file, or a folder.
    crop : float, default=0.7
        Fraction of the height that is kept; the width is 30/36 of it, or all there is.
    """
    path = Path(path)
    crop = check_number(crop, "crop", at_most=1.0)
    if path.is_dir():
        return _from_folder(path, crop)
    if not path.is_file():
        raise ValueError(
            f"There is no file or folder {str(path)!r}: give an .npz file or a folder."
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


def _from_folder(folder: Path, crop: float) -> Images:
    if (folder / "good").is_dir() and (folder / "bad").is_dir():
        good, bad = _pictures(folder / "good"), _pictures(folder / "bad")
        if not good or not bad:
            raise ValueError(f"{str(folder)!r} has no pictures in its folder good, or in bad.")
        found = [(path, False, False) for path in good] + [(path, True, False) for path in bad]
    else:
        found = _fei(folder)
    rows = [_row(path, upside_down, crop) for path, _, upside_down in found]
    flags = [is_bad for _, is_bad, _ in found]
    return Images(np.stack(rows), np.array(flags), (HEIGHT, WIDTH), folder.name)


def _pictures(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS)


def _fei(folder: Path) -> list[tuple[Path, bool, bool]]:
    """Return the paper's pictures of the FEI database: file, whether bad, whether upside down."""
    by_name = {path.stem.lower(): path for path in _pictures(folder)}
    wanted = [(f"{person}a", False, False) for person in range(1, 101)]
    wanted += [(f"{p}-{'01' if p % 2 else '10'}", True, False) for p in range(101, 121)]
    wanted += [(f"{person}b", True, True) for person in range(121, 141)]
    missing = [name for name, _, _ in wanted if name not in by_name]
    if missing:
        raise ValueError(
            f"{str(folder)!r} has {len(by_name)} pictures, but {len(missing)} of the 140 of the "
            f"FEI database are missing, such as {missing[0]}.jpg. Put them there under their "
            "names, or put pictures of your own into two folders, good and bad."
        )
    return [(by_name[name], is_bad, upside_down) for name, is_bad, upside_down in wanted]


def _row(path: Path, upside_down: bool, crop: float) -> Array:
    """Read a picture in grey, cropped to the middle, scaled and equalised."""
    image_file, color, exposure, transform = (
        optional(module, "To read a folder of pictures", "research")
        for module in ("PIL.Image", "skimage.color", "skimage.exposure", "skimage.transform")
    )
    try:
        with image_file.open(path) as image:
            pages = getattr(image, "n_frames", 1)
            # Keep the precision of 16-bit and floating-point grey.
            picture = np.asarray(image if image.mode[0] in "IF" else image.convert("RGB"))
    except Exception as error:  # each format raises its own
        raise ValueError(f"{str(path)!r} is no picture that can be read ({error}).") from error
    if pages > 1:
        raise ValueError(f"{str(path)!r} has {pages} pages: give one picture to a file.")
    if picture.ndim == 3:
        picture = color.rgb2gray(picture)
    height, width = picture.shape
    rows = max(1, round(crop * height))
    columns = max(1, min(width, round(rows * WIDTH / HEIGHT)))
    top, left = (height - rows) // 2, (width - columns) // 2
    middle = picture[top : top + rows, left : left + columns].astype(np.float64)
    small = transform.resize(middle, (HEIGHT, WIDTH), anti_aliasing=True, preserve_range=True)
    turned = small[::-1, ::-1] if upside_down else small
    return np.asarray(255.0 * exposure.equalize_hist(turned, nbins=HEIGHT * WIDTH)).ravel()
