"""What a server remembers of its clients from one round to the next."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from inlier._internal.typing import Array

DECAY = 0.9
"""What a round counts for in the next: some ten rounds are remembered."""
MOST = 1000
"""Clients remembered; those that were not seen for longest are forgotten first."""


@dataclass
class Record:
    """Correlations between clients, averaged over rounds.

    Give the same record to `aggregate` in every round. What honest clients do alike by chance
    differs from round to round and averages out; what liars do together stays. It holds two numbers
    for each pair of clients and nothing of their updates, and can be pickled.

    Attributes
    ----------
    clients : list
        In the order of the rows of `sums` and `counts`.
    sums : array
        Of the correlations of each pair, a round counting .9 as much as the next.
    counts : array
        The sum of what rounds count in which both took part.
    seen : array
        The last round of each.
    rounds : int
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
            Who took part.
        correlations : array of shape (n, n)
            Between them, in this round.
        """
        self.rounds += 1
        at = self._places(clients)
        pairs = np.ix_(at, at)
        self.sums[pairs] = DECAY * self.sums[pairs] + correlations
        self.counts[pairs] = DECAY * self.counts[pairs] + 1.0
        self.seen[at] = self.rounds
        average: Array = self.sums[pairs] / self.counts[pairs]
        self._forget()
        return average

    def _places(self, clients: Sequence[Hashable]) -> Array:
        """Return the rows of clients; new ones get rows at the end."""
        place = {client: i for i, client in enumerate(self.clients)}
        new = [client for client in clients if client not in place]
        if new:
            grown = (0, len(new))
            self.clients = self.clients + new
            self.sums = np.pad(self.sums, (grown, grown))
            self.counts = np.pad(self.counts, (grown, grown))
            self.seen = np.pad(self.seen, grown)
            place = {client: i for i, client in enumerate(self.clients)}
        return np.array([place[client] for client in clients], dtype=np.intp)

    def _forget(self) -> None:
        """Drop the clients that were not seen for longest."""
        if len(self.clients) <= MOST:
            return
        latest = np.sort(np.argsort(-self.seen, kind="stable")[:MOST])
        self.clients = [self.clients[i] for i in latest]
        self.sums = self.sums[np.ix_(latest, latest)]
        self.counts = self.counts[np.ix_(latest, latest)]
        self.seen = self.seen[latest]
