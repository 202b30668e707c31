"""Every pass over a table of Dask is that in memory."""

from collections import Counter
from typing import Any

import dask.array as da
import numpy as np

import inlier
from cases import cases
from dask_cases import KINDS, D, check_all, real_numbers
from inlier.data.dask import open_dask


@cases("kind", KINDS)
def test_every_pass_is_that_over_the_numbers_in_memory(kind):
    check_all(KINDS[kind](real_numbers()))


def test_data_are_read_once():
    reads = Counter()

    def read(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        reads["block"] += 1
        return block

    X = real_numbers()
    data = da.from_array(X, chunks=(100, D)).map_blocks(read, dtype=X.dtype, meta=X[:0])
    table, mask = open_dask(data), np.arange(len(X)) % 3 > 0
    for _ in range(3):
        table.sq_distances(np.zeros(D))
        table.take(mask).project(np.zeros(D), np.eye(2, D))
    assert reads["block"] == 3


def test_a_rule_from_a_part_of_the_rows_judges_all_of_them():
    sample = inlier.research.datasets.SettingB(n=8000, d=60, alpha=0.2).sample(random_state=0)
    X = da.from_array(sample.X, chunks=(1000, 60))
    model = inlier.RobustMean().fit(X[np.arange(0, 8000, 4)])
    good = X.map_blocks(model.predict, drop_axis=1, dtype=int) > 0
    assert (good.compute() == ~sample.is_outlier).mean() > 0.999
