"""A scatter is a fit in other coordinates."""

import warnings

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.stats import ortho_group

from cases import cases
from inlier import RobustMean
from inlier.data import as_table
from symmetric_fits import SETTINGS, fitted, robust_mean, top_eigenvalue


def stretched(n=400, d=8, n_bad=60, seed=0):
    """Rows with a covariance that is far from the identity, and a group in a quiet direction."""
    rng = np.random.default_rng(seed)
    L = np.tril(rng.standard_normal((d, d)), -1) + np.diag(np.geomspace(20.0, 0.1, d))
    Z = rng.standard_normal((n, d))
    Z[:n_bad] += 12.0 * np.eye(d)[-1]
    return Z @ L.T + 5.0, L, np.arange(n) < n_bad


def by_hand(X, L):
    """The rows with the scatter L L^T divided out."""
    return np.linalg.solve(L, (X - np.median(X, axis=0)).T).T


def deviations(X):
    return np.median(np.abs(X - np.median(X, axis=0)), axis=0)


SCATTERS = {
    "diagonal": lambda X, L: ("diagonal", np.diag(deviations(X))),
    "vector": lambda X, L: (np.diag(L) ** 2, np.diag(np.diag(L))),
    "matrix": lambda X, L: (L @ L.T, L),
    "Cholesky factor": lambda X, L: (L, L),
    "another factor": lambda X, L: (
        (rooted := L @ ortho_group.rvs(len(L), random_state=1)),
        np.linalg.cholesky(rooted @ rooted.T),
    ),
}


@cases("absurd", [False, True])
@cases(("name", "sparse"), [*[(name, False) for name in SCATTERS], ("vector", True)])
def test_a_scatter_is_a_fit_in_other_coordinates(name, sparse, absurd):
    X, L, bad = stretched()
    if absurd:
        X[-1] = 1e250
    scatter, factor = SCATTERS[name](X, L)
    Z = by_hand(X, factor)
    plain = fitted(Z, scatter="identity")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = robust_mean(sp.csr_array(X) if sparse else X, scatter=scatter)
    np.testing.assert_array_equal(result.support, plain.support)
    if name != "diagonal":
        np.testing.assert_array_equal(result.support[:-1], ~bad[:-1])
    assert (result.sigma, result.details.budget) == pytest.approx(
        (plain.sigma, plain.details.budget)
    )
    assert result.certificate.lambda_max == pytest.approx(plain.certificate.lambda_max)
    np.testing.assert_allclose(result.location, X[result.support].mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(result.scores, plain.scores, rtol=1e-6, atol=1e-9)
    for group, other in zip(result.groups, plain.groups, strict=True):
        assert (group.kind, group.log_p) == (other.kind, pytest.approx(other.log_p))
        assert np.linalg.norm(group.direction) == pytest.approx(1.0)
        np.testing.assert_allclose(group.mean, X[group.rows].mean(axis=0), rtol=1e-8)
    # The rule judges rows of the data.
    np.testing.assert_array_equal(
        result.details.rule.scores(as_table(X)) <= result.details.rule.threshold, result.support
    )
    # And the other answers are in the units of the data.
    for changed in (result.keep(0), result.keep(-1)):
        np.testing.assert_allclose(
            changed.location, X[changed.support].mean(axis=0), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("scatter", ["diagonal", "matrix"])
def test_clean_rows_in_other_units_are_judged_by_their_distance_there(scatter):
    X, L, bad = stretched()
    X = X[~bad]
    value, factor = SCATTERS[scatter](X, L)
    Z = by_hand(X, factor)
    result = robust_mean(X, scatter=value)
    assert result.support.all()
    expected = np.sum((Z - Z.mean(axis=0)) ** 2, axis=1) / result.details.budget
    np.testing.assert_allclose(result.scores, expected, rtol=1e-9)
    np.testing.assert_allclose(result.details.rule.scores(as_table(X)), expected, rtol=1e-9)
    model = RobustMean(assume="symmetric", scatter=value).fit(X)
    assert np.all(model.predict(X) == 1)


def test_a_scatter_with_a_sigma():
    X, L, bad = stretched()
    Z = by_hand(X, L)
    sigma = 1.05 * np.sqrt(top_eigenvalue(Z[~bad]) / (~bad).sum())
    result, plain = robust_mean(X, sigma=sigma, scatter=L), robust_mean(Z, sigma=sigma)
    np.testing.assert_array_equal(result.support, plain.support)
    np.testing.assert_array_equal(result.support, ~bad)
    np.testing.assert_allclose(result.location, X[~bad].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_identity_is_the_data_as_they_are(setting):
    X = SETTINGS[setting](400, 50, 0.2).sample(0).X
    named = fitted(X, scatter="identity")
    for scatter in (np.ones(50), np.eye(50), 4.0 * np.eye(50)):
        result = robust_mean(X, scatter=scatter)
        np.testing.assert_array_equal(result.support, named.support)
        np.testing.assert_allclose(result.location, named.location, atol=1e-12)


NEARLY = np.diag([1.0, 1.0, 0.0])
WRONG_SCATTERS = {
    "unknown": ("Mahalanobis", "scatter"),
    "shape of a vector": (np.ones(2), r"scatter.*\(2,\)"),
    "shape of a matrix": (np.eye(4), r"scatter.*\(4, 4\)"),
    "no square": (np.ones((3, 2)), r"scatter.*\(3, 2\)"),
    "a number": (1.0, "scatter"),
    "None": (None, "scatter"),
    "words": (["a", "b", "c"], "scatter.*numbers"),
    "variance 0": ([1.0, 0.0, 1.0], "scatter.*above 0"),
    "variance below 0": ([1.0, -1.0, 1.0], "scatter.*above 0"),
    "NaN": ([1.0, np.nan, 1.0], "scatter.*NaN"),
    "infinity": (np.diag([1.0, np.inf, 1.0]), "scatter.*infinity"),
    "singular": (NEARLY, "scatter.*positive definite"),
    "indefinite": (np.diag([1.0, 1.0, -1.0]), "scatter.*positive definite"),
    "singular factor": (np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 1]]), "scatter.*positive"),
}


