"""What was public before still works for one release, and warns with what to use instead."""

import numpy as np
import pytest

import inlier
from cases import cases
from reference import contaminated

X = contaminated(far=20.0)
RESULT = inlier.robust_mean(X)


def test_a_result_has_few_public_attributes():
    assert len([name for name in dir(RESULT) if not name.startswith("_")]) <= 25


@cases("name", inlier._OLD)
def test_old_names_lead_to_where_things_are_now(name):
    with pytest.warns(FutureWarning, match=rf"inlier\.{name} goes with the next release: use"):
        assert getattr(inlier, name) is getattr(inlier.research, name)


def test_an_unknown_name_is_an_error():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = inlier.nothing_like_it
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = RESULT.nothing_like_it


@cases("name", ["weights", "indicator", "budget", "n_passes", "history", "effective_size"])
def test_numbers_of_a_result_are_among_its_details(name):
    with pytest.warns(FutureWarning, match=rf"use details\.{name}"):
        found = getattr(RESULT, name)
    np.testing.assert_array_equal(found, getattr(RESULT.details, name))


def test_old_ways_to_rank_and_to_plot():
    with pytest.warns(FutureWarning, match="ranking"):
        outlyingness = RESULT.outlyingness
    np.testing.assert_array_equal(RESULT.ranking, np.argsort(-outlyingness, kind="stable"))
    with pytest.raises(AttributeError, match="use sensitivity"):
        _ = RESULT.path
    with pytest.warns(FutureWarning, match=r'plot\("scores"\)'):
        assert RESULT.plot_scores().get_title() == RESULT.plot("scores").get_title()


def test_options_of_the_published_algorithm_by_their_old_names():
    with pytest.warns(FutureWarning, match=r"l0=inlier\.l0\.Options\(p=\.\.\.\)"):
        old = inlier.robust_mean(X, sigma=1.5, p=0.3)
    new = inlier.robust_mean(X, sigma=1.5, l0=inlier.l0.Options(p=0.3))
    np.testing.assert_array_equal(old.details.indicator, new.details.indicator)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sgima'"):
        inlier.robust_mean(X, sgima=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sgima'"):
        inlier.robust_mean(X, sgima=None)
    with pytest.raises(ValueError, match=r"l0 must be inlier\.l0\.Options"):
        inlier.robust_mean(X, sigma=1.0, l0={"p": 0.3})
