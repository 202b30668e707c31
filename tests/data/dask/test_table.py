"""Every pass over a table of Dask is that in memory."""

from collections import Counter
from typing import Any

import dask.array as da
import numpy as np

import inlier
from cases import cases
from dask_cases import KINDS, VERBS, Case, D, real_numbers
from inlier.data.dask import open_dask


@cases("verb", VERBS)
def test_verb_agrees_with_the_numbers_in_memory(case, verb):
    case.check(verb)


def test_every_pass_is_counted():
    case = Case(KINDS["uneven"](real_numbers()))
    counts = []
    for name in ("project", "moment", "scatter", "squares", "sq_distances", "median", "gram"):
        before = case.table.n_passes
        VERBS[name](case.table, case)
        counts.append(case.table.n_passes - before)
    assert counts == [1] * 7


def test_data_are_read_once():
    reads = Counter()

    def read(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        reads["block"] += 1
        return block

    X = real_numbers()
    data = da.from_array(X, chunks=(100, D)).map_blocks(read, dtype=X.dtype, meta=X[:0])
    case = Case(data)
    reads.clear()
    table = open_dask(data)
    for _ in range(3):
        table.sq_distances(case.center)
        table.take(case.mask).project(case.center, case.basis)
    assert reads["block"] == 3


def test_a_rule_from_a_part_of_the_rows_judges_all_of_them():
    sample = inlier.datasets.SettingB(n=8000, d=60, alpha=0.2).sample(random_state=0)
    X = da.from_array(sample.X, chunks=(1000, 60))
    model = inlier.RobustMean().fit(X[np.arange(0, 8000, 4)])
    good = X.map_blocks(model.predict, drop_axis=1, dtype=int) > 0
    assert (good.compute() == ~sample.is_outlier).mean() > 0.999
