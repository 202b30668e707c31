"""Data-parallel training over gloo with four processes, one of which sends garbage."""

import re
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch import distributed, multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel

from cases import cases
from fits import quietly
from inlier.federated import DoubtfulRoundError
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


def train(rank, port, out, by_bucket):
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS
    )
    try:
        torch.manual_seed(0)
        model = DistributedDataParallel(nn.Linear(5, 1), bucket_cap_mb=1e-6)
        state = RobustState(by_bucket=by_bucket)
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
def test_the_program_of_the_documentation(tmp_path):
    page = Path(__file__).parents[2].joinpath("docs", "federated.md").read_text(encoding="utf-8")
    program, printed = re.search(
        r"```python\n(import torch\n.*?)```\n\n```console\n\$ .*?\n(.*?)```", page, re.DOTALL
    ).groups()
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*launch, f"--nproc-per-node={RANKS}", str(tmp_path / "train.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == printed, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("by_bucket", [False, True])
def test_training_converges_beside_a_rank_that_sends_garbage(tmp_path, by_bucket):
    multiprocessing.spawn(train, (free_port(), str(tmp_path), by_bucket), nprocs=RANKS)
    answers = [torch.load(tmp_path / f"{rank}.pt") for rank in range(RANKS)]
    for weight, rejected in answers:
        np.testing.assert_allclose(weight, [[1.0, 2.0, 3.0, 4.0, 5.0]], atol=0.1)
        assert len(rejected) == (2 if by_bucket else 1)
        assert all(LIAR in ranks for ranks in rejected)
        assert weight == answers[0][0]  # all ranks hold the same model


@pytest.fixture
def hooked(monkeypatch):
    """Call the hook on each bucket of what the ranks send, without any processes."""

    def hooked(state, sent, buckets=1):
        parts = [torch.tensor_split(x, buckets) for x in sent]

        def all_gather(out, mine, group=None):
            k = next(k for k, x in enumerate(parts[0]) if x is mine)
            for target, x in zip(out, parts, strict=True):
                target.copy_(x[k])

        monkeypatch.setattr(distributed, "get_world_size", lambda group: len(sent))
        monkeypatch.setattr(distributed, "all_gather", all_gather)
        done = []
        for k in range(buckets):
            bucket = Mock(**{"buffer.return_value": parts[0][k], "index.return_value": k})
            bucket.is_last.return_value = k == buckets - 1
            done.append(robust_hook(state, bucket))
        return torch.cat([future.wait() for future in done])

    return hooked


@cases("buckets", [1, 3])
def test_hook_returns_the_aggregate(hooked, buckets):
    sent = list(torch.tensor(np.random.default_rng(0).standard_normal((6, 30))))
    sent[4] = sent[4] * 1e9
    state = RobustState()
    update = hooked(state, sent, buckets)
    expected = torch.stack([x for i, x in enumerate(sent) if i != 4]).mean(dim=0)
    torch.testing.assert_close(update, expected)
    assert list(state.results) == [0] and state.records[0].counts.max() == 1.0
    assert state.results[0].rejected == (4,)


def test_the_whole_gradient_shows_what_no_bucket_does(hooked):
    """Eight ranks of twenty move along the leading direction of each of 64 buckets."""
    random = np.random.default_rng(0)
    honest = random.standard_normal((12, 2048))
    mean = honest.mean(axis=0)
    shift = [
        12.0 * np.linalg.svd(part, full_matrices=False)[2][0]
        for part in np.split(honest - mean, 64, axis=1)
    ]
    liars = mean + np.concatenate(shift) + random.standard_normal((8, 2048))
    sent, errors = list(torch.tensor(np.concatenate([honest, liars]))), []
    for by_bucket in (False, True):
        state = RobustState(by_bucket=by_bucket)
        errors.append(np.linalg.norm(quietly(hooked, state, sent, 64) - torch.tensor(mean)))
        assert len(state.results) == (64 if by_bucket else 1)
    assert errors[0] < 0.1 * errors[1]


def test_doubt_ends_the_step(hooked):
    sent = list(torch.tensor(np.random.default_rng(0).standard_normal((3, 30))))
    with pytest.raises(DoubtfulRoundError, match="3 distinct updates are too few"):
        hooked(RobustState(on_doubt="raise"), sent)
    with pytest.raises(ValueError, match="on_doubt must be"):
        RobustState(on_doubt="stop")


def test_hook_skips_a_step_in_which_nothing_is_usable(hooked):
    state = RobustState()
    update = hooked(state, [torch.full((3,), torch.nan)] * 4)
    assert state.skipped == 1 and not update.any() and not state.records[0].clients
