"""A table and the names of its columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data import Gaps, Table, as_table
from inlier.data.checks import check_table


class RowNumbers(Sequence[str]):
    """Names such as "row 7", counted from 1, and made when used: text takes far more memory."""

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, i: Any) -> Any:
        """Return a name or, for an array of indices, names."""
        found = self.numbers[i]
        return RowNumbers(found) if np.ndim(found) else f"row {found + 1}"


@dataclass(frozen=True)
class NamedTable:
    """A table with names for its columns and rows: what a result is about."""

    table: Table
    """A reference, not a copy, unless cells are missing: then a copy without gaps."""
    columns: tuple[str, ...] | None = None
    index: Any = None
    """The names of the rows, in any sequence."""
    fingerprint: int | None = None
    """That of the table when it was named."""

    @classmethod
    def of(
        cls,
        X: Any,
        table: Table | None = None,
        columns: Any = None,
        names: Any = None,
        gaps: Gaps | None = None,
    ) -> NamedTable:
        """Wrap data as users have them; data frames bring their names.

        Where cells are missing, they are filled as in the fit that has found these gaps.
        """
        if table is None:
            known: dict[str, Any] = {}
            if gaps is not None:
                known = dict(fill=gaps.fill, ignored=gaps.ignored, cells=gaps.cells)
                known["fences"] = gaps.fences
            table = as_table(check_table(X, missing="auto", columns=columns, **known))
        n, d = table.shape
        if columns is None:
            columns = getattr(X, "columns", None)
        index = getattr(X, "index", None)
        # An index that counts the rows names none of them.
        is_pandas = type(index).__module__.partition(".")[0] == "pandas"
        if names is None and is_pandas and type(index).__name__ != "RangeIndex":
            names = index
        columns = None if columns is None else tuple(str(name) for name in columns)
        _check_length(columns, "columns", d, "column")
        _check_length(names, "names", n, "row")
        return cls(table, columns, names, table.fingerprint())

    @property
    def names(self) -> Array | RowNumbers | None:
        """The names of the rows, as text."""
        if self.index is None or isinstance(self.index, RowNumbers):
            return self.index
        return np.array([str(name) for name in self.index], dtype=object)


def _check_length(names: Any, argument: str, length: int, what: str) -> None:
    if names is not None and len(names) != length:
        raise ValueError(
            f"{argument} must have a name for each of the {length} {what}s of X, but has "
            f"{len(names)}."
        )
