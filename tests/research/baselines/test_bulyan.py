"""Bulyan against the definition."""

import numpy as np

from cases import cases
from inlier.research.baselines.bulyan import Bulyan
from reference import contaminated
from rivals import krum_by_hand


@cases("n_bad", [0, 1, 2, 4])
@cases("seed", range(4))
def test_bulyan(n_bad, seed):
    n = 19 + seed
    X = contaminated(n, 3, n_bad, seed, far=1.5)
    left, chosen = list(range(n)), []
    for _ in range(n - 2 * n_bad):
        scores = krum_by_hand(X[left], n_bad) if len(left) > 1 else np.zeros(1)
        chosen.append(left.pop(int(np.argmin(scores))))
    found = Bulyan(alpha=n_bad / n).fit(X)
    assert set(np.flatnonzero(found.support_)) == set(chosen)
    rows = X[chosen]
    expected = []
    for column, median in zip(rows.T, np.median(rows, axis=0), strict=True):
        nearest = sorted(column, key=lambda value, median=median: abs(value - median))
        expected.append(np.mean(nearest[: n - 4 * n_bad]))
    np.testing.assert_allclose(found.location_, expected, atol=1e-10)
