"""Rows as pictures."""

import base64
import io
import sys

import numpy as np
import pytest

from inlier.report import page
from inlier.report.content import picture
from reading import parsed, summary_of


def test_a_page_shows_the_means_and_the_worst_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((80, 12))
    X[:20] += 3.0
    summary = summary_of(X)
    html = page(summary, image=(3, 4))
    images = [a["src"] for tag, a in parsed(html).seen if tag == "img"]
    assert len(images) == 3 + len(summary.worst)
    with pytest.raises(ValueError, match="height \\* width = 12"):
        page(summary, image=(5, 5))

    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r"inlier\[report\]"):
        page(summary, image=(3, 4))
    assert "<html" in page(summary)


def test_grey_values():
    from PIL import Image

    def pixels(values, shape, limits):
        data = picture(values, shape, limits, "").uri.removeprefix("data:image/png;base64,")
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))

    values = np.arange(6.0)
    np.testing.assert_array_equal(pixels(values, (2, 3), (0.0, 5.0)), 51 * values.reshape(2, 3))
    values[1:4] = [np.nan, np.inf, -np.inf]
    assert pixels(values, (2, 3), (0.0, 5.0)).ravel().tolist() == [0, 128, 255, 0, 204, 255]
    large = pixels(np.ones(300 * 200), (300, 200), (0.0, 2.0))
    assert large.shape == (100, 67) and (large == 128).all()
