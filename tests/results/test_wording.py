"""What a result says of itself, and when it warns."""

import numpy as np
import pytest

import inlier
from inlier import WeakEvidenceWarning
from inlier.research.datasets import Clean, SettingA, SettingB
from inlier.results.explanation import explained
from inlier.verdict import Doubt, Failure, Finding, Kind
from reference import contaminated
from symmetric_fits import SETTINGS, fitted, no_warning, radius_by_hand, robust_mean


@pytest.fixture(scope="module")
def result():
    return inlier.robust_mean(contaminated(far=20.0))


def test_a_result_says_how_the_fit_ended(result):
    assert result.message in str(result) and "54 of 60" in result.message
    outcome = result._outcome
    assert outcome.searched and not outcome.having(Kind.CHOSEN, Doubt, Failure)
    assert result.keep(0)._outcome.having(Kind.CHOSEN)
    X = contaminated(far=20.0)
    outcome = inlier.robust_mean(X, sigma=1.5)._outcome
    assert not (outcome.searched or outcome.having(Failure))


def test_explanations_of_several_rows_are_those_of_each(result):
    together = explained(result, np.array([0, 7, 59]))
    for row, found in zip((0, 7, 59), together, strict=True):
        one = result.explain(row)
        assert (found.row, found.score, found.removed) == (one.row, one.score, one.removed)


def three_clusters(n=600, d=10, seed=0):
    """Of equal size and far apart: no part of the rows is the majority."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + 30.0 * np.eye(d)[np.arange(n) % 3]


# -- the certificate ------------------------------------------------------------------------------


def test_the_statement_says_what_is_known():
    result = fitted(SettingA(1000, 50, 0.2).sample(0).X)
    certificate = result.certificate
    alpha = np.ceil(100.0 * certificate.n_removed / 1000) / 100
    said = certificate.statement()
    radius = radius_by_hand(result, alpha, certificate.sigma_kept) / certificate.sigma_kept
    assert f"at most {100 * alpha:.3g}% of the rows are bad" in said
    assert f"is within {radius:.3g} standard deviations of that of the good rows" in said
    assert said in result.message
    said = certificate.statement(alpha=0.05, sigma=2.0)
    assert "at most 5%" in said and "by at most 2 " in said
    assert f"within {radius_by_hand(result, 0.05, 2.0):.3g} of" in said
    assert "nothing is known" in certificate.statement(alpha=0.9)


def test_the_statement_holds_in_every_column_whatever_its_unit():
    """For sets of good rows that vary no more than the kept ones, column by column, by numpy."""
    rng = np.random.default_rng(0)
    units = 10.0 ** np.arange(-3, 3)
    X = np.r_[rng.standard_normal((270, 6)), rng.standard_normal((30, 6)) + 20.0] * units + units
    certificate = inlier.robust_mean(X).certificate
    kept = np.delete(X, certificate.removed, axis=0)
    assert len(kept) == 270
    for alpha in (0.02, 0.1, 0.3):
        for _ in range(50):
            rows = rng.permutation(300)[: 300 - int(alpha * 300)]
            good = X[rows] if rng.random() < 0.5 else X[np.sort(rows[rows < 270])]
            if len(good) < (1.0 - alpha) * 300:
                continue
            off = np.abs(good.mean(axis=0) - kept.mean(axis=0)) / kept.std(axis=0)
            alike = good.std(axis=0) <= kept.std(axis=0)
            assert (off[alike] <= certificate.relative_radius(alpha)).all()
        # The worst set: the kept rows that are lowest in a column.
        column = rng.integers(6)
        good = kept[np.argsort(kept[:, column])[: 300 - int(alpha * 300)]][:, column]
        if good.std() <= kept[:, column].std():
            off = abs(good.mean() - kept[:, column].mean()) / kept[:, column].std()
            assert off <= certificate.relative_radius(alpha)


def test_where_nothing_was_removed_the_statement_is_a_curve():
    result = fitted(Clean(500, 10).sample(0).X)
    certificate, said = result.certificate, result.certificate.statement()
    assert certificate.n_removed == 0
    assert "at most 1%, 5%, 10% or 20% of the rows" in said
    sigma = certificate.sigma_kept
    for alpha in (0.01, 0.05, 0.1, 0.2):
        assert f"{radius_by_hand(result, alpha, sigma) / sigma:.3g}" in said
    assert said in result.message


# -- weak evidence --------------------------------------------------------------------------------


def test_several_groups_of_equal_size_are_contradictory():
    X = three_clusters()
    with pytest.warns(WeakEvidenceWarning, match="contradictory") as caught:
        result = inlier.robust_mean(X, assume="symmetric")
    assert len(caught) == 1 and str(caught[0].message) == result.message
    assert caught[0].filename == __file__, "the warning points at the caller"
    assert 2 * result.support.sum() >= len(X)
    for hint in ("result.groups", "result.keep", "half of the rows"):
        assert hint in result.message


def test_a_group_of_nearly_half_the_rows_is_a_matter_of_numbers():
    sample = SettingB(1000, 50, 0.4).sample(0)
    with pytest.warns(WeakEvidenceWarning, match="400 of 1000 rows"):
        result = robust_mean(sample.X)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


def test_a_tail_that_left_is_warned_about():
    X = np.random.default_rng(0).lognormal(size=(1000, 20))
    with pytest.warns(WeakEvidenceWarning, match="tail"):
        result = robust_mean(X)
    assert {group.kind for group in result.groups} == {"tail"}


@no_warning
@pytest.mark.parametrize("shape", [(1000, 50), (100, 300), (30, 3), (500, 1)])
def test_clean_rows_are_no_weak_evidence(shape):
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal(shape)
        assert f"Kept all {len(X)} rows" in robust_mean(X).message


@no_warning
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_settings_are_no_weak_evidence(setting):
    result = robust_mean(SETTINGS[setting](1000, 100, 0.2).sample(0).X)
    assert "Kept 800 of 1000 rows" in result.message
    for group in result.groups:
        assert str(group) in result.message
        assert str(group).startswith(f"{group.size} rows")


def test_every_finding_has_a_sentence():
    for kind in Kind:
        said = str(Finding(kind, 3, 0.5))
        assert said.endswith(".") and "{" not in said
