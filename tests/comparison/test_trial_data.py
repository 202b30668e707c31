"""Where the rows of a comparison come from, and what is no source."""

import numpy as np
import pytest
from scipy import sparse

from contestants import MODEL, Impossible, Nameless
from inlier import compare
from inlier.comparison.run import carry_out, plan
from inlier.datasets import Sample


def test_tables_of_all_kinds():
    pandas = pytest.importorskip("pandas")
    X = MODEL.sample(0).X
    expected = X.mean(axis=0)
    for table in (X, X.tolist(), pandas.DataFrame(X), sparse.csr_array(X)):
        (record,) = compare(table, "mean", timeout=None).records
        np.testing.assert_allclose(record.location, expected, atol=1e-12)


def test_samples_without_a_model():
    sample = Sample(np.vstack([np.eye(3), np.full((1, 3), 50.0)]), np.array([False] * 3 + [True]))
    (record,) = compare(sample, "norm-trimmed-mean", timeout=None).records
    assert record.exact and record.error < 1e-12


def test_models_that_cannot_be_used(tmp_path):
    for timeout in (None, 10.0):
        with pytest.raises(RuntimeError, match="LookupError: no rows left"):
            compare(Impossible(), "mean", trials=1, timeout=timeout)
    with pytest.raises(ValueError, match="its repr does not say"):
        compare(Nameless(), "mean", trials=1, timeout=None, store=tmp_path / "fits.db")


# -- Many comparisons with the same workers -------------------------------------------------------


def test_a_model_that_cannot_be_used_is_named_among_others():
    plans = [plan(MODEL, "mean", trials=1), plan(Impossible(), "mean", trials=1)]
    for timeout in (None, 10.0):
        with pytest.raises(RuntimeError, match=r"Impossible\(\) cannot be had: .* no rows left"):
            carry_out(plans, timeout=timeout)
