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
        In the order of the rows of `sums` and `counts`.
    sums : array
        Sums over rounds of the correlations of each pair, with decay 0.9.
    counts : array
        Sums of the weights of the rounds in which both took part.
    seen : array
        The last round of each client.
    rounds : int
        Number of rounds.
    """

    clients: list[Hashable] = field(default_factory=list)
    sums: Array = field(default_factory=lambda: np.zeros((0, 0)))
    counts: Array = field(default_factory=lambda: np.zeros((0, 0)))
    seen: Array = field(default_factory=lambda: np.zeros(0))
    rounds: int = 0

    def observe(self, clients: Sequence[Hashable], correlations: Array) -> Array:
        """Add a round, and return the average correlations of the clients that took part.

        Parameters
        ----------
        clients : sequence
            The clients that took part.
        correlations : array of shape (n, n)
            Between them, in this round.
        """
        self.rounds += 1
        known = set(self.clients)
        new = [client for client in clients if client not in known]
        self.clients = self.clients + new
        self.sums, self.counts = (np.pad(x, (0, len(new))) for x in (self.sums, self.counts))
        self.seen = np.pad(self.seen, (0, len(new)))
        place = {client: i for i, client in enumerate(self.clients)}
        at = np.array([place[client] for client in clients], dtype=np.intp)
        pairs = np.ix_(at, at)
        self.sums[pairs] = DECAY * self.sums[pairs] + correlations
        self.counts[pairs] = DECAY * self.counts[pairs] + 1.0
        self.seen[at] = self.rounds
        average: Array = self.sums[pairs] / self.counts[pairs]
        if len(self.clients) > MOST:
            latest = np.sort(np.argsort(-self.seen, kind="stable")[:MOST])
            self.clients = [self.clients[i] for i in latest]
            self.sums = self.sums[np.ix_(latest, latest)]
            self.counts = self.counts[np.ix_(latest, latest)]
            self.seen = self.seen[latest]
        return average
