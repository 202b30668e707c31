"""`aggregate`: read the updates of a round, decide which clients count, and average these."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier._internal.validation import check_choice
from inlier.federated.judging import FEWEST, LONG, Judgement, judge, lengths_in_medians, may_be_one
from inlier.federated.layers import combined, gram, lengths
from inlier.federated.messages import capped_counts, read_messages
from inlier.federated.record import Record
from inlier.verdict import WeakEvidenceWarning

OnDoubt = Literal["warn", "raise"]


class DoubtfulRoundError(RuntimeError):
    """The updates of a round do not tell which clients are honest."""


@dataclass(frozen=True, eq=False, repr=False)
class Aggregate:
    """The result of a round.

    Attributes
    ----------
    update : array, list of array or dict of array
        In the type, shapes and dtypes that were sent.
    rejected : tuple of int
        Positions of the clients that do not count.
    reasons : dict of str
        A sentence for each of them.
    scores : array of shape (n,)
        Distance of each update from the aggregate, in medians of those that count; infinite for
        updates that could not be used.
    weights : array of shape (n,)
        Coefficients of the updates in the aggregate, of sum one.
    suspects : tuple of int
        Clients that stand apart together but are too few to do harm: kept, with bounded influence.
    clients : tuple
        The names of the clients; their positions if none were given.
    too_few : bool
        Whether there were fewer than four distinct usable updates.
    message : str
        The decision in words.
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
    on_doubt: OnDoubt = "warn",
) -> Aggregate:
    """Average the updates of clients when some may be faulty or malicious.

    Their number need not be given, but has to be below half of those that send different updates:
    idle clients and nearly equal updates are one voice each. All decisions use the n x n inner
    products of the updates: three passes over the data, in blocks, without a copy.

    Parameters
    ----------
    updates : list, matrix or dict
        A vector, a list of layers or a dict of named layers from each client; a matrix with a row
        for each; or a dict from clients to any of these. numpy or torch, of any real dtype and
        device. Whole models can be sent instead of differences: what all have in common cancels.
    weights : sequence of float, optional
        Sample counts that the clients report. They cannot be verified, so a client counts for at
        most twice the median, and weights do not affect who is rejected.
    record : Record, optional
        Evidence from earlier rounds: pass the same record every time.
    clients : iterable, optional
        Names of the clients in the record, if their positions change between rounds.
    on_doubt : {"warn", "raise"}, default="warn"
        What to do where the updates do not tell who is honest: fewer than four of them are
        distinct, a group as large as the rest stands apart, or no more than half count. With
        "raise" such a round has no result.

    Returns
    -------
    Aggregate
        The update, which clients were rejected, and why.

    Raises
    ------
    ValueError
        If no client sent a usable update.
    DoubtfulRoundError
        If the round is doubtful and `on_doubt` is "raise".

    Notes
    -----
    A client that sends NaN, infinities, the wrong shapes or dtypes, a sparse or masked array,
    nothing, or a huge update is rejected, and the round goes on. Layers of integers, such as
    counters, are not judged: their entries are the medians of the clients that count.

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
    check_choice(on_doubt, "on_doubt", get_args(OnDoubt))
    if not isinstance(record, Record | None):
        raise TypeError(
            f"record must be an inlier.federated.Record() or None, but is {record!r}. Pass the "
            "same one in every round."
        )
    messages = read_messages(updates, clients)
    names = messages.clients
    counts, impossible = capped_counts(weights, len(names))
    faults = {**messages.faults, **impossible}
    usable = [i for i in messages.readable if i not in faults]

    norms = lengths([messages.readable[i] for i in usable])
    bad = np.isnan(norms)
    faults |= {i: "sent NaN or infinity" for i, is_bad in zip(usable, bad, strict=True) if is_bad}
    norms, usable = norms[~bad], [i for i in usable if i not in faults]
    if not usable:
        first = "; ".join(f"client {names[i]!r} {fault}" for i, fault in sorted(faults.items())[:5])
        raise ValueError(f"None of the {len(names)} updates can be used: {first}.")

    # Of ordinary length: the upper median of those that are not idle.
    active = np.sort(norms[norms > 0.0])
    ordinary = float(active[len(active) // 2]) if len(active) else 0.0
    reference = int(np.argmin(np.abs(norms - ordinary)))
    layers = [messages.readable[i] for i in usable]
    G = gram(layers, reference, norms)
    # Beyond 1e100 not even the squares could be compared.
    is_long = (lengths_in_medians(G, norms) > LONG) | (norms / 1e100 > ordinary)
    fault = f"is more than {LONG:g} times as long as the median update"
    faults |= dict.fromkeys(np.array(usable)[is_long].tolist(), fault)
    short = np.flatnonzero(~is_long)
    layers, usable = [layers[i] for i in short], [usable[i] for i in short]
    G, norms = G[np.ix_(short, short)], norms[short] / max(ordinary, TINY)
    shared = [names[i] for i in usable]
    found = judge(G, counts[usable], shared, record, int(may_be_one(G, norms)))

    place = np.array(usable)
    coefficients, scores = np.zeros(len(names)), np.full(len(names), np.inf)
    coefficients[place], scores[place] = found.coefficients, found.scores
    reasons = {**faults, **{usable[i]: reason for i, reason in found.reasons.items()}}
    reasons = {i: f"Client {names[i]!r} {reasons[i]}." for i in sorted(reasons)}
    too_few = found.distinct + int(is_long.sum()) < FEWEST
    doubts = []
    if too_few:
        doubts.append(
            f"{found.distinct} distinct updates are too few to decide which are wrong: their "
            "lengths are bounded, and none is rejected by comparison."
        )
    if found.halved:
        doubts.append("Half of the clients stand apart from the other half; all were kept.")
    if found.agreeing:
        doubts.append("Half of the clients nearly agree, and may be the honest ones.")
    if 2 * len(reasons) >= len(names):
        doubts.append(f"Only {len(names) - len(reasons)} of {len(names)} updates can be used.")
    message = " ".join([*_decision(names, reasons, found, usable), *doubts])
    if doubts and on_doubt == "raise":
        raise DoubtfulRoundError(
            f"{message} Ask more clients, or pass on_doubt='warn' to aggregate all the same."
        )
    for doubt in doubts:
        warnings.warn(doubt, WeakEvidenceWarning, 2)
    return Aggregate(
        update=messages.usual.pack(combined(layers, found.coefficients)),
        rejected=tuple(reasons),
        reasons=reasons,
        scores=scores,
        weights=coefficients,
        suspects=tuple(usable[i] for i in found.suspects),
        clients=names,
        too_few=too_few,
        message=message,
    )


def _decision(
    names: tuple[Hashable, ...], reasons: dict[int, str], found: Judgement, usable: list[int]
) -> Iterator[str]:
    """Describe who counts, in sentences."""

    def listed(places: Iterable[int]) -> str:
        return ", ".join(repr(names[i]) for i in places)

    yield f"{len(names) - len(reasons)} of {len(names)} updates count."
    if reasons:
        yield f"Rejected: {listed(reasons)}."
    for members in found.copies:
        yield f"Nearly equal, counted as one: {listed(usable[i] for i in members)}."
    if found.suspects:
        apart = listed(usable[i] for i in found.suspects)
        yield f"Apart from the rest, but too few to do harm: {apart}."
