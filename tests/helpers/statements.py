"""Every statement of a result against dense numpy in double precision.

A check yields what is false, as `Lie`s. Tolerances are those of rounding: of the products in the
precision of the data, which see the spread of the kept rows, and of the place where these lie, in
double precision. What was removed has no part in them.
"""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from inlier.data import Fences, ManyCells, as_table
from inlier.data.passes import BlockTable
from inlier.results.choosing import OVER
from inlier.verdict import GroupRule

Array = Any
DOUBLE = float(np.finfo(np.float64).eps)
# Up to so many rows all subsets are tried.
BRUTE = 12
# Of the digits of double precision no more than half may be lost, whatever rows there were.
CLOSE = float(np.sqrt(DOUBLE))
# How closely the budget has to be kept to be called kept.
KEPT = 1e-6


class Lie(NamedTuple):
    """A statement that is false."""

    kind: str
    what: str


Lies = Iterator[Lie]


def host(x: Any) -> Array:
    """On the host, as numpy."""
    return x.numpy() if hasattr(x, "numpy") else np.asarray(x)


@dataclass(frozen=True)
class Moments:
    """Of some rows about their mean."""

    mean: Array
    top: float
    vector: Array
    rounding: float
    """Of the largest eigenvalue, in the precision of the data."""
    off: float
    """Of the mean, as a length."""


class Dense:
    """A table in double precision, in the coordinates of a fit, and what is true of its subsets.

    The cells that a certificate set aside are medians in X, and NaN in `observed`.
    """

    def __init__(
        self,
        X: Array,
        eps: float,
        metric: Any = None,
        origin: Any = None,
        certificate: Any = None,
    ) -> None:
        self.given = self.observed = X
        self.cells, self.fill = np.empty((0, 2), np.intp), None
        if certificate is not None and len(certificate.cells):
            self.cells, self.fill = certificate.cells, certificate.gaps.fill
            self.observed, X = self.set_aside(X, np.nan), self.set_aside(X, self.fill)
        self.X, self.eps, self.metric = X, eps, metric
        self.Z = self.seen(X)
        self.n, self.d = X.shape
        # From where the rows are seen: where the fit ended, if another answer was chosen.
        self.chosen = origin is not None
        self.origin = self.seen(np.median(X, axis=0) if origin is None else origin)
        with np.errstate(over="ignore"):
            self.farthest = np.abs(self.Z - self.origin).max()
        self._known: dict[bytes, Moments] = {}

    def set_aside(self, X: Any, fill: Any) -> Any:
        """A copy with other values in the cells that were set aside; X itself if there are none."""
        if len(self.cells):
            X, (rows, columns) = np.asarray(X).astype(np.float64), self.cells.T
            X[rows, columns] = np.broadcast_to(fill, X.shape[1])[columns]
        return X

    def seen(self, points: Array) -> Array:
        """Points in the coordinates of the fit, in which distances are measured."""
        if self.metric is None:
            return points
        return (points - self.metric.origin) / self.metric.factor

    def place(self, points: Array) -> float:
        """How far rounding moves points, in every column, because of where they lie."""
        where = DOUBLE * np.abs(self.unscaled(points)).max(initial=0.0)
        if self.metric is not None:  # a copy in other coordinates has the precision of the data
            where += self.eps * np.abs(self.seen(points)).max(initial=0.0)
        return 8.0 * where

    def in_units_of_the_data(self) -> "Dense":
        """The same table without a metric."""
        if self.metric is None:
            return self
        return Dense(self.X, self.eps, origin=self.metric.restored(self.origin[None])[0])

    def unscaled(self, points: Array) -> Array:
        """In the units of the fit, but not from its origin."""
        return points if self.metric is None else points / self.metric.factor

    def carried(self, spread: float) -> float:
        """How far rounding moves a mean, in every column, as distant rows come and go.

        Of the digits of the spread of the kept rows no more than half may be lost.
        """
        off = 16.0 * self.eps * self.farthest
        return min(off, np.sqrt(self.eps) * spread) if spread > 0.0 else off

    def moments(self, kept: Array) -> Moments:
        """Of the rows that a mask marks."""
        key = np.packbits(kept).tobytes()
        if key not in self._known:
            self._known[key] = self._moments(kept)
        return self._known[key]

    def _moments(self, kept: Array) -> Moments:
        rows = self.Z[kept]
        m, d = rows.shape
        mean, A = centered(rows)
        spread = np.abs(A).max(initial=0.0)  # no float of Python: its square may be infinite
        size = spread or np.float64(1.0)
        values, vectors = np.linalg.eigh(gram(A / size))
        top = max(0.0, float(values[-1] * size**2))
        vector = vectors[:, -1] if d <= m else vectors[:, -1] @ A / size
        vector = vector / max(float(np.linalg.norm(vector)), 1e-300)
        place = self.place(self.X[kept]) * float(np.sqrt(d))
        carried = self.carried(spread) * float(np.sqrt(d))
        trace = np.sum((A / size) ** 2) * size**2
        products = 8.0 * self.eps * np.sqrt(max(m, d)) * trace + CLOSE * top
        rounding = products + 2.0 * np.sqrt(top * m) * place + m * (place**2 + carried**2)
        off = 2.0 * self.eps * float(np.linalg.norm(self.unscaled(self.X[kept].mean(axis=0))))
        off += place + 8.0 * self.eps * spread * np.sqrt(d) + (carried if self.chosen else 0.0)
        return Moments(mean, top, vector, float(rounding), float(off))


