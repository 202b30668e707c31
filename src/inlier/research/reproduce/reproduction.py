"""Reproduce every table and figure of the paper beside the printed figures, and more."""

import os
import platform
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from inlier._internal.atomic import replacing
from inlier._internal.csv_text import writing
from inlier._internal.optional import optional
from inlier._internal.validation import check_whole
from inlier.research.comparison.plan import check_n_jobs
from inlier.research.comparison.store import Store
from inlier.research.datasets import read_images
from inlier.research.reproduce import cost, figures, optimality, pictures, price, sweeps, tables
from inlier.research.reproduce.chapter import RESULT_COLUMNS, Chapter, Setup, Watch
from inlier.research.reproduce.methods import save

# In the order of the page.
EXPERIMENTS: dict[str, Callable[[Setup], Chapter]] = {
    "tables": tables.run,
    "figures": figures.run,
    "faces": pictures.run,
    "l0": optimality.run,
    "alpha": sweeps.over_alpha,
    "sigma": sweeps.over_sigma,
    "dimension": sweeps.over_dimension,
    "price": price.run,
    "cost": cost.run,
}
STORE = "fits.sqlite"


@dataclass(frozen=True)
class Reproduction:
    """The files written by `reproduce`, and cells of our methods that are worse than printed."""

    folder: Path
    files: tuple[Path, ...] = field(repr=False)
    worse: tuple[str, ...]
    seconds: float


def reproduce(
    folder: str | os.PathLike[str],
    *,
    trials: int = 20,
    quick: bool = False,
    only: Iterable[str] | None = None,
    faces: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    n_jobs: int = -1,
    watch: Watch = lambda stage, done, total: None,
) -> Reproduction:
    """Run the paper's experiments, and others, and write a page with all tables and figures.

    Finished fits are kept in the folder, in ``fits.sqlite`` and, if timed, ``fits-timed.sqlite``:
    after an interruption only missing fits are run, and the half minute of "figures", "l0" and
    "price". Pass `fresh` after a change of the code.

    Parameters
    ----------
    folder : path
        Output folder, created if needed. Earlier results are replaced.
    trials : int, default=20
        Draws of each cell of the paper's tables; 20, as in the paper. Trial i has the seed i.
    quick : bool, default=False
        Single draws, few cells, and no Table 6, in less than a minute.
    only : iterable of str, optional
        Some of "tables", "figures", "faces", "l0", "alpha", "sigma", "dimension", "price", "cost".
    faces : path, optional
        A folder of pictures or an .npz file, in place of scikit-image's faces; see
        `inlier.research.datasets.read_images`.
    fresh : bool, default=False
        Discard the fits of an earlier run.
    n_jobs : int, default=-1
        Number of parallel trials; -1 for one on each core.
    watch : callable, optional
        Called with the name of a stage, the number of steps done, and their total number.

    Returns
    -------
    Reproduction
    """
    trials = check_whole(trials, "trials")
    chosen = _chosen(only)
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder={str(folder)!r} is a file: give the name of a folder.")
    for module in ("matplotlib", "skimage", "tabulate"):
        optional(module, "To reproduce the paper", "research")
    pictures_of_user = None
    if faces is not None:
        if "faces" not in chosen:
            raise ValueError("faces is given, but only leaves them out: name faces in only, too.")
        pictures_of_user = read_images(faces)
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / STORE
    setup = Setup(trials, quick, check_n_jobs(n_jobs), store, watch, pictures_of_user)
    if fresh:
        for path in (store, setup.timed_store):
            with Store(path):  # refuses any other file
                path.unlink()
    resumed = store.exists() or setup.timed_store.exists()
    begin = time.monotonic()
    chapters = [run(setup) for run in chosen.values()]
    seconds = time.monotonic() - begin
    how = f"Made by `{_command(trials, quick, None if only is None else list(chosen), faces)}`"
    if not resumed:
        how += f" in {seconds / 60.0:.1f} minutes in {setup.n_jobs} processes"
    files = write(folder, chapters, how)
    worse = tuple(cell for chapter in chapters for cell in chapter.worse)
    return Reproduction(folder, tuple(files), worse, seconds)


def _chosen(only: Iterable[str] | None) -> dict[str, Callable[[Setup], Chapter]]:
    if only is None:
        return EXPERIMENTS
    wanted = [only] if isinstance(only, str) else list(only)
    unknown = [name for name in wanted if name not in EXPERIMENTS]
    if unknown or not wanted:
        what = f"has {unknown[0]!r}" if unknown else "is empty"
        raise ValueError(f"only {what}: name some of {', '.join(EXPERIMENTS)}.")
    return {name: run for name, run in EXPERIMENTS.items() if name in wanted}


def _command(trials: int, quick: bool, only: list[str] | None, faces: Any) -> str:
    """Return the equivalent command line."""
    words = ["inlier", "reproduce"]
    words += ["--quick"] if quick else []
    words += ["--trials", str(trials)] if trials != 20 else []
    for name in only or []:
        words += ["--only", name]
    words += ["--faces", Path(faces).name] if faces is not None else []
    return shlex.join(words)


VERSIONS = ("inlier", "numpy", "scipy", "scikit-learn", "matplotlib", "scikit-image")
PAGE, TABLES, RESULTS = "README.md", "tables", "results.csv"
MARKS = "Behind a figure: + better than printed, = in the same band, - worse."
CSS = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 2rem 0 .5rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #8884; vertical-align: bottom; }
td { white-space: nowrap; }
.wide { overflow-x: auto; }
:root { color-scheme: light dark; }
"""


def write(folder: Path, chapters: Sequence[Chapter], how: str) -> list[Path]:
    """Write page, figures, tables in HTML and LaTeX, and records; `how` is the command."""
    files = []
    for chapter in chapters:
        for drawing in chapter.drawings:
            files += save(drawing.figure, folder / drawing.name)
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in VERSIONS)
    about = (
        f"{how}, with Python {platform.python_version()}, {versions}. Draws have the seeds 0, 1, "
        "2, ... in all experiments."
    )
    every = [table for chapter in chapters for table in chapter.tables]
    page = "\n\n".join(["# The paper, reproduced", about, *map(_markdown, chapters)])
    contents = {
        PAGE: page + "\n",
        f"{TABLES}.html": _html([table.html() for table in every], about),
        f"{TABLES}.tex": "\n\n".join(table.latex() for table in every) + "\n",
    }
    for name, content in contents.items():
        with replacing(folder / name) as unfinished:
            unfinished.write_text(content, encoding="utf-8")
        files.append(folder / name)
    lines = [line for chapter in chapters for line in chapter.lines]
    return [*files, _write_lines(folder / RESULTS, lines)]


def _markdown(chapter: Chapter) -> str:
    pieces = [f"## {chapter.title}", chapter.text]
    pieces += [f"![{drawing.caption}]({drawing.name}.svg)" for drawing in chapter.drawings]
    pieces += [table.markdown() for table in chapter.tables]
    return "\n\n".join(pieces)


def _html(tables_in_html: Sequence[str], about: str) -> str:
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            "<title>The paper, reproduced</title>",
            f"<style>{CSS}</style>",
            f"<h1>The paper, reproduced</h1>\n<p>{escape(about.replace('`', ''))} {MARKS}</p>",
            *(f'<div class="wide">{table}</div>' for table in tables_in_html),
            "</html>\n",
        )
    )


def _write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    """Write tidy records: a line for each fit."""
    with writing(path) as out:
        out.writerow(RESULT_COLUMNS)
        out.writerows([line.get(column, "") for column in RESULT_COLUMNS] for line in lines)
    return path
