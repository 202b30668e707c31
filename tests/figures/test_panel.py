"""Axes have a few ticks within their limits, and a place for every number."""

import numpy as np
import pytest

from inlier.figures.panel import Axis


@pytest.mark.parametrize(
    "axis",
    [
        Axis.linear(np.array([0.0, 1.0]), ""),
        Axis.linear(np.array([1e9, 1e9 + 1e-6]), ""),
        Axis.linear(np.array([-1e308, 1e308]), ""),
        Axis.linear(np.array([1e-300, 3e-300]), ""),
        Axis.linear(np.array([5.0, 5.0]), ""),
        Axis.linear(np.array([np.nan, np.inf]), ""),
        Axis.linear(np.array([0.0]), "", zero=True),
        Axis.logarithmic(1e-300, 1e300),
        Axis.logarithmic(0.9, 1.1),
        Axis.logarithmic(0.0, 0.0),
        Axis.centered(np.array([-1.0, 1e6]), 2.0),
        Axis.centered(np.array([-1e306, 1e-6]), 1e-6),
        Axis(0.0, 1e-320),
        Axis.positive(np.array([0.5, 1.0]), np.array([0.5])),
        Axis.positive(np.array([1e-9, 1e9, np.inf]), np.array([1.0, 2.0])),
        Axis.positive(np.array([0.0, np.inf, np.nan]), np.empty(0)),
    ],
)
@np.errstate(all="ignore")
def test_ticks_and_positions(axis):
    ticks = axis.ticks
    assert 1 <= len(ticks) <= 12
    assert ticks == sorted(set(ticks))
    places = axis.position(np.array([-np.inf, *ticks, np.inf]))
    assert ((places >= 0.0) & (places <= 1.0)).all()
    assert (np.diff(places) >= 0.0).all()
    assert np.isnan(axis.position(np.array([np.nan]))).all()


@pytest.mark.parametrize(
    "axis", [Axis(-2.0, 5.0), Axis(1e-3, 1e9, scale="log"), Axis(-1e5, 3.0, "", "asinh", 2.0)]
)
def test_value_inverts_position(axis):
    for place in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(axis.position(np.array([axis.value(place)])), place, atol=1e-12)
    assert axis.value(1.2) > axis.high


def test_the_scale_follows_the_usual_values():
    usual = np.array([1.0, 1.5, 2.0])
    assert Axis.positive(np.append(usual, 10.0), usual).scale == "linear"
    wide = Axis.positive(np.append(usual, 1e4), usual)
    assert wide.scale == "log" and wide.low < 1.0
    # A few tiny values do not stretch the axis, and a reference is visible.
    tiny = Axis.positive(np.append(usual, [1e-30, 1e4]), usual)
    assert 1e-3 < tiny.low < 1.0
    assert Axis.positive(np.append(usual, 1e4), usual, reference=0.1).low < 0.1
    far = Axis.positive(np.append(usual, [10.0, np.inf]), usual)
    assert far.position(np.array([10.0]))[0] < 0.95
    assert Axis.centered(np.array([-3.0, 5.0]), 1.0).scale == "linear"
    assert Axis.centered(np.array([-3.0, 500.0]), 1.0).scale == "asinh"
    beyond = Axis.centered(np.array([-3.0, 5.0, 1e200]), 1.0)
    assert beyond.scale == "linear" and beyond.high < 10.0


def test_labels_tell_ticks_apart():
    axis = Axis(0.0, 1.0)
    assert axis.tick_labels([0.0, 0.25, 0.5]) == ["0", "0.25", "0.5"]
    assert axis.tick_labels([1000.0, 1001.0]) == ["1,000", "1,001"]
    assert Axis(1.5, -0.5, names=("a", "b")).tick_labels([0.0, 1.0]) == ["a", "b"]
    assert all(tick == int(tick) for tick in Axis(0.0, 3.0, whole=True).ticks)
