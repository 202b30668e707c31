"""Reproduce every table and figure of the paper beside the printed figures, and more."""

import os
import platform
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from inlier._internal.atomic import replacing
from inlier._internal.csv_text import writing
from inlier._internal.optional import optional
from inlier._internal.validation import check_whole
from inlier.research.comparison.run import check_n_jobs
from inlier.research.datasets import read_images
from inlier.research.reproduce import figures, pictures, tables
from inlier.research.reproduce.chapter import RESULT_COLUMNS, Chapter, Setup, Watch
from inlier.research.reproduce.methods import save

# In the order of the page.
EXPERIMENTS: dict[str, Callable[[Setup], Chapter]] = {
    "tables": tables.run,
    "figures": figures.run,
    "faces": pictures.run,
}


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

    Finished fits are kept in the folder, in ``fits``: after an interruption only missing
    fits are run, and "figures". Pass `fresh` after a change of the code.

    Parameters
    ----------
    folder : path
        Output folder, created if needed. Earlier results are replaced.
    trials : int, default=20
        Draws of each cell of the paper's tables; 20, as in the paper. Trial i has the seed i.
    quick : bool, default=False
        Single draws and no Table 6: 80 seconds of processor time.
    only : iterable of str, optional
        Some of "tables", "figures", "faces".
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
    store = folder / "fits"
    setup = Setup(trials, quick, check_n_jobs(n_jobs), store, watch, pictures_of_user)
    if fresh:
        shutil.rmtree(store, ignore_errors=True)
    resumed = store.exists()
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


def write(folder: Path, chapters: Sequence[Chapter], how: str) -> list[Path]:
    """Write figures, page and records; `how` is the command."""
    drawings = [drawing for chapter in chapters for drawing in chapter.drawings]
    files = [save(drawing.figure, folder / f"{drawing.name}.svg") for drawing in drawings]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in VERSIONS)
    about = (
        f"{how}, with Python {platform.python_version()}, {versions}. Draws have the seeds 0, 1, "
        "2, ... in all experiments."
    )
    parts = ["# The paper, reproduced", about, *(chapter.markdown() for chapter in chapters)]
    page, results = folder / "README.md", folder / "results.csv"
    with replacing(page) as unfinished:
        unfinished.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    with writing(results) as out:
        out.writerow(RESULT_COLUMNS)
        out.writerows(line.values() for chapter in chapters for line in chapter.lines)
    return [*files, page, results]