def centered(rows: Array) -> tuple[Array, Array]:
    """The mean, to the last bit, and the rows about it."""
    mean = rows.mean(axis=0)
    A = rows - mean
    rest = A.mean(axis=0)
    return mean + rest, A - rest


def gram(A: Array) -> Array:
    """The smaller of A^T A and A A^T: both have the same largest eigenvalue."""
    return A.T @ A if A.shape[1] <= A.shape[0] else A @ A.T


def largest_eigenvalue(A: Array) -> float:
    size = np.abs(A).max(initial=0.0) or np.float64(1.0)
    return max(0.0, float(np.linalg.eigvalsh(gram(A / size))[-1]) * size**2)


class Told(NamedTuple):
    """A result, and how it came about."""

    result: Any
    dense: Dense
    fitted: bool = True
    """By a fit, and not by choice."""
    bound: bool = False
    """Whether its largest eigenvalue is only said to be a bound."""
    partition: bool = True
    """Whether the groups are all the rows that left."""
    good: Array | None = None
    """The rows that are good."""
    as_published: bool = False
    """By re-weighted l1 as published, whose verdict is none of the score alone."""

    @property
    def kept(self) -> Array:
        return host(self.result.support)

    @property
    def n_kept(self) -> int:
        return int(self.kept.sum())

    @property
    def known(self) -> bool:
        """Whether anything is said about the kept rows."""
        return bool(self.kept.any()) and bool(np.isfinite(self.result.certificate.lambda_max))


def lies(told: Told, rng: np.random.Generator, radii: bool = True) -> Lies:
    """All that is false in a result; if not `radii`, no other sets of good rows are tried."""
    checks = [numbers, verdict, medians, location, eigenvalue, sigma, feasible, bound_on_rows]
    checks += [scores, groups, message, errors]
    with np.errstate(all="ignore"):
        for check in checks:
            yield from check(told)
        if radii:
            yield from radius(told, rng)
        yield from explanations(told, rng)


def check(X: Array, result: Any, but: str = "", before: Any = None, **how: bool) -> None:
    """Raise unless all that a result says about a dense table is true, but for one kind of lie.

    If it was chosen without a fit, `before` is the result that it was chosen from. The certificate
    is left to `fits.fitted`: it is refused where rounding decides the mean.
    """
    X = np.asarray(X).astype(np.float64)
    eps = float(np.finfo(host(result.location).dtype).eps)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        known = (result.details.rule.metric, None if before is None else before.location)
        dense = Dense(X, eps, *known, certificate=result.certificate)
        told = Told(result, dense, fitted=before is None, **how)
        found = list(lies(told, np.random.default_rng(0), radii=not told.fitted))
        if told.fitted:
            found += prediction(told, rule_says(told, X))
    assert not [lie for lie in found if lie.kind != but], found


# -- numbers and masks ----------------------------------------------------------------------------


def numbers(told: Told) -> Lies:
    """None is NaN."""
    for name, value in named_numbers(told.result):
        if np.isnan(value).any():
            yield Lie("NaN", f"{name} is NaN")


def named_numbers(result: Any) -> Iterator[tuple[str, Array]]:
    details = result.details
    parts = [("", result), ("details.", details), ("rule.", details.rule)]
    parts += [("certificate.", result.certificate)]
    parts += [(f"groups[{i}].", group) for i, group in enumerate(result.groups)]
    for prefix, part in parts:
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, (float, int, np.ndarray)) or hasattr(value, "numpy"):
                yield prefix + field.name, np.asarray(host(value), dtype=np.float64)
    yield "scores", np.asarray(host(result.scores), dtype=np.float64)


def verdict(told: Told) -> Lies:
    """Masks, weights and counts tell of the same rows."""
    result, n, kept = told.result, told.dense.n, told.kept
    certificate = result.certificate
    if kept.shape != (n,) or kept.dtype != np.bool_:
        yield Lie("support", f"shape {kept.shape}, dtype {kept.dtype}")
        return
    if (certificate.n, certificate.n_removed) != (n, n - told.n_kept):
        yield Lie("counts", f"certificate: {certificate.n_removed} of {certificate.n} removed, "
                            f"support: {n - told.n_kept} of {n}")  # fmt: skip
    h, w = host(result.details.indicator), host(result.details.weights)
    if not np.array_equal(h == 0.0, kept) or h.min() < 0.0 or h.max() > 1.0:
        yield Lie("indicator", "it is not 0 for the kept rows and in (0, 1] for the others")
    if kept.any() and not np.array_equal(w, kept):
        yield Lie("weights", "they are not 1 for the kept rows and 0 for the others")
    if w.min() < 0.0 or w.max() > 1.0:
        yield Lie("weights", f"from {w.min()} to {w.max()}")
    if not np.array_equal(host(result.outliers), np.flatnonzero(~kept)):
        yield Lie("outliers", "they are not the rows outside of support")


