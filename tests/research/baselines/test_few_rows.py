"""Krum and centered clipping against their definitions."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines.few_rows import CenteredClipping, Krum, MultiKrum
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


@cases("radius", [None, 0.5, 2.0, 1e3])
@cases("shape", [(60, 4), (15, 40)])
def test_centered_clipping_stands_still(radius, shape):
    X = contaminated(*shape, n_bad=4)
    result = CenteredClipping(radius=radius).fit(X).result_
    assert result.converged
    away = X - result.location
    lengths = np.linalg.norm(away, axis=1)
    size = np.median(lengths) if radius is None else radius
    factors = np.minimum(1.0, size / lengths)
    assert np.linalg.norm((factors[:, None] * away).mean(axis=0)) <= 2e-8 * np.median(lengths)
    np.testing.assert_allclose(result.weights * factors.max(), factors, atol=1e-9)
    if radius == 1e3:
        np.testing.assert_allclose(result.location, X.mean(axis=0), atol=1e-6)


def test_centered_clipping_is_the_published_step():
    X = contaminated()
    with pytest.warns(ConvergenceWarning, match="raise max_iter, tol or radius=1"):
        found = CenteredClipping(radius=1.0, max_iter=1).fit(X)
    v = np.median(X, axis=0)
    away = X - v
    lengths = np.linalg.norm(away, axis=1)[:, None]
    expected = v + np.where(lengths > 1.0, away / lengths, away).mean(axis=0)
    np.testing.assert_allclose(found.location_, expected, atol=1e-12)
