"""One fit of one method: what it may not change, and which answers are none."""

import numpy as np
import pytest
from scipy import sparse

from contestants import (
    MODEL,
    Exits,
    Mean,
    Odd,
    Writes,
    WritesSparse,
)
from inlier import compare
from inlier.datasets import Sample


def test_zero_is_rounding_of_the_rows_wherever_they_lie():
    sample = MODEL.sample(0)
    for shift in (0.0, 1e6):
        moved = Sample(sample.X + shift, sample.is_outlier)
        methods = {"near": Mean(shift=1e-6), "exact": "inlier-sigma"}
        clean = Sample(moved.X[~sample.is_outlier], np.zeros(48, dtype=bool))
        near, exact = compare(clean, methods, timeout=None).records
        assert near.error == pytest.approx(1e-6 * np.sqrt(5.0), rel=1e-2)
        assert exact.error == 0.0


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_nobody_can_change_the_rows_of_the_next_method(timeout):
    X = MODEL.sample(0).X
    before = X.copy()
    comparison = compare(X, {"writes": Writes(), "mean": Mean()}, timeout=timeout)
    writes, mean = comparison.records
    assert writes.status == "failed" and "read-only" in writes.message
    assert np.array_equal(X, before)
    np.testing.assert_allclose(mean.location, before.mean(axis=0))


def test_nobody_can_change_a_sparse_table():
    X = sparse.csr_array(MODEL.sample(0).X)
    before = X.toarray()
    compare(X, {"writes": WritesSparse(), "mean": "mean"}, timeout=None)
    assert np.array_equal(X.toarray(), before)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        (None, "missing"),
        ("abc", "shape"),
        (3.0, "shape"),
        (np.full(5, 1j), "complex"),
        (np.full(5, np.nan), "NaN"),
        ([[1.0], [1.0, 2.0]], "inhomogeneous"),
    ],
)
def test_answers_that_are_none(location, said):
    odd, mean = compare(MODEL.sample(0), {"odd": Odd(location), "m": Mean()}, timeout=None).records
    assert odd.status == "failed" and said in odd.message
    assert mean.status == "ok"


def test_a_fit_that_exits_has_failed():
    comparison = compare(MODEL.sample(0), {"exits": Exits(), "m": Mean()}, timeout=None)
    assert [r.status for r in comparison.records] == ["failed", "ok"]