def medians(told: Told) -> Lies:
    """What stands for a cell that was set aside is the median of the others of its column."""
    dense = told.dense
    for j in np.unique(dense.cells[:, 1]):
        true = float(np.nanmedian(dense.observed[:, j]))
        if not same(dense.fill[j], true, 2.0 * dense.eps * abs(true)):
            yield Lie("fill", f"column {j}: {dense.fill[j]!r}, but the median is {true!r}")


def location(told: Told) -> Lies:
    """It is the mean of the kept rows; where there are none, with the weights."""
    result, dense = told.result, told.dense
    found = host(result.location).astype(np.float64)
    w = host(result.details.weights).astype(np.float64)
    if not w.any():
        return
    rows, own = dense.X[w > 0.0], w[w > 0.0]
    mass = own @ ~np.isnan(dense.observed[w > 0.0])
    drift = own @ np.nan_to_num(dense.observed[w > 0.0] - rows[0])
    expected = rows[0] + drift / np.where(mass > 0.0, mass, 1.0)  # else rows[0] has the median
    spread = float(np.abs(rows - expected).max())
    limit = dense.eps * (np.abs(expected) + 16.0 * spread)
    limit = limit + 64.0 * DOUBLE * float(np.abs(rows).max())
    if dense.chosen or spread == 0.0:
        limit = limit + dense.in_units_of_the_data().carried(spread)
    off = np.abs(found - expected)
    if not (off <= limit).all():
        j = int(np.argmax(off / np.maximum(limit, 1e-300)))
        yield Lie("location", f"column {j}: {found[j]!r}, but the mean is {expected[j]!r}, off by "
                              f"{off[j]:.3g}, rounding is {limit[j]:.3g}")  # fmt: skip


def errors(told: Told) -> Lies:
    """Standard errors are those of the kept rows, and the location is in its interval."""
    result, dense = told.result, told.dense
    if told.n_kept < 2:
        return
    found = host(result.standard_error).astype(np.float64)
    low, high = (host(end) for end in result.confidence_interval())
    where = host(result.location).astype(np.float64)
    rows = dense.X[told.kept]
    outside = np.maximum(low - where, where - high)
    rounding = 64.0 * DOUBLE * np.abs(rows).max(axis=0)
    if not (outside <= rounding).all():
        j = int(np.argmax(outside - rounding))
        yield Lie("interval", f"column {j}: {where[j]!r} is {outside[j]:.3g} outside of it")
    with np.errstate(over="ignore", invalid="ignore"):
        _, A = centered(rows)
        size = np.abs(A).max(axis=0)
        unit = np.where(size > 0.0, size, 1.0)  # squares may underflow
        expected = unit * np.sqrt(np.square(A / unit).sum(axis=0) / (len(rows) - 1) / len(rows))
        for j in np.unique(dense.cells[:, 1]):
            seen = dense.observed[told.kept, j]
            there = seen[~np.isnan(seen), None]
            m = len(there)
            # Of fewer than two there is none.
            about = np.square(centered(there)[1]).sum() if m > 1 else np.inf
            expected[j] = np.sqrt(about / max(1, m - 1) / max(1, m))
            if np.isinf(found[j]) != (m < 2):
                yield Lie("standard error", f"column {j}: {found[j]!r} of {m} cells")
        limit = 1e-7 * expected + rounding
        off = np.abs(found - expected)
    if (np.isfinite(expected) & ~(off <= limit)).any():
        j = int(np.argmax(np.where(np.isfinite(expected), off - limit, -np.inf)))
        yield Lie("standard error", f"column {j}: {found[j]!r}, not {expected[j]!r}")


# -- the spectrum ---------------------------------------------------------------------------------


def stated_interval(certificate: Any) -> tuple[float, float]:
    """Where the largest eigenvalue is said to lie: by a residual, or by an upper bound."""
    value = certificate.lambda_max
    if hasattr(certificate, "bound"):
        return value, certificate.bound
    return value - certificate.residual, value + certificate.residual


def eigenvalue(told: Told) -> Lies:
    """lambda_max, as closely as it is said to be known."""
    if not told.known:
        return
    true = told.dense.moments(told.kept)
    low, high = stated_interval(told.result.certificate)
    if not low <= high:
        yield Lie("lambda_max", f"it is said to lie between {low!r} and {high!r}")
    if true.top > high + true.rounding:
        yield Lie("lambda_max too small", compared(high, true))
    if not told.bound and true.top < low - true.rounding:
        yield Lie("lambda_max too large", compared(low, true))


