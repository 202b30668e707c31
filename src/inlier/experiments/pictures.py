"""The mean face by each method beside the true one, as in the paper's appendix; and digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from inlier.comparison import Comparison, Row
from inlier.datasets import Images, digits, faces, printed_tables
from inlier.experiments.columns import COLUMNS
from inlier.experiments.look import new_figure, styled
from inlier.experiments.part import Chapter, Drawing, PrintableTable, Setup, number, tidy

ALL = tuple(COLUMNS)
PER_ROW = 7

TEXT = """\
The paper's Table 5 and its appendix: the mean face by each method, its distance to the mean of the
good pictures (the oracle), and how many pictures were removed. Methods are told the true sigma or
alpha if they need it. {data}

The paper's own pictures, from the FEI database, are not to be passed on. Who has them reproduces
the table by `inlier reproduce --only faces --faces FOLDER`; `inlier.datasets.read_images` says
which files it takes, and how they are cut and equalised. The figures printed in the paper, for its
choice of persons and crop: {printed}."""

FACES = (
    "By default the faces are those of scikit-image (100 faces and 40 pictures of something else, "
    "in all poses and lights: harder than the paper's), and digits of scikit-learn."
)


def run(setup: Setup) -> Chapter:
    """The user's faces, or those of scikit-image; then digits."""
    models = [faces() if setup.pictures is None else setup.pictures, digits()]
    found = setup.compare("Faces and digits", models, ALL, trials=1)
    tables, drawings, lines = [], [], []
    for model, comparison, file in zip(models, found, ("faces", "digits"), strict=True):
        tables.append(_table(model, comparison))
        caption = f"{model.name}: the mean picture by each method, and its error."
        drawings.append(Drawing(file, caption, _drawn(model, comparison)))
        lines += tidy(file, model, comparison)
    data = FACES if setup.pictures is None else f"The faces are those of {setup.pictures.name}."
    printed = ", ".join(f"{name} {error:g}" for name, error in _printed().items())
    text = TEXT.format(data=data, printed=printed.replace("_", " "))
    return Chapter("Mean faces", text, tables, drawings, lines)


def _printed() -> dict[str, float]:
    (errors,) = printed_tables()["table5"].errors.values()
    return dict(errors)


def _table(model: Images, comparison: Comparison) -> PrintableTable:
    rows = comparison.by_method()
    bad = model.n_outliers
    return PrintableTable(
        f"{model.name}: {model.n} pictures of {'{} x {}'.format(*model.shape)}, {bad} of them bad",
        ["method", "error", "removed", "exact"],
        [[COLUMNS[name].label, number(rows[name].error), *_about_rows(rows[name])] for name in ALL],
    )


def _about_rows(row: Row) -> tuple[str, str]:
    exact = "-" if row.exact is None else ("yes" if row.exact else "no")
    return number(row.removed), exact


def _drawn(model: Images, comparison: Comparison) -> Any:
    oracle = model.X[~model.is_outlier].mean(axis=0)
    shown = [("oracle", oracle, "mean of the good")]
    for name in ALL:
        (record,) = comparison.of(name)
        if record.location is not None:
            error = f"error {number(record.error)}"
            shown.append((COLUMNS[name].label, record.location, error))
    low, high = float(model.X.min()), float(model.X.max())
    with styled():
        n_rows = -(-len(shown) // PER_ROW)
        tall = model.shape[0] / model.shape[1]
        figure = new_figure(8.4, n_rows * (1.15 * tall + 0.5))
        grid = np.atleast_2d(figure.subplots(n_rows, PER_ROW)).ravel()
        for axes in grid:
            axes.set_axis_off()
        for axes, (label, picture, about) in zip(grid, shown, strict=False):
            axes.imshow(
                picture.reshape(model.shape), cmap="gray", vmin=low, vmax=high, aspect="equal"
            )
            axes.set_title(f"{label}\n{about}", fontsize=7.5)
    return figure
