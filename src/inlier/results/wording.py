"""Every sentence about an answer: for the message, terminal, report, card and JSON alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inlier.verdict import DOUBTS, FAILURES, Finding, Kind

if TYPE_CHECKING:
    from inlier.results.certificate import Certificate
    from inlier.results.result import RobustMeanResult

IN_UNITS = "(Sigma is in units of the scatter.)"


class Remedies(NamedTuple):
    """What a reader can do, in the words of where the sentence is read."""

    groups: str = "result.groups"
    keep: str = "result.keep"
    sigma: str = "Pass sigma"


PYTHON = Remedies()
COMMAND_LINE = Remedies(groups="the groups", keep="--keep", sigma="Give --sigma")


def message(result: RobustMeanResult) -> str:
    """Return how a fit ended and, if not well, what to try."""
    outcome = result._outcome
    others = _without(outcome.findings, *DOUBTS)
    about = _joined(_missing(result), _weighted(result))
    units = IN_UNITS if result._rule.metric is not None else ""
    if outcome.failed:
        return _joined(_sentences(outcome.having(FAILURES), PYTHON), about, units)
    if outcome.searched or outcome.chosen or (outcome.given and not result._verdict.given):
        counts = "" if outcome.chosen else removed(result)
        said, doubts = (_sentences(x, PYTHON) for x in (others, outcome.having(DOUBTS)))
        return _joined(counts, said, about, result.certificate.statement(), doubts, _advice(result))
    certificate = result.certificate
    n, least = certificate.n, certificate.l0_lower_bound
    counts = f"Kept {n - certificate.n_removed} of {n} rows; at least {least} had to be removed."
    return _joined(counts, _sentences(others, PYTHON), about, units)


def remarks(result: RobustMeanResult, words: Remedies = PYTHON) -> str:
    """Return what the message says beyond numbers of rows, groups and the certificate."""
    outcome = result._outcome
    findings = outcome.findings
    if outcome.failed:
        findings = outcome.having(FAILURES)
    said = _sentences(_without(findings, *DOUBTS), words)
    about = _joined(_missing(result), _weighted(result))
    return _joined(said, about, _sentences(outcome.having(DOUBTS), words))


def removed(result: RobustMeanResult) -> str:
    """Return what was kept and what was removed, and at most two groups that were suspected."""
    certificate = result.certificate
    n, gone = certificate.n, certificate.n_removed
    seen = "".join(
        f" Seen and kept: {suspect}; result.drop({i}) removes it."
        for i, suspect in enumerate(result.suspects[:2])
    )
    if not result.groups:
        return f"Kept all {n} rows.{seen}"
    listed = "; ".join(str(group) for group in result.groups)
    said = f"Kept {n - gone} of {n} rows. Removed: {listed}."
    if certificate.l0_lower_bound:
        said += f" At this sigma at least {certificate.l0_lower_bound} had to be removed."
    return said + seen


def statement(
    certificate: Certificate, alpha: float | None = None, sigma: float | None = None
) -> str:
    """Return how far the mean can be off in plain words; see `Certificate.statement`."""
    if not np.isfinite(certificate.bound):
        return "Some of the kept rows are so far away that nothing is known about the mean."
    alphas = certificate.assumed if alpha is None else (alpha,)
    bad = _alternatives([f"{100.0 * a:.3g}%" for a in alphas])
    assumed = f"If at most {bad} of the rows are bad and the good rows vary "
    mean = certified_mean(certificate)
    if sigma is None:
        # Columns may be in different units: each is compared with its own deviation.
        assumed += "no more than the kept ones"
        far, unit = [float(certificate.relative_radius(a)) for a in alphas], " standard deviations"
        mean += " of each column"
    else:
        assumed += f"by at most {sigma:.3g} in any direction"
        far, unit = [float(certificate.error_radius(a, sigma)) for a in alphas], ""
    if not np.isfinite(far).any():
        return f"{assumed}, nothing is known: all of the kept rows may be bad."
    within = _alternatives([f"{r:.3g}" if np.isfinite(r) else "any number of" for r in far])
    kinds = {"missing": certificate.n_missing, "extreme": len(certificate.cells)}
    filled = " or ".join(kind for kind, number in kinds.items() if number)
    filled = "an extreme" if filled == "extreme" else f"a {filled}"
    alike = f", if {filled} cell counts as the median of its column" if any(kinds.values()) else ""
    return f"{assumed}, {mean} is within {within}{unit} of that of the good rows{alike}."


def certified_mean(certificate: Certificate) -> str:
    """Return which mean a certificate is about."""
    return "the mean with each row counted once" if certificate.weighted else "the mean"


def sentence(finding: Finding, words: Remedies = PYTHON) -> str:
    """Return a finding in words."""
    return finding.kind.value.format(
        count=finding.count,
        value=finding.value,
        group=finding.group,
        words=words,
        sigma=f"{words.sigma} if you know how much good rows vary.",
        hint=', or use algorithm="continuation"' if finding.count else "",
    )


def _missing(result: RobustMeanResult) -> str:
    """Return what is said of missing and extreme cells, by the names of their columns."""
    if result._gaps is None:
        return ""
    columns = None if result._data is None else result._data.columns
    return result._gaps.note(columns, result._unweighted is not None)


def _weighted(result: RobustMeanResult) -> str:
    """Return what is said of a weighted mean."""
    if result._unweighted is None:
        return ""
    return (
        "Rows were judged with each counted once. The mean is weighted, with an effective size of "
        f"{result.details.effective_size:.4g} rows."
    )


def _advice(result: RobustMeanResult) -> str:
    """Return what to pass if it is known, where nothing is given and it would change much."""
    outcome = result._outcome
    if outcome.given or outcome.chosen or not result._shows_sensitivity:
        return ""
    return result.sensitivity.advice


def _without(findings: tuple[Finding, ...], *kinds: Kind) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.kind not in kinds)


def _sentences(findings: tuple[Finding, ...], words: Remedies) -> str:
    return _joined(*(sentence(finding, words) for finding in findings))


def _joined(*sentences: str) -> str:
    return " ".join(said for said in sentences if said)


def _alternatives(words: list[str]) -> str:
    """Return a list in a sentence: a, b or c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
