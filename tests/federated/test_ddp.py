"""Data-parallel training over gloo with four processes, one of which sends garbage."""

import socket
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import distributed, multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel

from inlier.federated.ddp import RobustState, robust_hook

RANKS = 4
LIAR = 2


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def task(rank):
    random = np.random.default_rng(rank)
    X = random.standard_normal((64, 5)).astype(np.float32)
    y = X @ np.arange(1.0, 6.0, dtype=np.float32) + 0.1 * random.standard_normal(64)
    return torch.tensor(X), torch.tensor(y, dtype=torch.float32)[:, None]


def train(rank, port, out):
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS
    )
    try:
        torch.manual_seed(0)
        model = DistributedDataParallel(nn.Linear(5, 1))
        state = RobustState()
        model.register_comm_hook(state, robust_hook)
        X, y = task(rank)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(60):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(X), y)
            if rank == LIAR:
                loss = loss * (float("nan") if step % 2 else -1e6)
            loss.backward()
            optimizer.step()
        weight = model.module.weight.detach().numpy()
        rejected = [result.rejected for result in state.results.values()]
        torch.save((weight.tolist(), rejected), f"{out}/{rank}.pt")
    finally:
        distributed.destroy_process_group()


@pytest.mark.slow
def test_training_converges_beside_a_rank_that_sends_garbage(tmp_path):
    multiprocessing.spawn(train, (free_port(), str(tmp_path)), nprocs=RANKS)
    answers = [torch.load(tmp_path / f"{rank}.pt") for rank in range(RANKS)]
    for weight, rejected in answers:
        np.testing.assert_allclose(weight, [[1.0, 2.0, 3.0, 4.0, 5.0]], atol=0.1)
        assert rejected and all(LIAR in ranks for ranks in rejected)
        assert weight == answers[0][0]  # all ranks hold the same model


@pytest.fixture
def gathers(monkeypatch):
    """Ranks that send what they are told to, without any processes."""

    def ranks(sent):
        def all_gather(out, mine, group=None):
            for target, x in zip(out, sent, strict=True):
                target.copy_(x)

        monkeypatch.setattr(distributed, "get_world_size", lambda group: len(sent))
        monkeypatch.setattr(distributed, "all_gather", all_gather)
        return SimpleNamespace(buffer=lambda: sent[0], index=lambda: 0, is_last=lambda: True)

    return ranks


def test_hook_returns_the_aggregate(gathers):
    sent = list(torch.tensor(np.random.default_rng(0).standard_normal((6, 30))))
    sent[4] = sent[4] * 1e9
    state = RobustState()
    update = robust_hook(state, gathers(sent)).wait()
    expected = torch.stack([x for i, x in enumerate(sent) if i != 4]).mean(dim=0)
    torch.testing.assert_close(update, expected)
    assert state.results[0].rejected == (4,) and state.records[0].rounds == 1


def test_hook_skips_a_step_in_which_nothing_is_usable(gathers):
    state = RobustState(remember=False)
    update = robust_hook(state, gathers([torch.full((3,), torch.nan)] * 4)).wait()
    assert state.skipped == 1 and not update.any() and not state.records
