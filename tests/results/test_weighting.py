"""A weighted mean of rows that were judged with each counted once, against numpy."""

import pickle

import numpy as np
import pytest

import inlier
from inlier.results.weighting import effective_size

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4)) + np.array([0.0, 5.0, -3.0, 100.0])
X[:30] += 12.0
WEIGHTS = RNG.uniform(0.0, 5.0, 300)
WEIGHTS[:30] = 1e6  # what bad rows claim
WEIGHTS[100:120] = 0.0
PLAIN = inlier.robust_mean(X)
RESULT = inlier.robust_mean(X, sample_weight=WEIGHTS)


def average(rows, weights=WEIGHTS):
    return np.average(X[rows], axis=0, weights=weights[rows])


def error(rows, weights):
    """The unbiased weighted variance of numpy over the effective size, square root."""
    sizes = [np.cov(x, aweights=weights) for x in rows.T]
    return np.sqrt(np.array(sizes) / effective_size(weights))


def test_weights_are_no_evidence():
    for name in ("support", "scores"):
        np.testing.assert_array_equal(getattr(RESULT, name), getattr(PLAIN, name))
    assert RESULT.support[100:120].all() and not RESULT.support[:30].any()
    assert (RESULT.sigma, RESULT.details.budget) == (PLAIN.sigma, PLAIN.details.budget)
    assert RESULT.certificate.verify(X).holds
    alphas = np.array([0.1, 0.2])
    np.testing.assert_array_equal(
        RESULT.certificate.error_radius(alphas), PLAIN.certificate.error_radius(alphas)
    )
    np.testing.assert_array_equal(RESULT.certificate.mean, PLAIN.location)
    said = "the mean of each column with each row counted once is within"
    assert said in RESULT.certificate.statement()


def test_location_is_the_weighted_mean_of_the_kept_rows():
    np.testing.assert_allclose(RESULT.location, average(RESULT.support), rtol=1e-13)
    np.testing.assert_allclose(
        np.average(X, axis=0, weights=RESULT.details.weights), RESULT.location
    )
    assert RESULT.details.weights.max() == 1.0 and not RESULT.details.weights[~RESULT.support].any()


@pytest.mark.parametrize("factor", [1.0, 3.0, 1e-300, 1e300])
def test_equal_weights_are_none(factor):
    same = inlier.robust_mean(X, sample_weight=np.full(300, factor))
    np.testing.assert_allclose(same.location, PLAIN.location, rtol=1e-14)
    np.testing.assert_allclose(same.standard_error, PLAIN.standard_error, rtol=1e-14)
    np.testing.assert_allclose(same.confidence_interval(), PLAIN.confidence_interval(), rtol=1e-14)
    assert same.details.effective_size == PLAIN.details.effective_size == PLAIN.support.sum()


def test_standard_error():
    kept = RESULT.support & (WEIGHTS > 0.0)
    np.testing.assert_allclose(RESULT.standard_error, error(X[kept], WEIGHTS[kept]), rtol=1e-9)
    w = WEIGHTS[kept]
    assert RESULT.details.effective_size == pytest.approx(w.sum() ** 2 / (w**2).sum())
    spread = np.sqrt(np.average((X[kept] - RESULT.location) ** 2, axis=0, weights=w))
    np.testing.assert_allclose(RESULT.deviation, spread, rtol=1e-9)
    low, high = RESULT.confidence_interval(0.9)
    np.testing.assert_allclose((low + high) / 2.0, RESULT.location)


def test_standard_errors_are_of_the_cells_that_are_there():
    gone = np.random.default_rng(1).random(X.shape) < [0.0, 0.3, 0.3, 0.3]
    holes = np.where(gone, np.nan, X)
    result = inlier.robust_mean(holes, sample_weight=WEIGHTS)
    assert not result.support[:30].any()
    for j, column in enumerate(holes.T):
        there = result.support & (WEIGHTS > 0.0) & ~np.isnan(column)
        cells, w = column[there], WEIGHTS[there]
        assert result.location[j] == pytest.approx(np.average(cells, weights=w))
        assert result.standard_error[j] == pytest.approx(error(cells[:, None], w)[0])
        assert result.deviation[j] == pytest.approx(np.sqrt(np.cov(cells, aweights=w, ddof=0)))


def test_intervals_hold_as_often_as_they_say():
    # Also where heavy rows are means of more samples: there they hold more often.
    rng = np.random.default_rng(1)
    for power, least, most in ((0.0, 0.85, 0.95), (-0.5, 0.93, 1.0)):
        held = []
        for _ in range(20):
            w = rng.integers(1, 20, 60).astype(float)
            rows = rng.standard_normal((60, 30)) * w[:, None] ** power
            low, high = inlier.robust_mean(rows, sample_weight=w).confidence_interval(0.9)
            held.append((low <= 0.0) & (high >= 0.0))
        assert least <= np.mean(held) <= most, power


def test_a_column_without_a_weighted_cell_is_said_to_be_its_median():
    holes = X[30:].copy()
    holes[20:, 1] = np.nan
    weights = np.where(np.arange(270) < 20, 0.0, 1.0)
    result = inlier.robust_mean(holes, sample_weight=weights)
    assert result.location[1] == np.nanmedian(holes[:, 1])
    assert "No kept row of positive weight has a value in column 1" in result.message


def test_another_answer_is_weighted_too():
    chosen = [RESULT.keep(0), RESULT.at(threshold=0.5)]
    same = [PLAIN.keep(0), PLAIN.at(threshold=0.5)]
    for one, other in zip(chosen, same, strict=True):
        np.testing.assert_array_equal(one.support, other.support)
        np.testing.assert_allclose(one.certificate.mean, other.location, rtol=1e-12)
        np.testing.assert_allclose(one.location, average(one.support), rtol=1e-12)
        assert one.certificate.weighted and one.certificate.verify(X).holds


def test_summary_is_weighted():
    summary = RESULT._summary
    np.testing.assert_allclose(summary.plain, average(np.ones(300, bool)))
    np.testing.assert_allclose(summary.robust, RESULT.location)
    np.testing.assert_allclose(summary.deviation, RESULT.deviation)
    # Spectra are of rows that count once, as the certificate is.
    rows = X[RESULT.support]
    largest = np.sqrt(np.linalg.eigvalsh(np.cov(rows.T, ddof=0))[-1])
    assert summary.after[0] == pytest.approx(largest)
    offset = summary.plain - summary.robust
    np.testing.assert_allclose(summary.shift_in_errors, offset / RESULT.standard_error)


def test_a_pickled_result_keeps_its_weights():
    back = pickle.loads(pickle.dumps(RESULT)).with_data(X)
    np.testing.assert_array_equal(back._sample_weight, WEIGHTS)
    np.testing.assert_array_equal(back.standard_error, RESULT.standard_error)
    np.testing.assert_allclose(back.keep(0).location, RESULT.keep(0).location)
