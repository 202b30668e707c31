"""Settings for all tests."""

from typing import Any

import pytest
from hypothesis import settings

from inlier.data.arrays import DenseTable
from libraries import Library, on_a_device
from symmetric_fits import SMALL, fitted

# The same examples each time, and none fails because the machine is busy.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


# The second and the third are the same library; the third refuses more.
STRICT = pytest.param("array_api_strict", marks=pytest.mark.slow)


@pytest.fixture(params=["torch", STRICT, "a device"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Library:
    name = request.param
    if name == "torch":
        return Library(name, pytest.importorskip("torch").from_numpy)
    if name == "array_api_strict":
        return Library(name, pytest.importorskip("array_api_strict").asarray)
    return Library(name, on_a_device(monkeypatch))


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture(params=["one block", "many blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A device takes all rows at once; what is put together from blocks has to be the same."""
    if request.param == "many blocks":
        for limit in ("device_elements", "copied_elements", "column_elements"):
            monkeypatch.setattr(DenseTable, limit, 1)
    return request.param


@pytest.fixture(scope="module", params=SMALL)
def fit(request):
    """A sample and its answer."""
    sample = SMALL[request.param]()
    return sample, fitted(sample.X)
