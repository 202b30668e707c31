"""Reproduce every table and figure of the paper beside the printed figures."""

import platform
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from inlier._internal.atomic import replacing
from inlier._internal.optional import optional
from inlier._internal.validation import check_whole
from inlier.research.comparison.run import check_n_jobs
from inlier.research.datasets import read_images
from inlier.research.reproduce import figures, pictures, tables
from inlier.research.reproduce.chapter import Chapter, Setup, Watch, save

# In the order of the page.
EXPERIMENTS: dict[str, Callable[[Setup], Chapter]] = {
    "tables": tables.run,
    "figures": figures.run,
    "faces": pictures.run,
}
VERSIONS = ("inlier", "numpy", "scipy", "scikit-learn", "matplotlib", "scikit-image")


@dataclass(frozen=True)
class Reproduction:
    """The files written by `reproduce`, and cells of our methods that are worse than printed."""

    folder: Path
    files: tuple[Path, ...] = field(repr=False)
    worse: tuple[str, ...]
    seconds: float


def reproduce(
    folder: Path,
    *,
    trials: int = 20,
    quick: bool = False,
    only: Sequence[str] | None = None,
    faces: Path | None = None,
    n_jobs: int = -1,
    watch: Watch = lambda stage, done, total: None,
) -> Reproduction:
    """Run the paper's experiments, and write a page with all tables and figures.

    The parameters are the options of `inlier reproduce`; `watch` is called with the name of a
    stage, the number of steps done, and their total number. Finished fits are kept in the folder,
    in ``fits``: after an interruption only missing ones are run.
    """
    trials = check_whole(trials, "trials")
    wanted = list(EXPERIMENTS if only is None else only)
    unknown = [name for name in wanted if name not in EXPERIMENTS]
    if unknown or not wanted:
        what = f"has {unknown[0]!r}" if unknown else "is empty"
        raise ValueError(f"only {what}: name some of {', '.join(EXPERIMENTS)}.")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder={str(folder)!r} is a file: give the name of a folder.")
    for module in ("matplotlib", "skimage", "pandas"):
        optional(module, "To reproduce the paper", "research")
    if faces is not None and "faces" not in wanted:
        raise ValueError("faces is given, but only leaves them out: name faces in only, too.")
    of_user = None if faces is None else read_images(faces)
    store = folder / "fits"
    resumed = store.exists()
    setup = Setup(trials, quick, check_n_jobs(n_jobs), store, watch, of_user)
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    chapters = [run(setup) for name, run in EXPERIMENTS.items() if name in wanted]
    seconds = time.monotonic() - begin
    options = ["--quick"] if quick else []
    options += ["--trials", str(trials)] if trials != 20 else []
    options += [word for name in only or () for word in ("--only", name)]
    options += ["--faces", faces.name] if faces is not None else []
    how = f"Made by `{shlex.join(['inlier', 'reproduce', *options])}`"
    if not resumed:
        how += f" in {seconds / 60.0:.1f} minutes in {setup.n_jobs} processes"
    files = write(folder, chapters, how)
    worse = tuple(cell for chapter in chapters for cell in chapter.worse)
    return Reproduction(folder, tuple(files), worse, seconds)


def write(folder: Path, chapters: Sequence[Chapter], how: str) -> list[Path]:
    """Write the figures and the page; `how` is the command."""
    drawings = [drawing for chapter in chapters for drawing in chapter.drawings]
    files = [save(drawing.figure, folder / f"{drawing.name}.svg") for drawing in drawings]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in VERSIONS)
    about = (
        f"{how}, with Python {platform.python_version()}, {versions}. Draws have the seeds 0, 1, "
        "2, ... in all experiments."
    )
    parts = ["# The paper, reproduced", about, *(chapter.markdown() for chapter in chapters)]
    page = folder / "README.md"
    with replacing(page) as unfinished:
        unfinished.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return [*files, page]
