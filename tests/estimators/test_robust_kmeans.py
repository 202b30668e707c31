"""k-means with robust means: scikit-learn's checks, and where KMeans is pulled away."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import inlier.estimators.robust_kmeans
from inlier import RobustKMeans, WeakEvidenceWarning
from scikit_learn import documents_everything, passes_all_checks

CENTERS = np.array([[0.0, 0.0, 0.0], [8.0, 0.0, 3.0], [0.0, 8.0, 6.0]])
MEMBERS = np.arange(240) % 3
CLEAN = CENTERS[MEMBERS] + np.random.default_rng(0).standard_normal((240, 3))


def off(centers):
    """The largest distance of a true center from those that were found."""
    return cdist(CENTERS, centers).min(axis=1).max()


@pytest.mark.parametrize("given", [{"sigma": 2.0}, pytest.param({}, marks=pytest.mark.slow)])
def test_scikit_learn_checks(given):
    passes_all_checks(RobustKMeans(n_clusters=3, n_init=2, **given))


@pytest.mark.parametrize("kind", ["scattered", "absurd", "one-sided"])
def test_centers_are_found_where_k_means_is_pulled_away(kind):
    rng = np.random.default_rng(1)
    X, bad = CLEAN.copy(), np.arange(240) < 24
    X[bad] = {
        "scattered": rng.uniform(-60.0, 60.0, (24, 3)),
        "absurd": 1e6 * rng.standard_normal((24, 3)),
        "one-sided": CENTERS[1] + [40.0, 0.0, 0.0] + 5.0 * rng.standard_normal((24, 3)),
    }[kind]
    model = RobustKMeans(3).fit(X)
    assert off(model.cluster_centers_) < 0.5
    for n_init in (1, 10):
        assert off(KMeans(3, n_init=n_init, random_state=0).fit(X).cluster_centers_) > 2.0
    assert (model.support_ == ~bad).mean() > 0.98
    near = cdist(X, model.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, near.argmin(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), near, rtol=1e-6)
    kept = model.support_
    for j, center in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(center, X[kept & (model.labels_ == j)].mean(axis=0), atol=1e-9)
    assert model.inertia_ == pytest.approx(np.square(near.min(axis=1)[kept]).sum())


def test_clean_rows_have_the_centers_of_k_means():
    model = RobustKMeans(3).fit(CLEAN)
    expected = KMeans(3, n_init=10, random_state=0).fit(CLEAN)
    assert model.support_.all()
    assert cdist(expected.cluster_centers_, model.cluster_centers_).min(axis=1).max() < 1e-9
    assert model.inertia_ == pytest.approx(expected.inertia_)
    documents_everything(model)


def test_names_and_seeds():
    frame = pd.DataFrame(CLEAN.astype(np.float32), columns=["a", "b", "c"])
    model = RobustKMeans(3, random_state=np.random.RandomState(0)).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == [f"robustkmeans{j}" for j in range(3)]
    assert model.cluster_centers_.dtype == np.float32
    one, two = (RobustKMeans(3, random_state=5).fit(CLEAN) for _ in range(2))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)


def test_wrong_numbers_are_named():
    for wrong, said in (
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"n_clusters": 300}, "n_clusters=300, but there are only n_samples=240 rows"),
        ({"n_init": 0}, "n_init must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ):
        with pytest.raises(ValueError, match=said):
            RobustKMeans(**{"n_clusters": 3, **wrong}).fit(CLEAN)


def started(monkeypatch, centers):
    monkeypatch.setattr(
        inlier.estimators.robust_kmeans, "best_start", lambda *given: np.array(centers)
    )


def test_stopping_early_and_going_in_circles_are_said(monkeypatch):
    started(monkeypatch, [[0.0, 0.0, 0.0], [2.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    with pytest.warns(ConvergenceWarning, match="after 1 updates: raise max_iter"):
        RobustKMeans(3, max_iter=1, sigma=20.0).fit(CLEAN)
    assert off(RobustKMeans(3, sigma=20.0).fit(CLEAN).cluster_centers_) < 0.5

    X = np.arange(8.0)[:, None]
    started(monkeypatch, X[[0, 7]])
    turns = iter(([[0.0], [3.0]], [[0.0], [7.0]]) * 4)
    monkeypatch.setattr(
        RobustKMeans, "_robust_means", lambda *given: (np.array(next(turns)), np.ones(8, bool))
    )
    with pytest.warns(ConvergenceWarning, match="the same clusters came back"):
        model = RobustKMeans(2).fit(X)
    assert model.n_iter_ < 6


def test_weak_evidence_is_said_once_for_each_cluster(monkeypatch):
    def unsure(self, X, labels, n_labels):
        inlier.estimators.robust_kmeans.warnings.warn("unclear", WeakEvidenceWarning, stacklevel=1)
        return CENTERS + 1.0 / next(count), np.ones(len(X), bool)

    count = iter(range(1, 9))
    started(monkeypatch, [[0.0, 0.0, 0.0], [2.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    monkeypatch.setattr(RobustKMeans, "_robust_means", unsure)
    with pytest.warns(WeakEvidenceWarning, match="unclear") as said:
        assert RobustKMeans(3).fit(CLEAN).n_iter_ > 1
    assert len(said) == 1


def test_a_cluster_may_lose_its_rows(monkeypatch):
    started(monkeypatch, [[0.0, 0.0, 0.0], [5.0, 5.0, 5.0], [1e4, 0.0, 0.0]])
    model = RobustKMeans(3, sigma=20.0).fit(CLEAN)
    np.testing.assert_array_equal(model.cluster_centers_[2], [1e4, 0.0, 0.0])
    assert not (model.labels_ == 2).any()
