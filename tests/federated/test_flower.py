"""The strategy for Flower with real messages, and in a simulation with three liars of ten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("flwr", reason='needs pip install "inlier[flower]"')

from flwr.app import Array, ArrayRecord, Error, Message, MetricRecord, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from cases import cases
from inlier.federated import DoubtfulRoundError
from inlier.federated.flower import RobustFedAvg

EXAMPLE = Path(__file__).parents[2] / "examples" / "flower_simulation.py"
D = 200


@pytest.fixture(autouse=True)
def server(monkeypatch):
    """Messages are made in the name of a run."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def weights(seed):
    return np.random.default_rng(seed).standard_normal(D) + 5.0


def reply(node, arrays, metrics):
    """A reply of a node, as the server gets it."""
    records = {}
    if arrays is not None:
        records["arrays"] = ArrayRecord({name: Array(x) for name, x in arrays.items()})
    if metrics is not None:
        records["metrics"] = MetricRecord(metrics)
    asked = Message(RecordDict(), dst_node_id=node, message_type="train")
    return Message(RecordDict(records), reply_to=asked)


def replies(n=6):
    return [
        reply(100 + i, {"W": weights(i)}, {"num-examples": 10, "loss": float(i)}) for i in range(n)
    ]


def test_without_liars_it_is_fedavg():
    strategy = RobustFedAvg()
    for t in range(4):
        arrays, metrics = strategy.aggregate_train(t + 1, replies())
    np.testing.assert_allclose(strategy.record.counts, (1.0 - 0.9**4) / 0.1)
    assert strategy.record.clients == [100, 101, 102, 103, 104, 105]
    expected = np.mean([weights(i) for i in range(6)], axis=0)
    np.testing.assert_allclose(arrays["W"].numpy(), expected, atol=1e-6)
    assert metrics["num-rejected"] == 0 and metrics["rejected-nodes"] == []
    assert abs(metrics["loss"] - 2.5) < 1e-9


NAN = np.full(D, np.nan)


@cases(
    ("arrays", "metrics"),
    [
        ({"W": NAN}, {"num-examples": 10, "loss": 0.0}),
        ({"W": 1e30 * np.ones(D)}, {"num-examples": 10, "loss": 0.0}),
        ({"W": np.ones(3)}, {"num-examples": 10, "loss": 0.0}),
        ({"V": np.ones(D)}, {"num-examples": 10, "loss": 0.0}),
        ({}, {"num-examples": 10, "loss": 0.0}),
        (None, {"num-examples": 10, "loss": 0.0}),
        ({"W": np.ones(D)}, {"num-examples": -1, "loss": 0.0}),
        ({"W": np.ones(D)}, {"loss": 0.0}),
        ({"W": np.ones(D)}, None),
    ],
)
def test_a_liar_is_named(arrays, metrics):
    strategy = RobustFedAvg()
    found, said = strategy.aggregate_train(1, [*replies(), reply(777, arrays, metrics)])
    assert said["rejected-nodes"] == [777] and said["num-rejected"] == 1
    assert abs(said["loss"] - 2.5) < 1e-9
    expected = np.mean([weights(i) for i in range(6)], axis=0)
    np.testing.assert_allclose(found["W"].numpy(), expected, atol=1e-6)
    assert "Client 777 " in strategy.result.reasons[6]


def test_failed_nodes_and_metrics_that_are_no_numbers_do_not_end_the_round():
    strange = reply(9, {"W": weights(9)}, {"num-examples": 10, "loss": float("nan")})
    asked = Message(RecordDict(), dst_node_id=5, message_type="train")
    failed = Message(Error(code=0, reason="broken"), reply_to=asked)
    arrays, metrics = RobustFedAvg().aggregate_train(1, [*replies(), strange, failed])
    assert arrays is not None and "loss" not in metrics and metrics["num-rejected"] == 0


def test_metrics_that_cannot_be_averaged_are_ignored():
    def broken(records, key):
        raise RuntimeError("no metrics")

    strategy = RobustFedAvg(train_metrics_aggr_fn=broken)
    arrays, metrics = strategy.aggregate_train(1, [*replies(), *replies()[:1]])
    assert arrays is not None and dict(metrics) == {"rejected-nodes": [], "num-rejected": 0}
    assert "100 (2)" in strategy.record.clients


def test_a_round_without_anything_usable():
    bad = [reply(i, {"W": NAN}, {"num-examples": 1}) for i in range(3)]
    assert RobustFedAvg().aggregate_train(1, bad) == (None, None)
    assert RobustFedAvg().aggregate_train(1, []) == (None, None)


def test_doubt_ends_the_training():
    with pytest.raises(DoubtfulRoundError, match="3 distinct updates are too few"):
        RobustFedAvg(on_doubt="raise").aggregate_train(1, replies(3))


@pytest.mark.slow
def test_simulation():
    pytest.importorskip("ray", reason='needs pip install "flwr[simulation]"')
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--rounds", "3"],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("{")]
    answer = json.loads(line)
    assert answer["accuracy"] > 0.85
    assert all(count >= 2 for count in answer["rejected"])
    assert answer["weights"][2] < 0.05 < answer["weights"][3]  # the third liar has little say
