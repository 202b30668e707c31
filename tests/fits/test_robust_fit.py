"""The meta-estimator: rows that spoil a fit, and clean data."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from cases import cases
from inlier import RobustFit

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 5))
TRUTH = np.array([1.0, -2.0, 0.5, 0.0, 3.0])
GOOD = X @ TRUTH + 0.3 * RNG.standard_normal(300)
BAD = np.arange(300) < 40
Y = np.where(BAD, 10.0 * GOOD + 30.0, GOOD)


def error(model, truth=TRUTH):
    return np.linalg.norm(model.estimator_.coef_ - truth)


def test_a_fit_without_the_bad_rows():
    model = RobustFit(LinearRegression()).fit(X, Y)
    alone = LinearRegression().fit(X[~BAD], Y[~BAD])
    assert not (model.support_ & BAD).any()
    assert (~model.support_ & ~BAD).sum() <= 3
    np.testing.assert_allclose(model.estimator_.coef_, alone.coef_, atol=0.02)
    again = LinearRegression().fit(X[model.support_], Y[model.support_])
    np.testing.assert_allclose(model.predict(X), again.predict(X))
    assert model.score(X, GOOD) > 0.99 > LinearRegression().fit(X, Y).score(X, GOOD)
    assert model.message_.startswith(f"{(~model.support_).sum()} of 300 rows removed")
    assert (model.p_values_[BAD] < 0.05).all() and model.n_iter_ > 5


@cases("share", [0.05, 0.2, 0.3])
@cases("how", ["units of y", "shifted", "leverage", "units of X"])
def test_parameters_are_nearer_than_those_of_huber(share, how):
    """Huber's estimator bounds the influence of residuals, not that of rows far out in X."""
    rng = np.random.default_rng(3)
    bad = np.arange(300) < 300 * share
    rows, y = X.copy(), GOOD.copy()
    if how == "units of y":
        y[bad] *= 100.0
    elif how == "shifted":
        y[bad] += 50.0
    elif how == "leverage":
        rows[bad] = 20.0 * np.ones(5) + rng.standard_normal((bad.sum(), 5))
        y[bad] = -60.0
    else:
        rows[bad, 4] *= 100.0
    ours = error(RobustFit(LinearRegression()).fit(rows, y))
    theirs = np.linalg.norm(HuberRegressor(max_iter=2000).fit(rows, y).coef_ - TRUTH)
    plain = np.linalg.norm(LinearRegression().fit(rows, y).coef_ - TRUTH)
    assert ours < 0.15 < plain
    assert ours < 1.2 * theirs


@cases("seed", range(4))
@cases("noise", ["normal", "t3", "exponential"])
def test_clean_rows_stay(seed, noise):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((500, 8))
    draw = {"normal": rng.standard_normal, "t3": lambda n: rng.standard_t(3, n)}
    e = draw.get(noise, lambda n: rng.exponential(size=n))(500)
    y = rows.sum(axis=1) + e
    model, plain = RobustFit(LinearRegression()).fit(rows, y), LinearRegression().fit(rows, y)
    assert model.support_.mean() >= 0.99
    if noise == "normal":
        np.testing.assert_array_equal(model.estimator_.coef_, plain.coef_)
        assert model.message_ == "No row removed: this is the plain fit."


