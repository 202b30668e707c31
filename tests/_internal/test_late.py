"""Functions of higher layers are found by name, when they are called."""

import sys

import pytest

from inlier._internal import late as module


def test_a_connected_function_is_loaded_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(module, "_PLACES", {})
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    module.connect({"hls": "colorsys:rgb_to_hls"})
    assert "colorsys" not in sys.modules
    assert module.late("hls")(1.0, 1.0, 1.0) == (0.0, 1.0, 0.0)
    with pytest.raises(KeyError):
        module.late("hsv")


def test_all_places_of_the_package_exist():
    assert module._PLACES
    for name in module._PLACES:
        assert callable(module.late(name)), name
