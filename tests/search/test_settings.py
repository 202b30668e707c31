"""The numbers of the search: frozen, and in the relations that the search relies on."""

import dataclasses

import numpy as np
import pytest

from inlier.search.settings import SAMPLE, SEARCH


def test_settings_are_frozen():
    for settings in (SEARCH, SAMPLE):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(settings, dataclasses.fields(settings)[0].name, 0)


def test_levels():
    assert SEARCH.log_level == pytest.approx(np.log(SEARCH.level))
    # What is doubtful is not yet enough for a group to leave, and what is left is a majority.
    assert SEARCH.level < SEARCH.doubtful_level < 1.0
    assert 0.5 < SEARCH.majority < 1.0 and 0.0 < SEARCH.good_share < 0.5
    assert SEARCH.fewest_spacings <= SEARCH.most_spacings
    assert SAMPLE.cells <= SAMPLE.whole_cells <= SAMPLE.most_cells
