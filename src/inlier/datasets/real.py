"""Real data with labelled outliers."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from scipy.sparse import issparse

from inlier._internal.typing import Array, Mask, Seed
from inlier._internal.validation import check_random_state
from inlier.data.checks import check_table
from inlier.datasets.base import Contamination, Sample, set_fields


@dataclass(frozen=True, init=False)
class Shuffled(Contamination):
    """Labelled real rows in random order.

    Only the order of the rows differs between seeds; it should not matter. `n`, `d` and `alpha`
    follow from the rows. A digest of the content identifies the table.

    Attributes
    ----------
    X : array-like of shape (n, d)
        The rows. They are copied.
    is_outlier : array-like of bool, shape (n,)
        Which of them are bad; less than half.
    digest : str
        Hash of `X` and `is_outlier`.
    """

    X: Array = field(repr=False, compare=False)
    is_outlier: Mask = field(repr=False, compare=False)
    digest: str

    def __init__(self, X: Any, is_outlier: Any) -> None:
        table = check_table(X)
        dense = table.toarray() if issparse(table) else table  # type: ignore[attr-defined]
        rows = np.array(dense, dtype=np.float64, order="C")
        given = np.asarray(is_outlier)
        if given.dtype != np.bool_ and not np.isin(given, (0, 1)).all():
            raise ValueError(
                "is_outlier must be True or 1 for bad rows and False or 0 for the others, but has "
                f"other values, such as {given[~np.isin(given, (0, 1))][0]!r}."
            )
        flags = given.astype(np.bool_)
        set_fields(self, X=rows, is_outlier=Sample(rows, flags).is_outlier)
        set_fields(self, n=rows.shape[0], d=rows.shape[1], alpha=float(flags.mean()))
        super().__post_init__()
        for array in (rows, flags):
            array.flags.writeable = False
        set_fields(self, digest=sha256(rows.tobytes() + flags.tobytes()).hexdigest()[:16])

    @property
    def n_outliers(self) -> int:
        """Number of bad rows."""
        return int(self.is_outlier.sum())

    def _draw(self, random_state: Seed) -> Sample:
        order = check_random_state(random_state).permutation(self.n)
        return Sample(self.X[order], self.is_outlier[order])