def compared(stated: float, true: Moments) -> str:
    off = stated / true.top - 1.0 if true.top > 0.0 else np.inf
    return (
        f"stated {stated:.9g}, true {true.top:.9g}, {off:+.2e} of it, rounding {true.rounding:.3g}"
    )


def sigma(told: Told) -> Lies:
    """sigma_kept and, where it was chosen by what is kept, sigma."""
    result, certificate = told.result, told.result.certificate
    if not told.known:
        return
    true, m = told.dense.moments(told.kept), told.n_kept
    low, high = stated_interval(certificate)
    stated = {"sigma_kept": certificate.sigma_kept}
    if result._outcome.searched or not told.fitted:
        stated["sigma"] = result.sigma
    if result._outcome.searched and told.fitted:
        n, budget = certificate.n, certificate.budget
        for square, due in ((m * result.sigma**2, high), (budget, n * result.sigma**2)):
            if not same(square, due, 1e-9 * due + true.rounding * n / m + 1e-290):
                yield Lie("sigma", f"it stands for {square!r} and not for {due!r}")
    for name, value in stated.items():
        square = m * value**2
        if true.top > square + (high - low) + true.rounding:
            yield Lie(f"{name} too small", compared(square, true))
        if not low * (1.0 - CLOSE) <= square <= high * (1.0 + CLOSE) + true.rounding:
            yield Lie(name, f"{m} times its square is {square:.9g}, lambda_max {low:.9g} to "
                            f"{high:.9g}")  # fmt: skip
    if result.details.budget != certificate.budget:
        yield Lie("budget", f"result {result.details.budget!r}, certificate {certificate.budget!r}")


def feasible(told: Told) -> Lies:
    """Rows that are said to stay within the budget do."""
    certificate = told.result.certificate
    if not told.known or not np.isfinite(certificate.budget):
        return
    true = told.dense.moments(told.kept)
    limit = certificate.budget * (1.0 + KEPT) + true.rounding
    if certificate.feasible and true.top > limit:
        over = true.top / certificate.budget - 1.0
        yield Lie("feasible", f"true lambda_max exceeds the budget by {over:.2e} of it")
    undecided = not certificate.exceeded and "is not decided" in told.result.message
    if told.fitted and told.result.converged and not (certificate.feasible or undecided):
        yield Lie("converged", "but not feasible")


# -- how many rows had to be removed --------------------------------------------------------------


def bound_on_rows(told: Told) -> Lies:
    """most_kept and the l0 bound: no set within the budget about this mean is larger."""
    certificate, n = told.result.certificate, told.dense.n
    budget, bound = certificate.budget, certificate.most_kept
    if not np.isfinite(budget) or budget <= 0.0:
        return
    center = told.dense.seen(host(told.result.location).astype(np.float64))
    if told.kept.any():
        center = told.dense.moments(told.kept).mean
    A = told.dense.Z - center
    least = certificate.l0_lower_bound
    if certificate.feasible and told.n_kept > min(n - least, bound + 1e-6 * n):
        yield Lie("most_kept", f"{told.n_kept} rows are kept, but {bound!r}, {n} - {least} at most")
    # Within the budget whatever rounding does.
    safe = budget * (1.0 - KEPT - 64.0 * told.dense.eps * np.sqrt(told.dense.d))
    if told.kept.any():
        safe -= told.dense.moments(told.kept).rounding
    if safe <= 0.0:
        return
    size, how = larger_set(A, safe, n - least, told)
    if size > n - least:
        yield Lie("l0_lower_bound", f"{least} of {n} had to go, but {size} can stay ({how})")
    weight = largest_weight(A, safe)
    if max(weight, size) > bound + 1e-6 * n:
        yield Lie("most_kept", f"{bound:.9g} of {n}, but {max(weight, size):.9g} fit in")
    if certificate.gap != bound - told.n_kept:
        yield Lie("gap", f"{certificate.gap} is not {bound} - {told.n_kept}")


def larger_set(A: Array, budget: float, size: int, told: Told) -> tuple[int, str]:
    """The size of a set within the budget, larger than the given size if one was found."""
    n = len(A)
    if told.known and largest_eigenvalue(A[told.kept]) <= budget and told.n_kept > size:
        return told.n_kept, "the kept rows"
    if size >= n:
        return 0, ""
    if n <= BRUTE and one_fits(A, budget, size + 1):
        return size + 1, "brute force"
    if min(A.shape) <= 64:
        return nearest_that_fit(A, budget), "the nearest rows"
    return 0, ""


