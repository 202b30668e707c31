"""What clients sent, read with suspicion: what cannot be used is named, and the rest goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from inlier._internal.arrays import dtype_name, is_real, on_host
from inlier._internal.typing import Array

CAP = 2.0
"""A client counts for at most this many times the median of all claimed sample counts."""


class Layer(NamedTuple):
    """What is the same in the messages of all honest clients."""

    name: Hashable
    shape: tuple[int, ...]
    dtype: str
    library: str


@dataclass(frozen=True)
class Message:
    """One client's update as a list of arrays.

    Attributes
    ----------
    form : type
        Array, list, tuple or dict: how the arrays were sent.
    names : list
        Their names in a dict, otherwise their positions.
    arrays : list of array
    """

    form: type
    names: list[Hashable]
    arrays: list[Any]

    @property
    def layout(self) -> tuple[type, frozenset[Layer]]:
        """Names, shapes and dtypes, in any order."""
        return self.form, frozenset(map(_layer, self.names, self.arrays))


@dataclass(frozen=True)
class Messages:
    """The messages of a round.

    Attributes
    ----------
    clients : tuple
        Their names, or their positions.
    readable : dict of list of array
        The layers of each client whose message has the right layout, by position.
    faults : dict of str
        What is wrong with the others.
    pack : callable
        Turns a list of layers into an update of the type that was sent.
    """

    clients: tuple[Hashable, ...]
    readable: dict[int, list[Any]]
    faults: dict[int, str]
    pack: Callable[[list[Any]], Any]


def read_messages(updates: Any, clients: Iterable[Hashable] | None = None) -> Messages:
    """Read the updates of a round; the layout that most clients sent is the right one."""
    sent, names = _by_client(updates, clients)
    found: dict[int, Message] = {}
    faults: dict[int, str] = {}
    for i, update in enumerate(sent):
        try:
            message = _message(update)
            sizes = [int(np.prod(array.shape)) for array in message.arrays]
            fault = _fault(message) if sum(sizes) else "sent an empty message"
            hash(message.layout)
        except Exception as error:  # whatever an object of a client does, the round goes on
            faults[i] = f"sent what cannot be read as an update ({type(error).__name__})"
            continue
        if fault:
            faults[i] = fault
        else:
            found[i] = message
    if not found:
        return Messages(names, {}, faults, lambda layers: layers)
    right, _ = Counter(message.layout for message in found.values()).most_common(1)[0]
    first = next(message for message in found.values() if message.layout == right)
    readable = {}
    for i, message in found.items():
        if message.layout == right:
            place = dict(zip(message.names, message.arrays, strict=True))
            readable[i] = [place[name] for name in first.names]
        else:
            faults[i] = _difference(message, first)
    return Messages(names, readable, faults, _packer(first))


def capped_counts(counts: Any, n: int) -> tuple[Array, dict[int, str]]:
    """Return how much each client counts, and who made an impossible claim.

    A claim is a number of samples that nobody can check, so that none counts for more than twice
    the median claim.
    """
    if counts is None:
        return np.ones(n), {}
    claims = list(on_host(counts) if is_array_api_obj(counts) else counts)
    if len(claims) != n:
        raise ValueError(
            f"weights must have one entry for each of the {n} updates, but has {len(claims)}."
        )
    values, faults = np.zeros(n), {}
    for i, claim in enumerate(claims):
        try:
            values[i] = float(claim)
        except (TypeError, ValueError, OverflowError):
            values[i] = np.nan
        if not (np.isfinite(values[i]) and values[i] > 0.0):
            faults[i] = "claims a sample count that is not a positive number"
            values[i] = 0.0
    good = values[values > 0.0]
    if not len(good):
        return values, faults
    # The lower one: with an even number of clients, half of them must not set the unit alone.
    unit = float(np.sort(good)[(len(good) - 1) // 2])
    return np.minimum(values / unit, CAP), faults


def _by_client(
    updates: Any, clients: Iterable[Hashable] | None
) -> tuple[list[Any], tuple[Hashable, ...]]:
    """Return the updates as a list, and the names of the clients."""
    if isinstance(updates, Mapping):
        if clients is None:
            clients = updates.keys()
        sent = list(updates.values())
    elif is_array_api_obj(updates):
        if updates.ndim != 2:
            raise ValueError(
                "updates must be a matrix with a row for each client, or a list of updates, but is "
                f"an array of shape {tuple(updates.shape)}."
            )
        sent = [updates[i, ...] for i in range(updates.shape[0])]
    elif isinstance(updates, str | bytes) or not isinstance(updates, Iterable):
        raise TypeError(
            "updates must be a matrix, a list with an update for each client, or a dict from "
            f"clients to updates, but is {type(updates).__name__}."
        )
    else:
        sent = list(updates)
    if not sent:
        raise ValueError("updates is empty: no client sent anything.")
    names = tuple(range(len(sent)) if clients is None else clients)
    if len(names) != len(sent) or len(set(names)) != len(names):
        raise ValueError(
            f"clients must be {len(sent)} different names, one for each update, but there are "
            f"{len(names)}, {len(set(names))} of them different."
        )
    return sent, names


def _message(update: Any) -> Message:
    """Read one update."""
    if is_array_api_obj(update):
        return Message(np.ndarray, [0], [_array(update)])
    if isinstance(update, Mapping):
        return Message(dict, list(update.keys()), [_array(x) for x in update.values()])
    if isinstance(update, Sequence) and not isinstance(update, str | bytes):
        if len(update) and all(isinstance(x, int | float | np.number) for x in update):
            return Message(np.ndarray, [0], [np.asarray(update, dtype=np.float64)])
        form = tuple if isinstance(update, tuple) else list
        return Message(form, list(range(len(update))), [_array(x) for x in update])
    raise TypeError(f"{type(update).__name__} is no update")


def _array(x: Any) -> Any:
    """Return an array without its gradient."""
    if isinstance(x, np.ndarray):
        return x
    if is_array_api_obj(x) and not isinstance(x, np.generic):
        return x.detach() if hasattr(x, "detach") else x
    return np.asarray(x)


def _layer(name: Hashable, array: Any) -> Layer:
    library = type(array).__module__.partition(".")[0]
    return Layer(name, tuple(array.shape), dtype_name(array), library)


def _fault(message: Message) -> str:
    """Say whether an array does not hold real numbers."""
    for name, array in zip(message.names, message.arrays, strict=True):
        if not is_real(array):
            return f"sent {dtype_name(array)} in {_called(message, name)}, not real numbers"
    return ""


def _difference(message: Message, right: Message) -> str:
    """Say how a layout differs from that of most clients."""
    if message.form is not right.form:
        return f"sent {_kind(message.form)} where most sent {_kind(right.form)}"
    if len(message.arrays) != len(right.arrays):
        return f"sent {len(message.arrays)} layers where most sent {len(right.arrays)}"
    theirs = dict(zip(message.names, message.arrays, strict=True))
    for name, array in zip(right.names, right.arrays, strict=True):
        if name not in theirs:
            return f"sent no layer {name!r}"
        mine, usual = _layer(name, theirs[name]), _layer(name, array)
        if mine != usual:
            what = "shape" if mine.shape != usual.shape else "dtype"
            if mine.shape == usual.shape and mine.dtype == usual.dtype:
                what = "library"
            return (
                f"sent {_called(message, name)} with {what} {getattr(mine, what)} where most sent "
                f"{getattr(usual, what)}"
            )
    return "sent layers with other names"


def _called(message: Message, name: Hashable) -> str:
    return "its vector" if message.form is np.ndarray else f"layer {name!r}"


def _kind(form: type) -> str:
    return {np.ndarray: "one array", dict: "named layers"}.get(form, "a list of layers")


def _packer(message: Message) -> Callable[[list[Any]], Any]:
    """Return what turns layers into an update like this one."""
    if message.form is np.ndarray:
        return lambda layers: layers[0]
    if message.form is dict:
        return lambda layers: dict(zip(message.names, layers, strict=True))
    return message.form
