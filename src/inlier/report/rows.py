"""The rows of a result, by what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inlier._internal.typing import Array
from inlier.report.numbers import counted
from inlier.results.summary import Summary


@dataclass(frozen=True)
class RowClass:
    """Rows that are drawn alike."""

    role: str  # "kept", "suspect", "group" or "others": removed without a group
    index: int  # of the suspect or group
    label: str
    rows: Array
    drawn: Array  # those of the rows that are drawn
    description: str = ""  # how the rows differ from the others

    @property
    def removed(self) -> bool:
        """Whether these rows were removed."""
        return self.role in ("group", "others")

    @property
    def key(self) -> str:
        """A name that no other class has."""
        return f"{self.role}-{self.index}"

    @property
    def legend(self) -> str:
        """Label, number of rows, and how they differ."""
        return f"{self.label}: {self.description or counted(len(self.rows), 'row')}"


def row_classes(summary: Summary) -> list[RowClass]:
    """Divide the rows into classes, the kept rows first."""
    removed = ~summary.support
    group_of = np.where(removed, summary.group_of, -1)
    suspect_of = np.where(removed, -1, summary.suspect_of)
    n_groups = len(summary.groups)
    found = [("kept", 0, "kept", summary.support & (suspect_of < 0), "")]
    for i in range(len(summary.suspects)):
        found.append(("suspect", i, f"kept, suspect {i + 1}", suspect_of == i, ""))
    for i in range(n_groups):
        label = "removed" if n_groups == 1 else f"group {i + 1}"
        found.append(("group", i, label, group_of == i, summary.group_descriptions[i]))
    role, label = ("others", "removed, in no group") if n_groups else ("group", "removed")
    found.append((role, 0, label, removed & (group_of < 0), ""))
    classes = []
    for role, index, label, mask, description in found:
        rows = np.flatnonzero(mask)
        if len(rows) or role == "kept":
            classes.append(RowClass(role, index, label, rows, rows, description))
    return classes


def sample_rows(classes: Sequence[RowClass], most_kept: int, most_removed: int) -> list[RowClass]:
    """Draw at most these numbers of kept and removed rows, chosen at random from each class."""
    random = np.random.default_rng(0)
    removed = sum(len(one.rows) for one in classes if one.removed)
    fraction = min(1.0, most_removed / max(1, removed))
    sampled = []
    for one in classes:
        most = max(1, int(len(one.rows) * fraction)) if one.removed else most_kept
        if len(one.rows) > most:
            one = replace(one, drawn=np.sort(random.choice(one.rows, most, replace=False)))
        sampled.append(one)
    return sampled


def sampling_note(classes: Sequence[RowClass]) -> str:
    """State how many rows are drawn, if not all of them are."""
    parts = []
    for what, removed in (("kept", False), ("removed", True)):
        drawn = sum(len(one.drawn) for one in classes if one.removed == removed)
        rows = sum(len(one.rows) for one in classes if one.removed == removed)
        if drawn < rows:
            parts.append(f"{drawn:,} of the {rows:,} {what} rows")
    if not parts:
        return ""
    return f" To keep the page small, {' and '.join(parts)} are drawn, taken at random."
