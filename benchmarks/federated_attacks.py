"""What liars send: one update each, or one that all repeat.

Each sees all honest updates of the round, and they act together. Run by itself, it measures an
attack on aggregation in chunks, such as the buckets of DistributedDataParallel: in every chunk the
liars move along the direction in which honest updates vary most (Choudhary, Kolluri and Saxena,
Attacking Byzantine robust aggregation in high dimensions, 2024).
"""

import warnings
from collections.abc import Callable
from itertools import product

import numpy as np
from federated_training import Attack, Round
from sklearn.metrics import euclidean_distances

from inlier.federated import aggregate


def sign_flip(r: Round) -> np.ndarray:
    """Each the opposite of honest work of its own, so that no two are alike."""
    return -r.work(False)


def gaussian(r: Round) -> np.ndarray:
    """Noise ten times as wide as the honest updates vary."""
    scale = 10.0 * r.honest.std(axis=0).mean()
    return scale * r.random.standard_normal((r.n_bad, r.honest.shape[1]))


def little(r: Round) -> np.ndarray:
    """A little is enough: 1.5 standard deviations off in every coordinate."""
    return r.honest.mean(axis=0) - 1.5 * r.honest.std(axis=0)


def noisy_little(r: Round) -> np.ndarray:
    """The same, each with noise of its own as long as an honest client's: no copies."""
    spread = r.honest.std(axis=0)
    noise = spread * r.random.standard_normal((r.n_bad, len(spread)))
    return r.honest.mean(axis=0) - 1.5 * spread + noise


def mimic(r: Round) -> np.ndarray:
    """All repeat the honest client that is farthest from the mean at first."""
    if "victim" not in r.memory:
        off = r.honest - r.honest.mean(axis=0)
        r.memory["victim"] = np.array(np.argmax((off**2).sum(axis=1)))
    return r.honest[int(r.memory["victim"])]


def noisy_mimic(r: Round) -> np.ndarray:
    """Repeat it with a tenth of the honest spread as noise, so that no two are equal."""
    noise = r.random.standard_normal((r.n_bad, r.honest.shape[1]))
    return mimic(r) + 0.1 * r.honest.std(axis=0) * noise


def squared_distances(x: np.ndarray, honest: np.ndarray) -> np.ndarray:
    return ((honest - x) ** 2).sum(axis=1)


def farthest(r: Round, score: Callable[..., np.ndarray]) -> np.ndarray:
    """As far as the distances to honest clients score no more than those of an honest one."""
    limit = score(euclidean_distances(r.honest, squared=True), axis=1).max()
    mean, direction = r.honest.mean(axis=0), -r.honest.std(axis=0)
    low, high = 0.0, 100.0
    for _ in range(30):
        middle = (low + high) / 2.0
        fits = score(squared_distances(mean + middle * direction, r.honest)) <= limit
        low, high = (middle, high) if fits else (low, middle)
    return mean + low * direction


def two_clusters(r: Round) -> np.ndarray:
    """The paper's: two clusters on the sphere of the honest rows about their mean."""
    if "directions" not in r.memory:
        v = r.random.standard_normal((2, r.honest.shape[1]))
        r.memory["directions"] = v / np.linalg.norm(v, axis=1, keepdims=True)
    mean = r.honest.mean(axis=0)
    radius = np.median(np.sqrt(squared_distances(mean, r.honest)))
    return mean + radius * r.memory["directions"][np.arange(r.n_bad) % 2]


def extreme(r: Round) -> np.ndarray:
    """A million times the opposite of an honest update."""
    return -1e6 * r.honest[np.arange(r.n_bad) % len(r.honest)]


ATTACKS: dict[str, Attack] = {
    "sign flip": sign_flip,
    "sign flip x 5": lambda r: 5.0 * sign_flip(r),
    "Gaussian": gaussian,
    "a little is enough": little,
    "a little, noisy": noisy_little,
    "inner product": lambda r: -0.5 * r.honest.mean(axis=0),
    "mimic": mimic,
    "mimic, noisy": noisy_mimic,
    # Honest work on wrong labels: 9 minus the digit.
    "label flip": lambda r: r.work(True),
    "min-max": lambda r: farthest(r, np.max),
    "min-sum": lambda r: farthest(r, np.sum),
    "two clusters": two_clusters,
    "extreme": extreme,
}


def chunkwise(
    honest: np.ndarray, n_bad: int, size: float, random: np.random.Generator
) -> np.ndarray:
    """In each of 64 chunks `size` honest lengths along its leading direction, with noise."""
    mean, sent = honest.mean(axis=0), []
    for part in np.array_split(honest - mean, 64, axis=1):
        direction = np.linalg.svd(part, full_matrices=False)[2][0]
        length = np.sqrt((part**2).sum(axis=1).mean())
        noise = part[random.integers(len(part), size=n_bad)]
        signs = random.choice([-1.0, 1.0], (n_bad, 1))
        sent.append(size * length * direction + signs * noise)
    return mean + np.concatenate(sent, axis=1)


def error_in_chunks(n_bad: int, judged: int, sizes: tuple[float, ...] = (0.6, 1, 1.5, 2)) -> float:
    """The worst error over sizes of the attack, in standard errors of the mean of the honest.

    Of 20 clients and 2,048 parameters, whose 64 chunks are attacked one by one.
    """
    errors = []
    for size, seed in product(sizes, range(3)):
        random = np.random.default_rng(seed)
        honest = random.standard_normal((20 - n_bad, 2048))
        liars = chunkwise(honest, n_bad, size, random)
        parts = np.array_split(np.concatenate([honest, liars]), judged, axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.concatenate([aggregate(part).update for part in parts])
        unit = np.sqrt(honest.var(axis=0, ddof=1).sum() / len(honest))
        errors.append(np.linalg.norm(found - honest.mean(axis=0)) / unit)
    return float(np.max(np.reshape(errors, (len(sizes), 3)).mean(axis=1)))


if __name__ == "__main__":
    for n_bad, judged in product((4, 6, 8), (1, 8, 64)):
        error = error_in_chunks(n_bad, judged)
        print(f"{n_bad} of 20 lie, judged in {judged} chunks: {error:.2f} standard errors")