@cases("sigma", [None, 1.0])
@cases("name", WRONG_SCATTERS)
def test_a_wrong_scatter_is_named(name, sigma):
    scatter, match = WRONG_SCATTERS[name]
    X = np.random.default_rng(0).standard_normal((40, 3))
    with pytest.raises(ValueError, match=match):
        robust_mean(X, sigma=sigma, scatter=scatter)


@pytest.mark.parametrize("scatter", ["diagonal", np.eye(3), 2.0 * np.tri(3)])
def test_a_sparse_table_takes_no_scatter_that_would_make_it_dense(scatter):
    X = sp.csr_array(np.random.default_rng(0).standard_normal((40, 3)))
    with pytest.raises(ValueError, match=r"\bscatter\b.*\bsparse\b"):
        robust_mean(X, scatter=scatter)


def mostly_zero(n=4000, d=6):
    """Columns of which a sample of a few hundred rows has few other values, if any."""
    rng = np.random.default_rng(0)
    X = np.exp(4.0 * rng.standard_normal((n, d))) * (rng.random((n, d)) < 0.004)
    X[:, 0] = rng.standard_normal(n)
    return X


def saved(X, folder):
    np.save(folder / "X.npy", X)
    return folder / "X.npy"


HOMES = {
    "C": lambda X, folder: X,
    "F": lambda X, folder: np.asfortranarray(X),
    "single": lambda X, folder: X.astype(np.float32),
    "torch": lambda X, folder: torch.from_numpy(X),
    "file": saved,
    "dask": lambda X, folder: da.from_array(X, chunks=(1000, 6)),
    "wide": lambda X, folder: X[:300].T.repeat(100, axis=0).T,
}


@cases("home", HOMES)
def test_the_units_of_the_columns_are_those_of_all_rows(tmp_path, home):
    X = HOMES[home](mostly_zero(), tmp_path)
    dense = mostly_zero() if home == "file" else np.asarray(X, np.float64)
    off = np.abs(dense - np.median(dense, axis=0))
    expected = np.where(np.median(off, axis=0) > 0.0, np.median(off, axis=0), off.mean(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = RobustMean(sigma=100.0, scatter="diagonal").fit(X).result_
    found = result.details.rule.metric.factor
    np.testing.assert_allclose(found, np.where(expected > 0.0, expected, 1.0), rtol=1e-6)


# The mean of equal rows is off by their rounding, which in these units is far from the origin.
@pytest.mark.parametrize("value", [-31.38275744, 1e6 / 3, 1e-9 / 3])
def test_equal_rows_are_kept_and_score_so(value):
    X = np.full((11, 2), value)
    result = robust_mean(X, scatter="diagonal")
    assert result.support.all()
    assert (result.scores <= 1.0).all()
