"""What clients send: every form that is read, and everything that is refused by name."""

import numpy as np
import pytest
import torch

from cases import cases
from inlier.federated import aggregate
from inlier.federated.messages import capped_counts, read_messages

GOOD = np.arange(6.0)


class Fake(torch.Tensor):
    """A tensor without memory behind it, as those of torch.compile are."""

    @classmethod
    def __torch_dispatch__(cls, *_):
        raise RuntimeError("there is nothing to read")


class Hostile:
    """An update whose every use raises."""

    def __getattr__(self, name):
        raise RuntimeError("boo")

    def __iter__(self):
        raise RuntimeError("boo")

    def __len__(self):
        raise RuntimeError("boo")


@cases(
    ("updates", "packed"),
    [
        ([GOOD, GOOD], np.ndarray),
        (np.stack([GOOD, GOOD]), np.ndarray),
        ([GOOD.tolist(), GOOD.tolist()], np.ndarray),
        ([[GOOD, GOOD[:2]], [GOOD, GOOD[:2]]], list),
        ([(GOOD, GOOD[:2]), (GOOD, GOOD[:2])], tuple),
        ([{"a": GOOD}, {"a": GOOD}], dict),
        ({"x": [GOOD], "y": [GOOD]}, list),
        (torch.ones(2, 6, dtype=torch.bfloat16), torch.Tensor),
        ([[torch.ones(2, requires_grad=True)]] * 2, list),
    ],
)
def test_forms(updates, packed):
    messages = read_messages(updates)
    assert not messages.faults and list(messages.readable) == [0, 1]
    assert messages.clients == (tuple(updates) if isinstance(updates, dict) else (0, 1))
    assert isinstance(messages.usual.pack(messages.readable[0]), packed)


def test_layers_in_another_order_are_the_same():
    a, b = np.ones(2), np.zeros(3)
    messages = read_messages([{"a": a, "b": b}, {"b": b, "a": a}], ["p", "q"])
    assert not messages.faults and messages.clients == ("p", "q")
    assert [x.shape for x in messages.readable[1]] == [(2,), (3,)]


@cases(
    ("bad", "said"),
    [
        (None, "cannot be read"),
        ("text", "cannot be read"),
        (Hostile(), "cannot be read"),
        ({}, "0 layers where most sent 1"),
        ({"a": np.zeros((0, 3))}, "empty"),
        ({"a": GOOD, "b": GOOD}, "2 layers where most sent 1"),
        ({"z": GOOD}, "no layer 'a'"),
        ({"a": GOOD[:5]}, "shape (5,) where most sent (6,)"),
        ({"a": GOOD.astype(np.float32)}, "dtype float32 where most sent float64"),
        ({"a": torch.arange(6.0, dtype=torch.float64)}, "library torch where most sent numpy"),
        ({"a": GOOD + 1j}, "complex128"),
        ({"a": np.array(["x"] * 6)}, "not real numbers"),
        ({"a": np.array([None] * 6)}, "not real numbers"),
        ({"a": np.ma.masked_equal(GOOD, 3.0)}, "a masked array as layer 'a', not a dense array"),
        ({"a": torch.ones(6).to_sparse()}, "a sparse array as layer 'a'"),
        ({"a": torch.ones(6, dtype=torch.int8, device="meta")}, "an array without data"),
        (
            {"a": torch.Tensor._make_wrapper_subclass(Fake, (6,))},
            "cannot be read as an update (RuntimeError)",
        ),
        (GOOD, "one array where most sent named layers"),
        ([GOOD], "a list of layers where most sent named layers"),
    ],
)
def test_what_is_refused(bad, said):
    messages = read_messages([{"a": GOOD}, bad, {"a": GOOD}, {"a": GOOD}])
    assert list(messages.readable) == [0, 2, 3]
    assert said in messages.faults[1]


def test_a_million_layers_are_not_read():
    class Many(dict):
        def __len__(self):
            return 10**6

        def items(self):
            raise AssertionError("read")

    messages = read_messages([{"a": GOOD}, Many(), {"a": GOOD}])
    assert messages.faults == {1: "sent 1000000 layers where most sent 1"}
    messages = read_messages([Many(), {"a": GOOD}])  # nor where as many sent so many
    assert messages.faults == {0: "sent 1000000 layers where most sent 1"}


@cases(
    ("updates", "clients", "error"),
    [
        ([], None, ValueError),
        (np.zeros(3), None, ValueError),
        (np.zeros((2, 3, 4)), None, ValueError),
        ("text", None, TypeError),
        (3, None, TypeError),
        ([GOOD, GOOD], ["a"], ValueError),
        ([GOOD, GOOD], ["a", "a"], ValueError),
    ],
)
def test_what_the_server_did_wrong(updates, clients, error):
    with pytest.raises(error):
        read_messages(updates, clients)


@cases(
    ("claims", "expected"),
    [
        ([100, 100, 50, 1e9, 300], [1.0, 1.0, 0.5, 2.0, 2.0]),
        ([100, 100, 1e9, 1e9], [1.0, 1.0, 2.0, 2.0]),  # half of them do not set the cap
        (torch.tensor([1, 2, 1]), [1.0, 2.0, 1.0]),
    ],
)
def test_claims_are_capped_at_twice_the_median(claims, expected):
    counts, faults = capped_counts(claims, len(claims))
    np.testing.assert_allclose(counts, expected)
    assert not faults


@cases("claim", [np.nan, np.inf, -1, 0, None, "many", 10**400])
def test_impossible_claims(claim):
    counts, faults = capped_counts([10, claim, 10], 3)
    assert list(faults) == [1] and counts.tolist() == [1.0, 0.0, 1.0]


def test_wrong_number_of_claims():
    with pytest.raises(ValueError, match="one entry for each of the 3"):
        capped_counts([1, 2], 3)


@cases(
    "name, value",
    [
        ("clients", 3),
        ("clients", [["a"], ["b"], ["c"]]),
        ("weights", 3),
        ("weights", "abc"),
        ("weights", {"a": 1, "b": 2, "c": 3}),
        ("record", 3),
    ],
)
def test_arguments_of_the_wrong_type_are_named(name, value):
    with pytest.raises(TypeError, match=f"^{name} must be .*but is "):
        aggregate(np.eye(3), **{name: value})
