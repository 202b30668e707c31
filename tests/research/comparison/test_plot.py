"""Figures of comparisons."""

import pytest

from contestants import MODEL, Fail, Mean
from inlier.research import compare
from inlier.research.datasets import SettingB


def test_plots(known, unknown, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for name, comparison in (("known", known), ("unknown", unknown)):
        for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
            path = tmp_path / f"{name}.{ending}"
            figure = comparison.plot(path)
            assert path.read_bytes().startswith(start)
        axes = figure.axes[0]
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert sorted(labels) == sorted(comparison.methods)
        if comparison is known:
            assert labels == [row.method for row in comparison.summary()]
        assert "distance" in axes.get_xlabel()
    assert "seconds" in known.plot(tmp_path / "again.png").axes[1].get_xlabel()
    clean = compare(SettingB(n=60, d=5, alpha=0.0), "mean", trials=2, timeout=None)
    ticks = clean.plot(tmp_path / "zero.png").axes[0].get_xticklabels()
    assert [tick.get_text() for tick in ticks] == ["0"]
    from matplotlib import pyplot

    assert pyplot.get_fignums() == []
    shown = known.plot()
    assert pyplot.get_fignums() == [shown.number]
    pyplot.close(shown)


def test_plots_with_faults(tmp_path):
    pytest.importorskip("matplotlib")
    comparison = compare(MODEL, [Mean(), Fail()], trials=2, timeout=None)
    labels = comparison.plot(tmp_path / "a.png").axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["Mean", "Fail (no answer)"]
    compare(MODEL, Fail(), trials=1, timeout=None).plot(tmp_path / "b.png")


# -- methods and files that misbehave -------------------------------------------------------------


def test_names_that_are_no_markup(tmp_path):
    comparison = compare(MODEL, {"$x^2_{$": "mean", "a|b\n": Mean()}, trials=2, timeout=None)
    assert all(line.count("|") == 9 for line in str(comparison).splitlines()[2:6])
    comparison.plot(tmp_path / "names.png")
