"""Krum and Multi-Krum against the definition."""

import numpy as np

from cases import cases
from inlier.research.baselines.krum import Krum, MultiKrum
from reference import contaminated
from rivals import krum_by_hand


@cases("n_bad", [0, 1, 3, 8])
@cases("d", [2, 40])
def test_krum(n_bad, d):
    X = contaminated(20, d, n_bad, far=2.0) + 100.0
    expected = krum_by_hand(X, n_bad)
    krum = Krum(alpha=n_bad / 20).fit(X)
    np.testing.assert_allclose(krum.result_.scores, expected, rtol=1e-9)
    np.testing.assert_allclose(krum.location_, X[np.argmin(expected)])
    multi = MultiKrum(alpha=n_bad / 20).fit(X)
    best = np.argsort(expected)
    np.testing.assert_allclose(multi.location_, X[best[: 20 - n_bad]].mean(axis=0))
    multi = MultiKrum(alpha=n_bad / 20, n_selected=5).fit(X)
    assert set(np.flatnonzero(multi.support_)) == set(best[:5])
