"""Results and pages that several tests look at."""

import numpy as np
import pytest

from inlier.report import page
from reading import HOSTILE, fitted, sample


@pytest.fixture(scope="session")
def result():
    return fitted(sample())


@pytest.fixture(scope="session")
def html(result):
    return page(result._summary, title="measurements.csv", notes=["Dropped 3 rows."])


@pytest.fixture(scope="session")
def hostile():
    X = np.random.default_rng(0).standard_normal((400, len(HOSTILE)))
    X[:60] += 8.0
    names = [HOSTILE[i % len(HOSTILE)] for i in range(len(X))]
    found = fitted(X)
    return found.with_data(X, columns=HOSTILE, names=names)._summary
