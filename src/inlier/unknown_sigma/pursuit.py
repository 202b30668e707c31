"""Directions that a look at variances misses, in the metric of the rows themselves.

Where good rows vary much more in some directions than in others, bad rows far out in a quiet
direction add little to any large eigenvalue. Among whitened rows every direction varies alike, so
variance says nothing; what makes a group visible is left. A small group makes a skewed
distribution, one that is not much smaller than the rest a flat one. The iteration

    v  <-  mean of (z . v)^2 z        (normalised)

climbs to directions of large skewness; it is that of FastICA (Hyvarinen 1999) for this contrast.
Where it ends, from several starts, the most skewed and the flattest distribution are worth a look.
(Fourth moments alone are blind to a group of about a fifth of the rows.)

In d dimensions such a search finds skewness of the order sqrt(d / n) in pure noise. But a direction
that holds a group is nearly a principal one, mixed only with those of similar variance. So the
search is confined to windows of a few neighbouring principal directions at a time.
"""

import numpy as np

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.unknown_sigma.settings import SEARCH
from inlier.unknown_sigma.significance import Cut, centers, mirror_test

# Of a variance that is one but for rounding; its square is still a number.
LEAST = 1e-100


def pursue(whitened: Array, random: np.random.Generator) -> list[tuple[float, Array, float, Cut]]:
    """Find directions that may show a group: skewed ones and flat ones, the clearest first.

    A skewed direction shows one group, and cuts it off cleanly; a flat one may show two at once.
    `whitened` (k x n) holds the rows along their principal directions, in the order of their
    variance and divided by its root. Each look has the logarithm of the chance that good rows show
    such a group, after the search; the direction; the center along it; where the group begins.
    """
    looks = _looks(whitened)
    charge = _charge(whitened, min(cut.log_p for _, _, cut in looks), random)
    found = [
        (min(0.0, cut.log_p + charge), direction, center, cut) for direction, center, cut in looks
    ]
    half = len(found) // 2
    return [*sorted(found[:half], key=_log_p), *sorted(found[half:], key=_log_p)]


def _charge(whitened: Array, best: float, random: np.random.Generator) -> float:
    """Return what the same search finds among rows with random signs, as a charge for the search.

    No more trials are made once they cannot change what follows: the best look of the rows is no
    more than chance, or is far more even at twice the charge, which it is then given.
    """
    # Copies of a row are one row: they get one sign.
    key = random.standard_normal(len(whitened)) @ whitened
    _, twin = np.unique(np.round(key, 9), return_inverse=True)
    charge = 0.0
    for _ in range(SEARCH.trials):
        mixed = whitened * random.choice([-1.0, 1.0], int(twin.max()) + 1)[twin]
        least = min(cut.log_p for _, _, cut in _looks(mixed))
        charge = max(charge, -SEARCH.more_trials * least)
        if best + charge > np.log(SEARCH.doubtful_level):
            break
        if best + 2.0 * charge < 2.0 * SEARCH.log_level:
            return 2.0 * charge
    return charge


def _log_p(look: tuple[float, Array, float, Cut]) -> float:
    return look[0]


def _looks(Z: Array) -> list[tuple[Array, float, Cut]]:
    """Test the most skewed directions of the windows, then the flattest."""
    k = len(Z)
    skewed: list[tuple[float, Array]] = []
    flat: list[tuple[float, Array]] = []
    for first in range(0, max(1, k - SEARCH.window // 2), SEARCH.window // 2):
        window = slice(first, min(k, first + SEARCH.window))
        for found, (size, mixing) in zip((skewed, flat), _climb(Z[window]), strict=True):
            direction = np.zeros(k)
            direction[window] = mixing
            found.append((size, direction))
    # Only the windows that show most are tested.
    directions = [
        direction
        for found in (skewed, flat)
        for _, direction in sorted(found, key=lambda look: -look[0])[: SEARCH.most_tested]
    ]
    rows = np.sort(np.stack(directions) @ Z, axis=1)
    middles, spreads, errors = centers(rows)
    looks = []
    for direction, projected, middle, spread, error in zip(
        directions, rows, middles, spreads, errors, strict=True
    ):
        cut = mirror_test(projected, float(middle), float(error)) if spread > 0.0 else Cut()
        looks.append((direction, float(middle), cut))
    return looks


def _climb(Z: Array) -> tuple[tuple[float, Array], tuple[float, Array]]:
    """Climb from all coordinate axes to the most skewed direction, and to the flattest.

    Each comes with its skewness, or the negative of its kurtosis.
    """
    k = len(Z)
    i, j = np.triu_indices(k)
    cubes = np.empty((k, k, k))
    cubes[i, j] = cubes[j, i] = (Z[i] * Z[j]) @ Z.T
    contracted = cubes.reshape(k * k, k)
    V = np.eye(k)
    for _ in range(SEARCH.iterations):
        V = (V[:, :, None] * V[:, None, :]).reshape(k, k * k) @ contracted
        V /= np.maximum(np.linalg.norm(V, axis=1, keepdims=True), TINY)
    projected = V @ Z
    projected -= projected.mean(axis=1, keepdims=True)
    squares = projected * projected
    variance = np.maximum(np.mean(squares, axis=1), LEAST)
    skewness = np.mean(squares * projected, axis=1) / variance**1.5
    kurtosis = np.mean(squares * squares, axis=1) / variance**2
    most, least = int(np.argmax(skewness)), int(np.argmin(kurtosis))
    return (float(skewness[most]), V[most]), (-float(kurtosis[least]), V[least])
