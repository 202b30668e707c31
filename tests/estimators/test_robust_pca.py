"""`RobustPCA`: principal angles against the truth, scikit-learn's PCA."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA

from cases import cases
from inlier import RobustPCA


def low_rank(n, d, alpha, how, seed=0):
    """Rows near a plane, the first of them spread or shifted out of it; and the plane."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, 3)))[0].T
    X = rng.standard_normal((n, 2)) * [6.0, 4.0] @ basis[:2]
    X += rng.standard_normal((n, d)) * min(1.0, 10.0 / np.sqrt(d))
    m = int(alpha * n)
    if how == "pair":
        X[:m] += 30.0 * np.outer(rng.choice([-1.0, 1.0], m), basis[2])
    elif how == "spread":
        X[:m] += 30.0 * np.outer(rng.standard_normal(m), basis[2])
    elif how == "cluster":
        X[:m] += 30.0 * basis[2]
    return X + 5.0, basis[:2]


def angle(components, basis):
    """The largest principal angle, in degrees."""
    return np.degrees(subspace_angles(components.T, basis.T).max())


@cases("how", ["pair", "spread", "cluster"])
@cases(("n", "d"), [(400, 10), (150, 2000)])
def test_principal_angles(how, n, d):
    X, basis = low_rank(n, d, 0.1, how)
    told = angle(PCA(2).fit(X[n // 10 :]).components_, basis)
    assert angle(PCA(2).fit(X).components_, basis) > 60.0
    assert angle(RobustPCA(2).fit(X).components_, basis) < 1.3 * told + 0.5


def test_clean_rows_have_the_components_of_scikit_learn():
    for shape in ((200, 6), (40, 300)):
        X = np.random.default_rng(0).standard_normal(shape) * np.linspace(3.0, 1.0, shape[1])
        model, plain = RobustPCA(4).fit(X), PCA(4, svd_solver="full").fit(X)
        assert model.support_.all()
        for name in ("components_", "explained_variance_", "explained_variance_ratio_", "mean_"):
            np.testing.assert_allclose(getattr(model, name), getattr(plain, name), atol=1e-10)
        np.testing.assert_allclose(model.singular_values_, plain.singular_values_)
        np.testing.assert_allclose(model.noise_variance_, plain.noise_variance_)
        np.testing.assert_allclose(model.transform(X), plain.transform(X), atol=1e-10)


def test_transform_and_back():
    X, _ = low_rank(300, 6, 0.1, "pair")
    model = RobustPCA().fit(X)
    assert model.n_components_ == 6
    scores = model.fit_transform(X)
    np.testing.assert_allclose(model.inverse_transform(scores), X, atol=1e-10)
    kept = scores[model.support_]
    np.testing.assert_allclose(kept.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.cov(kept.T), np.diag(model.explained_variance_), atol=1e-10)


@cases(("factor", "shift"), [(1.0, 1e6), (1e-8, 0.0)])
def test_units_and_shifts(factor, shift):
    X, _ = low_rank(300, 6, 0.1, "spread")
    plain, moved = RobustPCA(2).fit(X), RobustPCA(2).fit(factor * X + shift)
    np.testing.assert_allclose(moved.components_, plain.components_, atol=1e-6)
    np.testing.assert_allclose(
        moved.explained_variance_, factor**2 * plain.explained_variance_, rtol=1e-6
    )


def test_output_and_names():
    X, _ = low_rank(100, 6, 0.1, "pair")
    model = RobustPCA(2).set_output(transform="pandas").fit(X)
    frame = model.transform(X)
    assert (
        list(frame.columns) == list(model.get_feature_names_out()) == ["robustpca0", "robustpca1"]
    )
    assert RobustPCA(0.9).fit(X).n_components_ < 6
    with pytest.raises(ValueError, match="n_components=9"):
        RobustPCA(9).fit(X)
