"""The same answers on a cluster, also if a worker dies."""

import os
import signal
from typing import Any

import dask.array as da
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import inlier
from dask_cases import KINDS, VERBS, Case, D, real_numbers
from inlier.data import Metric
from inlier.data.dask import DaskTable, open_dask

# -- threads --------------------------------------------------------------------------------------


def test_linear_algebra_keeps_to_one_thread_and_then_has_its_own_number_again():
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    seen = []

    def look(block: np.ndarray, *_: Any) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        seen.extend(threads())
        return block[:, 0].astype(float), (np.ones(1),)

    table = open_dask(da.from_array(real_numbers(), chunks=(50, D)))
    first, sums = table._run(look)
    np.testing.assert_array_equal(first, real_numbers()[:, 0])
    assert sums == [6.0]
    assert set(seen) == {1}
    assert threads() == before


# -- what is wrong with the data ------------------------------------------------------------------


def test_a_client_is_a_client():
    with pytest.raises(ValueError, match="client must be"):
        open_dask(da.zeros((5, 2)), client=8786)


# -- a cluster ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["uneven", "dataframe"])
def test_a_cluster_gives_the_same_answers(client, kind):
    case = Case(KINDS[kind](real_numbers()))
    assert case.table._cluster.client is client
    for verb in VERBS:
        case.check(verb)


def test_the_address_of_a_scheduler(cluster):
    data = da.from_array(real_numbers(), chunks=(90, D))
    case = Case(data, client=cluster.scheduler_address)
    with case.table._cluster.client:
        for verb in ("moment", "median", "some", "metric of those taken"):
            case.check(verb)
    assert open_dask(data)._cluster.client is None, "only this table uses it"


def test_an_error_of_a_worker_arrives(client):
    X = real_numbers()
    X[[250, 290], 2] = np.nan
    table = open_dask(da.from_array(X, chunks=(90, D)))
    with pytest.raises(ValueError, match="row 250, column 2"):
        table.sq_distances(np.zeros(D))


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


# -- whole fits ------------------------------------------------------------------------------------


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
        assert result.n_passes == expected.n_passes
    client.wait_for_workers(2, timeout=120)


def test_a_fit_by_the_address_of_a_scheduler(cluster):
    sample = inlier.datasets.SettingA(n=3000, d=40, alpha=0.1).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(800, 40))
    table = inlier.open_table(data, client=cluster.scheduler_address)
    with table._cluster.client:
        result = inlier.robust_mean(table)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
