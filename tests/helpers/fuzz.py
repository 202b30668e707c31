"""An attack on every statement of a result: seeded problems, and dense numpy to judge by.

    python tests/helpers/fuzz.py --count 10000 --seed 0 --jobs 2

Problem k is made from seed k alone, so `--seed k --count 1` shows it again. What is false is
printed with its seed, and the exit status is 1.
"""

import argparse
import os
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing import Pool
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import statements
from fits import arguments, robust_mean
from inlier import RobustMean, WeakEvidenceWarning
from statements import Array, Dense, Lie, Told, host

Random = np.random.Generator
TORCH = find_spec("torch") is not None
# A problem that takes longer is given up and listed.
PATIENCE = 20.0
# An error with one of these words is an answer: it says what cannot be done.
REFUSALS = ("out of range", "rows within", "below every score", "no problem to solve again")


@dataclass(frozen=True, eq=False)
class Problem:
    """A table, what to ask of it, and which of its rows are good."""

    seed: int
    X: Any
    dense: Array
    """The same numbers, in double precision."""
    good: Array
    options: dict[str, Any]
    story: str

    @property
    def small(self) -> bool:
        return int(self.dense.size) <= 3000


# -- problems -------------------------------------------------------------------------------------


SHAPES: dict[str, tuple[float, Callable[[Random], tuple[int, int]]]] = {
    "tiny": (0.32, lambda r: (int(r.integers(2, 13)), int(r.integers(1, 7)))),
    "few rows": (0.10, lambda r: (int(r.integers(2, 13)), int(r.integers(7, 60)))),
    "small": (0.25, lambda r: (int(r.integers(13, 90)), int(r.integers(1, 30)))),
    "tall": (0.12, lambda r: (int(r.integers(90, 601)), int(r.integers(1, 40)))),
    "wide": (0.12, lambda r: (int(r.integers(5, 150)), int(r.integers(100, 701)))),
    "many columns": (0.06, lambda r: (int(r.integers(257, 400)), int(r.integers(257, 330)))),
    "large": (0.03, lambda r: (int(r.integers(513, 601)), int(r.integers(257, 701)))),
}


def chosen(rng: Random, shares: dict[str, float]) -> str:
    p = np.array(list(shares.values()))
    return str(rng.choice(list(shares), p=p / p.sum()))


def problem(seed: int) -> Problem:
    """Everything about it follows from the seed."""
    rng = np.random.default_rng([seed, 2020])
    shape = chosen(rng, {name: share for name, (share, _) in SHAPES.items()})
    n, d = SHAPES[shape][1](rng)
    law, X = rows(rng, n, d)
    columns = reshape_columns(rng, X)
    bad, contamination = contaminated(rng, X)
    copied = copies(rng, X, bad)
    dtype, form = kinds(rng)
    X = numbers(rng, X, dtype, sparse=form in SPARSE)
    if dtype == "float64" and bad.any() and rng.random() < 0.1:
        X[bad] *= 10.0 ** rng.uniform(10.0, 120.0)
        contamination += ", absurd"
    order = rng.permutation(n)
    X, good = X[order], ~bad[order]
    contamination += extreme_cells(np.random.default_rng([seed, 7]), X)
    dense = X.astype(np.float64)
    options = asked(rng, dense, good, sparse=form in SPARSE)
    words = [f"{n} x {d} ({shape})", law, *columns, contamination, copied, dtype, form]
    story = ", ".join(word for word in words if word) + f"; {brief(options)}"
    return Problem(seed, FORMS[form](X), dense, good, options, story)


def brief(options: dict[str, Any]) -> str:
    return ", ".join(f"{k}={v if np.ndim(v) == 0 else 'a vector'}" for k, v in options.items())


