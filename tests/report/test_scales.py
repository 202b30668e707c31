"""Numbers as text; axes have a few ticks within their limits, whatever is to be shown."""

import numpy as np
import pytest

from inlier.report.numbers import fixed, number, percent

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from inlier.report.scales import Scale, set_scales, tick_label


def test_numbers():
    assert [number(x) for x in (0.0, 1234.5, -0.00001, 1e300, 123456.7)] == [
        "0", "1,234", "−1e−5", "1e300", "123,457",
    ]  # fmt: skip
    assert [number(x) for x in (np.inf, -np.inf, np.nan)] == ["∞", "−∞", "not a number"]
    assert [fixed(-0.0001, 2), fixed(-2.346, 2), fixed(123456.789, 3)] == [
        "0.00", "−2.35", "123,457",
    ]  # fmt: skip
    assert [percent(a, 10_000) for a in (0, 1, 500, 9_999, 10_000)] == [
        "0%", "below 0.1%", "5%", "above 99.9%", "100%",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "scale",
    [
        Scale.linear(np.array([0.0, 1.0])),
        Scale.linear(np.array([1e9, 1e9 + 1e-6])),
        Scale.linear(np.array([-1e308, 1e308])),
        Scale.linear(np.array([1e-300, 3e-300])),
        Scale.linear(np.array([5.0, 5.0])),
        Scale.linear(np.array([np.nan, np.inf])),
        Scale.linear(np.array([0.0]), zero=True),
        Scale.positive(np.array([0.5, 1.0]), np.array([0.5])),
        Scale.positive(np.array([1e-300, 1e100]), np.array([1e-300])),
        Scale.positive(np.array([1e-9, 1e9, np.inf]), np.array([1.0, 2.0])),
        Scale.positive(np.array([0.0, np.inf, np.nan]), np.empty(0)),
        Scale.centered(np.array([-1.0, 1e6]), 2.0),
        Scale.centered(np.array([-1e306, 1e-6]), 1e-6),
        Scale(0.9, 1.1, kind="log"),
        Scale(0.0, 2.5, whole=True),
    ],
)
@np.errstate(all="ignore")
def test_ticks(scale):
    ax = Figure().add_subplot()
    set_scales(ax, scale, scale)
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert 1 <= len(ticks) <= 12 and ticks == sorted(set(ticks))
    assert not scale.whole or all(tick == int(tick) for tick in ticks)


def test_the_scale_follows_the_usual_values():
    usual = np.array([1.0, 1.5, 2.0])
    assert Scale.positive(np.append(usual, 10.0), usual).kind == "linear"
    wide = Scale.positive(np.append(usual, 1e4), usual)
    assert wide.kind == "log" and wide.low < 1.0
    # A few tiny values do not stretch the axis, and a reference is visible.
    assert 1e-3 < Scale.positive(np.append(usual, [1e-30, 1e4]), usual).low < 1.0
    assert Scale.positive(np.append(usual, 1e4), usual, reference=0.1).low < 0.1
    # Infinite values have room above the others.
    assert Scale.positive(np.append(usual, [10.0, np.inf]), usual).high > 11.0
    assert Scale.centered(np.array([-3.0, 5.0]), 1.0).kind == "linear"
    assert Scale.centered(np.array([-3.0, 500.0]), 1.0).kind == "asinh"
    beyond = Scale.centered(np.array([-3.0, 5.0, 1e200]), 1.0)
    assert beyond.kind == "linear" and beyond.high < 10.0
    assert [tick_label(tick) for tick in (1000.0, 0.1 + 0.2, 1e-5)] == ["1,000", "0.3", "1e−5"]
