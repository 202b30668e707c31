"""Mean faces and digits by each method, as in the paper's appendix."""

from typing import Any

import numpy as np

from inlier.research.comparison import Comparison
from inlier.research.datasets import Images, digits, faces, printed_tables
from inlier.research.reproduce.chapter import (
    COLUMNS,
    Chapter,
    Drawing,
    Setup,
    markdown,
    number,
    styled,
)

ALL = tuple(COLUMNS)
PER_ROW = 7

TEXT = """\
The paper's Table 5 and its appendix: the mean face by each method, its distance to the mean of the
good pictures (the oracle), and how many pictures were removed. Methods that need sigma or alpha are
given the true ones. {data}

The paper's own pictures, from the FEI database, may not be redistributed. Users who have them
reproduce the table by `inlier reproduce --only faces --faces FOLDER`;
`inlier.research.datasets.read_images` documents the files and how they are cropped and equalised.
The figures printed in the paper, for its choice of persons and crop: {printed}."""

FACES = (
    "By default the faces are those of scikit-image (100 faces and 40 pictures of something else, "
    "in all poses and lights: harder than the paper's), and digits of scikit-learn."
)


def run(setup: Setup) -> Chapter:
    """Compare on the user's faces, or those of scikit-image, and on digits."""
    models = [faces() if setup.pictures is None else setup.pictures, digits()]
    found = setup.compare("Faces and digits", models, ALL, trials=1)
    tables, drawings = [], []
    for model, comparison, file in zip(models, found, ("faces", "digits"), strict=True):
        tables.append(_table(model, comparison))
        caption = f"{model.name}: the mean picture by each method, and its error."
        drawings.append(Drawing(file, caption, _draw(model, comparison)))
    data = FACES if setup.pictures is None else f"The faces are those of {setup.pictures.name}."
    (errors,) = printed_tables()["table5"].errors.values()
    printed = ", ".join(f"{name} {error:g}" for name, error in errors.items())
    text = TEXT.format(data=data, printed=printed.replace("_", " "))
    return Chapter("Mean faces", text, tables, drawings)


def _table(model: Images, comparison: Comparison) -> str:
    height, width = model.shape
    about = f"{model.n} pictures of {height} x {width}, {model.n_outliers} of them bad"
    rows = comparison.summary()
    exact = rows["exact"].map({1.0: "yes", 0.0: "no"}).fillna("-")
    lines = [
        {
            "method": COLUMNS[name].label,
            "error": number(rows.error[name]),
            "removed": number(rows.removed[name]),
            "exact": exact[name],
        }
        for name in ALL
    ]
    return f"**{model.name}: {about}**\n\n{markdown(lines)}"


def _draw(model: Images, comparison: Comparison) -> Any:
    oracle = model.X[~model.is_outlier].mean(axis=0)
    shown = [("oracle", oracle, "mean of the good")]
    for record in comparison.records.itertuples():
        if record.location is not None:
            error = f"error {number(record.error)}"
            shown.append((COLUMNS[record.method].label, record.location, error))
    low, high = float(model.X.min()), float(model.X.max())
    n_rows = -(-len(shown) // PER_ROW)
    tall = model.shape[0] / model.shape[1]
    with styled(8.4, n_rows * (1.15 * tall + 0.5)) as figure:
        grid = np.atleast_2d(figure.subplots(n_rows, PER_ROW)).ravel()
        for axes in grid:
            axes.set_axis_off()
        for axes, (label, picture, about) in zip(grid, shown, strict=False):
            axes.imshow(
                picture.reshape(model.shape), cmap="gray", vmin=low, vmax=high, aspect="equal"
            )
            axes.set_title(f"{label}\n{about}", fontsize=7.5)
    return figure
