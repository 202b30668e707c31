"""The scikit-learn estimator: agreement with `robust_mean`."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import inlier
from cases import cases
from documented import documents_everything
from fits import quietly
from inlier import RobustMean, RobustMeanResult, robust_mean
from inlier.data import as_table
from inlier.l0.fit import Options
from inlier.research.datasets import SettingA, SettingB

SAMPLE = SettingA(n=400, d=40, alpha=0.1).sample(random_state=0)
MIXED = SettingB(n=300, d=30, alpha=0.2).sample(random_state=1)
WIDE = SettingA(n=60, d=90, alpha=0.1).sample(random_state=2)

CONFIGURATIONS = [
    Options(),
    Options(surrogate="reweighted-l1"),
    Options(surrogate="l1"),
    Options(algorithm="paper"),
    Options(algorithm="paper", surrogate="reweighted-l1", p=0.3),
    Options(algorithm="paper", surrogate="l1", tol=1e-4),
    Options(start="geometric-median", c1=1.2, p=0.8),
]


def by_own_weight(chosen: Options) -> bool:
    """As published, re-weighting judges a row by the weight that earlier steps left it."""
    return chosen.published and chosen.surrogate != "l1"


def model(sample=SAMPLE, **parameters):
    return RobustMean(sigma=sample.sigma, **parameters).fit(sample.X)


def test_tags():
    tags = get_tags(RobustMean())
    assert is_outlier_detector(RobustMean())
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    assert not get_tags(RobustMean(missing="error")).input_tags.allow_nan
    assert not tags.target_tags.required
    assert not tags.non_deterministic


@cases("options", [{}, {"sigma": 1.1}, {"scatter": "diagonal"}])
@cases("frame", [False, True])
@cases("seed", range(3))
def test_half_precision_is_that_of_robust_mean(seed, frame, options):
    X = np.random.default_rng(seed).standard_t(3, (400, 5)).astype(np.float16)
    X = pd.DataFrame(X) if frame else X
    expected, model = quietly(robust_mean, X, **options), quietly(RobustMean(**options).fit, X)
    np.testing.assert_array_equal(model.support_, expected.support)
    np.testing.assert_array_equal(model.location_, expected.location)
    assert model.location_.dtype == expected.location.dtype == np.float32


# -- Parameters -----------------------------------------------------------------------------------


def test_parameters_are_those_of_robust_mean():
    def defaults(function, without):
        parameters = inspect.signature(function).parameters
        return {name: p.default for name, p in parameters.items() if name not in without}

    of_the_fit = ("X", "sample_weight", "groups", "trusted", "callback", "progress", "deprecated")
    assert defaults(RobustMean, ()) == defaults(robust_mean, of_the_fit)


@cases(
    ("wrong", "message"),
    [
        ({"sigma": -1.0}, "sigma must be"),
        ({"l0": Options(start=np.zeros(3))}, "start must be a vector of 40 numbers"),
        ({"l0": "paper"}, r"l0 must be inlier.l0.Options\(...\)"),
    ],
)
def test_wrong_parameters_are_found_by_fit(wrong, message):
    estimator = RobustMean(**{"sigma": 1.0, **wrong})
    with pytest.raises(ValueError, match=f"^{message}"):
        estimator.fit(SAMPLE.X)
    with pytest.raises(NotFittedError):
        estimator.predict(SAMPLE.X)


# -- The fit --------------------------------------------------------------------------------------


@cases(
    ("sample", "chosen"),
    [*((MIXED, chosen) for chosen in CONFIGURATIONS), (SAMPLE, None), (WIDE, None)],
)
def test_fit_copies_what_robust_mean_returns(sample, chosen):
    estimator = model(sample, l0=chosen)
    result = robust_mean(sample.X, sigma=sample.sigma, l0=chosen)
    assert isinstance(estimator.result_, RobustMeanResult)
    assert np.array_equal(estimator.location_, result.location)
    assert np.array_equal(estimator.support_, result.support)
    assert np.array_equal(estimator.indicator_, result.details.indicator)
    assert estimator.offset_ == -1.0
    assert estimator.n_iter_ == result.details.n_iter
    assert estimator.n_features_in_ == sample.X.shape[1]
    documents_everything(estimator)


# -- Scores and verdicts --------------------------------------------------------------------------


# Bounds that are too small, right and too large, by turns; the fuzzer has all combinations.
BOUNDS = [(MIXED, 0.7), (MIXED, 5.0), (WIDE, 0.7), (SAMPLE, 1.0)]


@cases(
    ("sample", "factor", "chosen"),
    [(*bound, chosen) for i, chosen in enumerate(CONFIGURATIONS) for bound in BOUNDS[i % 2 :: 2]],
)
def test_verdicts_on_the_training_rows_are_the_support(sample, chosen, factor):
    estimator = RobustMean(sigma=factor * sample.sigma, l0=chosen)
    verdicts = estimator.fit_predict(sample.X)
    assert np.array_equal(verdicts, np.where(estimator.support_, 1, -1))
    if not by_own_weight(chosen):
        assert np.array_equal(verdicts, estimator.predict(sample.X))
        outlyingness = estimator.result_._outlyingness
        assert np.array_equal(outlyingness > 1.0, ~estimator.support_)
        assert estimator.score_samples(sample.X) == pytest.approx(-outlyingness, abs=1e-8)


def test_scores_of_new_points():
    estimator = model()
    multiplier = estimator.result_.details.rule
    X = np.random.default_rng(1).standard_normal((50, 40)) * 3.0
    seen = (X - multiplier.center) @ multiplier.directions.T
    kept = (seen**2 @ multiplier.prices) / multiplier.budget <= multiplier.threshold
    assert 0 < kept.sum() < 50
    scores = estimator.score_samples(X)
    assert np.array_equal(scores >= -1.0, kept)
    assert scores.min() >= -2.0 and scores.max() <= 0.0
    # Among those of one verdict, the farther out the lower.
    far = estimator.robust_distance_.distances(as_table(X))
    for alike in (kept, ~kept):
        assert np.array_equal(np.argsort(far[alike]), np.argsort(-scores[alike]))
    assert np.array_equal(estimator.decision_function(X), scores - estimator.offset_)
    assert np.array_equal(estimator.predict(X), np.where(kept, 1, -1))


# -- Among other tools of scikit-learn ------------------------------------------------------------


@config_context(enable_metadata_routing=True)
def test_weights_are_routed_through_a_pipeline():
    weights = np.random.default_rng(0).uniform(0.1, 5.0, 400)
    asking = RobustMean(sigma=3.0).set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, asking).fit(SAMPLE.X, sample_weight=weights)
    scaled = StandardScaler().fit_transform(SAMPLE.X)
    expected = RobustMean(sigma=3.0).fit(scaled, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].location_, expected.location_)
    np.testing.assert_array_equal(
        pipeline.fit_predict(SAMPLE.X, sample_weight=weights), np.where(expected.support_, 1, -1)
    )
    refusing = RobustMean(sigma=3.0).set_fit_request(sample_weight=False)
    with pytest.raises(TypeError, match="sample_weight"):
        make_pipeline(scaler, refusing).fit(SAMPLE.X, sample_weight=weights)


# -- arguments that would not be used -------------------------------------------------------------

OF_THE_PROBLEM = {
    "p": 0.4,
    "c1": 1.1,
    "surrogate": "reweighted-l1",
    "prune": 0.5,
    "max_iter": 90,
    "tol": 1e-5,
}


@pytest.mark.parametrize("name", list(OF_THE_PROBLEM))
def test_what_is_of_the_problem_with_a_bound_is_refused_without_one(name):
    X, given = np.random.default_rng(0).standard_normal((60, 3)), {name: OF_THE_PROBLEM[name]}
    X[:9] += 12.0
    said = rf"{name} is of the problem with a known bound: give sigma"
    with pytest.raises(ValueError, match=said):
        inlier.robust_mean(X, l0=Options(**given))
    model = RobustMean(l0=Options(**given))
    assert getattr(clone(model).l0, name) == given[name]
    with pytest.raises(ValueError, match=said):
        model.fit(X)
    model.set_params(l0=None).fit(X)
    RobustMean(l0=Options(algorithm="paper", **given)).fit(X)


@cases("missing", ["auto", "error"])
@cases("kind", ["array", "frame", "memory map", "pickled"])
def test_extreme_cells_of_new_rows_are_set_aside_as_in_the_fit(kind, missing, tmp_path):
    rng = np.random.default_rng(0)
    X = np.exp(rng.standard_normal((300, 8)))
    X[:5, 2], X[5:8, :4] = 1e4, 1e5
    model = RobustMean(missing=missing).fit(X)
    assert model.result_.certificate.gaps.cells.tolist() == [[i, 2] for i in range(5)]
    assert not model.support_[5:8].any() and model.support_[:5].all()
    if kind == "pickled":
        model = pickle.loads(pickle.dumps(model))
    given = pd.DataFrame(X) if kind == "frame" else X
    if kind == "memory map":
        np.save(tmp_path / "X.npy", X)
        given = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(model.predict(given) == 1, model.support_)
    filled = X.copy()
    filled[:5, 2] = np.median(X[5:, 2])
    np.testing.assert_array_equal(model.score_samples(given), model.score_samples(filled))
    # A value that the fit has set aside does not count; any other extreme one is evidence.
    new = filled[20:25].copy()
    new[:2, 2], new[2:4, :4], new[4, 2] = 1e4, 1e6, 2e4
    assert model.predict(new).tolist() == [1, 1, -1, -1, -1]
    expected = new[:2].copy()
    expected[:, 2] = filled[0, 2]
    np.testing.assert_array_equal(model.score_samples(new[:2]), model.score_samples(expected))


def test_a_single_row_as_a_series_is_refused():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)))
    model = RobustMean().fit(X)
    for judge in (model.predict, model.explain):
        with pytest.raises(ValueError, match=r"2-?[dD]"):
            judge(X.iloc[7])
