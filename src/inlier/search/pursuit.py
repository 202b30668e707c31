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

from collections.abc import Iterator

import numpy as np

from inlier._internal.arrays import double, like, namespace, on_host, pieces
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.search.settings import SEARCH
from inlier.search.significance import Cut, centers, mirror_test

# Of a variance that is one but for rounding; its square is still a number.
LEAST = 1e-100


def pursue(whitened: Rows, random: np.random.Generator) -> list[tuple[float, Array, float, Cut]]:
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


def _charge(whitened: Rows, best: float, random: np.random.Generator) -> float:
    """Return what the same search finds among rows with random signs, as a charge for the search.

    No more trials are made once they cannot change what follows: the best look of the rows is no
    more than chance, or is far more even at twice the charge, which it is then given.
    """
    # Copies of a row are one row: they get one sign.
    key = on_host(like(random.standard_normal(whitened.shape[0]), whitened) @ whitened)
    _, twin = np.unique(np.round(key, 9), return_inverse=True)
    charge = 0.0
    for _ in range(SEARCH.trials):
        signs = random.choice([-1.0, 1.0], int(twin.max()) + 1)[twin]
        mixed = whitened * like(signs, whitened)
        least = min(cut.log_p for _, _, cut in _looks(mixed))
        charge = max(charge, -SEARCH.more_trials * least)
        if best + charge > np.log(SEARCH.doubtful_level):
            break
        if best + 2.0 * charge < 2.0 * SEARCH.log_level:
            return 2.0 * charge
    return charge


def _log_p(look: tuple[float, Array, float, Cut]) -> float:
    return look[0]


def _looks(Z: Rows) -> list[tuple[Array, float, Cut]]:
    """Test the most skewed directions of the windows, then the flattest.

    The directions are found where the rows are; what is tested is small, and comes to the host.
    """
    skewed: list[tuple[float, Array]] = []
    flat: list[tuple[float, Array]] = []
    # The climb only chooses what is tested: single precision is enough for it.
    single = namespace(Z).astype(Z, namespace(Z).float32)
    for windows in _windows(Z.shape[0]):
        V, skewness, kurtosis = _climb(single, windows)
        for found, sizes in ((skewed, skewness), (flat, -kurtosis)):
            for i, best in enumerate(sizes.argmax(axis=1)):
                direction = np.zeros(Z.shape[0])
                direction[windows[i]] = V[i, best]
                found.append((float(sizes[i, best]), direction))
    # Only the windows that show most are tested.
    directions = [
        direction
        for found in (skewed, flat)
        for _, direction in sorted(found, key=lambda look: -look[0])[: SEARCH.most_tested]
    ]
    ascending = namespace(Z).sort(like(np.stack(directions), Z) @ Z, axis=1)
    looks = []
    for direction, projected, middle, spread, error in zip(
        directions, on_host(ascending), *centers(ascending), strict=True
    ):
        cut = mirror_test(projected, float(middle), float(error)) if spread > 0.0 else Cut()
        looks.append((direction, float(middle), cut))
    return looks


def _windows(k: int) -> Iterator[Array]:
    """Yield the coordinates of the windows, those of equal width as one matrix."""
    firsts = np.arange(0, max(1, k - SEARCH.window // 2), SEARCH.window // 2)
    whole = firsts + SEARCH.window <= k
    if whole.any():
        yield firsts[whole, None] + np.arange(SEARCH.window)
    if not whole[-1]:
        yield np.arange(firsts[-1], k)[None]


def _climb(Z: Rows, windows: Array) -> tuple[Array, Array, Array]:
    """Climb to skewed directions from all coordinate axes of each window of Z.

    Return the directions in each window, their skewness and their kurtosis.
    """
    xp = namespace(Z)
    (m, k), n = windows.shape, Z.shape[1]
    rows = xp.reshape(xp.take(Z, like(windows.ravel(), Z), axis=0), (m, k, n))
    parts = list(pieces(m, max(1, SEARCH.at_once // (k * k * n))))
    # A product of two coordinates stands for both orders of them.
    first, second = (like(pair, Z) for pair in np.triu_indices(k))
    cubes = xp.concat([_cubes(rows[part, :, :], first, second) for part in parts], axis=0)
    cubes = cubes * (2.0 - double(first == second))[:, None]
    V = like(np.tile(np.eye(k), (m, 1, 1)), cubes)
    for _ in range(SEARCH.iterations):
        V = (xp.take(V, first, axis=2) * xp.take(V, second, axis=2)) @ cubes
        V = V / xp.clip(xp.linalg.vector_norm(V, axis=2, keepdims=True), TINY, None)
    mixing = xp.astype(V, Z.dtype)
    shapes = [_shapes(mixing[part, :, :] @ rows[part, :, :]) for part in parts]
    # One transfer from the device.
    found = on_host(xp.concat([V, xp.concat(shapes, axis=0)], axis=2))
    return found[:, :, :k], found[:, :, k], found[:, :, k + 1]


def _cubes(Z: Rows, first: Rows, second: Rows) -> Rows:
    """Return the sums of products of pairs of coordinates of each window with a third."""
    xp = namespace(Z)
    products = xp.take(Z, first, axis=1) * xp.take(Z, second, axis=1)
    return double(products @ xp.permute_dims(Z, (0, 2, 1)))


def _shapes(projected: Rows) -> Rows:
    """Return skewness and kurtosis along the last axis."""
    xp = namespace(projected)
    projected = projected - xp.mean(projected, axis=-1, keepdims=True)
    squares = projected * projected
    variance = xp.clip(double(xp.mean(squares, axis=-1)), LEAST, None)
    skewness = double(xp.mean(squares * projected, axis=-1)) / variance**1.5
    kurtosis = double(xp.mean(squares * squares, axis=-1)) / variance**2
    return xp.stack([skewness, kurtosis], axis=-1)
