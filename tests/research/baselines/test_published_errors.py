"""Errors are at most those that were printed, and those of the authors' code."""

import functools

import numpy as np
import pytest

from cases import cases
from inlier.research.baselines import (
    ChengDiakonikolasGe,
    CorruptionLevelAgnostic,
    FalseDiscoveryFilter,
    IterativeFiltering,
    LaiRaoVempala,
    OutlierFractionAgnostic,
    ProjectedGradient,
    QuantumEntropy,
)
from inlier.research.datasets import SettingA, SettingB, printed_tables
from rivals import told

pytestmark = pytest.mark.slow

SETTINGS = {
    "A400": (SettingA, 800, 400),
    "A100": (SettingA, 2000, 100),
    "B100": (SettingB, 2000, 100),
    "B2000": (SettingB, 4000, 2000),
}


ALPHAS = (0.1, 0.2, 0.3)


@functools.lru_cache(maxsize=15)
def drawn(setting, n, d, alpha, seed):
    return setting(n=n, d=d, alpha=alpha).sample(seed)


def mean_error(method, setting, n, d, alpha, n_seeds=5, **parameters):
    errors = []
    for seed in range(n_seeds):
        sample = drawn(setting, n, d, alpha, seed)
        estimator = told(method, alpha, sample.sigma, **parameters).fit(sample.X)
        errors.append(np.linalg.norm(estimator.location_ - sample.mean))
    return float(np.mean(errors))


def case(cell, alpha, *others):
    names = [other.name for other in others if isinstance(other, type)]
    return pytest.param(cell, alpha, *others, id="-".join([cell, str(alpha), *names]))


COLUMNS = {
    "iterative_filtering": IterativeFiltering,
    "que": QuantumEntropy,
    "lrv": LaiRaoVempala,
    "cdg": ChengDiakonikolasGe,
}


# Its error differs by half from draw to draw; the tables are averages of 20, ours of 5.
NOISE = {LaiRaoVempala: 1.25}
TABLES = {"A400": "table1", "A100": "table2", "B100": "table3", "B2000": "table6"}


@pytest.mark.parametrize(
    ("cell", "alpha", "method", "printed"),
    [
        case(cell, alpha, COLUMNS[column], printed)
        for cell, table in TABLES.items()
        for alpha in ALPHAS
        for column, printed in printed_tables()[table].errors[alpha].items()
        if column in COLUMNS
    ],
)
def test_errors_are_at_most_those_printed_in_the_paper(cell, alpha, method, printed):
    n_seeds = 2 if cell == "B2000" else 5
    error = mean_error(method, *SETTINGS[cell], alpha, n_seeds)
    assert error <= NOISE.get(method, 1.0) * printed


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("n", [100, 200, 500, 1000, 5000])
def test_errors_are_at_most_those_printed_for_other_numbers_of_rows(column, n):
    table = printed_tables()["table4"]
    method = COLUMNS[column]
    error = mean_error(method, SettingB, n, 100, 0.2)
    assert error <= NOISE.get(method, 1.0) * table.errors[n][column]


# Errors of the authors' code on the same settings, mean of five draws; by what factor and by how
# much ours may exceed them. The first two were run on the same draws as here.
SAME = (1.1, 0.001)
ZERO = 1e-12  # what is given as 0
ORIGINALS = {
    CorruptionLevelAgnostic: (
        SAME,
        {"A400": (0.557, 0.471, 0.867), "A100": (0.093, 0.073, 0.2), "B100": (0.13, 0.112, 0.062)},
    ),
    ProjectedGradient: (
        SAME,
        {
            "A400": (0.0452, 0.0006, 0.0),
            "A100": (0.0201, 0.0066, 0.0052),
            "B100": (0.0298, 0.0262, 0.0758),
        },
    ),
    OutlierFractionAgnostic: (
        (1.05, ZERO),
        {
            "A400": (0.031, 0.084, 0.013),
            "A100": (0.051, 0.108, 0.154),
            "B100": (0.027, 0.025, 0.038),
            "B2000": (0.0, 0.0, 0.0),
        },
    ),
    # A draw of B100 has an error of .01 or, if a bad row stays, of .04.
    IterativeFiltering: (
        (1.25, ZERO),
        {
            "A400": (0.086, 0.112, 0.159),
            "A100": (0.076, 0.119, 0.176),
            "B100": (0.026, 0.019, 0.022),
            "B2000": (0.198, 0.004, 0.005),
        },
    ),
    QuantumEntropy: (
        (1.0, ZERO),
        {
            "A400": (0.047, 0.246, 0.351),
            "A100": (0.02, 0.088, 0.163),
            "B100": (0.046, 0.134, 0.377),
            "B2000": (0.25, 0.66, 7.3),
        },
    ),
    # A good row that is lost moves the mean by .005 in B100.
    FalseDiscoveryFilter: (
        (1.0, 0.002),
        {
            "A400": (0.0058, 0.0, 0.0216),
            "A100": (0.0, 0.0033, 0.0),
            "B100": (0.0, 0.0, 0.0),
            "B2000": (0.0, 0.0, 0.0),
        },
    ),
    LaiRaoVempala: (
        (1.25, ZERO),
        {
            "A400": (0.469, 0.742, 1.24),
            "A100": (0.184, 0.248, 0.417),
            "B100": (0.328, 0.627, 0.919),
            "B2000": (0.533, 0.949, 1.84),
        },
    ),
}


# Where ours falls short of the original, as docs/rivals.md states: in every other draw a bad row or
# two stay.
SHORT = {
    ("A400", 0.3, OutlierFractionAgnostic): 0.025,
    ("B2000", 0.2, IterativeFiltering): 0.012,
    ("B2000", 0.3, IterativeFiltering): 0.017,
}


@pytest.mark.parametrize(
    ("cell", "alpha", "method", "theirs"),
    [
        case(cell, alpha, method, theirs)
        for cell in SETTINGS
        for column, alpha in enumerate(ALPHAS)
        for method, (_, cells) in ORIGINALS.items()
        for theirs in [cells.get(cell, (None,) * 3)[column]]
        if theirs is not None
    ],
)
def test_errors_are_at_most_those_of_the_authors_code_or_as_stated(cell, alpha, method, theirs):
    (factor, slack), _ = ORIGINALS[method]
    n_seeds = 2 if cell == "B2000" else 5
    error, allowed = mean_error(method, *SETTINGS[cell], alpha, n_seeds), factor * theirs + slack
    stated = SHORT.get((cell, alpha, method), allowed)
    assert error <= stated
    assert error > allowed or stated == allowed, "the original is reached: say so in docs/rivals.md"


@cases("cell", ["A100", "B100"])
def test_que_is_as_good_where_batches_do_not_meet_the_fraction(cell):
    # With alpha a multiple of the batch the last round takes just the last outliers; here it does
    # not. In the neighbouring cells the paper has .4 to .8 and the original code .02 to .13.
    assert mean_error(QuantumEntropy, *SETTINGS[cell], 0.15) <= 0.05
