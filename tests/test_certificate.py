"""What a certificate states, against dense numpy; and that `verify` finds what does not hold."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from cases import cases
from inlier import robust_mean
from inlier.data import as_table
from inlier.datasets import SettingA, SettingB
from inlier.linalg.eigenpairs import FAILURE, PROBES, SHORTEST, Oracle


def largest_deviation(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return np.linalg.norm(rows - rows.mean(axis=0), 2) / np.sqrt(len(rows))


def uneven_with_copies(seed):
    """Uneven rows and 200 copies of one distant row, in more columns than are solved densely."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 400)) * 5.0 / np.sqrt(np.arange(1, 401))
    u = rng.standard_normal(400)
    X[:200] = 20.0 * u / np.linalg.norm(u)
    return X


def wide_with_distant_rows(seed, n=50, d=2000, n_far=5, factor=1e5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:n_far] *= factor
    X[n_far : n_far + 7] += 1.5
    return X


def quiet(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return robust_mean(X, **options)


# -- the upper bound ------------------------------------------------------------------------------


def test_random_directions_are_hardly_ever_so_short():
    rng = np.random.default_rng(0)
    lengths = np.sum(rng.standard_normal((200_000, PROBES)) ** 2, axis=1)
    # Near 0 the distribution function of chi-squared with 8 degrees of freedom is x^4 / 384.
    assert pytest.approx(FAILURE, rel=0.05) == SHORTEST**4 / 384.0
    assert lengths.min() > SHORTEST


@cases("spectrum", ["flat", "falling", "spiked", "low rank", "two equal"])
@cases("max_passes", [2, 5, 12])
def test_the_bound_is_never_below_the_eigenvalue(spectrum, max_passes):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((400, 300))
        scales = {
            "flat": np.ones(300),
            "falling": 5.0 / np.sqrt(np.arange(1, 301)),
            "spiked": np.r_[20.0, np.ones(299)],
            "low rank": np.r_[np.ones(3), np.zeros(297)],
            "two equal": np.r_[3.0, 3.0, np.ones(298)],
        }[spectrum]
        X = X * scales
        oracle = Oracle(as_table(X), np.random.default_rng(100 + seed))
        found = oracle.bounded(np.zeros(300), np.ones(400), limit=0.0, max_passes=max_passes)
        top = np.linalg.norm(X, 2) ** 2
        assert found.values[0] <= top * (1.0 + 1e-9) and found.failure == FAILURE
        assert top <= found.bound * (1.0 + 1e-9)


def test_the_bound_is_close_and_survives_warm_directions_that_lead_astray():
    """Converged eigenvectors of other weights hide a new largest one from their residuals."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 400)) * 5.0 / np.sqrt(np.arange(1, 401))
    u = rng.standard_normal(400)
    X[:100] = 30.0 * u / np.linalg.norm(u)
    oracle = Oracle(as_table(X), np.random.default_rng(1))
    center = np.zeros(400)
    for weights in (np.r_[np.zeros(100), np.ones(500)], np.ones(600)):
        found = oracle.bounded(center, weights)
        top = np.linalg.norm(X * np.sqrt(weights)[:, None], 2) ** 2
        assert 0.99 * top <= found.values[0] <= top * (1.0 + 1e-9)
        assert top <= found.bound <= 1.15 * top


# -- what is stated -------------------------------------------------------------------------------


@cases("dtype", [np.float64, np.float32])
@cases("factor", [1e3, 1e4, 1e5, 1e7])
def test_distant_rows_do_not_hide_others_in_a_wide_table(factor, dtype):
    """The Gram matrix of few long rows, of which some are very long, in single precision too."""
    for seed, n, d, n_far in ((0, 50, 2000, 5), (1, 200, 1000, 40)):
        X = wide_with_distant_rows(seed, n, d, n_far, factor).astype(dtype)
        result = quiet(X)
        np.testing.assert_array_equal(result.outliers, np.arange(n_far + 7))
        stated, kept = result.certificate.sigma_kept, X[result.support]
        assert stated == pytest.approx(largest_deviation(kept), rel=1e-3, abs=0.0)


def test_points_of_the_path_do_not_miss_the_largest_eigenvalue():
    for seed in range(6):
        X = uneven_with_copies(seed)
        result = quiet(X)
        for i, point in enumerate(result.path):
            kept = np.ones(len(X), dtype=bool)
            kept[point.removed] = False
            truth = largest_deviation(X[kept])
            again = result.at(i)
            for sigma in (point.sigma, again.sigma):
                assert truth * (1.0 - 1e-9) <= sigma <= 1.2 * truth


# -- verify ---------------------------------------------------------------------------------------

TABLES = {
    "tall": SettingA(600, 40, 0.2).sample(0).X,
    "many columns": SettingB(700, 300, 0.3).sample(0).X,
    "wide": SettingA(80, 300, 0.1).sample(0).X,
    "single": SettingA(600, 40, 0.2).sample(0).X.astype(np.float32),
    "shifted": SettingA(600, 40, 0.2).sample(0).X + 1e6,
    "absurd": wide_with_distant_rows(0, 60, 20, 2, 1e9),
}
WAYS = {"nothing": {}, "sigma": {"sigma": 4.0}, "diagonal": {"scatter": "diagonal"}}


@cases("way", WAYS)
@cases("table", TABLES)
def test_a_fit_is_verified(table, way):
    X = TABLES[table]
    result = quiet(X, **WAYS[way])
    answers = [result, *(result.at(i) for i in range(len(result.path)))]
    answers += [result.keep(i) for i in range(len(result.groups))]
    for answer in answers:
        if np.isfinite(answer.certificate.bound):
            assert answer.certificate.verify(X).faults == ()
    for point in result.path:
        if np.isfinite(point.certificate.bound):
            assert point.certificate.verify(X).faults == ()


def test_verify_reads_other_homes_of_the_data():
    X = TABLES["tall"]
    certificate = quiet(X).certificate
    assert certificate.verify(csr_array(X)).holds
    assert str(certificate.verify(X.tolist())) == "The certificate holds."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lambda_max": 1e9}, "at least"),
        ({"bound": 1.0}, "at most"),
        ({"most_kept": 10.0}, "multiplier"),
        ({"n_removed": 3}, "removed"),
    ],
)
def test_verify_finds_what_is_not_true(change, said):
    X = TABLES["tall"]
    certificate = quiet(X).certificate
    assert certificate.l0_lower_bound > 0
    found = replace(certificate, **change).verify(X)
    assert not found.holds
    assert said in str(found)


def test_verify_names_another_table():
    certificate = quiet(TABLES["tall"]).certificate
    with pytest.raises(ValueError, match=r"X has shape \(700, 300\)"):
        certificate.verify(TABLES["many columns"])


def test_verify_finds_changed_data():
    X = TABLES["tall"].copy()
    certificate = quiet(X).certificate
    X[np.setdiff1d(np.arange(600), certificate.removed)[0]] += 100.0
    assert not certificate.verify(X).holds
