"""What the benchmarks with nothing given share: the rule that is judged, and how it is scored."""

from __future__ import annotations

import argparse
import csv
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import inlier

# Where finished fits and the figures behind a page are kept, below the current folder.
OUT = Path("out")
# A ratio of errors below it counts as this: a perfect answer is not infinitely good.
FLOOR = 0.01
ASSUMPTIONS = ("symmetric", "nothing")


@dataclass(frozen=True)
class Answer:
    """A location, which rows it kept, and the groups of rows that it only suspects.

    `kept` is None for a location that keeps no rows, such as a median; `suspects` is None for a
    rule that does not know the word.
    """

    location: np.ndarray
    kept: np.ndarray | None = None
    suspects: list[np.ndarray] | None = None

    @classmethod
    def of_rows(cls, X: np.ndarray, kept: Any) -> Answer:
        """The mean of the kept rows."""
        kept = np.asarray(kept, dtype=bool)
        location = X[kept].mean(axis=0) if kept.any() else np.full(X.shape[1], np.nan)
        return cls(location, kept)


Rule = Callable[[np.ndarray], Answer]


def robust_mean(X: np.ndarray, **given: Any) -> Answer:
    """`inlier.robust_mean(X)`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        result = inlier.robust_mean(X, **given)
    suspects = getattr(result, "suspects", None)
    if suspects is not None:
        suspects = [np.asarray(getattr(group, "rows", group)) for group in suspects]
    return Answer(np.asarray(result.location), np.asarray(result.support), suspects)


def can_assume() -> bool:
    """Whether `robust_mean` may be told what is assumed of the good rows."""
    return "assume" in inspect.signature(inlier.robust_mean).parameters


def rule_named(text: str) -> Rule:
    """The function behind "module:function", which says of each row of a table whether it stays.

    The module is looked for in the current folder first.
    """
    module, _, name = text.partition(":")
    if not name:
        raise SystemExit(f"--rule must be module:function, but is {text!r}.")
    sys.path.insert(0, str(Path.cwd()))
    try:
        function = getattr(importlib.import_module(module), name)
    finally:
        sys.path.pop(0)
    return lambda X: Answer.of_rows(X, function(X))


def of_others(module: str) -> Any:
    """A module of another package, which does not find the scripts of this folder under its names.

    What PyOD is made of asks for a package that is called as coverage.py is.
    """
    here, before = Path(__file__).parent.resolve(), sys.path[:]
    sys.path[:] = [entry for entry in before if Path(entry).resolve() != here]
    try:
        return importlib.import_module(module)
    finally:
        sys.path[:] = before


def add_options(parser: argparse.ArgumentParser, page: Path) -> None:
    """The options that all of these benchmarks have."""
    parser.add_argument(
        "--rule",
        metavar="MODULE:FUNCTION",
        help="judge this function, from a table to which rows stay, instead of robust_mean",
    )
    parser.add_argument("--write", action="store_true", help=f"also write {page.name}")


def chosen_rule(arguments: argparse.Namespace) -> Rule:
    """What `--rule` names, or `robust_mean` with nothing given."""
    return rule_named(arguments.rule) if arguments.rule else robust_mean


def geometric_mean(ratios: Iterable[float]) -> float:
    """Of errors over those of the plain mean, none below the floor."""
    logs = np.log(np.maximum(list(ratios), FLOOR))
    return float(np.exp(logs.mean())) if logs.size else float("nan")


def robust_units(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each column's median, and its median distance from it in units of a standard deviation.

    A column of which half is one value has the standard deviation itself.
    """
    median = np.median(X, axis=0)
    unit = 1.4826 * np.median(abs(X - median), axis=0)
    return median, np.where(unit > 0, unit, X.std(axis=0))


def percent(share: float) -> str:
    """With one digit behind the point; "0" only for none."""
    if share != share:
        return "-"
    return "0" if share == 0 else f"{100 * share:.1f}%" if share >= 5e-4 else "<0.1%"


def markdown(header: str, lines: Iterable[Sequence[object]]) -> str:
    """A table under a header such as "name | figure"; all columns but the first are figures."""
    rule = "|---|" + "---:|" * header.count(" | ")
    rows = ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    return "\n".join([f"| {header} |", rule, *rows])


def save_records(path: Path, records: Sequence[Any], append: bool = False) -> None:
    """Dataclasses as the lines of a CSV file."""
    if not records:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    headless = append and path.exists()
    with path.open("a" if append else "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(records[0])))
        if not headless:
            writer.writeheader()
        writer.writerows(asdict(record) for record in records)
