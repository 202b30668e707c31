"""Updates as sent by clients: what cannot be used is named, and the round goes on with the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from inlier._internal.arrays import dtype_name, is_real, on_host
from inlier._internal.typing import Array


class UnusableError(Exception):
    """What is wrong with an update, as the rest of a sentence about its client."""


class Message(NamedTuple):
    """One client's update as a dict of arrays."""

    form: type  # the type in which they were sent: ndarray (one array), list, tuple or dict
    layers: dict[Hashable, Any]  # by their names in a dict, otherwise by their positions

    @property
    def layout(self) -> tuple[type, frozenset[Any]]:
        """The form, and names, shapes, dtypes and libraries of the layers in any order."""
        return self.form, frozenset((name, *_kind(x).items()) for name, x in self.layers.items())

    def pack(self, layers: list[Any]) -> Any:
        """Turn a list of layers into an update of the same type."""
        if self.form is np.ndarray:
            return layers[0]
        if self.form is dict:
            return dict(zip(self.layers, layers, strict=True))
        return self.form(layers)

    def check(self) -> None:
        """Raise an error if something is wrong with the message on its own."""
        if not any(np.prod(x.shape) for x in self.layers.values()):
            raise UnusableError("sent an empty message")
        for name, x in self.layers.items():
            if not is_real(x):
                fault = f"{dtype_name(x)} in {self._called(name)}, not real numbers"
                raise UnusableError(f"sent {fault}")
            if what := _without_values(x):
                raise UnusableError(f"sent {what} as {self._called(name)}, not a dense array")

    def difference(self, usual: Message) -> str:
        """Describe how the layers differ from those of most clients."""
        for name, x in usual.layers.items():
            if name not in self.layers:
                return f"sent no layer {name!r}"
            mine, theirs = _kind(self.layers[name]), _kind(x)
            for what in mine:
                if mine[what] != theirs[what]:
                    layer = f"{self._called(name)} with {what} {mine[what]}"
                    return f"sent {layer} where most sent {theirs[what]}"
        return "sent layers with other names"

    def _called(self, name: Hashable) -> str:
        return "its vector" if self.form is np.ndarray else f"layer {name!r}"


class Messages(NamedTuple):
    """The messages of a round."""

    clients: tuple[Hashable, ...]  # their names, or their positions
    readable: dict[int, list[Any]]  # the layers of those with the usual layout, by position
    faults: dict[int, str]  # what is wrong with the others
    usual: Message  # the first with the usual layout; empty if there is none


def read_messages(updates: Any, clients: Iterable[Hashable] | None = None) -> Messages:
    """Read the updates of a round; the usual layout is the one that most clients sent.

    Layers are counted first: those of a client that sent a million are not read.
    """
    sent, names = _by_client(updates, clients)
    faults: dict[int, str] = {}
    outlines: dict[int, tuple[type, int]] = {}
    found: dict[int, Message] = {}
    for i, update in enumerate(sent):
        with _blamed(i, faults):
            outlines[i] = _outline(update)
    counts = Counter(outlines.values())
    # The shorter of two that are equally common: half of the clients cannot stall the others.
    most = max(counts, key=lambda outline: (counts[outline], -outline[1]), default=(list, 0))
    for i, outline in outlines.items():
        with _blamed(i, faults):
            found[i] = _message(sent[i], outline, most)
    if not found:
        return Messages(names, {}, faults, Message(list, {}))
    layout, _ = Counter(message.layout for message in found.values()).most_common(1)[0]
    usual = next(message for message in found.values() if message.layout == layout)
    readable = {}
    for i, message in found.items():
        if message.layout == layout:
            readable[i] = [message.layers[name] for name in usual.layers]
        else:
            faults[i] = message.difference(usual)
    return Messages(names, readable, faults, usual)


@contextmanager
def _blamed(client: int, faults: dict[int, str]) -> Iterator[None]:
    """Note what a client's update raises, which may be anything; the round goes on."""
    try:
        yield
    except UnusableError as error:
        faults[client] = str(error)
    except Exception as error:
        faults[client] = f"sent what cannot be read as an update ({type(error).__name__})"


