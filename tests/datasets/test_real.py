"""Real rows, shuffled."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from inlier.datasets import Shuffled


def test_real_rows_are_shuffled():
    X = np.arange(20.0).reshape(10, 2)
    model = Shuffled(X, np.arange(10) < 3)
    assert (model.n, model.d, model.alpha, model.n_outliers) == (10, 2, 0.3, 3)
    one, other = model.sample(0), model.sample(1)
    assert not np.array_equal(one.X, other.X)
    for sample in (one, other):
        assert np.array_equal(sample.X[:, 0] < 6, sample.is_outlier)
        assert sample.X[np.argsort(sample.X[:, 0])].tolist() == X.tolist()


def test_real_rows_are_told_apart_by_their_content():
    X, flags = np.arange(20.0).reshape(10, 2), np.arange(10) < 3
    model = Shuffled(X, flags)
    assert model == Shuffled(X.astype(int).tolist(), flags.astype(int))
    assert model == Shuffled(sparse.csr_array(X), flags)
    assert model == pickle.loads(pickle.dumps(model))
    others = [
        Shuffled(X, np.roll(flags, 1)),
        Shuffled(X + 1e-9, flags),
        Shuffled(X[:9], flags[:9]),
    ]
    assert len({repr(other) for other in [model, *others]}) == 4
    before = repr(model)
    X[0] = 100.0
    assert repr(model) == before and model.X[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        model.X[0] = 1.0