def one_fits(A: Array, budget: float, size: int) -> bool:
    """Whether a set of this many rows is within the budget: all of them are tried."""
    unit = float(np.sqrt(budget)) or 1.0
    with np.errstate(over="ignore"):
        products = np.clip(A / unit, -1e100, 1e100) @ np.clip(A / unit, -1e100, 1e100).T
    sets = np.array(list(combinations(range(len(A)), size)))
    chosen = products[sets[:, :, None], sets[:, None, :]]
    return bool((np.linalg.eigvalsh(chosen)[:, -1] <= 1.0).any())


def nearest_that_fit(A: Array, budget: float) -> int:
    """How many of the nearest rows are within the budget, by bisection."""
    order = np.argsort(np.linalg.norm(A, axis=1))
    low, high = 0, len(A)
    while low < high:
        middle = (low + high + 1) // 2
        fits = largest_eigenvalue(A[order[:middle]]) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def largest_weight(A: Array, budget: float) -> float:
    """The sum of equal weights for all rows that is within the budget."""
    top = largest_eigenvalue(A)
    return len(A) * min(1.0, budget / top) if top > 0.0 else float(len(A))


# -- how far the mean can be off ------------------------------------------------------------------


def radius_of(s: float, m: int, n: int, k: float, sigma: float) -> float:
    """The sharp bound: m rows with deviation s were kept, all but k are good, with deviation sigma.

    Written down once more, from the theorem.
    """
    if m <= k:
        return np.inf
    return float((s * np.sqrt(k) + sigma * np.sqrt(n - m)) / np.sqrt(m - k))


def radius(told: Told, rng: np.random.Generator) -> Lies:
    """No set of good rows has its mean farther away than is said."""
    if not told.known:
        return
    certificate, dense = told.result.certificate, told.dense
    here = dense.moments(told.kept)
    location = certificate.mean if len(dense.cells) else host(told.result.location)
    found = dense.seen(location.astype(np.float64))
    m, n = told.n_kept, dense.n
    for name, good in good_sets(told, rng):
        true = dense.moments(good)
        k = n - int(good.sum())
        spread = float(np.sqrt(true.top / good.sum()))
        if not np.isfinite(spread):
            continue
        stated = float(certificate.error_radius(k / n, spread))
        away = float(np.linalg.norm(found - true.mean))
        allowed = stated * (1.0 + 1e-6) + true.off + here.off
        if k < m:
            allowed += np.sqrt(k / (m - k)) * less(certificate.sigma_kept, here.rounding / m)
        if away > allowed:
            yield Lie("error_radius", f"{stated:.6g}, but the mean of {name} ({n - k} of {n} "
                                      f"rows) is {away:.6g} away")  # fmt: skip


def less(s: float, rounding: float) -> float:
    """What rounding of its square takes off a standard deviation."""
    return float(np.sqrt(s * s + rounding) - s)


