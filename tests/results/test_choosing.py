"""Another answer without a new fit: `at` and `keep`."""

from dataclasses import replace

import numpy as np
import pytest

from cases import cases
from symmetric_fits import SMALL, check_sigma, fitted, robust_mean, top_eigenvalue


def check_changed(X, changed, n_removed=0):
    """What at and keep return, from the data; `n_removed` rows were bad before the change."""
    kept = changed.support
    rows = X[kept]
    np.testing.assert_allclose(
        changed.location, rows.mean(axis=0), rtol=0.0, atol=1e-11 * np.abs(X).max()
    )
    np.testing.assert_array_equal(changed.details.indicator, np.where(kept, 0.0, 1.0))
    certificate = changed.certificate
    assert (certificate.n, certificate.n_removed) == (len(X), int((~kept).sum()))
    assert changed.details.budget == certificate.budget
    check_sigma(changed.sigma, certificate)
    assert f"Kept {kept.sum()} of {len(X)} rows by choice" in changed.message
    top = top_eigenvalue(rows)
    assert certificate.lambda_max * (1.0 - 1e-9) <= top <= certificate.bound * (1.0 + 1e-9)
    assert certificate.verify(X).holds
    if max(n_removed, certificate.n_removed):
        (alpha,) = certificate.assumed
        assert alpha * len(X) >= max(n_removed, certificate.n_removed)
    assert changed.message.endswith(certificate.statement())


def test_at_any_point_of_the_path(fit):
    sample, result = fit
    for i, point in enumerate(result.path):
        changed = result.at(i)
        np.testing.assert_array_equal(changed.outliers, point.removed)
        check_changed(sample.X, changed, result.certificate.n_removed)
        assert changed.groups == result.groups[:i]
        np.testing.assert_array_equal(result.at(point=i).support, changed.support)
        np.testing.assert_array_equal(result.at(i - len(result.path)).support, changed.support)
    # The chosen one is the answer itself.
    same = result.at(len(result.groups))
    np.testing.assert_array_equal(same.support, result.support)
    np.testing.assert_allclose(same.location, result.location, rtol=0.0, atol=1e-11)
    assert same.certificate.bound == pytest.approx(result.certificate.bound, rel=0.1)
    assert same.certificate.n_removed == result.certificate.n_removed


def test_keep_puts_a_group_back(fit):
    sample, result = fit
    for i, group in enumerate(result.groups):
        changed = result.keep(i)
        expected = result.support.copy()
        expected[group.rows] = True
        np.testing.assert_array_equal(changed.support, expected)
        check_changed(sample.X, changed, result.certificate.n_removed)
        assert changed.certificate.feasible
        assert changed.groups == tuple(other for other in result.groups if other is not group)
        np.testing.assert_array_equal(result.keep(group).support, expected)
        np.testing.assert_array_equal(result.keep(i - len(result.groups)).support, expected)
        # Nothing that is known of the rows is contradicted.
        alpha = (sample.is_outlier.sum() + 0.5) / len(sample.X)
        radius = changed.certificate.error_radius(alpha, sample.sigma)
        assert np.linalg.norm(changed.location - sample.mean) <= radius


def test_keep_and_at_leave_the_result_alone():
    result = fitted(SMALL["A"]().X)
    before = replace(result)
    result.keep(0), result.at(0)
    for name in ("location", "support", "scores"):
        np.testing.assert_array_equal(getattr(result, name), getattr(before, name))
    assert result.groups == before.groups


def test_all_groups_put_back_one_by_one_are_all_rows():
    X = SMALL["A"]().X
    result = fitted(X)
    assert len(result.groups) >= 2
    for first in (0, -1):
        changed = result
        while changed.groups:
            changed = changed.keep(first)
            check_changed(X, changed)
        assert changed.support.all()


def test_a_group_of_a_point_of_the_path_can_be_put_back():
    X = SMALL["A"]().X
    result = fitted(X)
    changed = result.at(1)
    np.testing.assert_array_equal(np.sort(changed.groups[0].rows), changed.outliers)
    assert changed.keep(0).support.all()
    check_changed(X, changed.keep(0))


def test_another_answer_has_no_path():
    result = fitted(SMALL["A"]().X)
    for changed in (result.at(1), result.keep(0)):
        assert changed.path == ()
        with pytest.raises(ValueError, match=r"\bpath\b"):
            changed.at(0)


def test_scores_after_a_change_of_mind(fit):
    _, result = fit
    changes = [result.at(i) for i in range(len(result.path))]
    changes += [result.keep(i) for i in range(len(result.groups))]
    for changed in changes:
        np.testing.assert_array_equal(
            changed.support, changed.scores <= changed.details.rule.threshold
        )


@cases(
    ("arguments", "match"),
    [
        ({}, r"\bpoint\b.*\bthreshold\b"),
        ({"point": 0, "threshold": 1.0}, r"\bpoint\b.*\bthreshold\b"),
        ({"point": 99}, r"\bpoint\b.*99"),
        ({"point": -99}, r"\bpoint\b.*-99"),
        *[({"point": value}, r"\bpoint\b") for value in (1.5, "1", [0], True)],
    ],
)
def test_at_names_a_wrong_argument(arguments, match):
    result = fitted(SMALL["A"]().X)
    with pytest.raises(ValueError, match=match):
        result.at(**arguments)


@pytest.mark.parametrize("group", [99, -99, 0.5, "0", None, True])
def test_keep_names_a_wrong_argument(group):
    with pytest.raises(ValueError, match=r"\bgroup\b"):
        fitted(SMALL["A"]().X).keep(group)


def test_keep_takes_no_group_of_another_result():
    group = fitted(SMALL["B"]().X).groups[0]
    with pytest.raises(ValueError, match=r"\bgroup\b"):
        fitted(SMALL["A"]().X).keep(group)


def test_a_result_with_sigma_has_neither_path_nor_groups():
    sample = SMALL["A"]()
    result = robust_mean(sample.X, sigma=sample.sigma)
    assert result.path == result.groups == ()
    with pytest.raises(ValueError, match=r"\bsigma\b"):
        result.at(0)
    with pytest.raises(ValueError, match=r"\bgroup\b"):
        result.keep(0)


def test_an_absurd_group_can_be_put_back():
    X = SMALL["A"]().X
    X[3] = 1e300
    result = fitted(X)
    back = result.keep(0)
    assert back.support[3]
    np.testing.assert_allclose(back.location, X[back.support].mean(axis=0), rtol=1e-9)
    assert back.certificate.lambda_max == np.inf
    assert "nothing is known" in back.message
    assert back.certificate.error_radius(0.1) == np.inf
    everything = result.at(0)
    assert everything.support.all()
    np.testing.assert_allclose(everything.location, X.mean(axis=0), rtol=1e-9)
