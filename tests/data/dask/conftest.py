"""A cluster of two processes."""

from collections.abc import Iterator
from typing import Any

import distributed
import pytest


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
