"""Given that at most a fraction of the rows is bad: which of them leave.

The rows that the search finds leave first. If they are half of the rows that may be bad, or more,
they are what was meant. Otherwise the k outermost of the others leave as well, where k is all that
may be bad, or else half, or a quarter of them; or none: good rows have tails, and a tail that is
cut off moves the mean if the rows are skewed.

How far a tail would move it shows in the rows further in. Let t1 be the shift of the mean as k rows
are trimmed, and t2 that as k more are. The k rows leave if

- t1 is more than a standard error of the mean: less is next to nothing,
- t1 is more than three times as long as t2. The outermost tenth of a Gaussian, exponential or
  log-normal tail moves the mean up to 2.5 times as far as the next tenth,
- t2 is less than two standard errors: where the rows further in move the mean, in whatever
  direction, good rows have a shape that explains t1 as well,
- the k rows lie on one side: of their squared offsets along t1, from the mean of the others, most
  is common to them. Extreme rows of a scale that varies lie on both,
- what is left has no long tail along t1: its skewness is less than 3; exponential rows have 2.

Lengths are those of t1 and t2 without what chance adds to their squares. If a class of good rows
lies outermost, it fulfils all of this: which of two classes is bad nobody can see. In one column a
tail may end within the k rows as well, so there only the rows of the search leave.

Each fraction is the dual of the paper's problem: the kept rows have a sigma, and the certificate
bounds from below how many rows have to go for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array
from inlier._internal.validation import check_number, fit_generator
from inlier.data import Frame
from inlier.given.trimming import Trimming
from inlier.l0.surrogates import dual_in
from inlier.linalg.eigenpairs import Oracle
from inlier.results.certificate import most_rows
from inlier.results.choosing import chosen, without_kept
from inlier.verdict import Finding, Kind, Outcome

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# Of a tail, the outer rows move the mean at most this many times as far as the next ones.
TAIL = 3.0
# In standard errors: the columns in which the mean moves by less are chance.
NOTABLE = 2.0
# All rows that may be bad leave, or a number that is halved at most this often.
HALVINGS = 2
# Where a part of some rows lies far out together, and the others about the mean, the common offset
# has that part of their squares. With less than a half, half as many rows would do.
ONE_SIDE = 0.55
# Exponential rows have 2. A few bad ones that stay raise it.
SKEWNESS = 3.0


def check_contamination(value: Any) -> float | None:
    """Return the fraction of bad rows; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    hint = " Leave it out if no fraction is known."
    return check_number(value, "contamination", below=0.5, hint=hint)


def most_bad(fraction: float, n: int) -> int:
    """Return how many of n rows may be bad."""
    return int(fraction * n * (1.0 + 1e-12))


def with_contamination(result: RobustMeanResult, fraction: float) -> RobustMeanResult:
    """Return the answer if at most a fraction of the rows is bad, without a new fit.

    Some twenty passes.
    """
    trimming = Trimming.of(result, never=result._trusted)
    k = most_bad(fraction, trimming.table.shape[0])
    j = leaving(trimming, [k])[0]
    findings = [*result._outcome.having(Kind.TRUSTED), *compared(fraction, trimming.n_found, k)]
    if j < k:
        enough = 2 * trimming.n_found >= k
        findings.append(Finding(Kind.ENOUGH_FOUND if enough else Kind.TAIL_LEFT, k))
    return answer(trimming, j, findings)


def compared(fraction: float, n_found: int, k: int) -> list[Finding]:
    """Return what to say of a fraction, by which k rows may be bad, beside the rows found."""
    findings = [Finding(Kind.AT_MOST, value=100.0 * fraction)]
    return [*findings, Finding(Kind.MORE_FOUND, n_found)] if n_found > k else findings


def within_contamination(result: RobustMeanResult, fraction: float) -> RobustMeanResult:
    """Compare the answer for a given sigma with a given fraction."""
    certificate = result.certificate
    n, least = certificate.n, certificate.l0_lower_bound
    k = most_bad(fraction, n)
    if least > k:
        raise ValueError(
            f"sigma={result.sigma:g} and contamination={fraction:g} contradict each other: for the "
            f"others to vary by no more than sigma, at least {least} of {n} rows have to go, and "
            f"at most {k} are bad. Raise one of them, or leave one out."
        )
    findings = compared(fraction, certificate.n_removed, k)
    return replace(result, _outcome=result._outcome.with_findings(*findings))


