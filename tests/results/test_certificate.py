"""What a certificate states, against dense numpy; `verify` finds what does not hold."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import fits
from cases import cases
from clear_samples import spectral_sigma
from inlier import robust_mean
from inlier.research.datasets import SettingA, SettingB
from symmetric_fits import radius_by_hand


def uneven_with_copies(seed):
    """Uneven rows and 200 copies of one distant row, in more columns than are solved densely."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 400)) * 5.0 / np.sqrt(np.arange(1, 401))
    u = rng.standard_normal(400)
    X[:200] = 20.0 * u / np.linalg.norm(u)
    return X


quiet = partial(fits.quietly, robust_mean)


# -- what is stated -------------------------------------------------------------------------------


def test_other_answers_do_not_miss_the_largest_eigenvalue():
    for seed in range(6):
        X = uneven_with_copies(seed)
        result = quiet(X)
        for i in range(len(result.groups)):
            again = result.keep(i)
            truth = spectral_sigma(X[again.support])
            assert truth * (1.0 - 1e-9) <= again.sigma <= 1.2 * truth


# -- verify ---------------------------------------------------------------------------------------


TABLES = {
    "tall": SettingA(600, 40, 0.2).sample(0).X,
    "many columns": SettingB(700, 300, 0.3).sample(0).X,
    "wide": SettingA(80, 300, 0.1).sample(0).X,
    "single": SettingA(600, 40, 0.2).sample(0).X.astype(np.float32),
}


WAYS = {
    "nothing": {},
    "sigma": {"sigma": 4.0},
    "diagonal": {"scatter": "diagonal"},
}


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


def test_verify_shows_digits_that_differ():
    X = np.random.default_rng(0).standard_normal((200, 3))
    result = quiet(X)
    X[np.abs(X[:, 0]).argmax(), 0] *= 1.0 + 1e-7
    fault = next(one for one in result.certificate.verify(X).faults if "eigenvalue" in one)
    stated, found = re.findall(r"at (?:most|least) (\S+?)[,.](?: |$)", fault)
    assert stated != found


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
@cases("way", WAYS)
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
