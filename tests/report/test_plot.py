"""Figures in notebooks: what is drawn is what the summary says, and nothing else is touched."""

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest

import inlier
from inlier.report import plot
from inlier.results.summary import Projections

matplotlib = pytest.importorskip("matplotlib")

from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

KINDS = ["scores", "rows", "spectrum", "sensitivity"]


def drawn(kind, summary, ax=None):
    """Drawn to the end: much of what can go wrong goes wrong in the layout."""
    if ax is None:
        ax = Figure(figsize=(6.0, 4.0), dpi=50, layout="constrained").add_subplot()
    assert plot(summary, kind, ax) is ax
    ax.figure.draw_without_rendering()
    return ax


def points(line):
    return np.array(line.get_data(), dtype=float)


def clouds(ax):
    """The marks that stand for rows."""
    return [line for line in ax.lines if line.get_gid() not in (None, "arrow")]


def arrows(ax):
    return [line for line in ax.lines if line.get_gid() == "arrow"]


def named(ax, label):
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return line


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def contaminated(n=200, d=8, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:30, 0] += 15.0
    return X


@pytest.fixture(scope="module")
def found(result):
    """Without sigma: groups."""
    return result._summary


@pytest.fixture(scope="module")
def given():
    """With sigma: none."""
    return inlier.robust_mean(contaminated(), sigma=1.5)._summary


@pytest.fixture(scope="module")
def clean():
    X = np.random.default_rng(0).standard_normal((100, 5))
    return inlier.robust_mean(X)._summary


@pytest.fixture(scope="module")
def far():
    """Two groups; the rows of one are too far away to square."""
    X = np.random.default_rng(0).standard_normal((300, 10))
    X[:5] = 1e200
    X[5:40] += 30.0
    summary = inlier.robust_mean(X, assume="symmetric")._summary
    assert len(summary.groups) == 2 and np.isinf(summary.scores).sum() == 5
    return summary


@pytest.mark.parametrize("kind", KINDS)
def test_axes_old_and_new(kind, result, found):
    pyplot.switch_backend("agg")
    before, figures = dict(matplotlib.rcParams), pyplot.get_fignums()
    # Small panels with shared axes: only the given one is drawn on.
    panels = Figure(figsize=(3.0, 2.0)).subplots(2, 2, sharex=True, sharey=True)
    assert result.plot(kind, panels[0, 0]) is panels[0, 0]
    assert panels[0, 0].has_data() and not any(panel.lines for panel in panels.flat[1:])
    assert pyplot.get_fignums() == figures
    new = plot(found, kind)
    assert len(pyplot.get_fignums()) == len(figures) + 1
    new.figure.canvas.draw()
    pyplot.close(new.figure)
    assert dict(matplotlib.rcParams) == before
    copy = pickle.loads(pickle.dumps(drawn(kind, found).figure)).axes[0]
    copy.figure.draw_without_rendering()
    assert labels(copy.xaxis) == labels(drawn(kind, found).xaxis)


@pytest.mark.parametrize("kind", ["scores", "rows"])
@pytest.mark.parametrize("name", ["found", "given", "clean", "far"])
def test_every_row_is_one_mark_of_its_class(kind, name, request):
    summary = request.getfixturevalue(name)
    ax = drawn(kind, summary)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    for cloud in clouds(ax):
        x, y = points(cloud)
        assert np.all((x >= left) & (x <= right) & (y >= low) & (y <= high))
    assert sum(len(cloud.get_xdata()) for cloud in clouds(ax)) == summary.n
    assert len(clouds(ax)[0].get_xdata()) == summary.support.sum()
    looks = {(cloud.get_color(), cloud.get_marker()) for cloud in clouds(ax)}
    assert len(looks) == len(clouds(ax)) == 1 + max(len(summary.groups), summary.n_removed > 0)
    assert legend(ax)[0] == f"kept: {summary.support.sum()} rows"
    for text, description in zip(legend(ax)[1:], summary.group_descriptions, strict=False):
        assert text.endswith(description)


