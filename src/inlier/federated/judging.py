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
from scipy.sparse.csgraph import connected_components
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
LONG = 2.0 * FAR + 1.0
"""Median lengths beyond which a client is rejected: where half of the clients are no longer than
the median, it is more than FAR radii from them all. This also holds where they nearly agree."""
COMPARABLE = 3.0
"""Ratio of lengths that noise explains."""
NEAR = 0.3
"""Diameter of nearly equal updates, in distances to the next client."""
ALONG, OWN, BEYOND = 0.75, 0.75, 3.0
"""How far a rejected member goes along with its group, relative to the others; the variance of its
own about their center, and the inner product with it from which that is not required, relative to
the variance of those outside."""
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
    distinct: int  # number of voices; below four none is rejected
    halved: bool  # whether a group as large as the rest stands apart: either may be honest
    agreeing: bool  # whether a bare majority nearly agrees: a voice, or the honest clients


def judge(
    G: Array,
    counts: Array,
    clients: Sequence[Hashable],
    record: Record | None = None,
    spare: int = 0,
) -> Judgement:
    """Decide which clients count.

    Equal and nearly equal updates are one voice, and voices decide, in this order: updates 20 times
    as far away as the majority reaches are rejected; a group that stands apart, over all rounds on
    record, is rejected if it is larger than a quarter and smaller than the rest; all others are
    clipped. With fewer than four voices all clients are only clipped.

    From the inner products G of the updates, relative to any point, the weights of the clients in
    the mean, which do not affect who is rejected, and their names in the record, to which this
    round is added. `spare` is that of `voices`.
    """
    D, squares = sq_distances(G), np.diag(G)
    voice = voices(D, squares, spare)
    distinct = len(np.unique(voice))
    agreeing = distinct < len(np.unique(voices(D, squares)))
    if distinct < FEWEST:
        voice = np.arange(len(D))
    ratios = radii_from_majority(D, squares, 1.0 / sizes(voice))
    kept = (ratios <= FAR) | (distinct < FEWEST)
    reasons = {
        i: f"is {ratios[i]:.3g} times as far as the majority reaches, where {FAR:g} is too far "
        "for an honest update"
        for i in np.flatnonzero(~kept).tolist()
    }
    suspects: list[int] = []
    halved = False

    C = correlations(G, kept / sizes(voice))
    if record is not None:
        present = np.flatnonzero(kept)
        pairs = np.ix_(present, present)
        C[pairs] = record.observe([clients[int(i)] for i in present], C[pairs])
    leaders = np.unique(voice[kept])
    most = (len(leaders) - 1) // 2 if distinct >= FEWEST else 0
    while most > 0 and (apart := group_apart(C[np.ix_(leaders, leaders)])) is not None:
        members, between = apart
        within = np.flatnonzero(np.isin(voice, leaders[members]))
        size = int(members.sum())
        # A smaller group can do little harm once it is clipped (docs/federated.md), and may be
        # honest clients with data of their own.
        if size <= 0.25 * len(leaders):
            suspects = within.tolist()
            break
        are_sure, gathered = sure_members(G[np.ix_(leaders, leaders)], members)
        # Rejected are fewer than half, of the different updates as well as of the clients. The rest
        # may also be as many malicious clients as there can be, and an honest one in their middle.
        around_one = gathered and len(leaders) - size <= most + 1
        halved = size > most or around_one or 2 * len(within) >= int(kept.sum())
        if halved:
            break
        sure = leaders[members][are_sure]
        rejected = np.isin(voice, sure)
        reason = (
            f"stands apart with {size - 1} others that act together: "
            f"{between:.0%} of the largest variance is between them and the rest"
        )
        reasons |= dict.fromkeys(np.flatnonzero(rejected).tolist(), reason)
        kept &= ~rejected
        repeated = np.setdiff1d(within, np.flatnonzero(rejected))
        voice[repeated] = repeated.min(initial=len(D))
        most -= len(sure)
        leaders = np.unique(voice[kept])

    weights = np.where(kept, counts / sizes(voice), 0.0)
    coefficients = clipped_mean(G, weights)
    lengths = distances_from(G, coefficients)
    unit = weighted_median(lengths[kept], weights[kept])
    scores = lengths / unit if unit > 0.0 else np.where(lengths > 0.0, np.inf, 0.0)
    together = [np.flatnonzero(voice == i).tolist() for i in leaders]
    copies = [members for members in together if len(members) > 1]
    return Judgement(coefficients, scores, reasons, suspects, copies, distinct, halved, agreeing)


def lengths_in_medians(G: Array, lengths: Array) -> Array:
    """Return the lengths of the updates in medians of the voices that are not idle.

    Zeros, if there are fewer than four such voices: any of them may be the ordinary one.
    """
    voice = voices(sq_distances(G), np.diag(G))
    active = lengths > 0.0
    if len(np.unique(voice[active])) < FEWEST:
        return np.zeros(len(G))
    return lengths / weighted_median(lengths[active], 1.0 / sizes(voice)[active])


def may_be_one(G: Array, lengths: Array) -> bool:
    """Return whether a bare majority that nearly agrees is taken for one voice.

    It may be malicious clients around an honest one, or the honest clients among malicious ones
    that are scattered. Only where all lengths and distances are comparable, the error of taking the
    second for the first is bounded by the length of an honest update.
    """
    ordinary = float(np.median(lengths))
    typical = float(np.sqrt(np.median(sq_distances(G))))
    return float(lengths.max()) <= COMPARABLE * ordinary <= COMPARABLE**2 * typical


def sizes(voice: Array) -> Array:
    """Return the number of clients that have each client's voice."""
    return np.bincount(voice)[voice]


