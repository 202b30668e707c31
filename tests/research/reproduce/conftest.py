"""All experiments on small data."""

import pytest

from studies import shrink


@pytest.fixture
def small_data(monkeypatch):
    shrink(monkeypatch)
