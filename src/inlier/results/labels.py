"""What a data frame calls its columns and rows, so that answers about it do so too.

As the data frame itself would return it: a mean of pandas is a Series by column, one of polars,
which has no index, a frame of one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array, Rows
from inlier.data.checks import counts_rows


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a data frame of pandas or polars."""

    library: str
    columns: Any
    index: Any = None
    """Of the rows; None if they are counted from 0."""

    @classmethod
    def of(cls, X: Any) -> Labels | None:
        """Return the labels of a data frame; None for other data."""
        library = type(X).__module__.partition(".")[0]
        if library not in ("pandas", "polars") or not hasattr(X, "columns"):
            return None
        columns = list(X.columns) if library == "polars" else X.columns
        index = getattr(X, "index", None)
        return cls(library, columns, None if counts_rows(index) else index)

    def agrees(self, other: Labels) -> bool:
        """Return whether rows are the same, and columns in the same order, or renamed."""
        if self.index is None or other.index is None:
            # Rows that were counted from 0 may have got names since; not other numbers, in which
            # a frame that was sorted has them.
            named = self.index is None and other.index is not None
            rows = not (named and _renumbered(other.index))
        else:
            rows = self.index.equals(other.index)
        own, theirs = list(self.columns), list(other.columns)
        return bool(rows) and (own == theirs or set(own) != set(theirs))

    def values(self, by_column: Any) -> Array:
        """Return the array behind a value for each column."""
        values: Array = by_column.to_numpy()
        return values.ravel()

    def rows(self, positions: Rows) -> Any:
        """Return the labels of some rows."""
        return positions if self.index is None else self.index[on_host(positions)]

    def position(self, row: Any) -> int:
        """Return the position of a row, by its label."""
        try:
            hash(row)  # lists and slices would be several rows
            found = self.index.get_loc(row)
        except (KeyError, TypeError):
            shown = ", ".join(repr(label) for label in self.index[:3].tolist())
            raise ValueError(
                f"row must be one of the labels of X.index, such as {shown}, but is {row!r}."
            ) from None
        if not isinstance(found, int | np.integer):
            n = len(self.index[found])
            raise ValueError(
                f"row={row!r} is the label of {n} rows. Give each row its own, as "
                "X.reset_index() does, and fit again."
            )
        return int(found)


def _renumbered(index: Any) -> bool:
    """Return whether an index of pandas has the numbers of the rows from 0, in another order."""
    numbers = np.asarray(index)
    return numbers.dtype.kind in "iu" and bool((np.sort(numbers) == np.arange(len(numbers))).all())


def labelled(values: Any, labels: Labels | None) -> Any:
    """Return a value for each column, (d,), with the labels of the columns."""
    if labels is None:
        return values
    library: Any = import_module(labels.library)
    if labels.library == "polars":
        return library.DataFrame(values[None], schema=labels.columns, orient="row")
    return library.Series(values, index=labels.columns)
