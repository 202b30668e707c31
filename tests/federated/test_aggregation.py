"""`aggregate` from end to end: numpy means, properties, hostile clients, cost."""

import importlib
import sys
import tracemalloc
from functools import partial

import numpy as np
import pytest
import torch

import fits
from cases import cases
from inlier import WeakEvidenceWarning
from inlier.federated import DoubtfulRoundError, Record, aggregate

quietly = partial(fits.quietly, aggregate)


def honest(n=10, dtype=float, d=600, seed=0):
    random = np.random.default_rng(seed)
    return (random.standard_normal((n, d)) + 0.5).astype(dtype)


def attacked(n=20, d=600, seed=0):
    """One extreme client, copies, and ordinary ones of different lengths."""
    X = honest(n, d=d, seed=seed) * np.random.default_rng(1).uniform(0.5, 3.0, (n, 1))
    X[3] *= -1e5
    X[[6, 7]] = X[5]
    return X


@cases("n", [4, 10, 50])
@cases("dtype", [np.float16, np.float32, np.float64, torch.bfloat16, torch.float32])
def test_without_liars_it_is_the_mean(n, dtype):
    X = torch.tensor(honest(n), dtype=dtype) if isinstance(dtype, torch.dtype) else honest(n, dtype)
    result = aggregate(X)
    assert result.rejected == () and result.reasons == {} and not result.too_few
    assert type(result.update) is type(X) and result.update.dtype == dtype
    mean = torch.as_tensor(X).double().mean(dim=0)
    np.testing.assert_allclose(torch.as_tensor(result.update).double(), mean, atol=1e-2)
    np.testing.assert_allclose(result.weights, np.full(n, 1 / n), atol=1e-6)


def test_weights_are_sample_counts_with_a_cap():
    X, counts = honest(8), np.array([10, 20, 15, 10, 12, 18, 10, 14])
    expected = np.average(X, axis=0, weights=counts)
    np.testing.assert_allclose(aggregate(X, counts).update, expected, atol=1e-6)
    result = aggregate(honest(9), [100] * 8 + [10**12])
    np.testing.assert_allclose(result.weights[8], 0.2, atol=1e-6)


@cases("named", [False, True])
def test_layers(named):
    X = honest(6)
    layers = [[x[:200].reshape(10, 20), x[200:]] for x in X]
    if named:
        layers = [dict(zip("ab", pair, strict=True)) for pair in layers]
    found = aggregate(layers).update
    assert isinstance(found, dict if named else list)
    found = [found[name] for name in "ab"] if named else found
    assert [x.shape for x in found] == [(10, 20), (400,)]
    joined = np.concatenate([x.ravel() for x in found])
    np.testing.assert_allclose(joined, aggregate(X).update, atol=1e-9)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@cases("dtype", [torch.bfloat16, torch.float32])
def test_tensors_on_a_gpu(dtype):
    X = torch.tensor(honest(8), dtype=dtype)
    X[3] *= 1e4
    result, expected = aggregate(list(X.cuda())), aggregate(list(X))
    assert result.update.is_cuda and result.update.dtype is dtype
    assert result.rejected == expected.rejected == (3,)
    torch.testing.assert_close(result.update.cpu(), expected.update)


def test_state_dicts_of_torch():
    models = [torch.nn.Sequential(torch.nn.Linear(8, 5), torch.nn.BatchNorm1d(5)) for _ in "abcde"]
    update = aggregate([model.state_dict() for model in models]).update
    models[0].load_state_dict(update)
    assert update["1.num_batches_tracked"].dtype is torch.int64


def test_order_of_clients_does_not_matter():
    X = attacked()
    order = np.random.default_rng(5).permutation(len(X))
    one, other = aggregate(X), aggregate(X[order])
    np.testing.assert_allclose(other.update, one.update, atol=1e-7)
    np.testing.assert_allclose(other.weights, one.weights[order], atol=1e-7)
    assert sorted(order[list(other.rejected)]) == list(one.rejected)


