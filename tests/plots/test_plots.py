"""Figures of a result: what is drawn is what the summary says, and nothing else is touched."""

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest

import inlier
from inlier import plots
from inlier.datasets import SettingB
from inlier.figures.panels import LONGEST_NAME
from inlier.results.summary import Projections

matplotlib = pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from inlier.plots.drawing import MOST_VECTORS  # noqa: E402

KINDS = ["scores", "means", "rows", "spectrum", "path"]


def new_axes():
    figure = Figure(figsize=(6.0, 4.0), dpi=50, layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def drawn(kind, summary, ax=None):
    """Drawn to the end: much of what can go wrong goes wrong in the layout."""
    ax = getattr(plots, kind)(summary, new_axes() if ax is None else ax)
    ax.figure.draw_without_rendering()
    return ax


def clouds(ax):
    """The artists that are markers without a line."""
    return [line for line in ax.lines if line.get_linestyle() == "None" and len(line.get_xdata())]


def row_clouds(ax):
    """Those that stand for rows."""
    return [cloud for cloud in clouds(ax) if cloud.get_gid()]


def points(ax):
    return sum(len(cloud.get_xdata()) for cloud in row_clouds(ax))


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def contaminated(n=200, d=8, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:30, 0] += 15.0
    return X


@pytest.fixture(scope="module")
def sample():
    return SettingB(n=300, d=20, alpha=0.2).sample(random_state=0)


@pytest.fixture(scope="module")
def result(sample):
    return inlier.robust_mean(sample.X)


@pytest.fixture(scope="module")
def found(result):
    """Without sigma: groups and a path."""
    return result.summary


@pytest.fixture(scope="module")
def told(sample):
    """With sigma: neither."""
    return inlier.robust_mean(sample.X, sigma=sample.sigma).summary


@pytest.fixture(scope="module")
def clean():
    X = np.random.default_rng(0).standard_normal((100, 5))
    return inlier.robust_mean(X).summary


@pytest.fixture(scope="module")
def far():
    """Two groups; the rows of one are too far away to square."""
    X = np.random.default_rng(0).standard_normal((300, 10))
    X[:5] = 1e200
    X[5:40] += 30.0
    summary = inlier.robust_mean(X, assume="symmetric").summary
    assert len(summary.groups) == 2 and np.isinf(summary.scores).sum() == 5
    return summary


@pytest.mark.parametrize("kind", KINDS)
def test_draws_on_the_given_axes_and_touches_nothing_else(kind, result):
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    figures = pyplot.get_fignums()
    ax = new_axes()
    assert getattr(result, f"plot_{kind}")(ax) is ax
    assert ax.has_data()
    assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == figures


@pytest.mark.parametrize("kind", KINDS)
def test_makes_a_figure_if_none_is_given(kind, found):
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    before = pyplot.get_fignums()
    ax = getattr(plots, kind)(found)
    assert len(pyplot.get_fignums()) == len(before) + 1
    assert ax.figure.get_layout_engine() is not None
    ax.figure.canvas.draw()
    pyplot.close(ax.figure)


@pytest.mark.parametrize("kind", ["scores", "rows"])
@pytest.mark.parametrize("name", ["found", "told", "clean", "far"])
def test_every_row_is_one_point(kind, name, request):
    summary = request.getfixturevalue(name)
    ax = drawn(kind, summary)
    assert points(ax) == summary.n
    low, high = ax.get_ylim()
    left, right = ax.get_xlim()
    for cloud in clouds(ax):
        assert np.all((cloud.get_ydata() >= low) & (cloud.get_ydata() <= high))
        assert np.all((cloud.get_xdata() >= left) & (cloud.get_xdata() <= right))


@pytest.mark.parametrize("name", ["found", "told", "clean"])
def test_scores_stand_at_their_rows_beside_the_cut(name, request):
    summary = request.getfixturevalue(name)
    ax = drawn("scores", summary)
    cuts = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [tuple(line.get_ydata()) for line in cuts] == [(summary.threshold, summary.threshold)]
    low = ax.get_ylim()[0]
    for cloud in clouds(ax):
        numbers = np.asarray(cloud.get_xdata(), dtype=int)
        on_axis = np.asarray(cloud.get_ydata()) > 1.5 * low  # above the end of a logarithmic axis
        shown = np.asarray(cloud.get_ydata())[on_axis]
        np.testing.assert_array_equal(shown, summary.scores[numbers][on_axis])


def test_kept_and_removed_rows_differ_in_colour_and_shape(told):
    kept, removed = clouds(drawn("scores", told))
    assert kept.get_color() != removed.get_color()
    assert kept.get_marker() != removed.get_marker()
    np.testing.assert_array_equal(kept.get_xdata(), np.flatnonzero(told.support))
    np.testing.assert_array_equal(removed.get_xdata(), np.flatnonzero(~told.support))


def test_each_group_has_its_own_look(far):
    for kind in ("scores", "rows"):
        texts = legend(drawn(kind, far))
        assert texts[0] == f"kept: {far.support.sum()} rows"
        assert texts[1].startswith("group 1: 5 rows")
        assert texts[2].startswith("group 2: 35 rows")
        assert not any("chance" in text for text in texts)


def test_suspects_have_their_own_look(clean):
    suspect_of = np.full(clean.n, -1)
    suspect_of[:7] = 0
    ax = drawn("rows", replace(clean, suspects=("7 rows",), suspect_of=suspect_of))
    assert "kept, suspect 1: 7 rows" in legend(ax)
    assert f"kept: {clean.n - 7} rows" in legend(ax)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("far", [1e9, 1e200])
def test_groups_that_left_for_their_cells(kind, far):
    X = contaminated(seed=1)
    X[50, 2], X[51, 3] = far, 1e7
    result = inlier.robust_mean(X)
    assert any(group.measure is not None for group in result.groups)
    drawn(kind, result.summary)


def test_more_groups_than_colours():
    X = contaminated()
    summary = inlier.robust_mean(X).summary
    many = replace(
        summary,
        support=np.arange(200) >= 70,
        group_of=np.where(np.arange(200) < 63, np.arange(200) // 7, -1),
        groups=tuple(f"7 rows far out, {i} (chance below 1e-9)" for i in range(9)),
        group_descriptions=tuple(f"7 rows far out, {i}" for i in range(9)),
    )
    ax = drawn("scores", many)
    assert points(ax) == 200
    assert legend(ax)[-2:] == ["5 more groups: 35 rows", "removed, in no group: 7 rows"]
    looks = [(cloud.get_color(), cloud.get_marker()) for cloud in clouds(ax)]
    assert len(set(looks)) == len(looks) == 7


def test_infinite_scores_are_triangles_above_all_others(far):
    ax = drawn("scores", far)
    (pinned,) = [cloud for cloud in clouds(ax) if cloud.get_marker() == "^"]
    others = [cloud for cloud in clouds(ax) if cloud.get_marker() != "^"]
    np.testing.assert_array_equal(pinned.get_xdata(), np.flatnonzero(np.isinf(far.scores)))
    assert min(pinned.get_ydata()) > max(max(cloud.get_ydata()) for cloud in others)
    assert max(pinned.get_ydata()) < ax.get_ylim()[1]


def test_only_infinite_and_huge_scores(clean):
    wild = np.full(clean.n, np.inf)
    assert points(drawn("scores", replace(clean, scores=wild))) == clean.n
    wild[:50] = 1.7e308
    wild[50:80] = 1e-300
    assert points(drawn("scores", replace(clean, scores=wild))) == clean.n
    for threshold in (0.0, np.inf):
        assert points(drawn("scores", replace(clean, threshold=threshold))) == clean.n


def test_the_axis_is_logarithmic_where_the_range_needs_it(found, far):
    assert drawn("scores", found).get_yscale() == "linear"
    assert drawn("scores", far).get_yscale() == "log"


def test_many_rows_are_rasterised(clean):
    assert not any(cloud.get_rasterized() for cloud in clouds(drawn("scores", clean)))
    n = MOST_VECTORS + 1
    rng = np.random.default_rng(0)
    large = replace(
        clean,
        n=n,
        support=np.ones(n, np.bool_),
        scores=rng.random(n),
        group_of=np.full(n, -1),
        suspect_of=np.full(n, -1),
        view=replace(clean.view, rows=rng.standard_normal((len(clean.view.names), n))),
    )
    for kind in ("scores", "rows"):
        assert all(cloud.get_rasterized() for cloud in row_clouds(drawn(kind, large)))


def test_means_are_the_columns_that_are_off_most():
    X = np.random.default_rng(0).standard_normal((200, 30))
    X[:30] += 10.0 + np.arange(30)
    summary = inlier.robust_mean(X).summary
    ax = drawn("means", summary)
    order = np.argsort(-np.abs(summary.shift), kind="stable")[:20]
    assert labels(ax.yaxis) == [f"x{i}" for i in order]
    plain, median = clouds(ax)
    np.testing.assert_allclose(plain.get_xdata(), summary.shift[order])
    expected = (summary.median - summary.robust) / summary.deviation
    np.testing.assert_allclose(median.get_xdata(), expected[order])
    assert "20 of 30 columns" in ax.get_ylabel()
    bottom, top = ax.get_ylim()
    assert bottom > top  # the largest on top


def test_means_beyond_all_measure_stand_at_the_edge(far):
    ax = drawn("means", far)
    (pinned,) = [cloud for cloud in clouds(ax) if cloud.get_marker() == ">"]
    assert len(pinned.get_xdata()) == far.d
    np.testing.assert_allclose(pinned.get_xdata(), ax.get_xlim()[1])
    assert "far beyond the edge" in legend(ax)
    wide = replace(far, plain=far.robust + 1e4 * far.deviation)
    ax = drawn("means", wide)
    assert ax.get_xscale() == "asinh"
    assert len(set(labels(ax.xaxis))) == len(labels(ax.xaxis)) <= 10
    for plain in (np.inf, np.nan, -np.inf):
        drawn("means", replace(far, plain=np.full(far.d, plain)))
    assert clouds(drawn("means", replace(far, deviation=np.zeros(far.d)))) == []


def test_columns_in_which_only_removed_rows_vary_are_counted(clean):
    X = contaminated()
    X[:, 3] = 0.1
    X[:, 5] = np.arange(200) < 30
    summary = inlier.robust_mean(X).summary
    assert summary.n_removed == 30
    ax = drawn("means", summary)
    assert sorted(labels(ax.yaxis)) == [f"x{i}" for i in (0, 1, 2, 3, 4, 6, 7)]
    assert "without 1 column in which only removed rows vary" in ax.get_xlabel()
    assert "without" not in drawn("means", clean).get_xlabel()


def test_hostile_names_are_no_formulas_and_not_long():
    names = [r"$\frac{1$", "$x_1$", "a_b^c", "\\$", "two\nlines\x00", "", "$", "x" * 300]
    X = contaminated()
    summary = inlier.robust_mean(X).with_data(X, columns=names, names=[r"$\bad$"] * 200).summary
    ax = drawn("means", summary)
    texts = labels(ax.yaxis)
    assert max(len(text) for text in texts) <= LONGEST_NAME + 1
    assert r"\$x_1\$" in texts and "two lines" in texts
    # What matplotlib makes of them: text that is no formula.
    seen = [label._preprocess_math(label.get_text()) for label in ax.yaxis.get_ticklabels()]
    assert not any(formula for _, formula in seen)
    assert {r"$\frac{1$", "$x_1$", "$"} <= {text for text, _ in seen}


def test_long_names_that_differ_at_the_end_stay_apart():
    X = contaminated()
    names = ["measurement of the concentration in sample " * 6 + str(i) for i in range(8)]
    summary = inlier.robust_mean(X).with_data(X, columns=names).summary
    assert len(set(labels(drawn("means", summary).yaxis))) == 8


def test_rows_stand_where_the_view_sees_them(found):
    ax = drawn("rows", found)
    assert (ax.get_xlabel(), ax.get_ylabel()) == found.view.names[:2]
    kept = clouds(ax)[0]
    np.testing.assert_array_equal(kept.get_xdata(), found.view.rows[0][found.support])
    np.testing.assert_array_equal(kept.get_ydata(), found.view.rows[1][found.support])
    assert ax.get_aspect() == 1.0


def test_rows_far_away_do_not_hide_the_others(far):
    ax = drawn("rows", far)
    (pinned,) = [cloud for cloud in row_clouds(ax) if cloud.get_marker() in "<>^v"]
    assert len(pinned.get_xdata()) == 5
    assert ax.get_xlim()[1] - ax.get_xlim()[0] < 1e4
    assert "far beyond the edge" in legend(ax)


def test_the_means_are_crosses(found):
    crosses = {line.get_marker(): line for line in drawn("rows", found).lines}
    offset = found.view.directions[:2] @ (found.plain - found.robust)
    assert [crosses["+"].get_xdata()[0], crosses["+"].get_ydata()[0]] == [0.0, 0.0]
    np.testing.assert_allclose([crosses["x"].get_xdata()[0], crosses["x"].get_ydata()[0]], offset)


def test_one_direction_against_the_number_of_the_row(clean):
    view = clean.view
    one = replace(clean, view=Projections(view.names[:1], view.directions[:1], view.rows[:1]))
    ax = drawn("rows", one)
    (kept,) = clouds(ax)
    np.testing.assert_array_equal(kept.get_ydata(), view.rows[0])
    np.testing.assert_array_equal(kept.get_xdata(), np.arange(clean.n))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("row", view.names[0])
    none = replace(clean, view=Projections((), view.directions[:0], view.rows[:0]))
    assert points(drawn("rows", none)) == clean.n


def test_spectrum_by_rank(found, far):
    ax = drawn("spectrum", found)
    assert legend(ax) == ["all rows", "kept rows"]
    for line, values in zip(ax.lines, (found.before, found.after), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, len(values) + 1))
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert ax.get_ylim()[0] == 0.0
    assert legend(drawn("spectrum", far)) == ["kept rows"]


def test_path_marks_the_chosen_point(found):
    ax = drawn("path", found)
    (line,) = [line for line in ax.lines if line.get_linestyle() == "-"]
    removed = [len(point.removed) for point in found.path]
    np.testing.assert_array_equal(line.get_xdata(), removed)
    np.testing.assert_allclose(line.get_ydata(), [point.sigma for point in found.path])
    (ring,) = clouds(ax)
    chosen = found.path[found.chosen]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (len(chosen.removed), chosen.sigma)
    (other,) = [axes for axes in ax.figure.axes if axes is not ax]
    np.testing.assert_allclose(other.lines[0].get_ydata(), [point.price for point in found.path])
    assert (ax.get_ylabel(), other.get_ylabel()) == ("sigma", "price")


def test_path_from_infinity_to_zero(far):
    assert np.isinf(far.path[0].sigma)
    ax = drawn("path", replace(far, path=(*far.path, replace(far.path[-1], sigma=0.0))))
    (line,) = [line for line in ax.lines if line.get_linestyle() == "-"]
    heights = line.get_ydata()
    assert np.all(np.isfinite(heights)) and np.all(np.diff(heights) < 0.0)
    ends = {cloud.get_marker(): cloud.get_ydata()[0] for cloud in clouds(ax)}
    assert (ends["^"], ends["v"]) == (heights[0], heights[-1])
    drawn("path", replace(far, path=far.path[:1], chosen=0))


def test_without_a_path_the_error_says_what_to_call(told):
    from matplotlib import pyplot

    figures = pyplot.get_fignums()
    with pytest.raises(ValueError, match=r"sigma was given.*plot_path.*robust_mean\(X\) without"):
        plots.path(told)
    assert pyplot.get_fignums() == figures


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 5.0]]),
        np.array([[0.0], [1.0]]),
        np.linspace(-1.0, 1.0, 40)[:, None] ** 3,
        np.ones((10, 3)),
        contaminated() * 1e-150,
        contaminated() * 1e60,
    ],
    ids=["two rows", "two numbers", "one column", "constant", "tiny", "huge"],
)
def test_degenerate_data(X):
    summary = inlier.robust_mean(X).summary
    for kind in KINDS:
        ax = drawn(kind, summary)
        if kind in ("scores", "rows"):
            assert points(ax) == len(X)


