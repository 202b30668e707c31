"""The record against sums over rounds."""

import pickle

import numpy as np

from inlier.federated import record as module
from inlier.federated.record import DECAY, Record


def draws(rounds, n, seed=0):
    return np.random.default_rng(seed).standard_normal((rounds, n, n))


def test_average_over_rounds():
    record = Record()
    C = draws(5, 3)
    for round_ in C:
        average = record.observe("abc", round_)
    weights = DECAY ** np.arange(4, -1, -1)
    np.testing.assert_allclose(average, np.tensordot(weights, C, 1) / weights.sum())


def test_clients_that_come_and_go():
    record = Record()
    first, second, third = draws(3, 2)
    record.observe(["a", "b"], first)
    record.observe(["c", "a"], second)
    average = record.observe(["b", "a"], third)
    expected = (DECAY * first[0, 1] + third[1, 0]) / (1.0 + DECAY)
    np.testing.assert_allclose(average[1, 0], expected)
    weights = [DECAY**2, DECAY, 1.0]
    diagonal = np.dot(weights, [first[0, 0], second[1, 1], third[1, 1]]) / sum(weights)
    np.testing.assert_allclose(average[1, 1], diagonal)


def test_order_of_clients_does_not_matter_and_records_can_be_pickled():
    one, other = Record(), Record()
    order = [2, 0, 1]
    for C in draws(4, 3):
        average = one.observe(["a", "b", "c"], C)
        turned = other.observe(["c", "a", "b"], C[np.ix_(order, order)])
        other = pickle.loads(pickle.dumps(other))
    np.testing.assert_allclose(turned, average[np.ix_(order, order)])


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(module, "MOST", 4)
    record = Record()
    for start in range(0, 8, 2):
        record.observe([start, start + 1], np.eye(2))
    assert record.clients == [4, 5, 6, 7]
    assert record.sums.shape == record.counts.shape == (4, 4) and len(record.seen) == 4
