"""Comparisons that several tests look at."""

import pytest

from contestants import CHEAP, MODEL, SEVERAL
from inlier.research import compare


@pytest.fixture(scope="module")
def known():
    return compare(MODEL, CHEAP, trials=3, timeout=None, random_state=7)


@pytest.fixture(scope="module")
def unknown():
    return compare(MODEL.sample(0).X, CHEAP, timeout=None)


@pytest.fixture(scope="module")
def one_by_one():
    return [compare(data, how, timeout=None, **more) for data, how, more in SEVERAL]
