"""Federated training of a small network on digits, all clients at once in numpy.

Every client takes a few steps of stochastic gradient descent from the server's model and sends how
far it came; the server adds what its rule makes of them. The data are split among the honest
clients, so that no class is lost to a liar.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

ROUNDS = 60
STEPS = 5
BATCH = 32
RATE = 0.5
# Honest updates this large come from a model that nothing saves, and rules refuse their squares.
RUINED = 1e6


class Task(NamedTuple):
    """What is learnt."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


# The layers of the network, 4,810 parameters.
N_CLASSES = 10
SHAPES = ((64, 64), (64,), (64, N_CLASSES), (N_CLASSES,))


@cache
def digits() -> Task:
    """Handwritten digits, a quarter of them for the test."""
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32) / 16.0
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    return Task(X, y, X_test, y_test)


def shares(
    y: np.ndarray, n: int, concentration: float | None, random: np.random.Generator
) -> list[np.ndarray]:
    """Split rows among n clients: evenly, or each class by a Dirichlet distribution."""
    if concentration is None:
        return np.array_split(random.permutation(len(y)), n)
    while True:
        parts: list[list[np.ndarray]] = [[] for _ in range(n)]
        for label in np.unique(y):
            rows = random.permutation(np.flatnonzero(y == label))
            cuts = np.cumsum(random.dirichlet(np.full(n, concentration)))[:-1]
            for part, piece in zip(
                parts, np.split(rows, (cuts * len(rows)).astype(int)), strict=True
            ):
                part.append(piece)
        found = [np.concatenate(part) for part in parts]
        if min(map(len, found)) >= 2:
            return found


def two_kinds(
    y: np.ndarray, n: int, minority: int, random: np.random.Generator
) -> list[np.ndarray]:
    """Split rows among clients that have the last three classes alone, and clients without them."""
    last = y >= y.max() - 2
    rare = random.permutation(np.flatnonzero(last))
    common = random.permutation(np.flatnonzero(~last))
    return np.array_split(rare, minority) + np.array_split(common, n - minority)


def unpacked(theta: np.ndarray) -> list[np.ndarray]:
    """View the last axis of an array as layers."""
    ends = np.cumsum([np.prod(shape) for shape in SHAPES])[:-1]
    parts = np.split(theta, ends, axis=-1)
    return [
        part.reshape(*theta.shape[:-1], *shape) for part, shape in zip(parts, SHAPES, strict=True)
    ]


def initial(random: np.random.Generator) -> np.ndarray:
    """Weights of a variance that suits rectified units, and no bias."""
    W1, b1, W2, b2 = SHAPES
    parts = [
        random.standard_normal(W1) * np.sqrt(2.0 / W1[0]),
        np.zeros(b1),
        random.standard_normal(W2) * np.sqrt(1.0 / W2[0]),
        np.zeros(b2),
    ]
    return np.concatenate([part.ravel() for part in parts]).astype(np.float32)


def local_updates(theta: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How far each client comes: X is (clients, steps, batch, pixels), y the labels."""
    n = X.shape[0]
    models = np.repeat(theta[None], n, axis=0)
    W1, b1, W2, b2 = unpacked(models)
    rows = np.arange(X.shape[2])
    for step in range(STEPS):
        x, label = X[:, step], y[:, step]
        z = x @ W1 + b1[:, None]
        h = np.maximum(z, 0.0)
        out = h @ W2 + b2[:, None]
        out -= out.max(axis=-1, keepdims=True)
        np.exp(out, out=out)
        out /= out.sum(axis=-1, keepdims=True)
        out[np.arange(n)[:, None], rows, label] -= 1.0
        out *= RATE / X.shape[2]
        back = out @ W2.transpose(0, 2, 1)
        back *= z > 0.0
        W2 -= h.transpose(0, 2, 1) @ out
        b2 -= out.sum(axis=1)
        W1 -= x.transpose(0, 2, 1) @ back
        b1 -= back.sum(axis=1)
    return models - theta


def accuracy(task: Task, theta: np.ndarray) -> float:
    W1, b1, W2, b2 = unpacked(theta)
    with np.errstate(all="ignore"):
        out = np.maximum(task.X_test @ W1 + b1, 0.0) @ W2 + b2
    if not np.isfinite(out).all():
        return 1.0 / N_CLASSES
    return float((out.argmax(axis=1) == task.y_test).mean())


@dataclass(frozen=True)
class Setting:
    """One training: how many clients, how many lie, and how the data are split."""

    n: int
    n_bad: int
    concentration: float | None
    seed: int
    minority: int = 0
    """Honest clients that have the last three classes to themselves; then nobody else has them."""


Attack = Callable[["Round"], np.ndarray]
Rule = Callable[[np.ndarray], np.ndarray]


@dataclass
class Round:
    """What a liar knows: what honest clients send, and what it would send itself."""

    honest: np.ndarray
    n_bad: int
    work: Callable[[bool], np.ndarray]
    """What the liars would send if they worked, with right or wrong labels."""
    random: np.random.Generator
    memory: dict[str, np.ndarray]


def train(
    task: Task, setting: Setting, attack: Attack | None, rule: Rule, rounds: int = ROUNDS
) -> float:
    """Accuracy on the test rows after some rounds."""
    random = np.random.default_rng([setting.seed, 7])
    liar = np.random.default_rng([setting.seed, 8])
    n_good = setting.n - setting.n_bad
    if setting.minority:
        parts = two_kinds(task.y, n_good, setting.minority, random)
    else:
        parts = shares(task.y, n_good, setting.concentration, random)
    places = random.permutation(setting.n)  # the rule is not told who lies
    # A liar that works has the data of an honest client.
    victims = [parts[j % n_good] for j in range(setting.n_bad)]
    theta = initial(random)
    memory: dict[str, np.ndarray] = {}
    for _ in range(rounds):
        rows = np.stack([random.choice(part, (STEPS, BATCH)) for part in parts])
        with np.errstate(all="ignore"):  # a model that a liar ruined
            updates = local_updates(theta, task.X[rows], task.y[rows])
        if not np.abs(updates).max() < RUINED:
            return 1.0 / N_CLASSES
        if setting.n_bad and attack is not None:

            def work(wrong: bool, theta: np.ndarray = theta) -> np.ndarray:
                mine = np.stack([liar.choice(part, (STEPS, BATCH)) for part in victims])
                y = N_CLASSES - 1 - task.y[mine] if wrong else task.y[mine]
                return local_updates(theta, task.X[mine], y)

            sent = attack(Round(updates, setting.n_bad, work, liar, memory))
            sent = np.broadcast_to(sent, (setting.n_bad, updates.shape[1]))
            updates = np.concatenate([updates, sent])
        with np.errstate(all="ignore"):
            theta = (theta + rule(updates[places])).astype(np.float32)
        if not np.isfinite(theta).all():
            return 1.0 / N_CLASSES
    return accuracy(task, theta)
