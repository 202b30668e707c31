"""Principal axes, and coordinates in which rows vary alike in all directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import like, namespace, on_host
from inlier._internal.typing import Array, Rows


class PrincipalAxes(NamedTuple):
    """Eigenvectors of a covariance, the largest eigenvalue first."""

    variances: Array
    """k, not negative."""
    directions: Rows
    """k x d, orthonormal, where the covariance is."""

    @classmethod
    def of(cls, covariance: Rows) -> PrincipalAxes:
        """Compute all axes of a covariance, or of other second moments."""
        xp = namespace(covariance)
        values, vectors = xp.linalg.eigh(covariance)
        descending = like(np.arange(values.shape[0])[::-1], vectors)
        return cls(np.maximum(on_host(values)[::-1], 0.0), xp.take(vectors.T, descending, axis=0))

    def first(self, k: int) -> PrincipalAxes:
        """Return the k axes with the largest variances."""
        return PrincipalAxes(self.variances[:k], self.directions[:k, :])

    @property
    def whitener(self) -> Rows:
        """The k x d matrix that maps centered rows to uncorrelated ones of variance 1."""
        return self.directions / like(np.sqrt(self.variances)[:, None], self.directions)
