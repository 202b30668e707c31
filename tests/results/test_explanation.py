"""Why a row got its score, and what another choice would have been."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import inlier
import statements
from inlier.datasets import SettingA


def sample(n=300, d=20, alpha=0.2, setting=SettingA):
    return setting(n=n, d=d, alpha=alpha).sample(random_state=0)


def test_contributions_add_up_to_the_score_at_another_threshold():
    """A threshold may put back all rows of a group; the rule keeps the group."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    X[:3, 0], X[3:20] = 500.0, X[3:20] + 6.0
    result = inlier.robust_mean(X, assume="symmetric")
    for threshold in np.quantile(result.scores[~result.support], [0.0, 0.5, 0.9]):
        changed = result.at(threshold=float(threshold))
        for row in range(25):
            total = changed.explain(row).contributions.sum()
            np.testing.assert_allclose(total, changed.scores[row], rtol=1e-6, atol=1e-12)


def test_the_feature_that_was_spoilt_comes_first():
    X = np.random.default_rng(0).standard_normal((400, 8))
    X[3, 5] += 500.0
    features = inlier.robust_mean(X, sigma=1.5).explain(3).features()
    assert (features[0].column, features[0].name) == (5, "x5")
    assert features[0].value == X[3, 5]
    assert features[0].contribution > 100.0 * sum(abs(f.contribution) for f in features[1:])
    sizes = [abs(feature.contribution) for feature in features]
    assert sizes == sorted(sizes, reverse=True)


def test_names_of_a_data_frame():
    X = sample(d=4).X
    frame = pd.DataFrame(X, columns=["a", "b", "c", 4], index=[f"r{i}" for i in range(len(X))])
    result = inlier.robust_mean(frame)
    assert {feature.name for feature in result.explain("r0").features()} == {"a", "b", "c", "4"}
    assert result._summary.row_name(3) == "r3"
    named = result.with_data(X, columns=list("wxyz"), names=np.arange(len(X)))
    assert named.explain(0).columns == ("w", "x", "y", "z")
    assert named._summary.row_name(3) == "3"
    assert "= " in str(named.explain(0))
    assert result.with_data(frame.rename(columns={"a": "A"}))._data.columns[0] == "A"


def test_rows_that_are_not_there():
    result = inlier.robust_mean(sample().X)
    for row in (300, -301, 1.5, True, "3", None):
        with pytest.raises(ValueError, match="row must be the number of one of 300 rows"):
            result.explain(row)
    frame = pd.DataFrame(sample().X, index=[f"r{i}" for i in range(300)])
    for row in ("zz", 3, ["r1", "r2"], None, slice(None)):
        with pytest.raises(ValueError, match=r"row.* label"):
            inlier.robust_mean(frame).explain(row)


@pytest.mark.parametrize(
    "move", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_the_data_stay_behind(move):
    X = sample().X
    result = inlier.robust_mean(X)
    _ = result._summary, result.standard_error
    alone = move(result)
    assert alone._data is None and "_summary" not in vars(alone)
    np.testing.assert_array_equal(alone.scores, result.scores)
    for ask in (
        lambda: alone.explain(3),
        lambda: alone._summary,
        lambda: alone.standard_error,
        lambda: alone.confidence_interval(),
    ):
        with pytest.raises(ValueError, match=r"result\.with_data\(X\)"):
            ask()
    assert alone.with_data(X).explain(3).score == result.explain(3).score
    np.testing.assert_array_equal(alone.with_data(X).standard_error, result.standard_error)


def test_other_data_are_refused():
    result = inlier.robust_mean(sample().X)
    with pytest.raises(ValueError, match=r"shape \(299, 20\)"):
        result.with_data(sample().X[1:])
    X = pd.DataFrame(sample().X, index=[f"r{i}" for i in range(300)]).add_prefix("x")
    X.iloc[3, 1] = 1e6
    result = inlier.robust_mean(X)
    assert result.details.n_set_aside.sum() == 1
    with pytest.raises(ValueError, match=r"shape \(300, 19\)"):
        result.with_data(X.iloc[:, 1:])
    for other in (X[::-1], X.iloc[:, ::-1]):
        with pytest.raises(ValueError, match="in another order"):
            result.with_data(other)
    counted = X.reset_index(drop=True)
    result = inlier.robust_mean(counted)
    for other in (counted[::-1], counted.sort_values("x0")):
        with pytest.raises(ValueError, match="in another order"):
            result.with_data(other)
    assert result.with_data(X).explain("r3").row == 3  # rows may get names
    with pytest.raises(ValueError, match="shape"):
        result.with_data(sample().X[:, :3])


@pytest.mark.parametrize("shape", [(300, 20), (80, 200)], ids=["tall", "wide"])
@pytest.mark.parametrize("options", [{}, {"sigma": 3.0}, {"scatter": "diagonal"}])
def test_another_threshold(options, shape):
    X = sample(*shape).X
    result = inlier.robust_mean(X, **options)
    threshold = float(np.quantile(result.scores, 0.5))
    other = result.at(threshold=threshold)
    np.testing.assert_array_equal(other.support, result.scores <= threshold)
    assert other.details.rule.threshold == threshold
    np.testing.assert_array_equal(other.scores, result.scores)
    statements.check(X, other, before=result, partition=False)
    same = result.at(threshold=result.details.rule.threshold)
    np.testing.assert_array_equal(same.support, result.support)


def test_rows_too_far_away_to_square_may_be_put_back():
    X = np.random.default_rng(0).standard_normal((300, 20))
    X[:30, :10] += 30.0
    X[3] = 1e200
    result = inlier.robust_mean(X)
    assert not result.support[:30].any()
    for chosen in (result, result.keep(0)):
        assert "<html" in chosen.to_html()
        assert chosen._summary.n_removed == int((~chosen.support).sum())


def test_rows_that_do_not_vary():
    result = inlier.robust_mean(np.ones((20, 3)))
    assert result.explain(0).score == 0.0
    assert result._summary.shift.tolist() == [0.0] * 3
