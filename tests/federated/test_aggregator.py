"""The callable gives what `aggregate` gives, in the type of its vectors."""

import numpy as np
import torch

from inlier.federated import Record, RobustAggregator, aggregate


def rounds(n=12, d=50, t=4):
    return np.random.default_rng(0).standard_normal((t, n, d))


def test_same_as_aggregate_with_a_record():
    aggregator, record = RobustAggregator(), Record()
    for X in rounds():
        np.testing.assert_array_equal(aggregator(X), aggregate(X, record=record).update)
    assert aggregator.record.rounds == 4 and aggregator.result.rejected == ()


def test_without_memory():
    aggregator = RobustAggregator(remember=False)
    X = rounds()[0]
    np.testing.assert_array_equal(aggregator(X), aggregate(X).update)
    assert aggregator.record is None


def test_types():
    X = rounds()[0]
    aggregator = RobustAggregator(remember=False)
    for vectors in (X, list(X)):
        assert isinstance(aggregator(vectors), np.ndarray)
    for vectors in (torch.tensor(X), list(torch.tensor(X))):
        found = aggregator(vectors)
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), X.mean(axis=0), atol=1e-9)
