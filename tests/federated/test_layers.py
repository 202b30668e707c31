"""Passes in blocks against numpy in double precision."""

import numpy as np
import pytest
import torch

from cases import cases
from inlier.federated import layers as module
from inlier.federated.layers import combined, gram, lengths


def updates(n=5, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    return [
        [random.standard_normal((7, 11)).astype(dtype), random.standard_normal(3000).astype(dtype)]
        for _ in range(n)
    ]


def flat(clients):
    return np.stack([np.concatenate([np.ravel(x).astype(float) for x in c]) for c in clients])


def as_torch(clients, dtype):
    return [[torch.tensor(x, dtype=dtype) for x in c] for c in clients]


@cases(
    ("scale", "dtype"),
    [
        (1.0, np.float32),
        (1e-8, np.float32),
        (1e-30, np.float32),
        (1e30, np.float32),
        (1e200, float),
    ],
)
def test_lengths(scale, dtype):
    clients = [[(x * scale).astype(dtype) for x in c] for c in updates(dtype=float)]
    expected = np.linalg.norm(flat(clients) / scale, axis=1)
    np.testing.assert_allclose(lengths(clients) / scale, expected, rtol=1e-5)


@pytest.mark.parametrize("block", [1, 1 << 18])
@cases("dtype", [np.float16, np.float32, np.float64, torch.bfloat16, torch.float32])
def test_gram(dtype, block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ENTRIES", block)
    clients = as_torch(updates(), dtype) if isinstance(dtype, torch.dtype) else updates(dtype=dtype)
    X = np.stack(
        [np.concatenate([np.ravel(torch.as_tensor(x).double()) for x in c]) for c in clients]
    )
    X = X - X[1]
    found = gram(clients, 1, lengths(clients)) * lengths(clients)[1] ** 2
    np.testing.assert_allclose(found, X @ X.T, rtol=1e-4, atol=1e-2)
    assert (found == found.T).all()


def test_gram_leaves_out_whole_numbers():
    clients = updates()
    counted = [[*c, np.array(10**6 * i)] for i, c in enumerate(clients)]
    np.testing.assert_array_equal(
        gram(counted, 0, lengths(clients)), gram(clients, 0, lengths(clients))
    )


@cases("dtype", [np.float16, np.float32, np.float64])
def test_combined(dtype):
    clients = updates(dtype=dtype)
    a = np.array([0.5, 0.0, 0.25, 0.125, 0.125])
    found = combined(clients, a)
    assert [x.shape for x in found] == [(7, 11), (3000,)]
    assert {x.dtype for x in found} == {np.dtype(dtype)}
    expected = a @ flat(clients)
    np.testing.assert_allclose(flat([found])[0], expected, atol=4 * np.finfo(dtype).eps * 4)


def test_whole_numbers_are_medians_of_those_that_count():
    clients = [[np.array([i, 100 - i]), np.array(i > 1)] for i in (3, 1, 10**9, 2)]
    found = combined(clients, np.array([0.5, 0.4, 0.0, 0.1]))
    np.testing.assert_array_equal(found[0], [2, 98])
    assert found[0].dtype.kind == "i" and found[1].dtype == bool and bool(found[1])


def test_layers_that_are_empty_scalars_or_not_contiguous():
    random = np.random.default_rng(0)
    clients = [
        [np.zeros((0, 3)), np.array(float(i)), random.standard_normal((6, 40)).T[::2]]
        for i in range(4)
    ]
    empty, scalar, strided = combined(clients, np.full(4, 0.25))
    assert empty.shape == (0, 3) and scalar.shape == () and float(scalar) == 1.5
    np.testing.assert_allclose(strided, np.mean([c[2] for c in clients], axis=0))