def voices(D: Array, squares: Array, spare: int = 0) -> Array:
    """Group nearly equal updates: return the first member of each client's group.

    Honest updates carry noise of their own, so they are about as far from each other as from any
    other honest one; malicious clients that act together often send nearly the same vector. Groups
    are the clusters of single linkage that are small relative to the distance to the next one. To
    be small relative to other groups is not enough: honest clients that have converged all send
    updates close to zero. Only equal updates, such as those of idle clients, can be more than half
    of all and yet one voice: if most clients nearly agree, that is no evidence against them.

    From the squared distances D and squared lengths, which set the scale of rounding. With `spare`
    1, a group may be as large as malicious clients can make it around an honest one.
    """
    equal = np.maximum(squares[:, None], squares) * ROUNDING >= D
    _, group = connected_components(equal, directed=False)
    voice: Array = np.unique(group, return_index=True)[1][group]
    while True:  # without the repetitions in a group, more distances are small relative to the rest
        leaders = np.unique(voice)
        joined = leaders[_clusters(np.sqrt(D[np.ix_(leaders, leaders)]), spare)]
        if (joined == leaders).all():
            return voice
        voice = joined[np.searchsorted(leaders, voice)]


def _clusters(distances: Array, spare: int) -> Array:
    """Return the first member of each small cluster of single linkage; others are alone."""
    n = len(distances)
    first = np.arange(n)
    if n < FEWEST:
        return first
    largest = (n - 1) // 2 + spare
    # The distance from a client to the next after the largest group around it.
    usual = float(np.median(np.sort(distances, axis=1)[:, (n - 1) // 2 + 1]))
    tree = linkage(squareform(distances, checks=False), "single")
    parent = np.full(2 * n - 1, np.inf)  # the height at which a cluster joins another
    for left, right, height, _ in tree:
        parent[[int(left), int(right)]] = height
    members: list[list[int]] = [[i] for i in range(n)]
    for k, (left, right, height, _) in enumerate(tree):
        members.append(members[int(left)] + members[int(right)])
        if len(members[-1]) <= largest and height <= NEAR * min(usual, parent[n + k]):
            first[members[-1]] = min(members[-1])
    return first


def radii_from_majority(D: Array, squares: Array, weights: Array) -> Array:
    """Return the distance of each client from the middle one, in radii of the nearest majority."""
    central, radius = middle(D, weights)
    apart = D[central]
    # Bounded below, so that no ratio overflows.
    least = max(radius, ROUNDING * float(squares[central]), 1e-30 * float(apart.max()), TINY)
    ratios: Array = np.sqrt(apart / least)
    return ratios


def correlations(G: Array, weights: Array) -> Array:
    """Return the inner products of the updates about their clipped mean, in units of lengths.

    The unit is at least the median length: a small error of the center would give all short updates
    a direction in common.
    """
    C = about(G, clipped_mean(G, weights))
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

    From the correlations C about a common center, of one round or averaged over rounds, to the
    members and the fraction of the variance between them and the rest.
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


def sure_members(G: Array, members: Mask) -> tuple[Mask, bool]:
    """Return which members of a group that stands apart are to be rejected.

    And whether the others may have gathered around one of them, which has hardly any noise then.

    Malicious clients may gather beside an honest one to have it rejected with them. It is then on
    the way to their center rather than about it, or has little noise of its own about it. With H
    the inner products about the mean of the clients outside, and independent noise, the mean of
    H_ij over the other members j estimates how far i goes along with them.
    """

    def compared(outside: Mask, part: Mask) -> tuple[Array, Array]:
        H = about(G, outside / outside.sum())[np.ix_(part, part)]
        along = (H.sum(axis=0) - np.diag(H)) / (len(H) - 1)
        return along, np.diag(H) - 2.0 * along + along.mean()

    along, noise = compared(~members, members)
    _, usual = compared(members, ~members)
    # So far away no honest client is: it would have to be much longer than the others.
    beyond = along >= BEYOND * np.median(usual)
    has_noise = noise >= OWN * np.median(usual)
    found: Mask = (along >= ALONG * np.median(along)) & (has_noise | beyond)
    return found, bool(usual.min() < (1.0 - OWN) * max(np.median(noise), np.median(usual)))


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
    central, radius = middle(D, w)
    a = np.where(D[central] <= radius, w, 0.0)
    a /= a.sum()
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
    # Exactly symmetric, unlike some Gram matrices.
    D: Array = np.maximum(squares[:, None] + squares - (G + G.T), 0.0)
    np.fill_diagonal(D, 0.0)
    return D


def about(G: Array, a: Array) -> Array:
    """Return the inner products of the updates about a point."""
    Ga = G @ a
    found: Array = G - Ga[:, None] - Ga + a @ Ga
    return found


def distances_from(G: Array, a: Array) -> Array:
    """Return the distances of the clients from a point."""
    Ga = G @ a
    found: Array = np.sqrt(np.maximum(np.diag(G) - 2.0 * Ga + a @ Ga, 0.0))
    return found


def middle(D: Array, weights: Array) -> tuple[int, float]:
    """Find the client whose nearest majority is nearest, and the squared radius of that majority.

    As long as less than half of the weight is of malicious clients, the radius is at most the least
    distance within which an honest client has all other honest ones.
    """
    radii = np.array([weighted_median(row, weights) for row in D])
    central = int(np.argmin(radii))
    return central, float(radii[central])


def weighted_median(x: Array, weights: Array) -> float:
    """Return the upper weighted median."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(weights[order])
    # Slightly above one half, so that rounding of the sum does not decide a tie.
    place = np.searchsorted(below, 0.5 * (1.0 + 1e-12) * below[-1])
    return float(x[order][min(int(place), len(x) - 1)])
