"""Numbers as text; axes have a few ticks within their limits, whatever is to be shown."""

import numpy as np
import pytest

from inlier.report.numbers import fixed, number, percent

pytest.importorskip("matplotlib")


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
