"""`robust_mean(X, assume="symmetric")`: tables of every kind, degenerate ones, chance, progress."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import cases
from fits import quietly
from inlier import WeakEvidenceWarning
from inlier.l0 import Options
from symmetric_fits import SETTINGS, SMALL, fitted, no_warning, robust_mean


@cache
def plain_fit(name, dtype="float64"):
    """The fit of a table as it is, in some precision."""
    return fitted(SMALL[name]().X.astype(dtype))


# -- difficult tables -----------------------------------------------------------------------------


ENTRY, ROW = "one entry", "whole row"


@cases(
    ("size", "where"),
    [(1e3, ENTRY), (1e3, ROW), (1e8, ENTRY), (1e100, ROW), (1e160, ENTRY), (-1e300, ROW)],
)
@cases("make", [np.asarray, sp.csr_array])
@cases("shape", [(300, 30), (60, 150), (1000, 3)])
def test_one_absurd_row_and_no_other_goes(shape, make, size, where):
    X = np.random.default_rng(1).standard_normal(shape)
    X[3] = 0.0
    X[3, slice(1) if where == ENTRY else slice(None)] = size
    result = fitted(make(X), dense=X)
    if where == ENTRY and make is np.asarray:  # the cell is set aside, the row stays
        assert result.support.all()
        np.testing.assert_array_equal(result.certificate.gaps.cells, [[3, 0]])
    else:
        np.testing.assert_array_equal(result.outliers, [3])


@pytest.mark.parametrize("name", ["A", "A, n < d", "B"])
def test_an_absurd_row_hides_no_group(name):
    sample = SMALL[name]()
    X = sample.X.copy()
    row = int(np.flatnonzero(~sample.is_outlier)[0])
    X[row] = 1e300
    plain, result = fitted(np.delete(X, row, axis=0)), fitted(X)
    np.testing.assert_array_equal(np.delete(result.support, row), plain.support)
    assert not result.support[row]
    np.testing.assert_array_equal(result.groups[0].rows, [row])


def test_two_absurd_rows_on_opposite_sides():
    X = np.random.default_rng(0).standard_normal((101, 3))
    X -= np.median(X, axis=0)
    X[0] = 1e200
    X[1] = -1e200
    X[2:] -= np.median(X, axis=0)
    np.testing.assert_array_equal(fitted(X).outliers, [0, 1])


@no_warning
@pytest.mark.parametrize("value", [0.0, 7.0, 1e8])
def test_a_constant_column_is_no_sign_of_anything(value):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((400, 6))
        X[:, 2] = value
        assert fitted(X).support.all()


WHOLE = {
    "rounded, fine": lambda rng, n, d: np.round(10.0 * rng.standard_normal((n, d))),
    "rounded": lambda rng, n, d: np.round(3.0 * rng.standard_normal((n, d))),
    "counts": lambda rng, n, d: rng.poisson(100.0, (n, d)),
}


@no_warning
@cases("shape", [(300, 1), (1000, 2), (1000, 10), (500, 50)])
@cases("kind", WHOLE)
def test_whole_numbers_are_left_alone(kind, shape):
    for seed in range(4):
        X = WHOLE[kind](np.random.default_rng(seed), *shape)
        assert fitted(X).support.all()


ONE_MODE = {
    "a few whole numbers": lambda rng: rng.integers(-3, 4, (1000, 1)),
    "two columns of them": lambda rng: rng.integers(-3, 4, (1000, 2)),
    "one column of counts": lambda rng: rng.poisson(5.0, (1000, 1)),
    "sharp ends": lambda rng: rng.uniform(-1.0, 1.0, (3000, 1)),
}


@pytest.mark.parametrize("kind", ONE_MODE)
def test_odd_columns_with_one_mode_are_left_alone(kind):
    for seed in range(20):
        X = ONE_MODE[kind](np.random.default_rng(seed))
        assert quietly(robust_mean, X).support.all()


@cases("value", [2.5, 0.1, 1e10 / 3.0])
@cases("shape", [(2, 1), (3, 1), (10, 3), (10, 30), (600, 2)])
def test_all_rows_equal(shape, value):
    result = fitted(np.full(shape, value))
    assert result.support.all() and result.sigma <= 1e-14 * value


@cases("scale", [1.0, 1e3, 1e-3])
@cases(
    "rows",
    [
        np.repeat([[0.0], [1.0]], 50, axis=0),
        np.array([[-3.0], [2.0], [-2.0], [-2.0]]),
        np.repeat([[2.0, 3.0], [50.0, 50.0]], [99, 1], axis=0),
    ],
)
def test_values_that_coincide_are_no_scale(rows, scale):
    assert fitted(scale * rows).support.all()


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e-3])
def test_categories_are_left_alone_and_warned_about(scale):
    X = scale * np.eye(4)[np.arange(200) % 4]
    fitted(X)
    with pytest.warns(WeakEvidenceWarning):
        assert robust_mean(X).support.all()


# Powers of two as units, and whether a table in them is taken.
DOUBLE = {-1000: False, -660: False, -500: True, -200: True, 200: True, 250: False, 1000: False}
SINGLE = {-110: False, -60: False, -40: True, 30: True, 40: False, 110: False}
UNITS = [(np.float64, *k) for k in DOUBLE.items()] + [(np.float32, *k) for k in SINGLE.items()]


@cases(("dtype", "power", "taken"), UNITS)
@cases("name", ["spiked", "A, n < d", "clean"])
def test_units_change_nothing_until_they_are_refused(name, dtype, power, taken):
    # A power of two, so that every digit stays.
    X = SMALL[name]().X.astype(dtype)
    Y = np.ldexp(X, power)
    assert np.isfinite(Y).all()
    if taken:
        plain = plain_fit(name, np.dtype(dtype).name)
        np.testing.assert_array_equal(fitted(Y).support, plain.support)
        return
    with pytest.raises(ValueError, match=r"X is out of range.*units"):
        robust_mean(Y)


entries = st.one_of(st.floats(-10.0, 10.0, width=32), st.floats(-1e6, 1e6, width=32))


@given(st.data(), st.integers(2, 30), st.integers(1, 4), st.integers(0, 2**16))
@settings(max_examples=60)
def test_any_table_without_ties_has_an_answer(data, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for i in range(data.draw(st.integers(0, n // 2))):
        X[i] += data.draw(entries)
    result = fitted(X)
    assert (np.abs(result.location) <= np.abs(X).max()).all()
    assert result.certificate.error_radius(0.1) >= 0.0


# -- chance, the paper's algorithm, and progress --------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_the_same_random_state_gives_the_same_answer_to_the_last_bit(name):
    X = SMALL[name]().X
    first, second = (fitted(X, random_state=np.random.default_rng(5)) for _ in range(2))
    for attribute in ("location", "support", "scores"):
        np.testing.assert_array_equal(getattr(first, attribute), getattr(second, attribute))
    assert first.details.history == second.details.history
    assert first.certificate == second.certificate
    assert first.message == second.message


@pytest.mark.parametrize("name", ["A", "A, n < d", "B", "obvious and subtle", "clean"])
def test_another_random_state_keeps_the_same_rows(name):
    X = SMALL[name]().X
    for random_state in (1, None):
        other = fitted(X, random_state=random_state)
        np.testing.assert_array_equal(other.support, plain_fit(name).support)


@cases("start", ["coordinate-median", "geometric-median", "mean", "off"])
@cases("name", ["A", "B"])
def test_every_start_leads_to_the_same_rows(name, start):
    sample = SMALL[name]()
    given = {"mean": sample.X.mean(axis=0), "off": np.full(sample.X.shape[1], 3.0)}
    result = fitted(sample.X, l0=Options(start=given.get(start, start)))
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_algorithm_of_the_paper_with_the_sigma_that_was_found(setting):
    X = SETTINGS[setting](200, 20, 0.2).sample(0).X
    seen = []
    plain = fitted(X)
    result = robust_mean(X, callback=seen.append, l0=Options(algorithm="paper"))
    again = robust_mean(X, sigma=plain.sigma, l0=Options(algorithm="paper"))
    assert result.sigma == pytest.approx(plain.sigma)
    np.testing.assert_array_equal(result.support, again.support)
    np.testing.assert_allclose(result.location, again.location, atol=1e-12)
    assert {step.stage for step in result.details.history} == {"algorithm 1"}
    assert [step.stage for step in seen].index("algorithm 1") == len(plain.details.history)
    assert tuple(seen[len(plain.details.history) :]) == result.details.history


@pytest.mark.parametrize("name", SMALL)
def test_the_callback_sees_the_history(name):
    X = SMALL[name]().X
    seen = []
    result = fitted(X, callback=seen.append)
    assert tuple(seen) == result.details.history
    assert {step.stage for step in seen} == {"selection"}
    assert seen[0].n_removed == 0
    assert seen[-1].n_removed == (~result.support).sum()
    assert result.details.budget <= seen[-1].budget * (1.0 + 1e-9)
    passes = [step.n_passes for step in seen]
    assert passes == sorted(passes) and result.details.n_passes >= 1


@cases("seed", [*range(6), 405471])
@cases("alpha", [0.38, 0.42, 0.45])
def test_more_than_half_of_the_rows_stay(alpha, seed):
    """Whatever is found inside the cloud: a tight cluster there is nearly half of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 20))
    direction = rng.standard_normal(20)
    k = round(300 * alpha)
    X[:k] = 0.00026 * rng.standard_normal((k, 20))
    X[:k] += 2.07 * direction / np.linalg.norm(direction)
    X[-30:] *= 10.0  # rows that leave before
    assert 2 * fitted(X).support.sum() > 300