def good_sets(told: Told, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    """The truth, and what could be: the theorem is about every pair of sets."""
    if told.good is not None:
        yield "the good rows", told.good
    kept, m = told.kept, told.n_kept
    some = rng.random(told.dense.n) < rng.uniform(0.5, 1.0)
    if some.any():
        yield "rows at random", some
    if m >= 3:
        top = told.dense.moments(kept)
        seen = np.where(kept, (told.dense.Z - top.mean) @ top.vector, -np.inf)
        worst = np.argsort(-seen)[: int(rng.integers(1, (m + 1) // 2))]
        others = kept.copy()
        others[worst] = False
        yield "the kept rows but some on one side", others


# -- scores ---------------------------------------------------------------------------------------


def scores(told: Told) -> Lies:
    """They fit the verdict and, after a fit, are those of the rule."""
    result, kept = told.result, told.kept
    stated, threshold = host(result.scores), result.details.rule.threshold
    wrong = np.flatnonzero((stated <= threshold) != kept)
    if len(wrong) > (fewest_wrong(stated, kept) if told.as_published else 0):
        i = int(wrong[0])
        yield Lie("scores", f"{len(wrong)} on the wrong side of {threshold!r}, such as row {i}: "
                            f"{stated[i]!r}, kept: {kept[i]}")  # fmt: skip
    if not told.fitted:
        return
    expected, rounding = rule_scores(told.dense, result.details.rule)
    with np.errstate(invalid="ignore"):
        off = np.where(stated == expected, 0.0, np.abs(stated - expected))
    # A fit in single precision has carried its projections from basis to basis.
    carried = 4.0 if told.dense.eps > DOUBLE else 1.0
    wrong = np.flatnonzero(off > carried * rounding)
    if len(wrong):
        i = int(wrong[np.argmax(off[wrong])])
        yield Lie("scores of the rule", f"{len(wrong)}, such as row {i}: {stated[i]!r}, but its "
                                        f"rule says {expected[i]!r}, rounding is "
                                        f"{rounding[i]:.3g}")  # fmt: skip


def fewest_wrong(scores: Array, kept: Array) -> int:
    """How many rows any threshold that keeps one leaves on the wrong side, at least."""
    return min(int(np.sum((scores <= cut) != kept)) for cut in np.unique(scores))


def rule_scores(dense: Dense, rule: Any) -> tuple[Array, Array]:
    """The score of each row, from what the rule says of itself, and the rounding of each."""
    with np.errstate(all="ignore"):
        if isinstance(rule, GroupRule):
            q, rounding = np.zeros(dense.n), np.zeros(dense.n)
            for group in rule.groups:  # the first beyond whose cut a row lies decides
                own, off = group_scores(dense, group)
                decided = q > 1.0
                rounding = np.where(decided, rounding, np.maximum(rounding, off))
                q = np.where(decided, q, np.maximum(q, own))
            return q, rounding + CLOSE * q + dense.eps * max(1.0, rule.threshold)
        q, rounding = multiplier_scores(dense, rule)
        rounding = rounding + CLOSE * q + dense.eps * max(1.0, abs(rule.threshold))
        if np.isfinite(rule.radius):
            far = squares(dense, rule.start) > np.square(rule.radius)
            q = np.where(far, np.inf, q)
        return q, rounding


def multiplier_scores(dense: Dense, rule: Any) -> tuple[Array, Array]:
    if rule.directions is None:
        q, away = squares(dense, rule.center), off_center(dense, rule.center, True)
        distance = np.sqrt(q)
        if rule.budget == 0.0:
            return np.where(q > 0.0, np.inf, 0.0), np.full(dense.n, np.inf)
        return q / rule.budget, (2.0 * distance * away + away**2) / rule.budget
    P = (dense.X - rule.center) @ rule.directions.T
    lengths = np.linalg.norm(rule.directions, axis=1)
    away = off_center(dense, rule.center)[:, None] * lengths
    prices = rule.prices / rule.budget
    return P**2 @ prices, (2.0 * np.abs(P) * away + away**2) @ prices


def group_scores(dense: Dense, group: Any) -> tuple[Array, Array]:
    if group.measure is not None:
        return measured(dense, group.measure, group.cut)
    if group.by_distance:
        size = np.sqrt(squares(dense, group.center))
        away = off_center(dense, group.center, True)
    else:
        direction = group.place.directions[0]  # in the units of the cut
        seen = (dense.X - group.center) @ direction
        size = np.abs(seen) if group.side == 0 else np.maximum(group.side * seen, 0.0)
        away = off_center(dense, group.center) * np.linalg.norm(direction)
    return (size / group.cut) ** 2, (2.0 * size * away + away**2) / np.square(group.cut)


def measured(dense: Dense, measure: Any, cut: float) -> tuple[Array, Array]:
    """The scores of rows by their own cells, written down once more."""
    off = dense.Z - measure.center
    if isinstance(measure, ManyCells):
        sizes = ((off > measure.above) | (-off > measure.below)).sum(axis=1) / (measure.least - 0.5)
        away = np.zeros(len(off))
    elif isinstance(measure, Fences):
        sizes = np.maximum(np.maximum(off / measure.above, -off / measure.below), 0.0).max(axis=1)
        away = off_center(dense, measure.center, True)
        narrowest = np.minimum(measure.above, measure.below).min()
        away = away / narrowest
    else:
        side = np.where(off > 0.0, 0, 1)
        columns = np.arange(off.shape[1])
        ratio = np.minimum(np.abs(off) / measure.unit[side, columns], 1e15)
        T = 0.6744897501960817 * np.sign(off) * ratio ** measure.power[side, columns]
        if measure.whitener is not None:
            T = T @ measure.whitener.T
        sizes = np.linalg.norm(T, axis=1)
        away = 1e-4 * (1.0 + sizes)  # in single precision
    return (sizes / cut) ** 2, (2.0 * sizes * away + away**2) / np.square(cut)


def squares(dense: Dense, center: Array) -> Array:
    return np.sum((dense.Z - dense.seen(center)) ** 2, axis=1)


def off_center(dense: Dense, center: Array, as_fitted: bool = False) -> Array:
    """How far rounding moves each row, seen from a center, in the data's units or the fit's."""
    rows, there, X, c = dense.X, center, dense.X, center
    if as_fitted:
        rows, there = dense.Z, dense.seen(center)
        X, c = dense.unscaled(X), dense.unscaled(c)
    place = DOUBLE * (np.abs(X).max(axis=1) + np.abs(c).max())
    away = np.linalg.norm(rows - there, axis=1)
    # Single-precision rows are multiplied where they lie, unless that is far from the origin.
    away = np.maximum(away, min(float(np.linalg.norm(c)), BlockTable.near * float(np.median(away))))
    if dense.metric is not None:
        away = away + np.abs(rows).max(axis=1)
    return 16.0 * np.sqrt(dense.d) * (dense.eps * away + place)


def prediction(told: Told, found: Array) -> Lies:
    """The rule says of the rows of the fit what the fit said."""
    wrong = np.flatnonzero(found != told.kept)
    if len(wrong) <= (
        fewest_wrong(host(told.result.scores), told.kept) if told.as_published else 0
    ):
        return
    rule = told.result.details.rule
    q, rounding = rule_scores(told.dense, rule)
    clear = [i for i in wrong if not abs(q[i] - rule.threshold) <= rounding[i]]
    i = int((clear or wrong)[0])
    kind = "predict" if clear else "predict, by rounding"
    yield Lie(kind, f"{len(wrong)} rows not as in support, such as row {i}: kept {told.kept[i]}, "
                    f"score {host(told.result.scores)[i]!r}, rule {q[i]!r}, threshold "
                    f"{rule.threshold!r}")  # fmt: skip


def explanations(told: Told, rng: np.random.Generator) -> Lies:
    """The parts of a score add up to it: for a row that was kept and one that was not."""
    if told.result._data is None:
        return
    for rows in (np.flatnonzero(told.kept), np.flatnonzero(~told.kept)):
        if len(rows):
            yield from explanation(told, int(rng.choice(rows)))


def explanation(told: Told, i: int) -> Lies:
    with np.errstate(over="warn", invalid="warn", divide="warn"):
        why, result = told.result.explain(i), told.result
    stated = float(host(result.scores)[i])
    parts = np.asarray(why.contributions, dtype=np.float64)
    rounding = 8.0 * DOUBLE * np.sqrt(len(parts)) * float(np.abs(parts).sum())
    by_direction = sum(part.contribution for part in why.directions)
    _, of_rule = rule_scores(told.dense, result.details.rule)
    limit = rounding + float(of_rule[i])
    if np.isnan(parts).any() or np.isnan(why.score):
        yield Lie("explain: NaN", f"row {i}: score {why.score}")
        return
    if why.removed == bool(told.kept[i]):
        yield Lie("explain: removed", f"row {i}: {why.removed}")
    if not np.array_equal(why.values, told.dense.given[i]):
        yield Lie("explain: values", f"row {i} is not that of the data")
    if not same(parts.sum(), why.score, rounding):
        yield Lie("explain: features", f"row {i}: they add up to {parts.sum()!r}, but the score is "
                                       f"{why.score!r}")  # fmt: skip
    if not same(by_direction, why.score, limit):
        yield Lie("explain: directions", f"row {i}: they add up to {by_direction!r}, but the score "
                                         f"is {why.score!r}")  # fmt: skip
    moved = not told.fitted and stated in (1.0, OVER)
    if not moved and not why.pruned and not same(stated, why.score, limit):
        yield Lie("explain: score", f"row {i}: {why.score!r}, but scores has {stated!r}, rounding "
                                    f"is {limit:.3g}")  # fmt: skip
    if re.search(r"\bnan\b", str(why), re.IGNORECASE):
        yield Lie("explain: NaN", str(why))


def same(a: float, b: float, slack: float) -> bool:
    return a == b or bool(abs(a - b) <= slack)


# -- groups and words -----------------------------------------------------------------------------


def groups(told: Told) -> Lies:
    """They are the rows that left, each once."""
    result, dense = told.result, told.dense
    left = np.concatenate([host(g.rows) for g in result.groups] or [np.empty(0, int)])
    gone = np.flatnonzero(~told.kept)
    if len(np.unique(left)) != len(left) or not np.isin(left, gone).all():
        yield Lie("groups", "a row is in two of them, or was kept")
    elif (result.groups or result._outcome.searched) and told.partition and len(left) != len(gone):
        yield Lie("groups", f"{len(left)} rows in them, but {len(gone)} left")
    for i, group in enumerate(result.groups):
        # A chance is stated only where it does not depend on how tails fall.
        stated = group.kind not in ("cells", "length", "clear", "chain") and group.log_p <= np.log(
            0.05
        )
        p_value = np.exp(group.log_p) if stated else np.nan
        if not np.array_equal(group.p_value, p_value, equal_nan=True) or not group.log_p <= 0.0:
            yield Lie("p_value", f"groups[{i}]: {group.p_value!r}, log {group.log_p!r}")
        if group.size == 0 or not group.cut > 0.0:
            yield Lie("groups", f"groups[{i}]: size {group.size}, cut {group.cut}")
        if told.fitted:
            yield from group_mean(dense, i, group)


def group_mean(dense: Dense, i: int, group: Any) -> Lies:
    rows = dense.X[host(group.rows)]
    off = float(np.abs(group.mean - rows.mean(axis=0)).max())
    spread = float(np.abs(rows - group.center).max())
    limit = (64.0 * dense.eps + CLOSE) * spread + 64.0 * DOUBLE * float(np.abs(rows).max())
    if not off <= limit:
        yield Lie("group mean", f"groups[{i}].mean is off by {off:.3g}, its rows lie {spread:.3g} "
                                f"from the center")  # fmt: skip
    length = float(np.linalg.norm(group.direction))
    if length != 0.0 and abs(length - 1.0) > 64.0 * dense.eps * np.sqrt(dense.d) + CLOSE:
        yield Lie("group direction", f"groups[{i}].direction has length {length!r}")


STATEMENT = re.compile(
    r"If at most (.+?) of the rows are bad and the good rows vary no more than the kept ones, "
    r"(?:the mean of each column is within (.+?) standard deviations of that|nothing is known)"
)


WORDS_OF_GROUPS = (
    r"(\d+) rows? (?:far|on one side|on both sides|with extreme|extreme|well|in a chain)"
)


def message(told: Told) -> Lies:
    """Its numbers are those of the support and of the certificate."""
    text, certificate = told.result.message, told.result.certificate
    n, m = told.dense.n, told.n_kept
    if re.search(r"\bnan\b", text, re.IGNORECASE):
        yield Lie("message: NaN", text)
    said = re.search(r"Kept (\d+) of (\d+) rows|Kept all (\d+) rows", text)
    if said and tuple(int(x) for x in said.groups() if x) not in ((m, n), (m,)):
        yield Lie("message: kept", f"{m} of {n}, but: {text}")
    said = re.search(r"at least (\d+) had to be removed", text)
    if said and int(said[1]) != certificate.l0_lower_bound:
        yield Lie("message: had to go", f"{certificate.l0_lower_bound}, but: {text}")
    said = re.search(r"exceed the budget by (\S+) of it", text)
    over = certificate.lambda_max / certificate.budget - 1.0 if certificate.budget else np.inf
    if said and not same(float(said[1]), over, 0.06 * abs(over)):
        yield Lie("message: exceeds", f"{over:.3g}, but: {text}")
    listed = text.partition("Removed: ")[2].partition("At this sigma")[0]
    sizes = [int(x) for x in re.findall(WORDS_OF_GROUPS, listed)]
    if (
        told.fitted
        and sizes
        and sizes[: len(told.result.groups)] != [group.size for group in told.result.groups]
    ):
        yield Lie("message: groups", text)
    yield from too_small(told)
    for words in (text, certificate.statement()):
        yield from statement(told, words)


def too_small(told: Told) -> Lies:
    """A bound that is called too small for the data has no majority within it."""
    if "The bound is too small" not in told.result.message:
        return
    budget = told.result.details.budget
    for rows in majorities(told):
        true = told.dense.moments(rows)
        if true.top + true.rounding < budget:
            yield Lie("message: bound too small", f"{rows.sum()} of {told.dense.n} rows have "
                                                  f"{true.top / budget:.3g} of the budget, but: "
                                                  f"{told.result.message}")  # fmt: skip


def majorities(told: Told) -> Iterator[Array]:
    """The good rows, and the half that is nearest to the median."""
    if told.good is not None:
        yield told.good
    Z = told.dense.Z
    away = np.linalg.norm(Z - np.median(Z, axis=0), axis=1)
    yield np.argsort(np.argsort(away, kind="stable")) <= len(Z) // 2


def statement(told: Told, text: str) -> Lies:
    """How far the mean can be off, for any fraction that is printed like the one that was meant."""
    n, m = told.dense.n, told.n_kept
    for fractions, within in STATEMENT.findall(text):
        alphas = [float(x) / 100.0 for x in re.findall(r"([^\s,]+)%", fractions)]
        radii = [printed(x) for x in re.split(r", | or | and ", within)] if within else []
        for alpha, stated in zip(alphas, radii or [np.inf] * len(alphas), strict=True):
            ks = np.floor(np.minimum(n * alpha * np.array([1.0 - 6e-3, 1.0 + 6e-3]) + 1e-9, n))
            low, high = (radius_of(1.0, m, n, k, 1.0) for k in ks)
            if not low * (1.0 - 6e-3) <= stated <= high * (1.0 + 6e-3):
                yield Lie("statement: radius", f"between {low:.6g} and {high:.6g}, but: {text}")


def printed(number: str) -> float:
    return np.inf if number == "any number of" else float(number)


# -- the certificate's own proof ------------------------------------------------------------------


def verified(told: Told, X: Any) -> Lies:
    """Where a certificate can be verified, that says of lambda_max what dense numpy says."""
    verify = getattr(told.result.certificate, "verify", None)
    if verify is None or not told.known:
        return
    answer, false = verify(X), list(eigenvalue(told))
    if answer.holds and false:
        yield Lie("verify: accepts", false[0].what)
    if not answer.holds and not false:
        yield Lie("verify: refuses", str(answer))
    elsewhere = told.dense.given + 3.0 * np.abs(told.dense.X[told.kept]).max() + 1.0
    if verify(elsewhere).holds:
        yield Lie("verify: accepts", "the rows at another place")


def rule_says(told: Told, X: Any) -> Array:
    """Which rows the rule would keep."""
    rule = told.result.details.rule
    return host(rule.scores(as_table(told.dense.set_aside(X, told.dense.fill)))) <= rule.threshold