def test_no_row_is_kept(told):
    none = replace(told, support=np.zeros(told.n, np.bool_))
    for kind in ("scores", "rows", "means", "spectrum"):
        ax = drawn(kind, none)
        if kind in ("scores", "rows"):
            assert points(ax) == told.n


@pytest.mark.parametrize("kind", KINDS)
def test_small_panels_with_shared_axes(kind, found):
    figure = Figure(figsize=(3.0, 2.0))
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    assert drawn(kind, found, panels[0, 0]) is panels[0, 0]
    assert not any(panel.lines for panel in panels.flat[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_without_matplotlib_the_error_names_the_extra(kind, found, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"inlier\[plot\]"):
        getattr(plots, kind)(found)


@pytest.mark.parametrize("kind", KINDS)
def test_figures_can_be_copied(kind, found):
    copy = pickle.loads(pickle.dumps(drawn(kind, found).figure)).axes[0]
    copy.figure.draw_without_rendering()
    assert labels(copy.xaxis) == labels(drawn(kind, found).xaxis)


def test_ticks_follow_the_limits(found):
    ax = drawn("rows", found)
    ax.set_xlim(0.1, 0.2)
    assert len(ax.get_xticks()) >= 3
    assert all(0.1 <= tick <= 0.2 for tick in ax.get_xticks())
