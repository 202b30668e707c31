"""Another answer without a new fit: `at` and `keep`."""

import numpy as np
import pytest

import statements
from cases import cases
from symmetric_fits import SMALL, fitted


def test_keep_puts_a_group_back(fit):
    sample, result = fit
    for i, group in enumerate(result.groups):
        changed = result.keep(i)
        expected = result.support.copy()
        expected[group.rows] = True
        np.testing.assert_array_equal(changed.support, expected)
        check_changed(sample.X, result, changed)
        assert changed.certificate.feasible
        assert changed.groups == tuple(other for other in result.groups if other is not group)
        np.testing.assert_array_equal(result.keep(i - len(result.groups)).support, expected)


def test_all_groups_put_back_one_by_one_are_all_rows():
    X = SMALL["A"]().X
    result = fitted(X)
    assert len(result.groups) >= 2
    before = result.location.copy(), result.support.copy(), result.groups
    for first in (0, -1):
        changed = result
        while changed.groups:
            changed = changed.keep(first)
            check_changed(X, result, changed)
        assert changed.support.all()
    np.testing.assert_array_equal(result.location, before[0])
    np.testing.assert_array_equal(result.support, before[1])
    assert result.groups == before[2]


def check_changed(X, result, changed):
    """What keep returns, from the data."""
    statements.check(X, changed, before=result, bound=True)
    certificate, n_kept = changed.certificate, changed.support.sum()
    assert certificate.verify(X).holds
    assert f"Kept {n_kept} of {len(X)} rows by choice" in changed.message
    assert changed.message.endswith(certificate.statement())
    n_bad = max(result.certificate.n_removed, certificate.n_removed)
    assert n_bad == 0 or min(certificate.assumed) * len(X) >= n_bad


@cases(
    ("arguments", "match"),
    [
        ({}, "either threshold or contamination"),
        ({"contamination": 0.1, "threshold": 1.0}, "either threshold or contamination"),
        *[({"threshold": value}, "threshold must be a finite") for value in (-1.0, "1")],
        ({"threshold": -0.0}, "below every score"),
    ],
)
def test_at_names_a_wrong_argument(arguments, match):
    with pytest.raises(ValueError, match=match):
        fitted(SMALL["A"]().X).at(**arguments)


def test_keep_names_a_wrong_argument():
    result = fitted(SMALL["A"]().X)
    for group in (99, -99, 0.5, "0", None, True, result.groups[0]):
        with pytest.raises(ValueError, match=r"\bgroup\b"):
            result.keep(group)
