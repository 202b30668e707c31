"""The same answers on a cluster, also if a worker dies."""

import os
import signal
from typing import Any

import dask.array as da
import distributed
import numpy as np
import pytest

import inlier
from dask_cases import KINDS, VERBS, Case, D, N, real_numbers
from inlier.data import Metric
from inlier.data.dask import DaskTable, open_dask


@pytest.mark.parametrize("kind", ["uneven", "dataframe"])
def test_a_cluster_gives_the_same_answers(client, kind):
    case = Case(KINDS[kind](real_numbers()))
    assert case.table._workers.client is client
    for verb in VERBS:
        case.check(verb)


def test_the_address_of_a_scheduler(cluster):
    data = da.from_array(real_numbers(), chunks=(90, D))
    case = Case(data, client=cluster.scheduler_address)
    with case.table._workers.client:
        for verb in ("moment", "median", "some", "metric of those taken"):
            case.check(verb)
    assert open_dask(data)._workers.client is None, "only this table uses it"


def test_a_large_graph_is_no_reason_to_warn(client, recwarn):
    table = open_dask(da.random.default_rng(0).standard_normal((200_000, 2), chunks=(50_000, 2)))
    table.combine(np.zeros(2), np.ones((10, 200_000)))
    assert [str(w.message) for w in recwarn if "large graph" in str(w.message)] == []


class Transitions(distributed.SchedulerPlugin):
    """Which tasks a scheduler has had done."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        if start == "processing" and finish == "memory":
            self.done.append(key)


@pytest.mark.parametrize(
    ("verb", "per_chunk", "n_sums"),
    [
        ("sq_distances", 1, 0),
        ("scatter", 1, 4),
        ("moment", 3, 4),  # both kinds of results, told apart where they are
    ],
)
def test_one_task_for_each_chunk_and_a_tree(client, cluster, verb, per_chunk, n_sums):
    n_chunks = 20
    case = Case(da.from_array(real_numbers(), chunks=(N // n_chunks, D)))
    transitions = Transitions()
    cluster.scheduler.add_plugin(transitions, name="transitions")
    try:
        VERBS[verb](case.table, case)
    finally:
        cluster.scheduler.remove_plugin("transitions")
    shared = len(transitions.done) - (per_chunk * n_chunks + n_sums)
    assert 0 <= shared <= 1, "what the pass holds is sent once"


def test_a_worker_that_dies_is_made_up_for(client):
    data = da.random.default_rng(5).standard_normal((4000, 6), chunks=(250, 6))
    case = Case(data)
    assert isinstance(case.table, DaskTable)
    taken = case.table.take(np.arange(4000) % 3 > 0)
    metric = Metric(case.center, np.linalg.cholesky(np.cov(case.Y.T)))
    in_metric = case.table.in_metric(metric)
    pids = list(client.run(os.getpid).values())
    for step in range(3):
        if step == 1:
            os.kill(pids[0], signal.SIGKILL)
        for verb in ("moment", "sq_distances", "scatter"):
            case.check(verb)
        expected = case.dense.take(np.arange(4000) % 3 > 0).sq_distances(case.center)
        case.near(taken.sq_distances(case.center), expected)
        expected = case.dense.in_metric(metric).sq_distances(case.center)
        case.near(in_metric.sq_distances(case.center), expected)


def test_a_fit_is_that_of_numpy_even_if_a_worker_dies_in_its_midst(client):
    sample = inlier.datasets.SettingB(n=6000, d=20, alpha=0.2).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(1000, 20))
    killed = []

    def kill_one(step):
        if not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    for given in ({}, {"sigma": 1.2}):
        expected = inlier.robust_mean(sample.X, **given)
        result = inlier.robust_mean(data, callback=kill_one, **given)
        assert killed
        np.testing.assert_array_equal(result.support, expected.support)
        np.testing.assert_allclose(result.location, expected.location, rtol=0.0, atol=1e-12)
        # The cluster may be closed when scores are first used: without sigma, whose fit knows them,
        # they are one pass of the fit.
        assert result.details.n_passes == expected.details.n_passes + ("sigma" not in given)
    client.wait_for_workers(2, timeout=120)


def test_a_fit_by_the_address_of_a_scheduler(cluster):
    sample = inlier.datasets.SettingA(n=3000, d=40, alpha=0.1).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(800, 40))
    table = inlier.open_table(data, client=cluster.scheduler_address)
    with table._workers.client:
        result = inlier.robust_mean(table)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
