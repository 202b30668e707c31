"""What was public before still works for one release, and warns with what to use instead."""

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


def test_options_are_checked():
    with pytest.raises(TypeError, match="unexpected keyword argument 'sgima'"):
        inlier.robust_mean(X, sgima=1.0)
    with pytest.raises(ValueError, match=r"l0 must be inlier\.l0\.Options"):
        inlier.robust_mean(X, sigma=1.0, l0={"p": 0.3})
