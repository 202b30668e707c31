"""What the benchmarks share: options, the rule that is judged, real data, timing, pages."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import distributions, version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401  # loads libraries whose threads are limited below
from joblib import Memory
from threadpoolctl import threadpool_info, threadpool_limits

import inlier
from inlier._internal.atomic import replacing
from inlier.research.datasets import Sample, Shuffled
from inlier.research.reproduce.chapter import ROUNDING, markdown, save, styled
from inlier.research.reproduce.chapter import number as figure

__all__ = ["ROUNDING", "figure", "markdown", "save", "styled"]  # beside what is written here

RESULTS = Path(__file__).parents[1] / "docs" / "results"
# An option of the benchmarks on real tables.
DATA = (Path("..") / "shared" / "data" / "real", "folder of .npz files with X and y")
# More than this many times the error or the risk of the plain mean is harm.
HARM = 1.05
# Of the other processes: above the spare cores, times are not to be trusted.
LOAD_BEFORE = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else "unknown"


def options(
    about: str | None, page: str, given: Sequence[str] | None, **asked: tuple[Any, str]
) -> argparse.Namespace:
    """Read the command line: what a script asks for (default, help), `--write` and `--page`.

    Linear algebra has one thread from here on, or those of `--threads` where a script asks for
    that, also in processes started later.
    """
    parser = argparse.ArgumentParser(description=str(about).split("\n\n")[0])
    for name, (default, text) in asked.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true", help=text)
        else:
            kind = str if default is None else type(default)
            parser.add_argument(flag, type=kind, default=default, help=f"{text} ({default})")
    parser.add_argument("--write", action="store_true", help=f"write {page}")
    parser.add_argument("--page", type=Path, default=RESULTS / page, help="write it there instead")
    arguments = parser.parse_args(given)
    threads = getattr(arguments, "threads", 1)
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = str(threads)
    threadpool_limits(threads)
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    return arguments


def chosen(names: str | None, known: Iterable[str], separator: str = ",") -> list[str]:
    """Return the names of an option such as `--only`, or all that are known."""
    known = list(known)
    wanted = [name.strip() for name in names.split(separator)] if names else known
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"no {unknown[0]!r}; there are {f'{separator} '.join(known)}.")
    return wanted


def cached(function: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what a function returns in out/joblib, below the current folder."""
    return Memory("out", verbose=0).cache(function)


def print_progress(text: str) -> None:
    """On a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Answer:
    """A location, which rows it kept (None for a median), and what it suspects or sets aside."""

    location: np.ndarray
    kept: Any = None
    suspects: Sequence[np.ndarray] = ()
    aside: Any = False
    """The rows of which a cell was set aside."""
    cells: Any = None
    """Mask of the cells that do not count, but for those of removed rows."""

    @property
    def left_out(self) -> Any:
        """Mask of all cells that do not count."""
        rows = ~np.asarray(self.kept)[:, None]
        return (
            np.repeat(rows, len(self.location), axis=1) if self.cells is None else rows | self.cells
        )

    @property
    def clean(self) -> Any:
        """Rows that were kept with all their cells."""
        return self.kept & ~np.asarray(self.aside)

    @classmethod
    def of_rows(cls, X: np.ndarray, kept: Any) -> Answer:
        """The mean of the kept rows."""
        kept = np.asarray(kept, dtype=bool)
        return cls(X[kept].mean(axis=0) if kept.any() else np.full(X.shape[1], np.nan), kept)


Rule = Callable[[np.ndarray], Answer]
RULE = (None, "judge MODULE:FUNCTION, from a table to which rows are kept, not robust_mean")


def robust_mean(X: np.ndarray, **given: Any) -> Answer:
    """`inlier.robust_mean(X)`."""
    result = inlier.robust_mean(X, **given)
    cells = np.zeros(X.shape, bool)
    cells[tuple(result.certificate.cells.T)] = True
    suspects = [group.rows for group in result.suspects]
    aside = cells.any(axis=1) & result.support
    return Answer(result.location, result.support, suspects, aside, cells)


def repaired(X: np.ndarray) -> Answer:
    """The same once more, after the repairs that are sure."""
    answer, X = robust_mean(X), X.copy()
    for cell in inlier.robust_mean(X).cells:
        if cell.slip.repair is not None:
            X[cell.row, cell.column] = cell.slip.repair
    return replace(answer, location=inlier.robust_mean(X).location)


def detected(name: str, X: np.ndarray) -> Any:
    """A detector of PyOD with its defaults, fitted; with seed 0 where it has one."""
    seed = {"random_state": 0} if name in ("IForest", "MCD") else {}
    return getattr(importlib.import_module(f"pyod.models.{name.lower()}"), name)(**seed).fit(X)


def rule_named(text: str | None) -> Rule:
    """The function behind "module:function", of the current folder first; ours without a name."""
    if not text:
        return robust_mean
    module, _, name = text.partition(":")
    if not name:
        raise SystemExit(f"--rule must be module:function, but is {text!r}.")
    sys.path.insert(0, str(Path.cwd()))
    try:
        function = getattr(importlib.import_module(module), name)
    finally:
        sys.path.pop(0)
    return lambda X: Answer.of_rows(X, function(X))


def folder_data(
    folder: str | Path, only: str | None = None, among: Iterable[str] | None = None
) -> Iterator[tuple[str, Sample]]:
    """The .npz files (`X`, `y`) of a folder and those below it, their rows in random order.

    Those that `only` names, all of which have to be there; of the sets in `among`, those that are.
    """
    paths = {path.stem: path for path in sorted(Path(folder).rglob("*.npz"))}
    if among is not None:
        paths = {name: paths[name] for name in among if name in paths}
    elif not paths:
        raise SystemExit(f"no .npz files to judge by in {folder}; name a folder: --data")
    for name in chosen(only, paths):
        print_progress(name)
        with np.load(paths[name]) as content:
            yield name, Shuffled(content["X"], content["y"]).sample(0)


class Truth:
    """What answers on a set are judged by: the good rows, their mean and its standard error."""

    def __init__(self, sample: Sample) -> None:
        self.mean = sample.mean
        self.standard_error = float(np.sqrt(sample.inliers.var(axis=0).sum() / len(sample.inliers)))
        self.plain_error = self.error(sample.X.mean(axis=0))

    @classmethod
    def of_clean(cls, rows: np.ndarray) -> Truth:
        """Of rows that are all good, whose plain mean is right."""
        return cls(Sample(rows, np.zeros(len(rows), dtype=bool)))

    def error(self, location: np.ndarray) -> Any:
        """The distance of a location, or of each of several."""
        return np.linalg.norm(location - self.mean, axis=-1)

    def risk(self, location: np.ndarray) -> Any:
        """The risk over that of the plain mean, with the standard error in both."""
        error = np.hypot(self.standard_error, self.error(location))
        return error / np.hypot(self.standard_error, self.plain_error)

    def ratio(self, location: np.ndarray) -> Any:
        """The error over that of the plain mean."""
        error = self.error(location)
        return error / self.plain_error if self.plain_error > ROUNDING else np.ones_like(error)


def robust_units(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each column's median, and its median distance from it in units of a standard deviation.

    A column of which half is one value has the standard deviation itself, a constant one has 1.
    """
    median, deviation = np.median(X, axis=0), X.std(axis=0)
    unit = 1.4826 * np.median(abs(X - median), axis=0)
    return median, np.where(unit > 0, unit, np.where(deviation > 0, deviation, 1.0))