@cases("seed", range(4))
def test_rows_of_skewed_noise_stay(seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((700, 8))
    model = RobustFit(LinearRegression()).fit(rows, rows.sum(axis=1) + rng.lognormal(0, 1, 700))
    assert model.support_.mean() >= 0.99


def test_a_nearly_exact_relation_keeps_its_rounding_errors():
    """As in a total of parts, each rounded to .01; gross errors leave all the same."""
    rng = np.random.default_rng(0)
    parts = rng.lognormal(8.0, 1.0, (600, 3)).round(2)
    total = parts.sum(axis=1)
    total[:200] += rng.choice([-0.01, 0.01], 200)
    for unit in (1.0, 1.0 / 2.54):
        assert RobustFit(LinearRegression()).fit(parts, unit * total).support_.mean() >= 0.99
        y = unit * total
        y[:30] *= 1.001
        support = RobustFit(LinearRegression()).fit(parts, y).support_
        assert not support[:30].any() and support[30:].mean() >= 0.99


@cases("data", [load_diabetes, load_breast_cancer])
def test_clean_data_of_packages(data):
    rows, y = data(return_X_y=True)
    final = Ridge() if data is load_diabetes else LogisticRegression()
    model = RobustFit(make_pipeline(StandardScaler(), final)).fit(rows, y)
    assert model.support_.mean() >= 0.99


def test_classes_are_judged_on_their_own():
    """A minority stays, flipped labels of both classes go."""
    rng = np.random.default_rng(0)
    labels = (np.arange(600) < 60).astype(int)
    rows = rng.standard_normal((600, 4)) + 4.0 * labels[:, None]
    model = RobustFit(LogisticRegression()).fit(rows, labels)
    assert model.support_[:60].all() and model.support_.mean() > 0.99
    y = labels.copy()
    flipped = np.r_[0:6, 60:100]
    y[flipped] = 1 - y[flipped]
    model = RobustFit(LogisticRegression()).fit(rows, y)
    assert not model.support_[60:100].any()
    assert (model.predict(rows) == labels).mean() > 0.99
    assert model.support_[:60].sum() >= 45  # a class that is mostly bad cannot be told from a class


def test_the_robust_loss_is_never_larger():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, share = rng.standard_normal((200, 3)), 0.1 * seed
        y = rows.sum(axis=1) + rng.standard_normal(200)
        y[: int(200 * share)] = rng.uniform(-20.0, 20.0) * rng.random()
        model, plain = RobustFit(Ridge()).fit(rows, y), Ridge().fit(rows, y)
        assert model.robust_loss_ <= model.plain_loss_
        ours, theirs = (0.5 * (m.predict(rows) - y) ** 2 for m in (model, plain))
        assert ours[model.support_].mean() == pytest.approx(model.robust_loss_)
        assert theirs[model.support_].mean() == pytest.approx(model.plain_loss_)


def test_loss_and_penalty_are_never_larger_where_the_loss_alone_is():
    """Against fewer rows the penalty weighs more, which is no reason to keep slips."""
    rows, y = X.copy(), GOOD > 0.0
    rows[:30, 3] = 1000.0
    model, plain = RobustFit(LogisticRegression()).fit(rows, y), LogisticRegression().fit(rows, y)
    assert not model.support_[:30].any() and model.support_[30:].mean() >= 0.99
    assert model.robust_loss_ > model.plain_loss_
    ours, theirs = (
        loss * model.support_.sum() + 0.5 * (one.coef_**2).sum()
        for loss, one in ((model.robust_loss_, model), (model.plain_loss_, plain))
    )
    assert ours <= theirs


def test_a_told_fraction_bounds_what_leaves():
    for told in (0.05, 0.15):
        model = RobustFit(LinearRegression(), contamination=told).fit(X, Y)
        assert (~model.support_).sum() <= 2 * told * 300
    assert not (model.support_ & BAD).any()
    with pytest.raises(ValueError, match="contamination must be"):
        RobustFit(LinearRegression(), contamination=0.7).fit(X, Y)


def test_trusted_rows_stay():
    y = Y.copy()
    model = RobustFit(LinearRegression())
    assert not model.fit(X, y).support_[0]
    checked = np.r_[0, 100:140]
    assert model.fit(X, y, trusted=checked).support_[checked].all()
    assert not model.support_[1:40].any()
    again = RobustFit(LinearRegression()).fit(X, y, trusted=np.isin(np.arange(300), checked))
    np.testing.assert_array_equal(again.support_, model.support_)
    with pytest.raises(ValueError, match="trusted has the index 400, but X has 300 rows"):
        model.fit(X, y, trusted=[400])


@cases(
    ("estimator", "y"),
    [(Ridge(solver="sparse_cg", tol=1e-12), Y), (LogisticRegression(tol=1e-10), Y > 1.0)],
)
def test_sparse_rows_give_the_same_fit(estimator, y):
    rows = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = RobustFit(estimator).fit(rows, y)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        ours = RobustFit(estimator).fit(kind(rows), y)
        np.testing.assert_array_equal(ours.support_, dense.support_)
        np.testing.assert_allclose(ours.estimator_.coef_, dense.estimator_.coef_, atol=1e-5)


def test_sparse_rows_never_become_dense():
    rows = sparse.random(300, 50_000, 1e-3, format="csr", random_state=0)
    rows.data[:] = 1.0
    y = (np.arange(300) % 2).astype(int)
    model = RobustFit(LinearSVC(random_state=0)).fit(rows, y)  # 120 MB, dense
    assert model.support_.shape == (300,)


def test_weights_are_passed_on_without_the_rows_that_leave():
    weight = RNG.random(300) + 0.5
    model = RobustFit(Ridge()).fit(X, Y, sample_weight=weight)
    alone = Ridge().fit(X[model.support_], Y[model.support_], weight[model.support_])
    np.testing.assert_allclose(model.estimator_.coef_, alone.coef_)
    assert model.score(X, Y, weight) == pytest.approx(alone.score(X, Y, weight))


def test_metadata_routing():
    weight = RNG.random(300) + 0.5
    with config_context(enable_metadata_routing=True):
        inner = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(RobustFit(inner), {"estimator__alpha": [0.1, 1.0]}, cv=3)
        found = search.fit(X, Y, sample_weight=weight).best_estimator_
    direct = RobustFit(clone(found.estimator)).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(found.estimator_.coef_, direct.estimator_.coef_)


def test_pipelines_searches_frames_and_copies():
    frame = pd.DataFrame(X, columns=list("abcde"))
    inside = RobustFit(make_pipeline(StandardScaler(), Ridge())).fit(frame, pd.Series(Y))
    assert list(inside.feature_names_in_) == list("abcde") and inside.n_features_in_ == 5
    outside = make_pipeline(StandardScaler(), RobustFit(Ridge())).fit(frame, Y)
    assert (inside.support_ != outside[-1].support_).mean() < 0.02
    search = GridSearchCV(RobustFit(Ridge()), {"estimator__alpha": [0.1, 10.0]}, cv=3)
    assert search.fit(X, GOOD).best_params_ == {"estimator__alpha": 0.1}
    again = pickle.loads(pickle.dumps(inside))
    np.testing.assert_array_equal(again.predict(frame), inside.predict(frame))
    with pytest.raises(AttributeError, match="needs the data of the fit"):
        again.result_
    assert is_regressor(inside) and is_classifier(RobustFit(LinearSVC()))
    assert not hasattr(RobustFit(LinearSVC()), "predict_proba")


def test_transformers_by_their_own_gradients():
    rows = X.copy()
    rows[:10] *= 100.0

    def away(model, rows, _):
        return model.inverse_transform(model.transform(rows)) - rows

    frame = pd.DataFrame(rows, columns=list("abcde"))
    inner = RobustFit(PCA(2), gradients=lambda m, r, y: np.asarray(away(m, r, y))).fit(rows)
    assert inner.transform(rows).shape == (300, 2)
    named = RobustFit(PCA(2), gradients=lambda m, r, y: np.asarray(r)).set_output(
        transform="pandas"
    )
    assert list(named.fit(frame).transform(frame).columns) == ["pca0", "pca1"]
    assert not named.support_[:10].any()


def test_certificate_and_explanations():
    model = RobustFit(LinearRegression()).fit(X, Y)
    result = model.result_
    assert result is model.result_ and result.location.shape == (6,)
    gradients = (model.predict(X) - Y)[:, None] * np.column_stack([X, np.ones(300)])
    kept = gradients[model.support_]
    assert result.sigma >= np.sqrt(np.linalg.eigvalsh(np.cov(kept.T, bias=True))[-1])
    assert 0 < result.certificate.l0_lower_bound <= (~model.support_).sum()
    assert "x4" in str(result.explain(0))


@cases("model", [LinearSVC(random_state=0), LogisticRegression(C=10.0)])
def test_other_losses(model):
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((600, 3))
    line = rows @ [1.0, -1.0, 0.5]
    bad = np.arange(600) < 60
    y = (line > 0.0).astype(int)
    y[bad] = 1 - y[bad]
    found = RobustFit(model).fit(rows, y)
    assert (found.support_ & bad).sum() <= 12
    assert (~found.support_ & ~bad).sum() <= 20


@cases("labels", [False, True])
@cases("kind", [np.asarray, sparse.csr_matrix])
def test_slips_in_X_leave_even_where_they_cost_little(labels, kind):
    """Column 3 has no effect, so its slips have small residuals; trusted rows stay."""
    rows = X.copy()
    rows[:30, 3] = 1000.0
    estimator, y = (LogisticRegression(C=1e4), GOOD > 0.0) if labels else (Ridge(), GOOD)
    model = RobustFit(estimator).fit(kind(rows), y)
    assert not model.support_[:30].any() and model.support_[30:].mean() >= 0.99
    assert (model.p_values_[:30] == 0.0).all()
    assert "30 are extreme in the columns of X" in model.message_
    kept = RobustFit(estimator).fit(kind(rows), y, trusted=[0]).support_
    assert kept[0] and not kept[1:30].any()


def test_rare_flags_are_not_extreme_in_X():
    flag = (np.arange(300) % 30 == 0).astype(float)
    model = RobustFit(LinearRegression()).fit(np.column_stack([X, flag]), GOOD + 5.0 * flag)
    assert model.support_[flag > 0.0].all()


@cases("unit", [1e-200, 1e140])
def test_targets_of_any_size(unit):
    model = RobustFit(LinearRegression()).fit(X, GOOD * unit)
    assert model.support_.mean() >= 0.99
    assert RobustFit(Ridge()).fit(X * 1e-200, Y).support_.shape == (300,)


def test_a_new_fit_has_a_new_certificate():
    model = RobustFit(Ridge()).fit(X, Y)
    assert len(model.result_.support) == 300
    assert len(model.fit(X[:100], Y[:100]).result_.support) == 100


def test_few_rows_and_refusals():
    model = RobustFit(Ridge()).fit(X[:10], Y[:10])
    assert model.support_.all() and model.message_.startswith("Fewer than 20 rows")
    with pytest.raises(TypeError, match="gradients of GaussianNB are not known here"):
        RobustFit(GaussianNB()).fit(X, BAD)
    with pytest.raises(TypeError, match="gradients must be a function or None, but is 'squared'"):
        RobustFit(Ridge(), gradients="squared").fit(X, Y)
    with pytest.raises(ValueError, match=r"one label for each row, but has shape \(300, 2\)"):
        RobustFit(RidgeClassifier()).fit(X, np.column_stack([BAD, ~BAD]))


def test_an_estimator_that_was_fitted_before_does_not_predict():
    rows = np.random.default_rng(0).standard_normal((50, 2))
    model = RobustFit(LinearRegression().fit(rows, rows[:, 0]))
    with pytest.raises(NotFittedError, match="RobustFit"):
        model.predict(rows)
    assert not hasattr(model, "coef_")
    assert hasattr(model.fit(rows, rows[:, 0]), "coef_")


def test_gradients_are_explained_by_the_names_of_the_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((100, 2)), columns=["age", "bmi"])
    y = X["age"] + 3.0 + rng.standard_normal(100)
    y[0] = 50.0
    steps = [LinearRegression(), make_pipeline(StandardScaler(), Ridge())]
    for model in (*steps, make_pipeline(FunctionTransformer(np.asarray), Ridge())):
        why = RobustFit(model).fit(X, y).result_.explain(0)
        assert why.columns is None or [*why.columns] == ["age", "bmi", "intercept"]
        assert (why.columns is None) == ("functiontransformer" in str(model).lower())
