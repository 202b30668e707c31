"""The same answers on a cluster, also if a worker dies."""

import os
import signal

import dask.array as da
import numpy as np
import pytest

import inlier
from dask_cases import KINDS, check_all, real_numbers


@pytest.mark.parametrize("kind", ["uneven", pytest.param("dataframe", marks=pytest.mark.slow)])
def test_a_cluster_gives_the_same_answers(client, kind):
    assert check_all(KINDS[kind](real_numbers()))._workers.client is client


def test_a_fit_is_that_of_numpy_even_if_a_worker_dies_in_its_midst(client):
    sample = inlier.research.datasets.SettingB(n=1200, d=20, alpha=0.2).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(300, 20))
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
        ahead = 0 if given else 1
        assert result.details.n_passes == expected.details.n_passes + ahead
    client.wait_for_workers(2, timeout=120)


def test_a_fit_by_the_address_of_a_scheduler(cluster):
    sample = inlier.research.datasets.SettingA(n=3000, d=40, alpha=0.1).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(800, 40))
    table = inlier.open_table(data, client=cluster.scheduler_address)
    with table._workers.client:
        result = inlier.robust_mean(table)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
