"""Why a row got its score, and what another choice would have been."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import inlier
from cases import cases
from fits import robust_mean
from inlier.datasets import SettingA, SettingB


def sample(n=300, d=20, alpha=0.2, setting=SettingA):
    return setting(n=n, d=d, alpha=alpha).sample(random_state=0)


KINDS = {
    "nothing given": {},
    "sigma": {"sigma": 1.6},
    "a metric": {"scatter": "diagonal"},
    "sigma in a metric": {"scatter": "diagonal", "sigma": 2.5},
    "pruned": {"sigma": 1.6, "prune": 0.5},
    "the published algorithm": {"sigma": 1.6, "algorithm": "paper"},
}
SHAPES = {"tall": (300, 20), "wide": (80, 200)}


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


@cases("shape", SHAPES.values())
@cases("options", KINDS.values())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_contributions_add_up_to_the_score(options, shape):
    X = sample(*shape).X
    result = robust_mean(X, **options)
    for row in range(0, len(X), 7):
        why = result.explain(row)
        assert why.row == row
        assert len(why.contributions) == X.shape[1]
        score = result.scores[row] if np.isfinite(result.scores[row]) else why.score
        assert why.pruned == bool(np.isinf(result.scores[row]))
        # Sizes of cells by their own tails are in single precision.
        np.testing.assert_allclose(why.contributions.sum(), score, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(sum(p.contribution for p in why.directions), score, rtol=1e-6)
        assert all(part.contribution >= 0.0 for part in why.directions)
        assert why.removed == (not result.support[row])
        np.testing.assert_array_equal(why.values, X[row])


def test_a_full_scatter_matrix():
    X = sample().X
    rng = np.random.default_rng(0)
    root = rng.standard_normal((20, 20))
    result = inlier.robust_mean(X @ root.T, scatter=root @ root.T)
    np.testing.assert_allclose(
        [result.explain(i).contributions.sum() for i in range(len(X))], result.scores, rtol=1e-6
    )


def test_nothing_had_to_go():
    X = np.random.default_rng(0).standard_normal((200, 5))
    result = inlier.robust_mean(X, sigma=3.0)
    why = result.explain(7)
    assert not why.removed
    np.testing.assert_allclose(
        why.contributions, (X[7] - X.mean(axis=0)) ** 2 / result.details.budget
    )


def test_the_feature_that_was_spoilt_comes_first():
    X = np.random.default_rng(0).standard_normal((400, 8))
    X[3, 5] += 500.0
    features = inlier.robust_mean(X).explain(3).features()
    assert (features[0].column, features[0].name) == (5, "x5")
    assert features[0].value == X[3, 5]
    assert features[0].contribution > 100.0 * sum(abs(f.contribution) for f in features[1:])
    sizes = [abs(feature.contribution) for feature in features]
    assert sizes == sorted(sizes, reverse=True)


def test_names_of_a_data_frame():
    X = sample(d=4).X
    frame = pd.DataFrame(X, columns=["a", "b", "c", 4], index=[f"r{i}" for i in range(len(X))])
    result = inlier.robust_mean(frame)
    assert {feature.name for feature in result.explain(0).features()} == {"a", "b", "c", "4"}
    assert result._summary.row_name(3) == "r3"
    named = result.with_data(X, columns=list("wxyz"), names=np.arange(len(X)))
    assert named.explain(0).columns == ("w", "x", "y", "z")
    assert named._summary.row_name(3) == "3"
    assert "= " in str(named.explain(0))


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asfortranarray, np.float32, "torch"])
def test_other_homes(kind):
    X = sample().X
    if kind == "torch":
        kind = pytest.importorskip("torch").asarray
    result = inlier.robust_mean(kind(X), sigma=1.6)
    scores = np.asarray(result.scores)
    for row in (0, 5, 100):
        np.testing.assert_allclose(
            result.explain(row).contributions.sum(), scores[row], rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize("row", [300, -301, 1.5, True, "3", None])
def test_rows_that_are_not_there(row):
    result = inlier.robust_mean(sample().X)
    with pytest.raises(ValueError, match="row must be the number of one of 300 rows"):
        result.explain(row)


@pytest.mark.parametrize(
    "move", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_the_data_stay_behind(move):
    X = sample().X
    result = inlier.robust_mean(X)
    _ = result._summary, result.standard_error
    alone = move(result)
    assert alone._data is None and "summary" not in vars(alone)
    np.testing.assert_array_equal(alone.scores, result.scores)
    for ask in (
        lambda: alone.explain(3),
        lambda: alone._summary,
        lambda: alone.standard_error,
        lambda: alone.confidence_interval(),
    ):
        with pytest.raises(ValueError, match=r"result\.with_data\(X\)"):
            ask()
    assert alone.explain(3, X).score == result.explain(3).score
    assert alone.with_data(X).explain(3).score == result.explain(3).score
    np.testing.assert_array_equal(alone.with_data(X).standard_error, result.standard_error)


def test_other_data_are_refused():
    result = inlier.robust_mean(sample().X)
    with pytest.raises(ValueError, match=r"shape \(299, 20\)"):
        result.with_data(sample().X[1:])
    with pytest.raises(ValueError, match="columns must have a name for each of the 20 columns"):
        result.with_data(sample().X, columns=["a"])
    with pytest.raises(ValueError, match="names must have a name for each of the 300 rows"):
        result.with_data(sample().X, names=["a"])


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("options", [{}, {"sigma": 3.0}, {"scatter": "diagonal"}])
def test_another_threshold(options, shape):
    X = sample(*shape).X
    result = inlier.robust_mean(X, **options)
    threshold = float(np.quantile(result.scores, 0.5))
    other = result.at(threshold=threshold)
    np.testing.assert_array_equal(other.support, result.scores <= threshold)
    np.testing.assert_allclose(other.location, X[other.support].mean(axis=0), atol=1e-9)
    assert other.details.rule.threshold == threshold
    np.testing.assert_array_equal(other.scores, result.scores)
    assert other.explain(0).removed == (result.scores[0] > threshold)
    if "scatter" not in options:  # the certificate is that of the rows that are kept now
        kept = X[other.support] - other.location
        top = np.linalg.eigvalsh(kept.T @ kept)[-1]
        assert other.certificate.lambda_max == pytest.approx(top, rel=1e-6)
    assert sum(group.size for group in other.groups) <= other.certificate.n_removed
    same = result.at(threshold=result.details.rule.threshold)
    np.testing.assert_array_equal(same.support, result.support)


def test_another_bound_or_power_is_another_fit():
    X = sample(600, 30, setting=SettingB).X
    result = robust_mean(X, sigma=1.35)
    fitted = robust_mean(X, sigma=1.5)
    for choice in ({"sigma": 1.5}, {"budget": 1.5**2 * len(X)}):
        with pytest.warns(FutureWarning, match="fit again"):
            other = result.at(**choice)
        np.testing.assert_array_equal(other.support, fitted.support)
    with pytest.warns(FutureWarning, match="fit again"):
        other = result.at(p=0.3)
    np.testing.assert_array_equal(other.support, robust_mean(X, sigma=1.35, p=0.3).support)


@cases(
    ("choice", "message"),
    [
        ({}, "Give either point"),
        ({"point": 0, "threshold": 1.0}, "2 were given"),
        ({"threshold": -1.0}, "threshold must be a finite number of at least 0"),
        ({"threshold": 0.0}, "below every score"),
        ({"threshold": "1"}, "threshold must be"),
    ],
)
def test_choices_that_make_no_sense(choice, message):
    result = inlier.robust_mean(sample(setting=SettingB).X, sigma=1.6)
    with pytest.raises(ValueError, match=message):
        result.at(**choice)


def test_rows_too_far_away_to_square_may_be_put_back():
    X = np.random.default_rng(0).standard_normal((300, 20))
    X[:30, 0] += 30.0
    X[3] = 1e200
    result = inlier.robust_mean(X)
    assert not result.support[:30].any()
    for chosen in (result, result.keep(0), result.at(0)):
        assert "<html" in chosen.to_html()
        assert chosen._summary.n_removed == int((~chosen.support).sum())


def test_rows_that_do_not_vary():
    result = inlier.robust_mean(np.ones((20, 3)))
    assert result.explain(0).score == 0.0
    assert result._summary.shift.tolist() == [0.0] * 3


def test_what_was_chosen_and_what_is_said_about_it_agree():
    X = np.random.default_rng(0).standard_normal((300, 10))
    X[:30, 0] += 40.0
    X[30:50, 4] -= 200.0
    result = inlier.robust_mean(X, assume="symmetric")
    assert len(result.groups) == 2
    for chosen in (
        result.keep(0),
        result.keep(1),
        *(result.at(i) for i in range(len(result.path))),
    ):
        for why in chosen._summary.worst:
            assert why.removed == (not chosen.support[why.row])
            assert chosen.explain(why.row).removed == why.removed
    back = result.keep(1)
    np.testing.assert_allclose(
        [back.explain(i).score for i in (0, 20, 100)], back.scores[[0, 20, 100]]
    )
    with pytest.raises(ValueError, match="shape"):
        result.explain(0, X[:, :3])
