"""`aggregate`: reads what clients sent, judges it, and adds up what is left."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.federated.judging import Judgement, judge
from inlier.federated.layers import combined, gram, lengths
from inlier.federated.messages import capped_counts, read_messages
from inlier.federated.record import Record
from inlier.verdict.verdict import WeakEvidenceWarning

FEWEST = 4
"""With three updates, one that differs from the other two may be the only honest one left."""
HUGE = 1e8
"""Lengths of the median update beyond which the digits of the others would be lost."""
TOO_FEW = (
    "Fewer than four usable updates: too few to tell which are wrong. See the message of the "
    "aggregate."
)
HALVED = (
    "Half of the clients stand apart from the other half, and nothing tells which is honest: all "
    "were kept. See the message of the aggregate."
)


@dataclass(frozen=True, eq=False, repr=False)
class Aggregate:
    """The result of a round.

    Attributes
    ----------
    update : array, list of array or dict of array
        Of the type, shapes and dtypes that were sent.
    rejected : tuple of int
        Positions of the clients that do not count.
    reasons : dict of str
        For each of them, a sentence.
    scores : array of shape (n,)
        Distance of each update from the aggregate, in medians of those that count; infinite for
        what could not be used.
    weights : array of shape (n,)
        Coefficients of the updates in the aggregate, of sum one.
    suspects : tuple of int
        Clients that stand apart together but are too few to do harm: kept, with a bounded say.
    clients : tuple
        The names of the clients; their positions if none were given.
    too_few : bool
        Whether there were fewer than four usable updates.
    message : str
        What was decided, in words.
    """

    update: Any
    rejected: tuple[int, ...]
    reasons: dict[int, str]
    scores: Array
    weights: Array
    suspects: tuple[int, ...]
    clients: tuple[Hashable, ...]
    too_few: bool
    message: str

    def __repr__(self) -> str:
        return f"<Aggregate: {self.message}>"


def aggregate(
    updates: Any,
    weights: Any = None,
    record: Record | None = None,
    *,
    clients: Iterable[Hashable] | None = None,
) -> Aggregate:
    """Average the updates of clients, some of which may lie.

    Nobody has to say how many lie, as long as they are fewer than half. All is decided on the n x n
    inner products of the updates: three passes over the data, in blocks, without a copy.

    Parameters
    ----------
    updates : list, matrix or dict
        A vector, a list of layers or a dict of named layers from each client; a matrix with a row
        for each; or a dict from clients to any of these. numpy or torch, of any real dtype and
        device. Whole models will do as well as differences: what all have in common cancels.
    weights : sequence of float, optional
        What clients claim to have in samples. Nobody can check it, so that a client counts for at
        most twice the median claim; and all have the same say in who is rejected.
    record : Record, optional
        Carries suspicion from round to round: give the same one every time.
    clients : iterable, optional
        Names by which the record knows them, where the same position is not always the same client.

    Returns
    -------
    Aggregate
        With the update, who was rejected, and why.

    Raises
    ------
    ValueError
        If no client sent anything usable.

    Notes
    -----
    A client that sends NaN, infinities, the wrong shapes or dtypes, nothing, or something huge is
    rejected by name, and the round goes on. Layers of whole numbers, such as counters, are not
    judged; the median of the clients that count is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from inlier.federated import aggregate
    >>> updates = np.random.default_rng(0).standard_normal((10, 1000)) + 1.0
    >>> updates[3] *= -1e6
    >>> result = aggregate(updates)
    >>> result.rejected
    (3,)
    >>> bool(abs(result.update - 1.0).mean() < 0.3)
    True
    """
    messages = read_messages(updates, clients)
    names = messages.clients
    counts, impossible = capped_counts(weights, len(names))
    faults = {**messages.faults, **impossible}
    usable = [i for i in messages.readable if i not in faults]

    sizes = lengths([messages.readable[i] for i in usable])
    for i, size in zip(usable, sizes, strict=True):
        if np.isnan(size):
            faults[i] = "sent NaN or infinity"
    sizes = sizes[[i not in faults for i in usable]]
    usable = [i for i in usable if i not in faults]
    too_few = len(usable) < FEWEST
    # One by one: without the longest, another length may be the ordinary one.
    while usable and sizes.max() > HUGE * (unit := _ordinary(sizes)) > 0.0:
        longest = int(sizes.argmax())
        times = float(sizes[longest]) / unit
        faults[usable.pop(longest)] = f"is {times:.3g} times as long as the median update"
        sizes = np.delete(sizes, longest)
    if not usable:
        said = "; ".join(f"client {names[i]!r} {fault}" for i, fault in sorted(faults.items())[:5])
        raise ValueError(f"None of the {len(names)} updates can be used: {said}.")

    layers = [messages.readable[i] for i in usable]
    reference = int(np.argsort(sizes, kind="stable")[(len(sizes) - 1) // 2])
    G = gram(layers, reference, _ordinary(sizes))
    found = judge(G, counts[usable], [names[i] for i in usable], record)

    place = np.array(usable)
    coefficients, scores = np.zeros(len(names)), np.full(len(names), np.inf)
    coefficients[place], scores[place] = found.coefficients, found.scores
    reasons = {**faults, **{usable[i]: reason for i, reason in found.reasons.items()}}
    reasons = {i: f"Client {names[i]!r} {reasons[i]}." for i in sorted(reasons)}
    if too_few:
        warnings.warn(TOO_FEW, WeakEvidenceWarning, stacklevel=2)
    if found.halved:
        warnings.warn(HALVED, WeakEvidenceWarning, stacklevel=2)
    return Aggregate(
        update=messages.pack(combined(layers, found.coefficients)),
        rejected=tuple(reasons),
        reasons=reasons,
        scores=scores,
        weights=coefficients,
        suspects=tuple(usable[i] for i in found.suspects),
        clients=names,
        too_few=too_few,
        message=_message(names, reasons, found, usable, too_few),
    )


def _ordinary(sizes: Array) -> float:
    """Return the length of an ordinary update: the lower median, or if that is 0 the least."""
    ascending = np.sort(sizes)
    middle = float(ascending[(len(ascending) - 1) // 2])
    positive = ascending[ascending > 0.0]
    return middle if middle > 0.0 or not len(positive) else float(positive[0])


def _message(
    names: tuple[Hashable, ...],
    reasons: dict[int, str],
    found: Judgement,
    usable: list[int],
    too_few: bool,
) -> str:
    """Say what was decided."""

    def listed(places: Iterable[int]) -> str:
        return ", ".join(repr(names[i]) for i in places)

    said = [f"{len(names) - len(reasons)} of {len(names)} updates count."]
    if reasons:
        said.append(f"Rejected: {listed(reasons)}.")
    for members in found.copies:
        said.append(f"Nearly equal, counted as one: {listed(usable[i] for i in members)}.")
    if found.suspects:
        apart = listed(usable[i] for i in found.suspects)
        said.append(f"Apart from the rest, but too few to do harm: {apart}.")
    if found.halved:
        said.append("Half of the clients stand apart from the other half; all were kept.")
    if too_few:
        said.append(f"{len(usable)} usable updates are too few to tell which are wrong.")
    return " ".join(said)
