"""What a fraction would change is what it does change."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from inlier import robust_mean
from ordinary_tables import digits

X, _ = digits()
RESULT = robust_mean(X)


def test_each_change_is_that_of_the_answer():
    error = X.std(axis=0) / np.sqrt(len(X))
    for change in RESULT.sensitivity:
        given = RESULT.at(contamination=change.fraction)
        assert change.n_removed == (~given.support).sum()
        np.testing.assert_allclose(change.location, given.location, atol=1e-9)
        np.testing.assert_allclose(
            change.radius, given.certificate.error_radius(change.fraction), rtol=1e-6
        )
        offset = given.location - RESULT.location
        if change.n_removed:
            along = X @ (offset / np.linalg.norm(offset))
            moved = np.linalg.norm(offset) / (along.std() / np.sqrt(len(X)))
            np.testing.assert_allclose(change.shift, moved, rtol=1e-6)
        else:
            assert change.shift == 0.0 and not change.columns
        if change.columns:
            with np.errstate(invalid="ignore"):
                largest = np.nanargmax(np.abs(offset) / error)
            assert change.columns[0] == f"x{largest}"


def test_it_names_columns_and_prints_as_a_table():
    frame = pd.DataFrame(X, columns=[f"pixel {j}" for j in range(64)])
    found = robust_mean(frame).sensitivity
    assert found[4].columns[0].startswith("pixel ") and len(found) == 6
    lines = str(found).splitlines()
    assert len(lines) == 8 and "rows removed" in lines[0] and lines[5].startswith("          0.3")
    assert str(found[4]).startswith("contamination=0.3: ")
    assert lines[7] == found.advice and "pass contamination=0.3: the mean then" in found.advice


def test_nothing_is_advised_where_no_fraction_matters():
    rows = np.random.default_rng(0).standard_normal((300, 4))
    assert robust_mean(rows).sensitivity.advice == ""
    rows[7:11] = 100.0  # fewer than these may be bad at 1%, which puts one back
    found = robust_mean(rows).sensitivity
    assert found[0].n_removed == 3 and found[0].shift > 5.0 and found.advice == ""


def test_the_message_ends_with_the_advice_where_nothing_is_given():
    assert RESULT.sensitivity.advice and RESULT.message.endswith(f". {RESULT.sensitivity.advice}")
    for given in (RESULT.at(contamination=0.2), robust_mean(X, trusted=np.arange(30))):
        assert "If you know" not in given.message
    assert pickle.loads(pickle.dumps(robust_mean(X))).message == RESULT.message
    rows = X.copy()
    result = robust_mean(rows)
    rows += 1.0  # it is not about these rows any more, and nothing can be computed from them
    assert result.message == RESULT.message.removesuffix(f" {RESULT.sensitivity.advice}")


def test_it_works_in_a_scatter_and_goes_with_the_data():
    result = robust_mean(X, scatter=np.ones(64) * 4.0)
    expected = [change.n_removed for change in RESULT.sensitivity]
    assert [change.n_removed for change in result.sensitivity] == expected
    copied = pickle.loads(pickle.dumps(RESULT)).with_data(X)
    assert [change.n_removed for change in copied.sensitivity] == expected


def test_rows_too_far_away_to_square_have_no_radius():
    rows = np.random.default_rng(0).standard_normal((200, 3))
    rows[:20] = 1e200
    found = robust_mean(rows).sensitivity
    assert np.isinf(found[0].radius) and np.isfinite(found[3].radius)


def test_where_no_row_is_kept_no_shift_is_known():
    counts = np.random.default_rng(0).poisson(2.0, (39, 3)).astype(float)
    with pytest.warns(ConvergenceWarning):
        result = robust_mean(counts, sigma=0.3)
    assert not result.support.any()
    # Any other warning is an error.
    assert not any(change.shift > 0.0 for change in result.sensitivity)
