"""Which clients count and how much, from the inner products of their updates alone.

In the span of the updates x_1, ..., x_n, a point is a vector of coefficients a of sum one: the
combination sum_i a_i x_i. Its distances follow from the n x n Gram matrix.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.linalg import eigh
from scipy.spatial.distance import squareform

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier.federated.record import Record

FEWEST = 4
"""Among three updates, the one that differs from the other two may be the only honest one."""
ROUNDING = 1e-6
"""Squared distance of equal updates in single precision, relative to their squared lengths."""
FAR = 20.0
"""Radii of the nearest majority beyond which a client is rejected. Honest updates reach 12 in the
trainings of benchmarks/federated.py; a malicious one that stays within the bound is clipped."""
RADIUS = 1.5
"""Bound on lengths, in median lengths. At 1 the accuracy of clients with few classes each falls by
a point without any attack; at 2 malicious clients count for more (benchmarks/federated.py)."""
# The fraction of the variance between the sides of the best cut that a Gaussian sample of size n
# exceeds with probability .001, from 200,000 draws up to 100, and 20,000 above.
SIZES = (7, 8, 10, 12, 15, 20, 30, 50, 100, 200, 500, 1000)
CUTS = (0.981, 0.971, 0.949, 0.929, 0.902, 0.87, 0.831, 0.789, 0.744, 0.712, 0.685, 0.67)


class Judgement(NamedTuple):
    """The decision about the usable updates of a round."""

    coefficients: Array  # the aggregate is the sum of the updates with these
    scores: Array  # distances from the aggregate, in medians of those that count
    reasons: dict[int, str]  # why clients were rejected, by position
    suspects: list[int]  # clients that stand apart together, kept with bounded influence
    copies: list[list[int]]  # groups that count as one client each
    halved: bool  # whether a group as large as the rest stands apart: either may be honest


def judge(
    G: Array, counts: Array, clients: Sequence[Hashable], record: Record | None = None
) -> Judgement:
    """Decide which clients count.

    In this order: equal and nearly equal updates count as one; updates 20 times as far away as the
    majority reaches are rejected; a group that stands apart, over all rounds on record, is rejected
    if it is larger than a quarter and smaller than the rest; all others are clipped.

    Parameters
    ----------
    G : array of shape (n, n)
        Inner products of the updates, relative to any point.
    counts : array of shape (n,)
        Weights of the clients in the mean; they do not affect who is rejected.
    clients : sequence
        Their names in the record.
    record : Record, optional
        This round is added to it.
    """
    D, squares = sq_distances(G), np.diag(G)
    first = copy_groups(D, squares)
    sizes = np.bincount(first)[first]
    ratios = radii_from_majority(D, squares, first)
    kept = ratios <= FAR
    reasons = {
        i: f"is {ratios[i]:.3g} times as far as the majority reaches, where {FAR:g} is too far "
        "for an honest update"
        for i in np.flatnonzero(~kept).tolist()
    }
    suspects: list[int] = []
    halved = False
    leaders = np.unique(first[kept])

    C = correlations(G, kept / sizes)
    if record is not None:
        present = np.flatnonzero(kept)
        pairs = np.ix_(present, present)
        C[pairs] = record.observe([clients[int(i)] for i in present], C[pairs])
    most = (len(leaders) - 1) // 2
    while most > 0 and (apart := group_apart(C[np.ix_(leaders, leaders)])) is not None:
        members, between = apart
        within: list[int] = np.flatnonzero(np.isin(first, leaders[members])).tolist()
        size = int(members.sum())
        # A smaller group can do little harm once it is clipped (docs/federated.md), and may be
        # honest clients with data of their own.
        if size <= 0.25 * len(leaders):
            suspects = within
            break
        # Rejected are fewer than half, of the different updates as well as of the clients.
        halved = size > most or 2 * len(within) >= int(kept.sum())
        if halved:
            break
        reason = (
            f"stands apart with {size - 1} others that act together: "
            f"{between:.0%} of the largest variance is between them and the rest"
        )
        reasons |= dict.fromkeys(within, reason)
        most -= size
        kept[within] = False
        leaders = leaders[~members]

    weights = np.where(kept, counts / sizes, 0.0)
    coefficients = clipped_mean(G, weights)
    lengths = distances_from(G, coefficients)
    unit = weighted_median(lengths[kept], weights[kept])
    scores = lengths / unit if unit > 0.0 else np.where(lengths > 0.0, np.inf, 0.0)
    together = [np.flatnonzero(first == i).tolist() for i in leaders]
    copies = [members for members in together if len(members) > 1]
    return Judgement(coefficients, scores, reasons, suspects, copies, halved)


def copy_groups(D: Array, squares: Array) -> Array:
    """Group nearly equal updates: return the first member of each client's group.

    Honest updates carry noise of their own, so they are about as far from each other as from any
    other honest one; malicious clients that act together often send nearly the same vector. Groups
    are the clusters of single linkage that are small relative to the distance to the next client.
    To be small relative to other groups is not enough: honest clients that have converged all send
    updates close to zero. Where there would be fewer than four groups, all are different: if nearly
    all clients agree, that is no evidence against them.

    Parameters
    ----------
    D : array of shape (n, n)
        Squared distances.
    squares : array of shape (n,)
        Squared lengths, which set the scale of rounding.
    """
    n = len(D)
    alone = np.arange(n)
    if n < FEWEST:
        return alone
    others = D + np.diag(np.full(n, np.inf))
    usual = float(np.sqrt(np.median(np.sort(others, axis=1)[:, n // 2 - 1])))
    equal = np.maximum(squares[:, None], squares) * ROUNDING >= D
    tree = linkage(squareform(np.sqrt(np.where(equal, 0.0, D)), checks=False), "single")

    parent = np.full(2 * n - 1, np.inf)  # the height at which a cluster joins another
    for left, right, height, _ in tree:
        parent[[int(left), int(right)]] = height
    members: list[list[int]] = [[i] for i in range(n)]
    groups = alone.copy()
    for k, (left, right, height, _) in enumerate(tree):
        members.append(members[int(left)] + members[int(right)])
        if height <= 0.3 * min(usual, parent[n + k]) or height == 0.0:
            groups[members[-1]] = min(members[-1])
    return groups if len(np.unique(groups)) >= FEWEST else alone


def radii_from_majority(D: Array, squares: Array, first: Array) -> Array:
    """Return the distance of each client from the middle one, in radii of the nearest majority.

    If more than half of all clients sent the same update, as idle ones do, the majority is that of
    the different updates, unless there are fewer than four. Parameters are those of `copy_groups`,
    and its result.
    """
    central, radius = middle(D)
    rounding = ROUNDING * float(squares[central])
    if radius <= rounding:
        leaders = np.unique(first)
        if len(leaders) >= FEWEST:
            place, radius = middle(D[np.ix_(leaders, leaders)])
            central = int(leaders[place])
    apart = D[central]
    # Bounded below, so that no ratio overflows.
    least = max(radius, rounding, 1e-30 * float(apart.max()), TINY)
    ratios: Array = np.sqrt(apart / least) if len(D) > 2 else np.zeros(len(D))
    return ratios


def correlations(G: Array, weights: Array) -> Array:
    """Return the inner products of the updates about their clipped mean, in units of lengths.

    The unit is at least the median length: a small error of the center would give all short updates
    a direction in common.
    """
    a = clipped_mean(G, weights)
    Ga = G @ a
    C = G - Ga[:, None] - Ga + a @ Ga
    lengths = np.sqrt(np.maximum(np.diag(C), 0.0))
    counted = weights > 0.0
    unit = np.maximum(lengths, weighted_median(lengths[counted], weights[counted]))
    inverse = np.where(unit > 0.0, 1.0 / np.where(unit > 0.0, unit, 1.0), 0.0)
    scaled: Array = C * inverse[:, None] * inverse
    return scaled


def group_apart(C: Array) -> tuple[Mask, float] | None:
    """Find a group of at least two clients that stands apart from the rest, if there is one.

    If honest clients differ by noise, the leading left singular vector of the centered updates is
    uniform on the sphere orthogonal to (1, ..., 1), for any noise and dimension. The fraction of
    its variance between the two sides of its best cut then has a distribution that depends on n
    only. Clients with different kinds of data have several directions of similar strength; a group
    that acts together has one that dominates. Both are required.

    Parameters
    ----------
    C : array of shape (n, n)
        Correlations between clients about a common center, of one round or averaged over rounds.

    Returns
    -------
    array of bool and float
        The members, and the fraction of the variance between them and the rest.
    """
    n = len(C)
    if n < SIZES[0]:  # two of fewer clients are a third of all
        return None
    centered = C - C.mean(axis=0)
    centered = centered - centered.mean(axis=1)[:, None]
    values, vectors = eigh((centered + centered.T) / 2.0, subset_by_index=[n - 2, n - 1])
    between, members = best_cut(vectors[:, 1])
    chance = float(np.interp(np.log(n), np.log(SIZES), CUTS))
    # Without malicious clients the ratio of the variances stays below 1.7 in the trainings of
    # benchmarks/federated.py, though clients have few classes each.
    if members.sum() < 2 or between < chance or values[1] < 2.0 * max(values[0], 0.0):
        return None
    return members, between


def best_cut(u: Array) -> tuple[float, Mask]:
    """Split a vector into low and high entries so that most of its variance is between the sides.

    Return this fraction of the variance, and the smaller side.
    """
    n = len(u)
    order = np.argsort(u, kind="stable")
    ascending = u[order] - u.mean()
    below = np.cumsum(ascending)[:-1]
    k = np.arange(1, n)
    between = below**2 * (1.0 / k + 1.0 / (n - k))
    cut = int(np.argmax(between))
    low = np.zeros(n, dtype=np.bool_)
    low[order[: cut + 1]] = True
    total = float(ascending @ ascending)
    fraction = float(between[cut]) / total if total > 0.0 else 0.0
    return fraction, low if 2 * (cut + 1) <= n else ~low


def clipped_mean(G: Array, weights: Array) -> Array:
    """Return the point that is the weighted mean of the updates clipped to a ball about it.

    The fixed point of v <- v + sum_i w_i (x_i - v) min(1, radius / |x_i - v|), for weights w of sum
    one and a radius of 1.5 times the weighted median of |x_i - v|. No client moves it by more than
    1.5 w_i median lengths. Return its coefficients: not negative, of sum one.
    """
    counted = np.flatnonzero(weights > 0.0)
    G = G[np.ix_(counted, counted)]
    w = weights[counted] / weights[counted].sum()
    D = sq_distances(G)
    central, _ = middle(D)
    near = np.argsort(D[central], kind="stable")[: len(w) // 2 + 1]
    a = np.zeros(len(w))
    a[near] = w[near] / w[near].sum()
    for _ in range(1000):
        lengths = distances_from(G, a)
        radius = RADIUS * weighted_median(lengths, w)
        long = lengths > radius
        share = w * np.where(long, radius / np.where(long, lengths, 1.0), 1.0)
        moved = share + (1.0 - share.sum()) * a
        step = float(np.abs(moved - a).sum())
        a = moved
        if step <= 1e-10:
            break
    out = np.zeros(len(weights))
    out[counted] = np.maximum(a, 0.0) / np.maximum(a, 0.0).sum()
    return out


def sq_distances(G: Array) -> Array:
    """Return the squared distances between all clients."""
    squares = np.diag(G)
    D: Array = np.maximum(squares[:, None] + squares - G - G.T, 0.0)
    np.fill_diagonal(D, 0.0)
    return D


def distances_from(G: Array, a: Array) -> Array:
    """Return the distances of the clients from a point."""
    Ga = G @ a
    found: Array = np.sqrt(np.maximum(np.diag(G) - 2.0 * Ga + a @ Ga, 0.0))
    return found


def middle(D: Array) -> tuple[int, float]:
    """Find the client whose nearest majority is nearest, and the squared radius of that majority.

    As long as fewer than half of the clients are malicious, the radius is at most the least
    distance within which an honest client has all other honest ones.
    """
    radii = np.sort(D, axis=1)[:, len(D) // 2]
    central = int(np.argmin(radii))
    return central, float(radii[central])


def weighted_median(x: Array, weights: Array) -> float:
    """Return the upper weighted median."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(weights[order])
    # Slightly above one half, so that rounding of the sum does not decide a tie.
    place = np.searchsorted(below, 0.5 * (1.0 + 1e-12) * below[-1])
    return float(x[order][min(int(place), len(x) - 1)])