def test_scores_stand_at_their_rows_beside_the_cut(given):
    ax = drawn("scores", given)
    kept, removed = clouds(ax)
    np.testing.assert_array_equal(removed.get_xdata(), np.flatnonzero(~given.support))
    np.testing.assert_array_equal(removed.get_ydata(), given.scores[~given.support])
    assert kept.get_color() != removed.get_color() and kept.get_marker() != removed.get_marker()
    cuts = [line.get_ydata() for line in ax.lines if line.get_linestyle() == "--"]
    assert [tuple(cut) for cut in cuts] == [(given.threshold, given.threshold)]


def test_the_label_of_0_is_alone():
    """Where all kept rows have score 0, the scale is linear up to a part of the cut."""
    X = contaminated()
    X[30] = 1e3
    summary = inlier.robust_mean(X[30:])._summary
    ax = drawn("scores", summary)
    ticks = [tick for tick in ax.get_yticks() if tick > 0.0]
    assert ax.get_yscale() == "asinh" and 0.0 in ax.get_yticks() and len(ticks) >= 2
    low, high, *shown = ax.transData.transform([(0.0, y) for y in (*ax.get_ylim(), *ticks)])[:, 1]
    assert min(shown) - low > 0.04 * (high - low)


def test_rows_stand_where_the_view_sees_them(found):
    ax = drawn("rows", found)
    assert (ax.get_xlabel(), ax.get_ylabel()) == found.view.names[:2]
    kept = found.view.rows[:2, found.support]
    unit = kept.std(axis=1)
    np.testing.assert_allclose(points(clouds(ax)[0]), kept / unit[:, None])
    offset = found.view.directions[:2] @ (found.plain - found.robust) / unit
    assert points(named(ax, "robust mean")).ravel().tolist() == [0.0, 0.0]
    np.testing.assert_allclose(points(named(ax, "plain mean")).ravel(), offset)
    ax.set_xlim(0.1, 0.2)  # ticks follow the limits
    assert sum(0.1 <= tick <= 0.2 for tick in ax.get_xticks()) >= 3


def test_one_direction_against_the_number_of_the_row(clean):
    view = clean.view
    one = replace(clean, view=Projections(view.names[:1], view.directions[:1], view.rows[:1]))
    ax = drawn("rows", one)
    along = view.rows[0] / view.rows[0].std()
    np.testing.assert_allclose(points(clouds(ax)[0]), [np.arange(clean.n), along])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("row", view.names[0])
    none = replace(clean, view=Projections((), view.directions[:0], view.rows[:0]))
    assert len(clouds(drawn("rows", none))[0].get_xdata()) == clean.n


def test_what_lies_beyond_the_limits_is_at_the_edge_with_an_arrow(far):
    ax = drawn("scores", far)
    (arrow,) = arrows(ax)
    top = ax.get_ylim()[1]
    assert len(arrow.get_ydata()) == 5 and (arrow.get_ydata() <= top).all()
    heights = np.concatenate([points(line)[1] for line in clouds(ax)])
    assert np.isfinite(heights).all() and (heights == arrow.get_ydata()[0]).sum() == 5


def test_sensitivity_is_the_shift_of_each_fraction(found):
    (line,) = drawn("sensitivity", found).lines
    changes = found.sensitivity
    np.testing.assert_allclose(
        points(line), [[100 * c.fraction for c in changes], [c.shift for c in changes]]
    )


def test_what_cannot_be_drawn(found, monkeypatch):
    figures = pyplot.get_fignums()
    with pytest.raises(ValueError, match=r"one of 'scores', .*, but is 'histogram'"):
        plot(found, "histogram")
    assert pyplot.get_fignums() == figures
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"inlier\[plot\]"):
        plot(found, "scores")
