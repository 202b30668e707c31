"""An aggregator as a callable, which is what simulations of attacks expect of a rule."""

from __future__ import annotations

from typing import Any

from inlier.federated.aggregation import Aggregate, aggregate
from inlier.federated.record import Record


class RobustAggregator:
    """Aggregate with `aggregator(vectors)`, which returns the update alone.

    Carries a record from call to call, so that clients must come in the same order every time.

    Parameters
    ----------
    remember : bool, default=True
        Whether to carry suspicion from call to call.

    Attributes
    ----------
    result : Aggregate or None
        All of the last answer.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier.federated import RobustAggregator
    >>> aggregator = RobustAggregator()
    >>> aggregator([np.zeros(3), np.ones(3), 2 * np.ones(3), 1e9 * np.ones(3)])
    array([1., 1., 1.])
    >>> aggregator.result.rejected
    (3,)
    """

    def __init__(self, remember: bool = True) -> None:
        self.record = Record() if remember else None
        self.result: Aggregate | None = None

    def __call__(self, vectors: Any) -> Any:
        """Return the aggregate of the vectors, in their type."""
        self.result = aggregate(vectors, record=self.record)
        return self.result.update
