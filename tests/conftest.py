"""Settings for all tests."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings

from inlier.data import arrays
from inlier.data.settings import SETTINGS as TABLES
from libraries import Library, on_a_device
from symmetric_fits import SMALL, fitted

# The same examples each time, and none fails because the machine is busy.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(params=["torch", "array_api_strict", "a device"])
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
        small = replace(TABLES, device_elements=1, device_copied=1, wide_elements=1)
        monkeypatch.setattr(arrays, "SETTINGS", small)
    return request.param


@pytest.fixture(scope="module", params=SMALL)
def fit(request):
    """A sample and its answer."""
    sample = SMALL[request.param]()
    return sample, fitted(sample.X)
