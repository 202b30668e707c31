"""The numbers of the data layer: frozen, and in the relations that the passes rely on."""

import dataclasses

import pytest

from inlier.data.settings import SETTINGS


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SETTINGS.block_bytes = 1


def test_limits():
    assert SETTINGS.sample_rows % 2 == 1  # the median of a sample is one of its values
    assert SETTINGS.min_block_rows >= 1
    assert SETTINGS.block_bytes >= 8 * SETTINGS.min_block_rows
