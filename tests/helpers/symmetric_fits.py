"""Tables, fits for which good rows are symmetric, and what holds of every answer."""

import warnings

import numpy as np
import pytest

import fits
import reference
from inlier import WeakEvidenceWarning
from inlier.research.datasets import (
    Clean,
    Gaussian,
    HeavyTails,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    SettingA,
    SettingB,
    Spiked,
    StudentT,
)

SETTINGS = {"A": SettingA, "B": SettingB}
FEW = range(2)
MANY = range(100, 120)
no_warning = pytest.mark.filterwarnings("error")


def robust_mean(X, **options):
    """A fit for which good rows are symmetric, unless their bound is known."""
    if "sigma" not in options:
        options = {"assume": "symmetric", **options}
    return fits.robust_mean(X, **options)


ROWS = {
    "Gaussian": Gaussian(),
    "t3": StudentT(3),
    "t5": StudentT(5),
    "multivariate t5": StudentT(5, joint=True),
    "Laplace": Laplace(),
    "spiked": Spiked(),
    "rotated": Rotated(),
}


def quiet(kind, alpha, n=1000, d=50):
    return QuietDirections(n, d, alpha, ROWS[kind], "one each")


# A few small tables with groups of every kind that can be named in advance.
SMALL = {
    "A": lambda: SettingA(600, 60, 0.2).sample(0),
    "A, n < d": lambda: SettingA(150, 300, 0.2).sample(0),
    "B": lambda: SettingB(300, 60, 0.3).sample(0),
    "heavy": lambda: HeavyTails(500, 50, 0.2, StudentT(5)).sample(0),
    "spiked": lambda: quiet("spiked", 0.2, 500, 20).sample(0),
    "obvious and subtle": lambda: ObviousAndSubtle(300, 200, 0.2).sample(0),
    "clean": lambda: Clean(300, 20).sample(0),
}


def top_eigenvalue(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return reference.largest_eigenvalue(rows - rows.mean(axis=0), np.ones(len(rows)))


def check_sigma(sigma, certificate, rounding=0.0):
    """It is that of the kept rows, up to what is not known of their largest eigenvalue."""
    n, m = certificate.n, certificate.n - certificate.n_removed
    assert m * sigma**2 == pytest.approx(certificate.bound, rel=1e-9, abs=rounding)
    assert certificate.budget == pytest.approx(n * sigma**2, rel=1e-9, abs=rounding)


def set_aside(X, result):
    """The table with medians in the cells that were set aside, and with NaN there."""
    filled = np.array(X, dtype=np.float64)
    seen, cells = filled.copy(), tuple(result.certificate.cells.T)
    seen[cells] = np.nan
    filled[cells] = np.nanmedian(seen, axis=0)[cells[1]]
    return filled, seen


def check_answer(X, result):
    """From the dense table, in the coordinates in which the fit was made."""
    X, seen = set_aside(X, result)
    n, d = X.shape
    kept = result.support
    assert kept.shape == (n,) and kept.dtype == np.bool_
    assert 2 * kept.sum() >= n, "the majority is good"
    eps = float(np.finfo(result.location.dtype).eps)
    largest = np.abs(X[kept]).max()
    np.testing.assert_array_equal(kept, result.details.indicator == 0.0)
    np.testing.assert_array_equal(result.outliers, np.flatnonzero(~kept))
    np.testing.assert_allclose(
        result.location, np.nanmean(seen[kept], axis=0), rtol=0.0, atol=64.0 * eps * largest
    )
    # The verdict.
    assert not np.isnan(result.scores).any()
    np.testing.assert_array_equal(kept, result.scores <= result.details.rule.threshold)
    # The groups are the rows that left.
    left = np.concatenate([group.rows for group in result.groups] or [np.empty(0, int)])
    np.testing.assert_array_equal(np.sort(left), result.outliers)
    for group in result.groups:
        assert group.size > 0 and group.log_p <= 0.0 and group.cut > 0.0
        assert group.kind in ("apart", "distance", "tail", "direction", "metric", "cells", "length")
        assert group.direction.shape == (d,)
        length = np.linalg.norm(group.direction)
        assert abs(length - 1.0) <= 1e6 * eps or (group.by_distance and length == 0.0)
        atol = 1e3 * eps * np.abs(X[group.rows]).max()
        np.testing.assert_allclose(group.mean, X[group.rows].mean(axis=0), rtol=0.0, atol=atol)
    # The certificate is that of sigma.
    certificate = result.certificate
    assert (certificate.n, certificate.n_removed) == (n, int((~kept).sum()))
    top = top_eigenvalue(X[kept])
    rounding = max(1e-6, 1e3 * eps) * top + n * (64.0 * eps * largest) ** 2
    assert certificate.lambda_max - rounding <= top <= certificate.bound + rounding
    assert certificate.feasible
    check_sigma(result.sigma, certificate, n * d * (64.0 * eps * largest) ** 2 + 1e-290)
    assert result.details.budget == certificate.budget
    assert 0 <= certificate.l0_lower_bound <= certificate.n_removed
    assert result.converged and result.message


def fitted(X, dense=None, **options):
    """A fit with no other warning than that of weak evidence, checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakEvidenceWarning)
        result = robust_mean(X, **options)._with_labels(None)
    check_answer(X if dense is None else dense, result)
    return result


def error(result, sample):
    return float(np.linalg.norm(result.location - sample.mean))


def n_wrong(result, sample):
    """How many rows are on the wrong side."""
    return int((result.support == sample.is_outlier).sum())


def over_seeds(draw, seeds):
    """Errors, and rows on the wrong side, over several draws."""
    samples = [draw(seed) for seed in seeds]
    results = [fitted(sample.X) for sample in samples]
    pairs = list(zip(results, samples, strict=True))
    return np.array([error(*pair) for pair in pairs]), np.array([n_wrong(*pair) for pair in pairs])


def share_removed(draw, seeds):
    """The fraction of rows that left, for each seed."""
    shares = []
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakEvidenceWarning)
            shares.append(np.mean(~robust_mean(draw(np.random.default_rng(seed))).support))
    return np.array(shares)


def radius_by_hand(result, alpha, sigma):
    """(s sqrt(k) + sigma sqrt(n - m)) / sqrt(m - k)."""
    n, m = len(result.support), int(result.support.sum())
    k = np.floor(alpha * n * (1.0 + 1e-12))
    s = result.certificate.sigma_kept
    return (s * np.sqrt(k) + sigma * np.sqrt(n - m)) / np.sqrt(m - k) if m > k else np.inf