def geometric_mean(ratios: Iterable[float]) -> float:
    """Of errors over those of the plain mean; a perfect answer counts as .01."""
    logs = np.log(np.maximum(list(ratios), 0.01))
    return float(np.exp(logs.mean())) if logs.size else float("nan")


class Run(NamedTuple):
    """The shortest time that a call took, and what it returned."""

    seconds: float
    answer: Any


def fastest(
    *calls: Callable[[], Any],
    repeats: int = 5,
    clock: Callable[[], float] = process_time,
    most_seconds: float = np.inf,
) -> list[Run]:
    """Time calls in turn, so that a slow moment of the machine affects all of them.

    Processor time on one thread is the time on the wall unless other processes want the core.
    """
    runs = [Run(np.inf, None)] * len(calls)
    begin = perf_counter()
    for repeat in range(1, repeats + 1):
        for i, call in enumerate(calls):
            runs[i] = Run(runs[i].seconds, None)  # frees the answer before the next one is made
            start = clock()
            answer = call()
            runs[i] = Run(min(runs[i].seconds, clock() - start), answer)
        if (perf_counter() - begin) * (repeat + 1) / repeat > most_seconds:
            break
    return runs


def percent(share: float) -> str:
    """With one digit behind the point; "0" only for none."""
    if np.isnan(share):
        return "-"
    return "0" if share == 0 else f"{100 * share:.1f}%" if share >= 5e-4 else "<0.1%"


def bold(text: str, condition: bool) -> str:
    """Mark a cell of a table."""
    return f"**{text}**" if condition else text


def wrong_rows(kept: np.ndarray, good: np.ndarray) -> str:
    """What is wrong with a set of kept rows, in words."""
    counts = {"bad kept": (kept & ~good).sum(), "good lost": (~kept & good).sum()}
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "exact"


def save_records(name: str, records: Any) -> None:
    """The figures behind a page, as out/NAME.csv."""
    import pandas as pd

    Path("out").mkdir(exist_ok=True)
    pd.DataFrame(records).to_csv(Path("out") / f"{name}.csv", index=False)


def about(doc: str | None, paragraphs: slice = slice(1, 2)) -> str:
    """Paragraphs of the docstring of a script."""
    return "\n\n".join(str(doc).strip().split("\n\n")[paragraphs])


def versions(*packages: str) -> str:
    """Of numpy, scipy and those of the other packages that are installed."""
    installed = {found.name.lower() for found in distributions()}
    present = (name for name in packages if name in installed)
    return ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", *present))


def machine() -> str:
    """What times depend on, without anything that names the machine."""
    info, blas = Path("/proc/cpuinfo"), np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    kernels = {found.get("architecture", "") for found in threadpool_info()} - {""}
    return (
        f"{[*models, platform.processor() or platform.machine()][0]}, {os.cpu_count()} cores; load "
        f"average before the run {LOAD_BEFORE}; {versions()}, {blas['name']} {blas['version']} "
        f"({', '.join(sorted(kernels))})"
    )


def publish(
    arguments: argparse.Namespace,
    title: str,
    note: str,
    command: str,
    sections: Mapping[str, str] | str,
) -> None:
    """Print the sections of a page and, with `--write`, write it; an old one stays until then."""
    print_progress("")
    if not isinstance(sections, str):
        sections = "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items())
    print(sections)
    if arguments.write:
        arguments.page.parent.mkdir(parents=True, exist_ok=True)
        with replacing(arguments.page) as unfinished:
            page = f"# {title}\n\n{note}\n\n    {command}\n\n{sections}\n"
            unfinished.write_text(page, encoding="utf-8")
