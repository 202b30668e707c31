"""What a server remembers of its clients from one round to the next."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from inlier._internal.typing import Array

DECAY = 0.9
"""Weight of a round relative to the next: about ten rounds are remembered."""
MOST = 1000
"""Clients remembered; those not seen for longest are forgotten first."""


@dataclass
class Record:
    """Correlations between clients, averaged over rounds.

    Pass the same record to `aggregate` in every round. What honest clients have in common by chance
    differs from round to round and averages out; what malicious clients do together stays. It
    stores two numbers for each pair of clients and nothing of their updates, and can be pickled.

    Attributes
    ----------
    clients : list
        In the order of the rows of `sums` and `counts`; those seen last are last.
    sums : array
        Sums over rounds of the correlations of each pair, with decay 0.9.
    counts : array
        Sums of the weights of the rounds in which both took part.
    """

    clients: list[Hashable] = field(default_factory=list)
    sums: Array = field(default_factory=lambda: np.zeros((0, 0)))
    counts: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def observe(self, clients: Sequence[Hashable], correlations: Array) -> Array:
        """Add a round, and return the average correlations of the clients that took part.

        Parameters
        ----------
        clients : sequence
            The clients that took part.
        correlations : array of shape (n, n)
            Between them, in this round.
        """
        place = {client: i for i, client in enumerate(self.clients)}
        present, now = set(clients), list(clients)
        old = [client for client in self.clients if client not in present]
        # The rows of the last round in their new order: new clients have a row of zeros at the end.
        order = [place.get(client, len(place)) for client in old + now]
        self.sums, self.counts = (
            np.pad(x, (0, 1))[np.ix_(order, order)] for x in (self.sums, self.counts)
        )
        here = slice(len(old), None)
        self.sums[here, here] = DECAY * self.sums[here, here] + correlations
        self.counts[here, here] = DECAY * self.counts[here, here] + 1.0
        average: Array = self.sums[here, here] / self.counts[here, here]
        self.clients = (old + now)[-MOST:]
        self.sums, self.counts = (x[-MOST:, -MOST:] for x in (self.sums, self.counts))
        return average
