"""Tables of Dask: what is opened, what is refused, and every pass, also on a cluster."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

import inlier
from cases import cases
from dask_cases import KINDS, SHAPE, UNEVEN, D, check_all
from dense_cases import real_numbers
from inlier.data.dask import open_dask

# -- opening ---------------------------------------------------------------------------------------


@cases(
    ("data", "message"),
    [
        (da.zeros(5), r"shape \(5,\)"),
        (da.zeros((5, 2, 2)), r"shape \(5, 2, 2\)"),
        (da.zeros((1, 4)), "at least 2 rows, but has 1"),
        (da.zeros((4, 0)), "at least 1 column"),
        (da.zeros((5, 2), dtype=complex), "complex128"),
        (da.from_array(np.array([["a", 1]] * 5, dtype=object), chunks=2), "object"),
        (dd.from_pandas(pd.DataFrame({"x": [1.0, 2], "y": ["a", "b"]}), npartitions=1), "'y'"),
        (dd.from_pandas(pd.DataFrame({"x": [1.0, 2]}), npartitions=1)["x"], "Series"),
    ],
)
def test_what_is_not_a_table_of_numbers_is_refused(data, message):
    with pytest.raises(ValueError, match=rf"X .*{message}"):
        open_dask(data)


def test_a_number_that_is_none_is_found():
    columns = {"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 3.0]}
    with pytest.raises(ValueError, match="row 1, column 0"):
        open_dask(dd.from_pandas(pd.DataFrame(columns), npartitions=1))
    for bad in (np.nan, np.inf):
        X = real_numbers(SHAPE)
        X[[280, 150], [1, 4]] = bad
        with pytest.raises(ValueError, match=r"Z contains NaN.*row 150, column 4"):
            open_dask(da.from_array(X, chunks=UNEVEN), name="Z")


def test_a_client_is_a_client():
    with pytest.raises(ValueError, match="client must be"):
        open_dask(da.zeros((5, 2)), client=8786)


def test_without_the_package_the_message_says_what_to_install():
    code = "import sys; sys.modules['dask'] = None; import inlier.data.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "inlier[dask]"' in done.stderr


# -- passes ----------------------------------------------------------------------------------------


@cases("kind", KINDS)
def test_every_pass_is_that_over_the_numbers_in_memory(kind):
    check_all(KINDS[kind](real_numbers(SHAPE)))


def test_data_are_read_once():
    reads = Counter()

    def read(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        reads["block"] += 1
        return block

    X = real_numbers(SHAPE)
    data = da.from_array(X, chunks=(100, D)).map_blocks(read, dtype=X.dtype, meta=X[:0])
    table, mask = open_dask(data), np.arange(len(X)) % 3 > 0
    for _ in range(3):
        table.sq_distances(np.zeros(D))
        table.take(mask).project(np.zeros(D), np.eye(2, D))
    assert reads["block"] == 3


def test_a_rule_from_a_part_of_the_rows_judges_all_of_them():
    sample = inlier.datasets.SettingB(n=8000, d=60, alpha=0.2).sample(random_state=0)
    X = da.from_array(sample.X, chunks=(1000, 60))
    model = inlier.RobustMean().fit(X[np.arange(0, 8000, 4)])
    good = X.map_blocks(model.predict, drop_axis=1, dtype=int) > 0
    assert (good.compute() == ~sample.is_outlier).mean() > 0.999


# -- a cluster -------------------------------------------------------------------------------------


# Not for the whole session: workers that wait take time too.
@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.mark.parametrize("kind", ["uneven", pytest.param("dataframe", marks=pytest.mark.slow)])
def test_a_cluster_gives_the_same_answers(client, kind):
    assert check_all(KINDS[kind](real_numbers(SHAPE)))._workers.client is client


def test_a_fit_is_that_of_numpy_even_if_a_worker_dies_in_its_midst(client):
    sample = inlier.datasets.SettingB(n=1200, d=20, alpha=0.2).sample(random_state=0)
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
    sample = inlier.datasets.SettingA(n=3000, d=40, alpha=0.1).sample(random_state=0)
    data = da.from_array(sample.X, chunks=(800, 40))
    table = inlier.open_table(data, client=cluster.scheduler_address)
    with table._workers.client:
        result = inlier.robust_mean(table)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