@cases("scale", [1e-30, 1e-8, 1e8, 1e25])
@cases("dtype", [np.float32, np.float64])
def test_units_do_not_matter(scale, dtype):
    X = attacked().astype(dtype)
    one, other = aggregate(X), aggregate((X * scale).astype(dtype))
    assert other.rejected == one.rejected
    np.testing.assert_allclose(other.update.astype(float) / scale, one.update, atol=1e-3)


@cases(("dtype", "size"), [(np.float32, 1e3), (np.float64, 1e6)])
def test_whole_models_do_as_well_as_differences(dtype, size):
    X = attacked()
    start = size * np.random.default_rng(9).standard_normal(600)
    one, other = aggregate(X), aggregate((X + start).astype(dtype))
    assert other.rejected == one.rejected
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-3)
    np.testing.assert_allclose(other.update - start, one.update, atol=size * 1e-6)


@cases("n", [4, 5, 10, 51])
@cases("alike", [False, True])
@cases("size", [30.0, 1e2, 1e30])
@cases("dtype", [np.float32, np.float64])
def test_extreme_clients_just_under_half(n, alike, size, dtype):
    X, k = honest(n, dtype), (n - 1) // 2
    X[:k] = dtype(size) * (X[0] if alike else X[:k])
    result = aggregate(X)
    assert result.rejected == tuple(range(k))
    np.testing.assert_allclose(result.update, X[k:].mean(axis=0), atol=1e-6)


@cases("n", [1, 2, 3, 4, 10, 100])
def test_honest_clients_are_not_extreme(n):
    X = honest(n) * np.random.default_rng(1).uniform(0.2, 5.0, (n, 1))
    assert quietly(X).rejected == quietly(np.ones((n, 4))).rejected == ()


# -- Idle clients and near-copies are one voice each ----------------------------------------------


@cases(("idle", "liars"), [(5, 1), (1, 3), (6, 3)])
@cases("same", [False, True])
@cases("size", [1e-12, 1e-30, 1e-200])
def test_idle_clients_and_short_updates_do_not_set_the_unit(idle, liars, same, size):
    X = np.zeros((idle + liars + 4, 600))
    X[-4:] = honest(4)
    X[idle:-4] = size * honest(liars, seed=1)[np.arange(liars) * (not same)]
    result = aggregate(X)
    assert result.rejected == ()
    np.testing.assert_allclose(result.update, 0.8 * X[-4:].mean(axis=0), atol=0.01)
    X[-1] *= 1e3
    assert aggregate(X).rejected == (len(X) - 1,)


@cases("n", [8, 21])
@cases("jitter", [1e-9, 1e-3, 0.05, 0.15])
def test_liars_around_one_client_are_one_voice(n, jitter):
    X, k = honest(n, d=1000), (n - 1) // 2
    X[-k:] = X[0] + jitter * (honest(k, d=1000, seed=1) - 0.5)
    result = quietly(X)
    assert result.rejected == ()
    np.testing.assert_allclose(result.update, X[: n - k].mean(axis=0), atol=0.1)


@cases("n", [7, 11, 21])
@cases("jitter", [0.4, 0.6, 0.8, 1.0])
def test_liars_with_noise_of_their_own_around_one_client_leave_a_doubt(n, jitter):
    """With it they are a bare majority, from which the other honest clients stand apart."""
    X, k = honest(n, d=1000), (n - 1) // 2
    X[-k:] = X[0] + jitter * (honest(k, d=1000, seed=1) - 0.5)
    assert quietly(X).rejected == ()