def rows(rng: Random, n: int, d: int) -> tuple[str, Array]:
    laws: dict[str, Callable[[], Array]] = {
        "normal": lambda: rng.standard_normal((n, d)),
        "t3": lambda: rng.standard_t(3, (n, d)),
        "joint t2": lambda: rng.standard_normal((n, d)) / rng.gamma(1.0, 1.0, (n, 1)) ** 0.5,
        "skewed": lambda: rng.exponential(size=(n, d)),
        "few values": lambda: rng.integers(-1, 2, (n, d)).astype(np.float64),
        "low rank": lambda: low_rank(rng, n, d),
        "mostly zero": lambda: np.exp(2 * rng.standard_normal((n, d))) * (rng.random((n, d)) < 0.2),
    }
    law = chosen(rng, {name: 5.0 if name == "normal" else 1.0 for name in laws})
    return law, laws[law]()


def low_rank(rng: Random, n: int, d: int) -> Array:
    k = max(1, d // 4)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d))


def reshape_columns(rng: Random, X: Array) -> list[str]:
    """Uneven, constant and discrete columns, in place."""
    d, words = X.shape[1], []
    if rng.random() < 0.2:
        X *= 5.0 / np.sqrt(np.arange(1.0, d + 1.0))
        words.append("uneven")
    if rng.random() < 0.1:
        X[:, rng.random(d) < 0.3] = 7.0
        words.append("constant columns")
    if rng.random() < 0.1:
        some = rng.random(d) < 0.3
        X[:, some] = np.round(X[:, some])
        words.append("discrete columns")
    return words


def contaminated(rng: Random, X: Array) -> tuple[Array, str]:
    """Bad rows, the first, in place; which they are and what they are like."""
    n, d = X.shape
    kind = chosen(rng, {"none": 2, "cluster": 4, "huge": 3, "shells": 2, "mix": 2})
    few = rng.random() < 0.4
    n_bad = int(rng.integers(1, max(2, n // 20 + 1))) if few else int(rng.uniform(0.05, 0.45) * n)
    n_bad = 0 if kind == "none" else min(n_bad, (n - 1) // 2)
    bad = np.arange(n) < n_bad
    half = n_bad // 2 if kind == "mix" else n_bad
    size = 0.0
    if kind in ("cluster", "mix"):
        size = float(rng.choice([2.0, 4.0, 10.0, 100.0, 1e3]))
        X[:half] = 0.3 * X[:half] + size * direction(rng, d)
    if kind == "shells":
        size = float(rng.uniform(2.0, 6.0))
        signs = rng.choice([-1.0, 1.0], n_bad)[:, None]
        X[:n_bad] += size * np.sqrt(d) * signs * direction(rng, d)
    if kind in ("huge", "mix"):
        size = 10.0 ** rng.uniform(4.0, 8.0)
        X[half if kind == "mix" else 0 : n_bad] *= size
    return bad, f"{n_bad} bad ({kind}, {size:.3g})" if n_bad else "none bad"


def extreme_cells(rng: Random, X: Array) -> str:
    """Some cells a thousand times as large, and more, in place."""
    n, d = X.shape
    if X.dtype.kind != "f" or n < 20 or rng.random() < 0.7:
        return ""
    count = int(rng.integers(1, n // 10 + 1))
    X[rng.choice(n, count, replace=False), rng.integers(0, d, count)] *= 10 ** rng.uniform(3.0, 6.0)
    return f", {count} extreme cells"


def direction(rng: Random, d: int) -> Array:
    v = rng.standard_normal(d) if rng.random() < 0.5 else np.eye(d)[rng.integers(d)]
    return v / max(float(np.linalg.norm(v)), 1e-6)


def copies(rng: Random, X: Array, bad: Array) -> str:
    """Some rows more than once, in place."""
    n = len(X)
    if rng.random() >= 0.15:
        return ""
    target = np.flatnonzero(rng.random(n) < rng.choice([0.1, 0.5, 0.9]))
    source = int(rng.integers(n))
    X[target] = X[source]
    bad[target] = bad[source]
    if 2 * bad.sum() >= n:  # copies of a bad row: the others are no majority any more
        bad[:] = False
    return f"{len(target)} copies of a row"


SPARSE = ("csr", "csc")
FORMS: dict[str, Callable[[Array], Any]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "torch": lambda X: __import__("torch").from_numpy(np.ascontiguousarray(X)),
    "torch transposed": lambda X: __import__("torch").from_numpy(np.ascontiguousarray(X.T)).T,
}


def kinds(rng: Random) -> tuple[str, str]:
    """A dtype and how the numbers lie in memory."""
    dtypes = {"float64": 6.0, "float32": 5.0, "int64": 0.5, "int32": 0.5, "int8": 0.5, "bool": 0.5}
    shares = {"C": 5.0, "F": 1.0, "every other": 1.0, "backwards": 0.5, "csr": 1.0, "csc": 0.5}
    if TORCH:
        shares |= {"torch": 1.0, "torch transposed": 0.3}
    return chosen(rng, dtypes), chosen(rng, shares)


def numbers(rng: Random, X: Array, dtype: str, sparse: bool) -> Array:
    """In other units and at another place, rounded to a dtype."""
    n, d = X.shape
    if dtype == "bool":
        return rng.uniform(-0.5, 1.5) < X
    empty = rng.random((n, d)) < rng.uniform(0.3, 0.95) if sparse else np.zeros((n, d), bool)
    if dtype.startswith("int"):
        limit = np.iinfo(dtype).max // 2
        unit = float(rng.choice([1.0, 5.0, 100.0]))
        X = np.clip(np.round(unit * X), -limit, limit)
        return np.where(empty, 0.0, X).astype(dtype)
    if rng.random() < 0.4:
        place = direction(rng, d) * np.sqrt(d) if rng.random() < 0.5 else np.ones(d)
        X = X + place * 10.0 ** rng.uniform(0.0, 6.0)
    scale = 1.0 if rng.random() < 0.5 else 10.0 ** rng.uniform(-8.0, 8.0)
    return np.where(empty, 0.0, X * scale).astype(dtype)


def asked(rng: Random, X: Array, good: Array, sparse: bool) -> dict[str, Any]:
    """The options of a fit."""
    n, d = X.shape
    options: dict[str, Any] = {}
    if rng.random() < 0.25:
        options["scatter"] = "identity"
    elif rng.random() < 0.3:
        options["scatter"] = X.var(axis=0) + 1e-3 if sparse else "diagonal"
    if rng.random() < 0.5:
        options["sigma"] = likely_sigma(rng, X, good, options)
        options["c1"] = float(rng.choice([1.0, 1.0, 1.25, 2.0, 0.8]))
        if rng.random() < 0.1:
            options["prune"] = 0.1
    if rng.random() < 0.4:
        options["surrogate"] = str(rng.choice(["reweighted-l2", "reweighted-l1", "l1"]))
        options["p"] = float(rng.choice([0.3, 0.5, 1.0]))
    if n * d <= 600 and rng.random() < 0.3:
        options["algorithm"] = "paper"
    if rng.random() < 0.1:
        options["start"] = str(rng.choice(["coordinate-median", "geometric-median"]))
    if "sigma" not in options and "algorithm" not in options:  # there is no such problem then
        options = {k: v for k, v in options.items() if k not in ("surrogate", "p")}
    return options


def likely_sigma(rng: Random, X: Array, good: Array, options: dict[str, Any]) -> float:
    """About that of the good rows."""
    factor = float(rng.choice([1e-3, 0.2, 0.5, 0.9, 1.0, 1.0001, 1.2, 2.0]))
    scatter = options.get("scatter")
    if isinstance(scatter, str) and scatter == "diagonal":
        center = np.median(X, axis=0)
        scales = np.median(np.abs(X - center), axis=0)
        X = X / np.where(scales > 0.0, scales, 1.0)
    elif isinstance(scatter, np.ndarray):
        X = X / np.sqrt(scatter)
    _, A = statements.centered(X[good])
    spread = float(np.sqrt(statements.largest_eigenvalue(A) / len(A)))
    return factor * spread if spread > 0.0 else 1.0


# -- what is asked of a result --------------------------------------------------------------------


def attack(problem: Problem) -> Iterator[Lie]:
    """All that is false about one problem."""
    rng = np.random.default_rng([problem.seed, 1])
    before = problem.dense
    by_estimator = rng.random() < 0.3
    result, told_so, found = fitted(problem, problem.X, by_estimator)
    yield from told_so
    if result is None:
        return
    told = fit_told(problem, result)
    yield from statements.lies(told, rng)
    predicted = statements.rule_says(told, problem.X) if found is None else found
    yield from statements.prediction(told, predicted)
    yield from statements.verified(told, problem.X)
    yield from precision(problem, result)
    yield from named("of a choice", choices(told, rng))
    if rng.random() < (0.5 if problem.small else 0.1):
        yield from another_order(problem, told, rng)
    if not np.array_equal(dense_of(problem.X), before):
        yield Lie("X", "the fit has changed it")


def dense_of(X: Any) -> Array:
    array: Any = X.toarray() if hasattr(X, "toarray") else host(X)
    return array.astype(np.float64)


def fit_told(problem: Problem, result: Any) -> Told:
    eps = float(np.finfo(host(result.location).dtype).eps)
    options = problem.options
    return Told(
        result,
        Dense(problem.dense, eps, result.details.rule.metric, certificate=result.certificate),
        good=problem.good,
        as_published=options.get("algorithm") == "paper" and options.get("surrogate") != "l1",
    )


def fitted(problem: Problem, X: Any, by_estimator: bool) -> tuple[Any, list[Lie], Array | None]:
    """A result, what was false about its warnings, and what an estimator predicts."""
    found = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if by_estimator:
                model = RobustMean(**arguments(problem.options)).fit(X)
                result, found = model.result_, host(model.predict(X)) == 1
            else:
                result = robust_mean(X, **problem.options)
        except ValueError as error:
            return None, refusal(error), None
    return result, warned(caught, result), found


def refusal(error: ValueError) -> list[Lie]:
    if any(words in str(error) for words in REFUSALS):
        return []
    return [Lie("raised ValueError", f"{error} ({whence(error)})")]


def whence(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(last.filename)}:{last.lineno}"


def warned(caught: Iterable[warnings.WarningMessage], result: Any) -> list[Lie]:
    """Warnings are of the package's own kinds, and say whether the fit has converged."""
    caught = list(caught)
    own = (ConvergenceWarning, WeakEvidenceWarning)
    found = [
        Lie(
            f"warned: {w.category.__name__}",
            f"{w.message} ({os.path.basename(w.filename)}:{w.lineno})",
        )
        for w in caught
        if not issubclass(w.category, own)
    ]
    said = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    if result is not None and said == result.converged:
        found.append(Lie("converged", f"{result.converged}, but a warning: {said}"))
    return found


def precision(problem: Problem, result: Any) -> Iterator[Lie]:
    """Single precision stays single; sigma and the budget are those that were asked for."""
    given, found = dtype_of(problem.X), dtype_of(result.location)
    if given in ("float32", "float64", "int64", "int32") and found != (
        "float32" if given == "float32" else "float64"
    ):
        yield Lie("dtype", f"X is {given}, the location {found}")
    if "sigma" not in problem.options:
        return
    n, sigma, c1 = len(problem.dense), problem.options["sigma"], problem.options["c1"]
    if result.sigma != sigma or not statements.same(
        result.details.budget, n * (c1 * sigma) ** 2, 1e-12 * result.details.budget
    ):
        yield Lie(
            "budget", f"sigma {result.sigma!r} of {sigma!r}, budget {result.details.budget!r}"
        )


def dtype_of(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]


def choices(told: Told, rng: Random) -> Iterator[Lie]:
    """The same, of every other answer that a result has."""
    result = told.result
    for i in range(min(len(result.groups), 3)):
        yield from named("keep", chose(told, partial(result.keep, i), rng, bound=True))
    q = host(result.scores)
    cut = float(rng.choice(q[np.isfinite(q)])) if np.isfinite(q).any() else 0.0
    yield from named("at(threshold)", chose(
        told, partial(result.at, threshold=max(0.0, cut)), rng, partition=False))  # fmt: skip


def chose(told: Told, choose: Callable[[], Any], rng: Random, **how: bool) -> Iterator[Lie]:
    """What is false about another answer."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = choose()
        except ValueError as error:
            if not 0.0 < told.result.sigma < np.inf and "sigma" in str(error):
                return
            yield from refusal(error)
            return
    for w in caught:
        yield Lie(f"warned: {w.category.__name__}", str(w.message))
    there = host(told.result.location).astype(np.float64)
    known = (result.details.rule.metric, there, result.certificate)
    dense = Dense(told.dense.given, told.dense.eps, *known)
    again = Told(result, dense, fitted=False, good=told.good, **how)
    yield from statements.lies(again, rng)


def named(where: str, found: Iterable[Lie]) -> Iterator[Lie]:
    for lie in found:
        yield Lie(f"{lie.kind} {where}" if where != "of a choice" else lie.kind, lie.what)


def another_order(problem: Problem, told: Told, rng: Random) -> Iterator[Lie]:
    """The rows in another order have the same answer."""
    order = rng.permutation(len(problem.dense))
    X = problem.X[order]
    result, _, _ = fitted(problem, X, by_estimator=False)
    if result is None:
        yield Lie("row order", "another order is refused")
        return
    expected, found = told.kept[order], host(result.support)
    # Where a bound leaves no majority, which of the good rows go hangs on rounding.
    majority = 2 * min(expected.sum(), found.sum()) > len(order)
    if majority and not np.array_equal(expected, found):
        yield Lie("row order", f"{told.n_kept} rows kept, in another order {found.sum()}, "
                               f"{np.sum(expected != found)} of them differ")  # fmt: skip


# -- the run --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """What is false about one problem."""

    seed: int
    story: str
    lies: tuple[Lie, ...]
    given_up: bool = False


class TooSlow(BaseException):
    """A problem takes too long; no `except Exception` stops it."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Ends a block that takes longer, where the system has alarms."""

    def give_up(*_: object) -> None:
        raise TooSlow

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def run(seed: int) -> Report:
    """One problem; an exception is a finding too."""
    made, given_up = problem(seed), False
    found: list[Lie] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with patience(PATIENCE):
                for lie in attack(made):
                    found.append(lie)
        except TooSlow:
            given_up = True
        except Exception as error:
            found.append(Lie(f"raised {type(error).__name__}", f"{error} ({whence(error)})"))
    found += warned(caught, None)
    return Report(seed, made.story, tuple(found), given_up)


def reports(seeds: range, jobs: int) -> Iterator[Report]:
    if jobs <= 1:
        with threadpool_limits(1):
            yield from map(run, seeds)
        return
    with Pool(jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        yield from pool.imap_unordered(run, seeds, chunksize=8)


def shown(report: Report) -> str:
    slow = f" (given up after {PATIENCE:.0f} s)" if report.given_up else ""
    lines = [f"seed {report.seed}: {report.story}{slow}"]
    return "\n".join([*lines, *(f"    {lie.kind}: {lie.what}" for lie in report.lies)])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="how many problems")
    parser.add_argument("--seed", type=int, default=0, help="of the first problem")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--verbose", action="store_true", help="every problem, also the right ones")
    given = parser.parse_args(arguments)
    began, false, kinds = time.perf_counter(), 0, Counter[str]()
    seeds = range(given.seed, given.seed + given.count)
    for report in reports(seeds, given.jobs):
        false += bool(report.lies)
        kinds.update({lie.kind for lie in report.lies})
        if report.lies or report.given_up or given.verbose:
            print(shown(report), flush=True)
    seconds = time.perf_counter() - began
    print(f"{given.count} problems in {seconds:.0f} s, {false} with a false statement.")
    for kind, count in kinds.most_common():
        print(f"{count:8d}  {kind}")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
