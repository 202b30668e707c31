"""What a result says of itself: for the message, terminal, report, card and JSON alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.typing import Array
from inlier.data import Gaps
from inlier.data.imputed import listed_columns
from inlier.verdict import Doubt, Failure, Given, Kind

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult


def message(result: RobustMeanResult) -> str:
    """Return how a fit ended and, if not well, what to try."""
    outcome, certificate = result._outcome, result.certificate
    said, about, doubts = _remarks(result)
    if not outcome.having(Failure):
        chosen = bool(outcome.having(Kind.CHOSEN))
        if outcome.searched or chosen or (outcome.having(Given) and not result._verdict.given):
            counts = "" if chosen else removed(result)
            return _joined(counts, said, about, certificate.statement(), doubts, _advice(result))
        n, least = certificate.n, certificate.l0_lower_bound
        kept = f"Kept {n - certificate.n_removed} of {n} rows; at least {least} had to be removed."
        said = _joined(kept, said)
    units = "(Sigma is in units of the scatter.)" if result._rule.metric is not None else ""
    return _joined(said, about, units)


def remarks(result: RobustMeanResult) -> str:
    """Return what the message says beyond numbers of rows, groups and the certificate."""
    return _joined(*_remarks(result))


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


def _remarks(result: RobustMeanResult) -> tuple[str, str, str]:
    """Return what there is to report, what is said of cells and weights, and the doubts."""
    outcome, about = result._outcome, []
    doubts = outcome.having(Doubt)
    findings = outcome.having(Failure) or outcome.findings
    gaps, weighted = result.certificate.gaps, result.certificate.weighted
    if gaps is not None:
        columns = None if result._data is None else result._data.columns
        about.append(_of_gaps(gaps, columns, weighted))
    if weighted:
        about.append(
            "Rows were judged with each counted once. The mean is weighted, with an effective size "
            f"of {result.details.effective_size:.4g} rows."
        )
    said = _joined(*(str(one) for one in findings if one not in doubts))
    return said, _joined(*about), _joined(*map(str, doubts))


def _of_gaps(gaps: Gaps, columns: tuple[str, ...] | None, weighted: bool) -> str:
    """Return the sentences about missing and extreme cells."""
    row = "kept row of positive weight" if weighted else "kept row"
    cells = [_cells_in(gaps.counts, "missing cell")] if gaps.counts.any() else []
    note, n_aside = "", len(gaps.cells)
    if n_aside:
        was, they = ("was", "it") if n_aside == 1 else ("were", "they")
        note = f"{_cells_in(gaps.n_set_aside, 'extreme cell')} {was} set aside; "
        cells.insert(0, they)
    one = gaps.counts.sum() + n_aside == 1
    verb, own = ("counts", "its") if one else ("count", "their")
    said = [
        f"{note}{' and '.join(cells)} {verb} as the median of {own} column in the certificate; "
        "each mean is over the other cells of the kept rows."
    ]
    if len(which := gaps.mostly_missing):
        said.append(f"More than half is missing in {listed_columns(which, columns)}.")
    if len(gaps.ignored):
        said.append(
            f"No row is tested by {listed_columns(gaps.ignored, columns)}: most rows with a value "
            "there would have been removed."
        )
    if len(gaps.all_missing):
        said.append(
            f"No {row} has a value in {listed_columns(gaps.all_missing, columns)}: the mean there "
            "is the median of all rows."
        )
    return _joined(*said)


def _cells_in(numbers: Array, kind: str) -> str:
    n, k = int(numbers.sum()), int(np.count_nonzero(numbers))
    return f"{n} {kind}{'s' * (n > 1)} (in {k} column{'s' * (k > 1)})"


def _advice(result: RobustMeanResult) -> str:
    """Return what to pass if it is known, where nothing is given and it would change much."""
    outcome = result._outcome
    if outcome.having(Given, Kind.CHOSEN) or not result._shows_sensitivity:
        return ""
    return result.sensitivity.advice


def _joined(*sentences: str) -> str:
    return " ".join(said for said in sentences if said)
