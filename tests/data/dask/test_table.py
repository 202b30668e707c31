"""Every pass over a table of Dask is that in memory."""

import dask.array as da
import numpy as np
import pytest

from cases import cases
from dask_cases import KINDS, UNEVEN, VERBS, Case, real_numbers
from inlier.data.dask import open_dask

# -- threads --------------------------------------------------------------------------------------


@cases("verb", VERBS)
def test_verb_agrees_with_the_numbers_in_memory(case, verb):
    case.check(verb)


def test_every_pass_is_counted():
    case = Case(KINDS["uneven"](real_numbers()))
    counts = []
    for name in ("project", "moment", "scatter", "squares", "sq_distances", "gram", "some"):
        before = case.table.n_passes
        VERBS[name](case.table, case)
        counts.append(case.table.n_passes - before)
    assert counts == [1, 1, 1, 1, 1, 1, 0]


# -- what is wrong with the data ------------------------------------------------------------------


@cases("bad", [np.nan, np.inf])
@cases("verb", ["project", "scatter", "median", "gram", "metric", "take"])
def test_a_number_that_is_none_is_found_by_the_first_pass(verb, bad):
    case = Case(KINDS["uneven"](real_numbers()))
    X = real_numbers()
    X[150, 4] = bad
    X[280, 1] = bad
    table = open_dask(da.from_array(X, chunks=UNEVEN), name="Z")
    with pytest.raises(ValueError, match=r"Z contains NaN.*row 150, column 4"):
        VERBS[verb](table, case)
