"""Rows that were not in the fit: against the laws they are drawn from, and the fit's verdict."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import lognorm, norm, t
from sklearn.datasets import load_wine

from cases import cases
from inlier import RobustMean
from inlier.research.datasets import SettingA
from inlier.results.novelty import LEVEL, PRIOR, _reach

WINE = load_wine(as_frame=True).data


@cases("level", [1e-2, 1e-3, 1e-5])
@cases("index", [1.0, 3.0, 8.0])
def test_a_value_of_a_power_tail_is_beyond_with_the_stated_chance(index, level, monkeypatch):
    monkeypatch.setattr("inlier.results.novelty.PRIOR", 0.0)  # then the chance is exact
    rng = np.random.default_rng(0)
    values = rng.pareto(index, (20_000, 100)) + 1.0
    # The chance of this Pareto law, over all tables; a fence is never inside of a table.
    farthest = values.max(axis=1)
    reach = _reach(np.sort(values, axis=1), level)
    assert (reach >= farthest).all()
    inside = reach > farthest
    chance = np.where(inside, reach**-index, 0.0).mean()
    assert chance < 1.15 * level  # the error of 20,000 tables is a tenth for the rarest
    if inside.mean() > 0.99:
        assert chance > 0.85 * level
    assert PRIOR > 0.0


LAWS = {"Gaussian": norm, "Student's t_3": t(3), "log-normal": lognorm(1.0)}


@cases("name", list(LAWS))
@cases("n", [50, 500])
def test_good_rows_of_any_law_pass(n, name):
    rng = np.random.default_rng(0)
    n_bad = n_new = 0
    for _ in range(5):
        X, new = (LAWS[name].rvs(size=(rows, 4), random_state=rng) for rows in (n, 2000))
        n_bad += int((RobustMean().fit(X).predict(new) == -1).sum())
        n_new += len(new)
    # Fewer for lighter tails than a power. Tables differ, hence the factor.
    assert n_bad <= 2.0 * LEVEL * n_new


def test_a_clean_fit_rejects_what_no_wine_has():
    model = RobustMean().fit(WINE)
    assert (model.predict(WINE) == 1).all()
    for column in WINE.columns:
        new = WINE.copy()
        new[column] = -1e6
        assert (model.predict(new) == -1).all(), column
    new = WINE.copy()
    new["magnesium"] *= 10.0
    assert (model.predict(new) == -1).all()
    assert (model.predict(3.0 * WINE) == -1).all()


def test_values_that_are_usual_but_not_together():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 1)) + 0.1 * rng.standard_normal((400, 3))
    model = RobustMean().fit(X)
    assert model.predict([[2.0, 2.0, 2.0], [2.0, -2.0, 2.0]]).tolist() == [1, -1]


def test_a_column_in_which_no_row_of_the_fit_varies():
    X = np.column_stack([np.random.default_rng(0).standard_normal((100, 3)), np.full(100, 5.0)])
    model = RobustMean().fit(X)
    new = X[:2].copy()
    new[1, 3] = -1e6
    assert model.predict(new).tolist() == [1, -1]


def test_a_fit_that_has_seen_bad_cells_rejects_those_of_other_columns():
    dirty = WINE.copy()
    dirty.loc[[3, 50, 121], "magnesium"] = 9999.0
    model = RobustMean().fit(dirty)
    assert model.support_.all() and (model.predict(dirty) == 1).all()
    new = WINE.iloc[:3].copy()
    new.loc[0, "magnesium"], new.loc[1, "magnesium"], new.loc[2, "alcohol"] = 9999.0, 9998.0, -1e6
    for one in (model, pickle.loads(pickle.dumps(model))):
        assert one.predict(new).tolist() == [1, -1, -1]
    scores = model.score_samples(new)
    assert np.array_equal(scores < model.offset_, [False, True, True])


@cases("kind", ["float32", "frame", "missing", "many rows"])
def test_the_verdict_on_the_rows_of_the_fit_stays(kind, monkeypatch):
    rng = np.random.default_rng(1)
    X = np.exp(rng.standard_normal((2000, 6)))
    X[:5, 2], X[5:8, :4], X[8:60] = 1e4, 1e5, X[8:60] * 40.0
    if kind == "missing":
        X[rng.random(X.shape) < 0.05] = np.nan
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "many rows":  # of which some are measured
        monkeypatch.setattr("inlier.results.outlyingness.CELLS", 600)
        monkeypatch.setattr("inlier.results.outlyingness.ROWS", 100)
    X = pd.DataFrame(X) if kind == "frame" else X
    model = RobustMean().fit(X)
    assert 0 < (~model.support_).sum() < 100
    np.testing.assert_array_equal(model.predict(X) == 1, model.support_)
    outlyingness = model.result_._outlyingness
    np.testing.assert_allclose(model.score_samples(X), -outlyingness, rtol=1e-6)


@cases("options", [{"contamination": 0.1}, {"assume": "symmetric"}, {"scatter": "diagonal"}])
@cases("trusted", [None, np.arange(100, 160)])
def test_so_does_that_of_a_fit_that_was_told_something(options, trusted):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_t(3, (400, 4))
        X[:30] += 8.0
        X[50, 1] = 1e5  # which is set aside
        model = RobustMean(**options).fit(X, trusted=trusted)
        others = np.setdiff1d(np.arange(400), [] if trusted is None else trusted)
        assert model.support_[50]
        np.testing.assert_array_equal(model.predict(X)[others] == 1, model.support_[others])


def test_with_sigma_a_row_that_alone_exceeds_the_budget_is_rejected():
    sample = SettingA(n=400, d=10, alpha=0.1).sample(random_state=0)
    model = RobustMean(sigma=sample.sigma).fit(sample.X)
    across = np.linalg.svd(model.result_.details.rule.directions)[2][-1]  # which no price sees
    reach = np.sqrt(model.result_.details.budget)
    new = model.location_ + np.array([[0.99], [1.01]]) * reach * across
    assert model.predict(new).tolist() == [1, -1]


def test_explanations_of_new_rows_agree_with_the_verdict():
    model = RobustMean().fit(WINE)
    new = WINE.iloc[:5].copy()
    new.loc[0, "alcohol"], new.loc[1, "magnesium"], new.loc[2] = 1300.0, 980.0, 3.0 * WINE.loc[2]
    new.loc[3, "hue"] = np.nan
    why = model.explain(new)
    assert [one.removed for one in why] == (model.predict(new) == -1).tolist()
    assert [one.removed for one in why] == [True, True, True, False, False]
    for one in why:
        assert one.contributions.sum() == pytest.approx(one.score)
        assert (one.score > one.threshold) == one.removed
    assert why[0].cells[0].startswith("alcohol = 1300, about ")
    assert "about 100 times the usual" in why[0].cells[0]
    assert [one.features(1)[0].name for one in why[:2]] == ["alcohol", "magnesium"]
    assert why[3].missing.tolist() == [WINE.columns.get_loc("hue")]


def test_what_is_said_of_a_row_is_true_of_it():
    X = np.random.default_rng(0).normal([20.0, 60.0], [5.0, 9.0], (400, 2))
    good, bad = RobustMean().fit(X).explain([[20.0, 60.0], [99.0, 60.0]])
    assert not good.removed and good.directions[0].name.startswith("no ")
    assert bad.removed and bad.directions[0].name == "a cell farther out than its column reaches"
    assert "1 other column" in str(bad) and "1 other columns" not in str(bad)