@cases("along", [0.4, 0.55, 0.7, 1.0])
@cases("aside", [0.0, 0.6, 0.8])
@cases("noise", [0.5, 1.0])
@cases("k", [5, 8])
def test_liars_do_not_have_a_client_rejected_with_them(along, aside, noise, k):
    random = np.random.default_rng(0)
    X = random.standard_normal((20, 1000))
    center = along * X[0] + aside * random.standard_normal(1000)
    X[-k:] = center + noise * random.standard_normal((k, 1000))
    result, mean = aggregate(X), X[:-k].mean(axis=0)
    assert not set(result.rejected) & set(range(20 - k))
    assert np.linalg.norm(result.update - mean) < 1.1 * np.linalg.norm(mean)


@cases("size", [1e-30, 1.0, 1e30])
def test_too_few_voices_for_a_verdict(size):
    """The center is that of most clients, whatever one of them sends."""
    X = np.zeros((6, 50), np.float32)
    X[4] = size
    with pytest.warns(WeakEvidenceWarning, match="2 distinct updates are too few"):
        result = aggregate(X)
    assert result.rejected == () and result.too_few and not result.update.any()
    X = honest(3, dtype=np.float32)
    X[2] *= np.float32(size * 1e7)
    limit = 2.0 * np.linalg.norm(X[0] - X[1])
    assert np.linalg.norm(quietly(X).update - X[:2].mean(axis=0)) < limit
    for n in (1, 2, 3):
        np.testing.assert_allclose(quietly(honest(n)).update, honest(n).mean(axis=0), atol=1e-6)


DOUBTFUL = {
    "distinct updates are too few": honest(3),
    "Half of the clients stand apart": honest(20)
    + (np.arange(20) < 10)[:, None] * honest(1, seed=3),
    "Half of the clients nearly agree": honest(21)[np.minimum(np.arange(21), 10)]
    + 0.01 * honest(21, seed=1),
    "Only 5 of 10 updates can be used": honest(10)
    * np.where(np.arange(10) < 5, 1, np.nan)[:, None],
}


@cases("said", DOUBTFUL)
def test_doubt_can_be_an_error(said):
    with pytest.warns(WeakEvidenceWarning, match=said):
        assert said in aggregate(DOUBTFUL[said]).message
    with pytest.raises(DoubtfulRoundError, match=f"{said}.*on_doubt='warn'"):
        aggregate(DOUBTFUL[said], on_doubt="raise")
    assert aggregate(honest(), on_doubt="raise").rejected == ()
    with pytest.raises(ValueError, match="on_doubt must be one of 'warn', 'raise', but is 'stop'"):
        aggregate(honest(), on_doubt="stop")


# -- The round goes on ----------------------------------------------------------------------------


BAD = {  # what a client sends, and whether it has a distance from the others
    "nan": ({"a": np.full(600, np.nan, np.float32)}, False),
    "huge": ({"a": np.full(600, 1e38, np.float32)}, False),
    "far": ({"a": np.full(600, 35.0, np.float32)}, True),
    "text": ("nothing", False),
    "sparse": ({"a": torch.ones(600).to_sparse()}, False),
    "meta": ({"a": torch.ones(600, device="meta")}, False),
}


@cases("kind", BAD)
def test_the_round_goes_on(kind):
    X = torch.tensor(honest(6, dtype=np.float32))
    bad, is_measured = BAD[kind]
    if isinstance(bad, dict):
        bad = {"a": torch.as_tensor(bad["a"])}
    result = aggregate([*({"a": x} for x in X), bad])
    assert result.rejected == (6,)
    assert result.reasons[6].startswith("Client 6 ") and result.reasons[6].endswith(".")
    assert np.isfinite(result.scores[6]) == is_measured and result.scores[6] > 20.0
    np.testing.assert_allclose(result.update["a"], X.mean(dim=0), atol=1e-5)


@cases("claim", [np.nan, None])
def test_an_impossible_claim(claim):
    X = honest(6)
    result = aggregate(X, [10, 10, claim, 10, 10, 10])
    assert result.rejected == (2,) and "sample count" in result.reasons[2]


