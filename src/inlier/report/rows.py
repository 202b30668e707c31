"""The rows of a result, by what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    description: str  # how the rows differ from the others, or empty
    rows: Array
    drawn: Array  # those of the rows that are drawn

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


def row_classes(
    summary: Summary, most_kept: float = np.inf, most_removed: float = np.inf
) -> list[RowClass]:
    """Divide the rows into classes, the kept rows first, of which some are drawn at random.

    At most `most_kept` rows of each class of kept rows, and about `most_removed` rows in all.
    """
    kept, removed, n_groups = summary.support, ~summary.support, len(summary.groups)
    found = [("kept", 0, "kept", "", kept & (summary.suspect_of < 0))]
    for i in range(len(summary.suspects)):
        found.append(("suspect", i, f"kept, suspect {i + 1}", "", kept & (summary.suspect_of == i)))
    for i, description in enumerate(summary.group_descriptions):
        label = "removed" if n_groups == 1 else f"group {i + 1}"
        found.append(("group", i, label, description, removed & (summary.group_of == i)))
    role, label = ("others", "removed, in no group") if n_groups else ("group", "removed")
    found.append((role, 0, label, "", removed & (summary.group_of < 0)))
    random, classes = np.random.default_rng(0), []
    for role, index, label, description, mask in found:
        rows = drawn = np.flatnonzero(mask)
        most = most_kept
        if role in ("group", "others"):
            most = max(1, int(len(rows) * min(1.0, most_removed / max(1, summary.n_removed))))
        if len(rows) > most:
            drawn = np.sort(random.choice(rows, int(most), replace=False))
        if len(rows) or role == "kept":
            classes.append(RowClass(role, index, label, description, rows, drawn))
    return classes


def sampling_note(classes: Sequence[RowClass]) -> str:
    """State how many rows are drawn, if not all of them are."""
    parts = []
    for what in ("kept", "removed"):
        own = [one for one in classes if one.removed == (what == "removed")]
        drawn, rows = sum(len(one.drawn) for one in own), sum(len(one.rows) for one in own)
        if drawn < rows:
            parts.append(f"{drawn:,} of the {rows:,} {what} rows")
    if not parts:
        return ""
    return f" To keep the page small, {' and '.join(parts)} are drawn, taken at random."
