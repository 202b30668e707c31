"""A result as an object: what it keeps, copies and says."""

import pickle

import numpy as np
import pandas as pd
import pytest

from inlier import robust_mean
from reference import contaminated


@pytest.fixture(scope="module")
def result():
    return robust_mean(contaminated(far=20.0))


def test_the_text_of_a_result_is_its_message(result):
    assert result.message in str(result)
    assert "54 of 60" in result.message


def test_a_pickled_result_has_left_the_data_behind(result):
    back = pickle.loads(pickle.dumps(result))
    for name in ("location", "support", "scores"):
        np.testing.assert_array_equal(getattr(back, name), getattr(result, name))
    assert back.message == result.message and back.certificate == result.certificate
    assert back._data is None and result._data is not None
    with pytest.raises(ValueError, match="with_data"):
        back.explain(0)
    again = back.with_data(contaminated(far=20.0))
    assert again.explain(0).score == pytest.approx(result.explain(0).score)


def test_names_can_be_given_later(result):
    X = contaminated(far=20.0)
    named = result.with_data(X, columns=list("abcd"), names=[f"r{i}" for i in range(60)])
    assert {feature.name for feature in named.explain(0).features()} <= set("abcd")
    assert result.with_data(pd.DataFrame(X, columns=list("wxyz")))._data.columns == tuple("wxyz")
    with pytest.raises(ValueError, match=r"X has shape|rows"):
        result.with_data(X[:10])


def test_explanations_of_several_rows_are_those_of_each(result):
    together = result._explanations(np.array([0, 7, 59]))
    for row, found in zip((0, 7, 59), together, strict=True):
        one = result.explain(row)
        assert (found.row, found.score, found.removed) == (one.row, one.score, one.removed)