def leaving(trimming: Trimming, allowed: Sequence[int]) -> list[int]:
    """Return how many rows leave, in their order, if these numbers may be bad; some passes."""
    found = trimming.n_found
    # As many rows further in show the tail, unless they would reach into the middle.
    middle = found + 3 * len(trimming.others) // 4
    first = 2 * found if trimming.table.shape[1] > 1 else middle
    halves = {k: [found + (k - found >> i) for i in range(HALVINGS + 1)] for k in allowed}
    windows = {
        j: min(2 * j - found, middle) for js in halves.values() for j in js if first < j < middle
    }
    apart = _apart(trimming, windows) if windows else set()
    most = {k: max(apart.intersection(js), default=None) for k, js in halves.items()}
    return [min(k, found) if (j := most[k]) is None else trimming.untied(j) for k in allowed]


def _apart(trimming: Trimming, windows: dict[int, int]) -> set[int]:
    """Return those numbers of rows that are no tail, by as many rows further in; four passes."""
    found = trimming.n_found
    ends = np.unique([found, *windows.keys(), *windows.values()])
    left, place = trimming.left(ends), {j: i for i, j in enumerate(ends.tolist())}
    squared_error = left.squared_error(0)
    sharp = []
    for j, inner in windows.items():
        outer, chance = left.shift(0, place[j])
        further, further_chance = left.shift(place[j], place[inner])
        beyond = ((j - found) / (inner - j)) ** 2 * (further - further_chance)
        if (
            outer > squared_error
            and beyond < NOTABLE**2 * squared_error
            and outer - chance > TAIL**2 * beyond
        ):
            sharp.append(j)
    if not sharp:
        return set()
    shifts = left.means[0] - left.means[[place[j] for j in sharp]]
    along = trimming.along(shifts / np.linalg.norm(shifts, axis=1, keepdims=True))
    return {
        j for j, x in zip(sharp, along, strict=True) if _on_one_side(x, trimming.rows[:j], found)
    }


def _on_one_side(along: Array, trimmed: Array, found: int) -> bool:
    """Whether rows that are trimmed after the first lie on one side of others without a tail."""
    kept = np.delete(along, trimmed)
    out, kept = along[trimmed[found:]] - kept.mean(), kept - kept.mean()
    deviation = float(kept.std()) or 1.0
    return bool(
        out.mean() ** 2 > ONE_SIDE * np.mean(out**2)
        and abs(np.mean((kept / deviation) ** 3)) < SKEWNESS
    )


def answer(trimming: Trimming, j: int, findings: Sequence[Finding]) -> RobustMeanResult:
    """Return the answer without the first j rows of the order, and what to say of it."""
    result, support = trimming.result, trimming.kept(j)
    # A group of trimmed rows ends where a cut is given, so that nothing about it is in doubt.
    outcome = Outcome(findings=tuple(findings))
    if not result._verdict.given and np.array_equal(support, on_host(result.support)):
        return _with_dual(replace(result, _outcome=outcome))
    group = trimming.group(j)
    groups = (*without_kept(result.groups, support), *(() if group is None else (group,)))
    return _with_dual(replace(chosen(result, support, groups), _outcome=outcome))


def _with_dual(result: RobustMeanResult) -> RobustMeanResult:
    """Bound how many rows have to go for the sigma of the kept ones; two passes."""
    certificate, metric = result.certificate, result._rule.metric
    budget = certificate.budget
    if not result.groups or not 0.0 < budget < np.inf:
        return result
    data = result._known_data()
    table = data if metric is None else data.in_metric(metric)
    mean = certificate.mean if metric is None else metric.transform(certificate.mean[None])[0]
    directions = np.stack([group.direction for group in result.groups])
    if metric is not None:
        directions = directions @ metric.matrix
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    frame = Frame.of(table, table.constant(1.0) > 0.0, mean, rotates=False, metric=metric)
    oracle = Oracle(table, fit_generator(0))
    multiplier = dual_in(oracle, directions, mean, budget)[0].in_data(frame)
    most_kept = most_rows(multiplier, data, certificate.mean, budget)
    return replace(
        result, certificate=replace(certificate, multiplier=multiplier, most_kept=most_kept)
    )
