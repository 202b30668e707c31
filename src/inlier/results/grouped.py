"""What a fit of each group of rows returns: the results, and one table of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from inlier._internal.arrays import like, namespace, on_host
from inlier._internal.typing import Array, Mask
from inlier._internal.validation import is_device_array
from inlier.data import Table
from inlier.results.labels import Labels
from inlier.results.result import RobustMeanResult


class GroupedResult(Mapping[Any, RobustMeanResult]):
    """One result for each group of rows, by its label: ``grouped["a"]``, ``grouped.items()``.

    It prints as a table, with a line for each group; `to_html` writes a page with a section for
    each.

    Attributes
    ----------
    location : array of shape (n_groups, d)
        The mean of each group, in the order of the labels. Of a data frame of pandas a frame with
        these as its index, as ``X.groupby(groups).mean()`` has them; of polars one with a column
        "group".
    standard_error : array of shape (n_groups, d)
        Their standard errors, arranged alike.
    support : boolean array of shape (n,)
        The kept rows of all groups.
    outliers : int array
        The removed rows of all groups; of a data frame of pandas their labels.
    """

    def __init__(
        self, results: dict[Any, RobustMeanResult], support: Mask, labels: Labels | None
    ) -> None:
        self._results, self.support, self._labels = results, support, labels

    def __getitem__(self, label: Any) -> RobustMeanResult:
        return self._results[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def location(self) -> Any:
        """The mean of each group."""
        return self._by_group([on_host(one._location) for one in self.values()])

    @property
    def standard_error(self) -> Any:
        """Their standard errors."""
        return self._by_group([one._means.error for one in self.values()])

    @property
    def outliers(self) -> Any:
        """The removed rows of all groups."""
        rows = np.flatnonzero(~self.support)
        return rows if self._labels is None else self._labels.rows(rows)

    def _by_group(self, values: list[Array]) -> Any:
        stacked, labels = np.stack(values), self._labels
        if labels is None:
            return stacked
        library: Any = import_module(labels.library)
        if labels.library == "pandas":
            return library.DataFrame(stacked, index=list(self), columns=labels.columns)
        frame = library.DataFrame(stacked, schema=labels.columns, orient="row")
        return frame.insert_column(
            0, library.Series("group" + "_" * ("group" in labels.columns), list(self))
        )

    def to_html(self, path: Any = None, *, title: str | None = None) -> str:
        """Write a page that explains the answers: one file that needs no network.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.
        title : str, optional
            What the data are called.
        """
        from inlier.report import page

        answers = [(str(label), one._summary) for label, one in self.items()]
        html: str = page(answers, title=title, path=path)
        return html

    def __str__(self) -> str:
        heads = ("group", "rows", "removed", "cells set aside")
        lines = [
            (
                str(label),
                f"{one.support.shape[0]:,}",
                f"{int((~one.support).sum()):,}",
                f"{int(one.details.n_set_aside.sum()):,}",
            )
            for label, one in self.items()
        ]
        return aligned([heads, *lines], left=0)

    def __repr__(self) -> str:
        return f"<GroupedResult of {len(self)} groups, {len(self.support):,} rows>"


def aligned(lines: Sequence[Sequence[str]], left: int) -> str:
    """Return lines as a table: the column `left` begins at the left, others end at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        [text.ljust(w) if i == left else text.rjust(w) for i, (text, w) in enumerate(pairs)]
        for pairs in (zip(line, widths, strict=True) for line in lines)
    ]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def check_groups(groups: Any, n: int) -> list[tuple[Any, Array]]:
    """Return the labels of groups in order, each with its rows."""
    if isinstance(groups, str) or not hasattr(groups, "__iter__"):
        raise ValueError(
            f"groups must have a label for each of the {n} rows of X, but is {groups!r}. Pass the "
            "labels themselves, such as a column that is not in X."
        )
    given = groups if hasattr(groups, "shape") else list(groups)
    values = np.asarray(given)
    if values.shape != (n,):
        raise ValueError(
            f"groups must have a label for each of the {n} rows of X, but has shape {values.shape}."
        )
    if isinstance(given, list) and not all(isinstance(label, str) for label in given):
        values = np.array(given, dtype=object)  # in which NaN beside text does not become "nan"
    unlabelled = np.array([_is_missing(value) for value in values.tolist()])
    if unlabelled.any():
        raise ValueError(
            f"groups has no label for row {int(np.argmax(unlabelled))} (from 0). Leave such rows "
            "out, or give them a label of their own."
        )
    try:
        found, which = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError(
            "groups has labels of different types, which have no order. Pass them as text."
        ) from None
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))[:-1]
    return list(zip(found.tolist(), np.split(order, ends), strict=True))


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, NaT or pandas' NA, which is not even unlike itself."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def taken(X: Any, rows: Array) -> Any:
    """Return some rows of any kind of data."""
    if isinstance(X, Table):
        mask = np.zeros(X.shape[0], dtype=np.bool_)
        mask[rows] = True
        return X.take(X.to_device(mask))
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if is_device_array(X):
        return namespace(X).take(X, like(rows, X), axis=0)
    return X[rows]
