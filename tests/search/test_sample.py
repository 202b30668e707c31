"""Sampled rows, and the rounding of columns."""

import numpy as np
import pytest

from inlier.data import as_table
from inlier.search import thresholds
from inlier.search.extremes import RowSample, extreme_rules, rounding_steps
from inlier.search.symmetric import is_noise
from ordinary_tables import fitted


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(thresholds, "WHOLE_CELLS", 0)
    monkeypatch.setattr(thresholds, "SAMPLE_CELLS", 5000)


@pytest.mark.usefixtures("small_samples")
def test_a_sample_finds_what_all_rows_show():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(6000, 5))
    X[[10, 2000, 5999], [0, 3, 4]] = 300.0, -80.0, 1e5
    X[4000:4060] += 200.0
    assert len(RowSample.of(as_table(X)).rows) == 1000
    np.testing.assert_array_equal(fitted(X).outliers, np.r_[10, 2000, 4000:4060, 5999])


@pytest.mark.usefixtures("small_samples")
def test_a_sample_does_not_cost_the_farthest_good_rows():
    X = np.random.default_rng(0).standard_normal((20_000, 6))
    X[:200] += 8.0
    outliers = fitted(X).outliers
    assert (outliers < 200).all() and len(outliers) >= 195


@pytest.mark.parametrize("n", [40, 50])
def test_rows_too_long_to_sample_are_tested_in_their_span(n, monkeypatch):
    # The origin of the span may be one of the rows, which is no outlier for that.
    monkeypatch.setattr(thresholds, "MOST_SAMPLE_CELLS", 0)
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((n, 20_000)) + 5.0
        assert RowSample.of(as_table(X)) is None
        assert fitted(X).support.all()
        X[: n // 5] += 0.5
        np.testing.assert_array_equal(fitted(X).outliers, np.arange(n // 5))


@pytest.mark.usefixtures("small_samples")
def test_a_device_tests_a_sample_as_the_host_does(torch, monkeypatch):
    monkeypatch.setattr(thresholds, "SAMPLE_ROWS", 600)
    rng = np.random.default_rng(0)
    X = rng.standard_t(5, size=(4000, 300)).astype("f4")
    X[:, 3], X[:, 4], X[:, 5] = np.round(X[:, 3]), 0.0, rng.random(4000) < 0.002
    X[7, 8], X[9] = 1e6, 40.0 * X[9]
    host = as_table(X)
    device = as_table(torch.tensor(X))
    monkeypatch.setattr(type(device), "to_gpu", type(device).to_device)
    sample = RowSample.of(device)
    found, expected = (extreme_rules(table, sample) for table in (device, host))
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert type(one.measure) is type(other.measure)
        np.testing.assert_allclose([one.cut, one.log_p], [other.cut, other.log_p], rtol=1e-5)
        np.testing.assert_array_equal(
            device.measured(one.measure).numpy() > one.cut, host.measured(other.measure) > other.cut
        )
    noise = rng.standard_normal((900, 300))
    for values in (noise, noise[:, :40], np.exp(noise), rng.random((900, 50)), np.round(noise)):
        on_device, on_host = (
            is_noise(values, 1000, 900, [], to_gpu) for to_gpu in (device.to_gpu, np.asarray)
        )
        assert on_device == on_host


ROUNDED = {
    "decimals": (np.round(np.random.default_rng(0).standard_normal(500), 1), 0.1),
    "fives": (np.random.default_rng(0).integers(0, 9, 500) * 5.0, 5.0),
    "equal": (np.full(500, 7.0), 0.0),
    "two values": (np.repeat([0.0, 1.0], [99, 1]), 1.0),
    "arithmetic is no rounding": (np.r_[0.3, 0.1 + 0.2, 1.0:10.0], 0.7),
    "a huge value does not make the others copies": (np.append(np.arange(100.0) / 10, 1e15), 0.1),
}


@pytest.mark.parametrize("kind", ROUNDED)
def test_rounding_steps(kind):
    values, step = ROUNDED[kind]
    np.testing.assert_allclose(rounding_steps(np.sort(values)[:, None]), [step], rtol=1e-9)
