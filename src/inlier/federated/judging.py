"""Who counts, and how much: decided on the inner products of the updates alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from inlier._internal.typing import Array
from inlier.federated.clipping import clipped_mean
from inlier.federated.copies import copy_groups
from inlier.federated.distant import FAR, distant
from inlier.federated.geometry import (
    about,
    distances_from,
    sq_distances,
    weighted_median,
)
from inlier.federated.record import Record
from inlier.federated.split import group_apart

HARMFUL = 0.25
"""A group that stands apart is rejected if it is a larger share of the different updates than this.
Below it, clipping keeps liars from doing harm (docs/federated.md), and honest clients with data of
their own keep their say."""


@dataclass
class Judgement:
    """What was decided about the usable updates of a round.

    Attributes
    ----------
    coefficients : array of shape (n,)
        The aggregate is the sum of the updates with these coefficients.
    scores : array of shape (n,)
        Distances from the aggregate, in medians of those that count.
    reasons : dict of str
        Why each of the rejected was, by position.
    suspects : list of int
        Kept with a bounded say, though they stand apart.
    copies : list of list of int
        Groups that count as one client each.
    halved : bool
        Whether a group stands apart that is as large as the rest, so that nothing tells which of
        the two is honest.
    """

    coefficients: Array
    scores: Array
    reasons: dict[int, str] = field(default_factory=dict)
    suspects: list[int] = field(default_factory=list)
    copies: list[list[int]] = field(default_factory=list)
    halved: bool = False


def judge(
    G: Array, counts: Array, clients: Sequence[Hashable], record: Record | None = None
) -> Judgement:
    """Decide who counts.

    In order: equal and nearly equal updates count as one; updates 20 times as far as the majority
    reaches are rejected; a group that stands apart, over all rounds on record, is rejected if it
    is larger than a quarter and smaller than the rest; the lengths of all others about their mean
    are bounded.

    Parameters
    ----------
    G : array of shape (n, n)
        Inner products of the updates, relative to any point.
    counts : array of shape (n,)
        How much each client counts in the mean. All have the same say in who is rejected.
    clients : sequence
        Their names in the record.
    record : Record, optional
        Is told of this round.
    """
    D, squares = sq_distances(G), np.diag(G)
    first = copy_groups(D, squares)
    sizes = np.bincount(first)[first]
    far, ratios = distant(D, squares, first)
    reasons = {
        i: f"is {ratios[i]:.3g} times as far as the majority reaches, where {FAR:g} is too far for "
        "an honest update"
        for i in np.flatnonzero(far).tolist()
    }
    kept = ~far
    leaders = np.unique(first[kept])

    C = _correlations(G, kept / sizes)
    present = np.flatnonzero(kept)
    if record is not None:
        C[np.ix_(present, present)] = record.observe(
            [clients[int(i)] for i in present], C[np.ix_(present, present)]
        )
    suspects: list[int] = []
    halved = False
    most = (len(leaders) - 1) // 2
    while most > 0 and (apart := group_apart(C[np.ix_(leaders, leaders)])) is not None:
        members = leaders[apart.members]
        within: list[int] = np.flatnonzero(np.isin(first, members)).tolist()
        if len(members) <= HARMFUL * len(leaders):
            suspects = within
            break
        # Fewer than half, by updates that differ as well as by clients.
        halved = len(members) > most or 2 * len(within) >= kept.sum()
        if halved:
            break
        for i in within:
            reasons[i] = (
                f"stands apart with {len(members) - 1} others that act together: "
                f"{apart.share:.0%} of the largest variance is between them and the rest"
            )
        most -= len(members)
        kept[within] = False
        leaders = leaders[~apart.members]

    weights = np.where(kept, counts / sizes, 0.0)
    a = clipped_mean(G, weights)
    lengths = distances_from(G, a)
    unit = weighted_median(lengths[kept], weights[kept])
    scores = lengths / unit if unit > 0.0 else np.where(lengths > 0.0, np.inf, 0.0)
    together = [np.flatnonzero(first == i).tolist() for i in leaders]
    copies = [members for members in together if len(members) > 1]
    return Judgement(a, scores, reasons, suspects, copies, halved)


def _correlations(G: Array, weights: Array) -> Array:
    """Return the inner products of the updates about their clipped mean, in units of lengths.

    A length counts as at least the median: a small error of the center would give all short updates
    a direction in common.
    """
    C = about(G, clipped_mean(G, weights))
    lengths = np.sqrt(np.maximum(np.diag(C), 0.0))
    counted = weights > 0.0
    unit = np.maximum(lengths, weighted_median(lengths[counted], weights[counted]))
    inverse = np.where(unit > 0.0, 1.0 / np.where(unit > 0.0, unit, 1.0), 0.0)
    correlations: Array = C * inverse[:, None] * inverse
    return correlations
