"""Every sentence about an answer: for the message, terminal, report, card and JSON alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inlier.results.outcome import DOUBTS, FAILURES, Finding, Kind

if TYPE_CHECKING:
    from inlier.results.certificate import Certificate
    from inlier.results.result import RobustMeanResult

IN_UNITS = "(Sigma and distances are in units of the scatter.)"


class Remedies(NamedTuple):
    """What a reader can do, in the words of where the sentence is read."""

    groups: str = "result.groups"
    keep: str = "result.keep"
    sigma: str = "Pass sigma"


PYTHON = Remedies()
COMMAND_LINE = Remedies(groups="the groups", keep="--keep", sigma="Give --sigma")


def message(result: RobustMeanResult) -> str:
    """Return how a fit ended and, if not well, what to try."""
    outcome = result.outcome
    doubts = _sentences(outcome.having(DOUBTS), PYTHON)
    others = _sentences(_others(result), PYTHON)
    missing = _missing(result)
    units = IN_UNITS if result.rule.metric is not None else ""
    if outcome.failed:
        before, after = _sentences(outcome.having(frozenset({Kind.SOLVED_AGAIN})), PYTHON), ""
        return _joined(before, _sentences(outcome.having(FAILURES), PYTHON), missing, units)
    if outcome.searched or outcome.chosen:
        after = result.certificate.statement()
        counts = "" if outcome.chosen else removed(result)
        return _joined(counts, others, missing, after, doubts, units)
    again = _sentences(outcome.having(frozenset({Kind.SOLVED_AGAIN})), PYTHON)
    rest = _sentences(_without(_others(result), Kind.SOLVED_AGAIN), PYTHON)
    return _joined(again, _fewest(result), rest, missing, units)


def remarks(result: RobustMeanResult, words: Remedies = PYTHON) -> str:
    """Return what the message says beyond numbers of rows, groups and the certificate."""
    outcome = result.outcome
    findings = outcome.findings
    if outcome.failed:
        findings = outcome.having(FAILURES | {Kind.SOLVED_AGAIN})
    said = _sentences(_without(findings, *DOUBTS), words)
    return _joined(said, _missing(result), _sentences(outcome.having(DOUBTS), words))


def removed(result: RobustMeanResult) -> str:
    """Return what was kept and what was removed.

    Suspects are left out: nothing shows that they are mostly bad (docs/no-knobs.md).
    """
    certificate = result.certificate
    n, gone = certificate.n, certificate.n_removed
    if not result.groups:
        return f"Kept all {n} rows."
    listed = "; ".join(str(group) for group in result.groups)
    said = f"Kept {n - gone} of {n} rows. Removed: {listed}."
    if certificate.l0_lower_bound:
        said += f" At this sigma at least {certificate.l0_lower_bound} had to go."
    return said


def statement(
    certificate: Certificate, alpha: float | None = None, sigma: float | None = None
) -> str:
    """Return the error radius in plain words; see `Certificate.statement`."""
    if not np.isfinite(certificate.bound):
        return "Some of the kept rows are so far away that nothing is known about the mean."
    alphas = certificate.assumed if alpha is None else (alpha,)
    sigma = certificate.sigma_kept if sigma is None else sigma
    radii = [float(certificate.error_radius(a, sigma)) for a in alphas]
    bad = _alternatives([f"{100.0 * a:.3g}%" for a in alphas])
    assumed = (
        f"If at most {bad} of the rows are bad and the good rows vary by at most "
        f"{sigma:.3g} in any direction"
    )
    if not np.isfinite(radii).any():
        return f"{assumed}, nothing is known: all of the kept rows may be bad."
    within = _alternatives([f"{r:.3g}" if np.isfinite(r) else "any distance" for r in radii])
    alike = (
        ", if a missing cell counts as the median of its column" if certificate.n_missing else ""
    )
    return f"{assumed}, the mean is within {within} of that of the good rows{alike}."


def sentence(finding: Finding, words: Remedies = PYTHON) -> str:
    """Return a finding in words."""
    count, value, group = finding.count, finding.value, finding.group
    sigma = f"{words.sigma} if you know how much good rows vary."
    match finding.kind:
        case Kind.TOO_FEW_ROWS:
            return f"So few rows do not tell which of them are bad: it takes {count}."
        case Kind.SEVERAL_GROUPS:
            return (
                "The rows fall into several groups, of which none is more suspect than another; "
                "they were kept."
            )
        case Kind.NOTHING_FOUND:
            return "No row is gross, and no group is clear of the others."
        case Kind.NO_GROUP:
            return "No group of them shows more than chance would."
        case Kind.TAIL_KEPT:
            return (
                f"There is a surplus on one side, {count} rows, that looks like the tail of skewed "
                "data; it was kept."
            )
        case Kind.WEAK_SIGNS:
            return f"There are weak signs (chance {value:.1g}) of one more group; it was kept."
        case Kind.NO_CUT:
            return "There are signs of one more group, but no cut that tells it from the others."
        case Kind.REFUSED:
            return (
                f"The evidence is contradictory: there are {group}, but hardly fewer than the "
                f"others, so nothing says which of them are good. All were kept. {sigma}"
            )
        case Kind.REFUSED_FURTHER:
            return (
                f"The evidence is contradictory: a further group, {group}, shows as well, but "
                "without it hardly more than half of the rows would be left. The rows fall into "
                f"several groups; look at {words.groups}, and put one back with {words.keep} if it "
                "is good."
            )
        case Kind.MANY_GROUPS:
            return (
                f"The search ended after {count} groups, and there may be more. The rows do not "
                "have one majority."
            )
        case Kind.UNCLEAR_GROUP:
            return (
                f"A further group of {count} rows shows, but it is large and not clear of the "
                f"others, so nothing says which of them are good. It was kept. {sigma}"
            )
        case Kind.COINCIDING_ROWS:
            return f"So many rows coincide that there is no scale to judge the others by. {sigma}"
        case Kind.LARGE_MINORITY:
            return (
                f"{count} of {round(value)} rows were removed. They are called bad only because "
                f"they are the minority: look at {words.groups}; {words.keep} puts one back."
            )
        case Kind.TAIL_REMOVED:
            return (
                f"{count} of the removed rows lie at the end of a long tail, in one direction. "
                f"They may be bad; skewed data look like that too. Compare with {words.keep}."
            )
        case Kind.UNDECIDED_BUDGET:
            return (
                "Whether they stay within the budget is not decided: they exceed it by at most "
                f"{value:.1e} of it, if at all."
            )
        case Kind.HALF_REMOVED:
            return (
                "Half of the rows or more were removed: either sigma is too small, or the data "
                "cannot be trusted."
            )
        case Kind.NO_ROW_FITS:
            hint = ', or use algorithm="continuation"' if count else ""
            return (
                "No row can be kept within the budget about the center that was reached; the "
                "location is the mean weighted by 1 - h. Either the bound is too small for these "
                "data, or the start was far from most of them: pass a larger sigma or another "
                f"start{hint}."
            )
        case Kind.BUDGET_EXCEEDED:
            return (
                f"The kept rows exceed the budget by {value:.1e} of it. The bound may be too small "
                "for these data: pass a larger sigma."
            )
        case Kind.NOT_SOLVED:
            return (
                "A convex problem of Algorithm 1 was not solved to the tolerance. Raise tol, or "
                'use algorithm="continuation", which needs no such precision.'
            )
        case Kind.NOT_CONVERGED:
            return (
                f"Stopped after max_iter={count} iterations while the number of removed rows was "
                "still falling. Raise max_iter."
            )
        case Kind.NO_VARIATION:
            return "The kept rows do not vary: there is no bound to run Algorithm 1 with."
        case Kind.SOLVED_AGAIN:
            return f"The paper's problem with sigma = {value:.4g}."
        case Kind.PUT_BACK:
            return f"Put back: {group}."
        case Kind.DROPPED:
            return f"Dropped: {group}."
        case Kind.CHOSEN:
            return f"Kept {count} of {round(value)} rows by choice."


def _fewest(result: RobustMeanResult) -> str:
    certificate = result.certificate
    n, gone = certificate.n, certificate.n_removed
    return f"Kept {n - gone} of {n} rows; at least {certificate.l0_lower_bound} had to go."


def _missing(result: RobustMeanResult) -> str:
    """Return what is said of missing cells, by the names of their columns."""
    if result.gaps is None:
        return ""
    return result.gaps.note(None if result.data is None else result.data.columns)


def _others(result: RobustMeanResult) -> tuple[Finding, ...]:
    return _without(result.outcome.findings, *DOUBTS)


def _without(findings: tuple[Finding, ...], *kinds: Kind) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.kind not in kinds)


def _sentences(findings: tuple[Finding, ...], words: Remedies) -> str:
    return _joined(*(sentence(finding, words) for finding in findings))


def _joined(*sentences: str) -> str:
    return " ".join(said for said in sentences if said)


def _alternatives(words: list[str]) -> str:
    """Return a list in a sentence: a, b or c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
