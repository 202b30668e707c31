"""The rows behind a robust covariance: gross rows and groups leave first, then undue rows."""

from typing import Any, Literal, NamedTuple

import numpy as np

from inlier._internal.arrays import double, on_host
from inlier._internal.typing import Array, Rows, Seed
from inlier._internal.validation import check_choice
from inlier.api import robust_mean
from inlier.data import Table
from inlier.results.result import RobustMeanResult
from inlier.second_moments.search import undue_rows

MomentAssumption = Literal["auto", "gaussian", "nothing"]


class GoodRows(NamedTuple):
    """The rows that count, and their mean."""

    support: Rows
    location: Array
    mean_result: RobustMeanResult
    """What left first, and why."""


def good_rows(
    table: Table, assume: Any = "auto", random_state: Seed = 0, standardized: bool = True
) -> GoodRows:
    """Find the rows of which the covariance is that of the good rows.

    Those that have no part in the robust mean leave first. Of the others, those leave that have an
    undue part in the second moments if good rows are Gaussian ("gaussian"), if they look so along
    most directions ("auto"), or never ("nothing").
    """
    check_choice(assume, "assume", ("auto", "gaussian", "nothing"))
    of_mean: Any = "symmetric" if assume == "gaussian" else assume
    result = robust_mean(table, assume=of_mean, random_state=random_state)
    support, location = result.support, on_host(result.location).astype(np.float64)
    location = table.mean(double(support), location)
    if assume != "nothing":
        known = True if assume == "gaussian" else None
        undue = undue_rows(table, support, location, known, standardized)
        support = support & ~undue
        location = table.mean(double(support), location)
    return GoodRows(support, location, result)