def capped_counts(counts: Any, n: int) -> tuple[Array, dict[int, str]]:
    """Return the weight of each client, and which sample counts are impossible.

    A sample count is a claim that cannot be verified, so none counts for more than twice the
    median.
    """
    if counts is None:
        return np.ones(n), {}
    listed = isinstance(counts, Iterable) and not isinstance(counts, str | Mapping)
    if not listed and not is_array_api_obj(counts):
        raise TypeError(
            f"weights must be a list with the sample count of each of the {n} updates, but is "
            f"{counts!r}."
        )
    claims = list(on_host(counts) if is_array_api_obj(counts) else counts)
    if len(claims) != n:
        raise ValueError(
            f"weights must have one entry for each of the {n} updates, but has {len(claims)}."
        )
    values = np.zeros(n)
    for i, claim in enumerate(claims):
        with suppress(TypeError, ValueError, OverflowError):
            values[i] = float(claim)
    values[~np.isfinite(values) | (values < 0.0)] = 0.0
    fault = "claims a sample count that is not a positive number"
    faults = dict.fromkeys(np.flatnonzero(values == 0.0).tolist(), fault)
    good = values[values > 0.0]
    if not len(good):
        return values, faults
    # The lower median: with an even number of clients, half of them must not set the unit alone.
    unit = float(np.sort(good)[(len(good) - 1) // 2])
    return np.minimum(values / unit, 2.0), faults


def _by_client(
    updates: Any, clients: Iterable[Hashable] | None
) -> tuple[list[Any], tuple[Hashable, ...]]:
    """Return the updates as a list, and the names of the clients."""
    if isinstance(updates, Mapping):
        clients = updates.keys() if clients is None else clients
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
    try:
        names = tuple(range(len(sent)) if clients is None else clients)
        hash(names)
    except TypeError:
        raise TypeError(
            "clients must be a list of names that can be keys of a dict, such as texts or "
            f"numbers, but is {clients!r}."
        ) from None
    if len(names) != len(sent) or len(set(names)) != len(names):
        raise ValueError(
            f"clients must be {len(sent)} different names, one for each update, but there are "
            f"{len(names)}, {len(set(names))} of them different."
        )
    return sent, names


def _outline(update: Any) -> tuple[type, int]:
    """Return the form of an update and the number of its layers."""
    if isinstance(update, Mapping):
        return dict, len(update)
    if is_array_api_obj(update):
        return np.ndarray, 1
    if isinstance(update, str | bytes) or not isinstance(update, Sequence):
        raise TypeError(f"{type(update).__name__} is no update")
    if len(update) and isinstance(update[0], int | float | np.number):
        return np.ndarray, 1
    return tuple if isinstance(update, tuple) else list, len(update)


def _message(update: Any, outline: tuple[type, int], most: tuple[type, int]) -> Message:
    """Read an update that has the outline of most."""
    form, n_layers = outline
    if form is not most[0]:
        forms = {np.ndarray: "one array", dict: "named layers"}
        mine, theirs = (forms.get(x, "a list of layers") for x in (form, most[0]))
        raise UnusableError(f"sent {mine} where most sent {theirs}")
    if n_layers != most[1]:
        raise UnusableError(f"sent {n_layers} layers where most sent {most[1]}")
    if form is np.ndarray:
        vector = update if is_array_api_obj(update) else np.asarray(update, dtype=np.float64)
        layers: Iterable[tuple[Hashable, Any]] = [(0, vector)]
    else:
        layers = islice(update.items() if form is dict else enumerate(update), n_layers)
    message = Message(form, {name: _array(x) for name, x in layers})
    message.check()
    hash(message.layout)
    return message


def _array(x: Any) -> Any:
    """Return an array without its gradient, and of numpy's own class."""
    if not is_array_api_obj(x) or isinstance(x, np.ndarray | np.generic):
        return x if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    return x.detach() if hasattr(x, "detach") else x


def _without_values(x: Any) -> str:
    """Name the kind of an array some of whose entries are not in memory, if it is one."""
    if isinstance(x, np.ma.MaskedArray):
        return "a masked array"
    if "sparse" in str(getattr(x, "layout", "")):
        return "a sparse array"
    if str(getattr(x, "device", "")) == "meta":
        return "an array without data"
    on_host(x[(slice(0, 1),) * x.ndim])  # whatever else cannot be read raises here
    return ""


def _kind(x: Any) -> dict[str, Any]:
    """Return what has to be the same in a layer of all clients."""
    library = type(x).__module__.partition(".")[0]
    return {"shape": tuple(x.shape), "dtype": dtype_name(x), "library": library}