@cases("updates", [[None, None], [[np.full(3, np.nan)]] * 4, [{}, {}, {}]])
def test_nothing_usable(updates):
    with pytest.raises(ValueError, match=r"None of the \d updates can be used: client 0 sent"):
        aggregate(updates)


def test_extreme_rows_do_not_hide_subtle_ones_in_single_precision():
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 2000)).astype(np.float32)
    X[:3] *= np.float32(1e7)
    X[3:13] += np.float32(0.7) * random.standard_normal(2000).astype(np.float32)
    result = aggregate(X)
    assert result.rejected == tuple(range(13))
    np.testing.assert_allclose(result.update, X[13:].mean(axis=0), atol=1e-4)


def test_the_record_goes_by_name():
    record, shift = Record(), 0.6 * (honest(1, d=400, seed=77) - 0.5)
    for t in range(25):
        names = np.random.default_rng(t).permutation(20)
        X = honest(20, d=400, seed=t)
        X[names < 8] += shift
        result = aggregate(X, record=record, clients=names.tolist())
    assert sorted(result.clients[i] for i in result.rejected) == list(range(8))
    assert record.counts.min() == pytest.approx((1.0 - 0.9**25) / 0.1)


def test_a_dict_of_clients():
    X = honest(5)
    X[1] = np.nan
    result = aggregate({name: x for name, x in zip("abcde", X, strict=True)})
    assert result.clients[result.rejected[0]] == "b"
    assert result.reasons[1] == "Client 'b' sent NaN or infinity."
    assert "Rejected: 'b'." in result.message


def wild(random, n, d):
    """Updates of which any number are absurd."""
    X = random.standard_normal((n, d)) * 10.0 ** random.integers(-6, 4)
    for i in range(random.integers(0, n + 1)):
        what = random.integers(6)
        if what == 0:
            X[i] *= 10.0 ** random.integers(0, 300)
        elif what == 1:
            X[i, random.integers(d)] = random.choice([np.nan, np.inf, 1e308])
        elif what == 2:
            X[i] = X[random.integers(n)]
        elif what == 3:
            X[i] = 0.0
    return X


@cases("seed", range(150))
def test_whatever_is_sent_the_answer_is_finite(seed):
    random = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        X = wild(random, random.integers(1, 25), random.integers(1, 40))
        X = X.astype(random.choice([np.float16, np.float32, np.float64]))
    try:
        result = quietly(X, record=Record())
    except ValueError as error:
        assert not np.isfinite(X).all(axis=1).any(), error
        return
    assert np.isfinite(result.update).all() and not np.isnan(result.scores).any()
    assert abs(result.weights.sum() - 1.0) < 1e-9 and result.weights.min() >= 0.0
    assert not result.weights[list(result.rejected)].any()


def test_the_weights_give_the_update_and_nothing_that_was_sent_is_changed():
    X = attacked()
    before = X.copy()
    result = aggregate(X)
    assert result.rejected == (3,) and result.weights[3] == 0.0
    assert repr(result).startswith("<Aggregate: 19 of 20 updates count. Rejected: 3. Nearly equal")
    np.testing.assert_allclose(result.update, result.weights @ X, atol=1e-9)
    alone = quietly(X[:1])
    result.update[:] = alone.update[:] = 0.0
    np.testing.assert_array_equal(X, before)


def test_flower_is_asked_for_by_its_extra(monkeypatch):
    for name in ("flwr", "flwr.app"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "inlier.federated.flower", raising=False)
    with pytest.raises(ImportError, match=r'pip install "inlier\[flower\]"'):
        importlib.import_module("inlier.federated.flower")


def test_extra_memory():
    X = np.random.default_rng(0).standard_normal((30, 200_000), dtype=np.float32)
    aggregate(X[:, :1000])
    tracemalloc.start()
    aggregate(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.2 * X.nbytes  # a block is small beside layers that are ten times as large
