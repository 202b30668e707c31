"""Ten Flower nodes learn the digits together; three of them lie.

Needs `pip install "inlier[flower]" "flwr[simulation]"`. Run it with

    python examples/flower_simulation.py

Nodes 0 to 6 train a linear classifier on their rows. The others send NaN, the opposite of their
update, and a thousand times noise. Printed are the accuracy on rows that no node has, and the
nodes that were rejected.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation
from scipy.special import softmax
from sklearn.datasets import load_digits

from inlier.federated.flower import RobustFedAvg

N_NODES, N_LIARS = 10, 3
N_TEST = 300


def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order] / 16.0, y[order]


def trained(W: np.ndarray, X: np.ndarray, y: np.ndarray, steps: int = 20) -> np.ndarray:
    for _ in range(steps):
        wrong = softmax(X @ W, axis=1) - np.eye(10)[y]
        W = W - 0.5 * X.T @ wrong / len(y)
    return W


client_app = ClientApp()


@client_app.train()
def train(message: Message, context: Context) -> Message:
    node = int(context.node_config["partition-id"])
    X, y = data()
    mine = slice(N_TEST + node, None, N_NODES)
    W = message.content["arrays"]["W"].numpy()
    new = trained(W, X[mine], y[mine])
    if node == N_NODES - 1:
        new = np.full_like(W, np.nan)
    elif node == N_NODES - 2:
        new = W - 5.0 * (new - W)
    elif node == N_NODES - 3:
        new = 1e3 * np.random.default_rng().standard_normal(W.shape)
    reply = RecordDict(
        {
            "arrays": ArrayRecord({"W": Array(new)}),
            "metrics": MetricRecord({"num-examples": len(y[mine]), "partition": node}),
        }
    )
    return Message(content=reply, reply_to=message)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(arguments).rounds
    server_app = ServerApp()

    @server_app.main()
    def serve(grid: Grid, context: Context) -> None:
        strategy = RobustFedAvg(
            fraction_evaluate=0.0, min_train_nodes=N_NODES, min_available_nodes=N_NODES
        )
        start = ArrayRecord({"W": Array(np.zeros((64, 10)))})
        result = strategy.start(grid, start, num_rounds=rounds, train_config=ConfigRecord())
        X, y = data()
        W = result.arrays["W"].numpy()
        accuracy = float(((X[:N_TEST] @ W).argmax(axis=1) == y[:N_TEST]).mean())
        rejected = [
            int(metrics["num-rejected"]) for metrics in result.train_metrics_clientapp.values()
        ]
        weights = sorted(float(w) for w in strategy.result.weights)
        print(json.dumps({"accuracy": accuracy, "rejected": rejected, "weights": weights}))

    run_simulation(
        server_app=server_app,
        client_app=client_app,
        num_supernodes=N_NODES,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )


if __name__ == "__main__":
    main()
