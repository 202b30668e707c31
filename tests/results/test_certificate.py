"""What a certificate states, against dense numpy; `verify` finds what does not hold."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from cases import cases
from inlier import robust_mean
from inlier.l0 import Options
from inlier.research.datasets import SettingA, SettingB
from symmetric_fits import radius_by_hand


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


# -- what is stated -------------------------------------------------------------------------------


def test_other_answers_do_not_miss_the_largest_eigenvalue():
    for seed in range(6):
        X = uneven_with_copies(seed)
        result = quiet(X)
        for i in range(len(result.groups)):
            again = result.keep(i)
            truth = largest_deviation(X[again.support])
            assert truth * (1.0 - 1e-9) <= again.sigma <= 1.2 * truth


# -- verify ---------------------------------------------------------------------------------------


TABLES = {
    "tall": SettingA(600, 40, 0.2).sample(0).X,
    "many columns": SettingB(700, 300, 0.3).sample(0).X,
    "wide": SettingA(80, 300, 0.1).sample(0).X,
    "nearly half": SettingB(200, 20, 0.4).sample(0).X,
    "single": SettingA(600, 40, 0.2).sample(0).X.astype(np.float32),
    "shifted": SettingA(600, 40, 0.2).sample(0).X + 1e6,
    "absurd": wide_with_distant_rows(0, 60, 20, 2, 1e9),
}


WAYS = {
    "nothing": {},
    "symmetric": {"assume": "symmetric"},
    "sigma": {"sigma": 4.0},
    "as published": {"sigma": 3.0, "l0": Options(algorithm="paper")},
    "diagonal": {"scatter": "diagonal"},
}


@cases("way", WAYS)
@cases("table", TABLES)
def test_a_fit_is_verified(table, way):
    X = TABLES[table]
    result = quiet(X, **WAYS[way])
    answers = [result, *(result.keep(i) for i in range(len(result.groups)))]
    for answer in answers:
        if np.isfinite(answer.certificate.bound):
            assert answer.certificate.verify(X).faults == ()


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


def test_verify_finds_other_data():
    X = TABLES["tall"].copy()
    certificate = quiet(X).certificate
    X[np.setdiff1d(np.arange(600), certificate.removed)[0]] += 100.0
    assert not certificate.verify(X).holds
    with pytest.raises(ValueError, match=r"X has shape \(700, 300\)"):
        certificate.verify(TABLES["many columns"])
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"X has shape \(600, 1\)"):
        quiet(X).certificate.verify(X[:, :1])


def turned(X, removed):
    return X @ np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1],) * 2))[0]


def without_a_removed_row(X, removed):
    X = X.copy()
    X[removed[0]] = 0.0
    return X


OTHERS = {
    "moved": (lambda X, removed: X + 1e6, "mean of the kept rows"),
    "mirrored": (lambda X, removed: -X, "mean of the kept rows"),
    "turned": (turned, "mean of the kept rows"),
    "removed row": (without_a_removed_row, "mean of the removed rows"),
}


@cases("other", OTHERS)
@cases("way", ["nothing", "sigma", "diagonal"])
@cases("table", ["tall", "wide", "single"])
def test_verify_finds_rows_that_vary_as_much_elsewhere(table, way, other):
    X = TABLES[table]
    certificate = quiet(X, **WAYS[way]).certificate
    change, said = OTHERS[other]
    if said == "mean of the removed rows" and not certificate.n_removed:
        return
    found = certificate.verify(change(X, certificate.removed))
    assert not found.holds
    assert said in str(found)


DERIVED = {
    "scores": lambda result: result.scores,
    "ranking": lambda result: result.ranking,
    "standard_error": lambda result: result.standard_error,
    "confidence_interval": lambda result: result.confidence_interval(),
    "explain": lambda result: result.explain(0),
    "keep": lambda result: result.keep(0),
}


@cases("dtype", ["float64", "float32", "int64"])
@cases("order", ["C", "F"])
@cases("name", DERIVED)
def test_what_is_derived_notices_that_the_data_were_changed(name, order, dtype):
    X = np.array(np.round(100.0 * TABLES["tall"]), dtype, order=order)
    result = quiet(X)
    X[5, 3] += 1
    with pytest.raises(ValueError, match="X was changed in place"):
        DERIVED[name](result)
    X[5, 3] -= 1
    DERIVED[name](result)


def test_the_radius_grows_with_the_fraction(fit):
    _, result = fit
    alphas = np.linspace(0.0, 1.0, 101)
    radii = result.certificate.error_radius(alphas)
    assert radii.shape == alphas.shape
    assert np.all(radii[1:] >= radii[:-1])
    np.testing.assert_allclose(
        radii, [radius_by_hand(result, alpha, result.certificate.sigma_kept) for alpha in alphas]
    )
    assert radii[-1] == np.inf


@cases("name, given", [("alpha", {"alpha": "x"}), ("sigma", {"alpha": 0.1, "sigma": "x"})])
def test_a_statement_names_what_is_no_number(name, given):
    certificate = robust_mean(np.random.default_rng(0).standard_normal((40, 3))).certificate
    with pytest.raises(ValueError, match=f"^{name} must be .*but is 'x'"):
        certificate.statement(**given)
