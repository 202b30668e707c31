"""A quick part of the attack in `fuzz.py`, and whether the attack would find a lie."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import fuzz
import reference
import statements
from cases import cases
from inlier import robust_mean
from inlier.data import Place
from statements import Dense, Told

BLOCK = 25


@pytest.mark.parametrize("first", range(0, 100, BLOCK))
def test_every_statement_is_true(first):
    reports = [fuzz.run(seed) for seed in range(first, first + BLOCK)]
    false = [fuzz.shown(report) for report in reports if report.lies]
    assert not false, "\n".join(["", *false])


# Equal rows in the units of a scatter; an extreme cell that moves the center of a rotation, about
# which single precision rounds the other rows, with sigma and without; sums in single precision
# that depend on the order of the rows.
@pytest.mark.parametrize("seed", [1036, 20689, 40171, 40077])
def test_what_was_false_once_is_true(seed):
    report = fuzz.run(seed)
    assert not report.lies, fuzz.shown(report)


# -- planted lies ---------------------------------------------------------------------------------


def honest(n=60, d=4, n_bad=6, **options):
    X = reference.contaminated(n, d, n_bad, far=20.0)
    result = robust_mean(X, **options)
    assert result.support.sum() == n - n_bad
    good = np.arange(n) >= n_bad
    return Told(
        result, Dense(X, np.finfo(np.float64).eps, certificate=result.certificate), good=good
    )


def kinds(told):
    return {lie.kind for lie in statements.lies(told, np.random.default_rng(0))}


def certified(**factors):
    """Numbers of the certificate times a factor."""

    def lie(result):
        old = result.certificate
        new = {name: factor * getattr(old, name) for name, factor in factors.items()}
        if hasattr(old, "bound") and "lambda_max" in new:
            new["bound"] = new["lambda_max"]
        certificate = replace(old, **new)
        return replace(result, certificate=certificate)

    return lie


def with_score(row, score):
    def lie(result):
        scores = result.scores.copy()
        scores[row] = score
        return replace(result, _scores=scores)

    return lie


def with_group(**changes):
    return lambda result: replace(result, groups=(replace(result.groups[0], **changes),))


def said(pattern, words):
    def lie(result):
        message, count = re.subn(pattern, words, result.message)
        assert count == 1
        told = replace(result)
        object.__setattr__(told, "message", message)  # which follows from the outcome otherwise
        return told

    return lie


def with_half_a_row(result):
    """A kept row that counts for half."""
    values = result.details.indicator.copy()
    values[-1] = 0.5
    return replace(result, _indicator=values)


PLANTED = {
    "location": lambda result: replace(result, location=result.location + 1e-9),
    "lambda_max too small": certified(lambda_max=1.0 - 1e-6),
    "lambda_max too large": certified(lambda_max=1.0 + 1e-6, budget=2.0),
    "sigma_kept too small": certified(lambda_max=1.0 - 1e-6),
    "feasible": certified(lambda_max=0.8, budget=0.85),
    "error_radius": certified(lambda_max=1e-3),
    "l0_lower_bound": certified(most_kept=0.8),
    "most_kept": certified(most_kept=0.8),
    "scores": with_score(-1, 1.5),
    "scores of the rule": with_score(-1, 0.5),
    "explain: score": with_score(slice(None, 6), 1.25),
    "NaN": with_score(0, np.nan),
    "indicator": with_half_a_row,
    "weights": lambda result: replace(result, _sample_weight=np.arange(60.0)),
    "counts": lambda result: replace(
        result, certificate=replace(result.certificate, n_removed=result.certificate.n_removed + 1)
    ),
    "sigma": lambda result: replace(result, sigma=1.01 * result.sigma),
    "groups": with_group(rows=np.arange(5)),
    "p_value": with_group(log_p=0.1),
    "group mean": with_group(place=Place(np.zeros((2, 4)), np.eye(4)[:1])),
    "message: kept": said("Kept 54", "Kept 53"),
    "message: NaN": said(r"within \S+ standard", "within nan standard"),
    "message: groups": said("Removed: 6", "Removed: 7"),
    "message: bound too small": said("Kept 54", "The bound is too small. Kept 54"),
    "statement: radius": said(r"within \S+ standard", "within 0.001 standard"),
}


def test_an_honest_result_passes():
    assert kinds(honest()) == set()
    assert kinds(honest(sigma=1.5)) == set()


@pytest.mark.filterwarnings("ignore")
@cases("kind", PLANTED)
def test_a_planted_lie_is_found(kind):
    told = honest()
    assert kind in kinds(told._replace(result=PLANTED[kind](told.result)))


def test_brute_force_finds_a_set_that_is_larger_than_the_bound():
    told = honest(n=12, d=2, n_bad=3, sigma=1.5)
    assert kinds(told) == set()
    assert told.result.certificate.l0_lower_bound == 3
    more = replace(told.result.certificate, most_kept=8.0)
    assert "l0_lower_bound" in kinds(told._replace(result=replace(told.result, certificate=more)))


def test_a_cell_that_was_set_aside_must_not_count():
    X = np.random.default_rng(0).standard_normal((60, 4))
    X[20, 1] = 1e4
    result, eps = robust_mean(X), np.finfo(np.float64).eps
    certificate = result.certificate
    assert certificate.cells.tolist() == [[20, 1]]
    assert kinds(Told(result, Dense(X, eps, certificate=certificate))) == set()
    false = {"location", "standard error", "lambda_max too small"}
    assert false <= kinds(Told(result, Dense(X, eps)))
    false = replace(certificate, gaps=replace(certificate.gaps, fill=certificate.gaps.fill + 1e-9))
    assert "fill" in kinds(Told(result, Dense(X, eps, certificate=false)))


def test_the_largest_eigenvalue_is_that_of_the_reference():
    rng = np.random.default_rng(0)
    for shape in [(30, 5), (5, 30)]:
        X = 1e3 + rng.standard_normal(shape)
        found = Dense(X, np.finfo(np.float64).eps).moments(np.ones(len(X), bool))
        expected = reference.largest_eigenvalue(X - X.mean(axis=0), np.ones(len(X)))
        assert found.top == pytest.approx(expected, rel=1e-9)


# -- the run --------------------------------------------------------------------------------------


def test_a_false_statement_is_printed_with_its_seed(monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "attack", lambda problem: [])
    assert fuzz.main(["--count", "3"]) == 0
    assert "0 with a false statement" in capsys.readouterr().out
    monkeypatch.setattr(fuzz, "attack", lambda problem: [statements.Lie("sum", "1 + 1 is 3")])
    assert fuzz.main(["--seed", "41", "--count", "2"]) == 1
    printed = capsys.readouterr().out
    assert "seed 41" in printed and "seed 42" in printed and "1 + 1 is 3" in printed


def test_an_error_and_a_warning_are_findings(monkeypatch):
    def attack(problem):
        warnings.warn("of nothing", RuntimeWarning, stacklevel=1)
        raise KeyError("gone")

    monkeypatch.setattr(fuzz, "attack", attack)
    assert {lie.kind for lie in fuzz.run(0).lies} == {"raised KeyError", "warned: RuntimeWarning"}
