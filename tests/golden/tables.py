"""Some 580 tables whose answers are on record in answers.json: drawn here, or from scikit-learn.

    python tests/golden/tables.py --write

writes the record anew. It may only change together with the rule that decides, and says so then.
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn import datasets as packaged

import inlier

RECORD = Path(__file__).with_name("answers.json")
Random = np.random.Generator
Array = np.ndarray


class Golden(NamedTuple):
    """A table, what is given with it, and what to call it."""

    name: str
    X: Any
    options: dict[str, Any]


# -- rows -----------------------------------------------------------------------------------------

GOOD: dict[str, Callable[[Random, int, int], Array]] = {
    "normal": lambda r, n, d: r.standard_normal((n, d)),
    "lognormal": lambda r, n, d: np.exp(r.standard_normal((n, d))),
    "t3": lambda r, n, d: r.standard_t(3, (n, d)),
    "joint t5": lambda r, n, d: r.standard_normal((n, d)) / np.sqrt(r.chisquare(5, (n, 1)) / 5),
    "exponential": lambda r, n, d: r.exponential(size=(n, d)),
    "laplace": lambda r, n, d: r.laplace(size=(n, d)),
    "binary": lambda r, n, d: (r.random((n, d)) < r.uniform(0.1, 0.9, d)).astype(float),
    "counts": lambda r, n, d: r.poisson(2.0, (n, d)).astype(float),
    "zero-inflated": lambda r, n, d: r.exponential(size=(n, d)) * (r.random((n, d)) < 0.4),
    "relu": lambda r, n, d: np.maximum(r.standard_normal((n, d)), 0.0),
    # Not of exactly low rank: directions that hold nothing but rounding differ by machine.
    "low rank": lambda r, n, d: (
        r.standard_normal((n, max(1, d // 4))) @ r.standard_normal((max(1, d // 4), d))
        + 1e-3 * r.standard_normal((n, d))
    ),
    "uneven": lambda r, n, d: r.standard_normal((n, d)) * np.logspace(0, -2, d),
    "two classes": lambda r, n, d: r.standard_normal((n, d)) + 6.0 * (r.random((n, 1)) < 0.4),
    "units": lambda r, n, d: (
        np.exp(0.3 * r.standard_normal((n, d))) * 10.0 ** np.arange(d).clip(0, 5)
    ),
    "rounded": lambda r, n, d: np.round(2.0 * r.standard_normal((n, d))),
}


def none(r: Random, X: Array, k: int) -> None:
    pass


def far(r: Random, X: Array, k: int) -> None:
    X[:k] += 30.0 * X.std(axis=0)


def near(r: Random, X: Array, k: int) -> None:
    v = r.standard_normal(X.shape[1])
    X[:k] += 6.0 * X.std() * v / np.linalg.norm(v) - 0.5 * X[:k]


def scattered(r: Random, X: Array, k: int) -> None:
    X[:k] *= 40.0 * r.choice([-1.0, 1.0], (k, 1))


def cells(r: Random, X: Array, k: int) -> None:
    few = max(1, k // 4)
    X[r.choice(len(X), few, replace=False), r.integers(0, X.shape[1], few)] = 999.0


def slips(r: Random, X: Array, k: int) -> None:
    few = max(1, k // 6)
    X[r.choice(len(X), few, replace=False), r.integers(0, X.shape[1], few)] *= 1000.0


def two(r: Random, X: Array, k: int) -> None:
    X[: k // 2] = 0.1 * X[: k // 2] + 20.0 * X.std()
    X[k // 2 : k] = 0.1 * X[k // 2 : k] - 9.0 * X.std()


def copies(r: Random, X: Array, k: int) -> None:
    X[:k] = X[0] + 12.0 * X.std()


BAD = [none, far, near, scattered, cells, slips, two, copies]
SHAPES = [(60, 3), (200, 5), (150, 40), (40, 90), (400, 12)]


def drawn() -> Iterator[Golden]:
    """All kinds of good rows with all kinds of bad ones."""
    for i, (kind, good) in enumerate(GOOD.items()):
        for j, bad in enumerate(BAD):
            for k in range(2):
                n, d = SHAPES[(i + 2 * j + 3 * k) % len(SHAPES)]
                r = np.random.default_rng([i, j, k])
                X = good(r, n, d)
                bad(r, X, int(n * (0.1 if k else 0.22)))
                X = X[r.permutation(n)]
                yield Golden(f"{kind}, {bad.__name__}, {n} x {d}", X, {})


def spread(X: Array) -> float:
    return float(np.linalg.norm(X - X.mean(axis=0), 2) / np.sqrt(len(X)))


def given() -> Iterator[Golden]:
    """What a user may give: sigma, an assumption, weights, a scatter, a seed."""
    for i, (n, d) in enumerate([(80, 4), (300, 20), (120, 60), (30, 200), (600, 300)]):
        for j, bad in enumerate([none, far, near, two]):
            r = np.random.default_rng([7, i, j])
            X = r.standard_normal((n, d))
            sigma = spread(X)
            bad(r, X, n // 5)
            for options in (
                {"sigma": sigma},
                {"sigma": 1.5 * sigma},
                {"assume": "symmetric"},
                {"assume": "nothing"},
            ):
                yield Golden(f"{bad.__name__}, {n} x {d}, {brief(options)}", X, options)
    r = np.random.default_rng(70)
    X = r.standard_normal((200, 6)) * [1, 10, 100, 1, 1, 1] + 50.0
    X[:30] += [0, 0, 0, 9, 9, 9]
    for options in (
        {"sample_weight": r.integers(0, 5, 200).astype(float)},
        {"sample_weight": r.exponential(size=200), "assume": "symmetric"},
        {"scatter": "diagonal", "sigma": 2.0},
        {"scatter": np.cov(X[30:].T), "sigma": 1.5},
        {"random_state": 3},
        {"sigma": 110.0, "sample_weight": r.exponential(size=200)},
        {"l0": inlier.l0.Options(start=np.full(6, 50.0))},
        {"l0": inlier.l0.Options(start="geometric-median"), "sigma": 120.0},
    ):
        yield Golden(f"units, {brief(options)}", X, options)


def brief(options: dict[str, Any]) -> str:
    shown = dict(options)
    if "l0" in shown:
        shown = {"start": shown.pop("l0").start, **shown}
    return ", ".join(
        f"{name}={value:.4g}"
        if isinstance(value, float)
        else f"{name}={value}"
        if isinstance(value, str | int)
        else name
        for name, value in shown.items()
    )


def missing() -> Iterator[Golden]:
    """Tables with missing cells."""
    for i, (kind, share) in enumerate(
        (kind, share)
        for kind in ("normal", "lognormal", "units", "counts")
        for share in (0.02, 0.3)
    ):
        for j, bad in enumerate([none, far, cells]):
            r = np.random.default_rng([11, i, j])
            X = GOOD[kind](r, 180, 7)
            bad(r, X, 25)
            gaps = r.random(X.shape) < share
            gaps[:, 0] = False
            X[gaps] = np.nan
            yield Golden(f"{kind}, {bad.__name__}, {share:.0%} missing", X, {})
    r = np.random.default_rng(12)
    X = r.standard_normal((150, 5))
    X[:, 4] = np.where(r.random(150) < 0.9, np.nan, 40.0 + X[:, 4])
    yield Golden("a column mostly missing", X, {})
    yield Golden("a column mostly missing, sigma", X, {"sigma": 1.6})
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.loc[3, "b"] = 1e4
    yield Golden("a data frame", frame, {})
    yield Golden("weights and gaps", X, {"sample_weight": r.exponential(size=150)})


def extreme() -> Iterator[Golden]:
    """Very large and small numbers, constant columns, copies, few rows, other types."""
    r = np.random.default_rng(13)
    X = r.standard_normal((120, 6))
    X[:20] += 12.0
    for scale in (1e-60, 1e-8, 1e8, 1e60):
        yield Golden(f"times {scale:g}", scale * X, {})
        yield Golden(f"times {scale:g}, symmetric", scale * X, {"assume": "symmetric"})
    for shift in (1e6, -1e12):
        yield Golden(f"plus {shift:g}", X + shift, {})
        yield Golden(f"plus {shift:g}, sigma", X + shift, {"sigma": 1.3})
    absurd = X.copy()
    absurd[:3] = 1e300
    yield Golden("absurd rows", absurd, {})
    yield Golden("absurd rows, symmetric", absurd, {"assume": "symmetric"})
    yield Golden("absurd rows, sigma", absurd, {"sigma": 1.3})
    constant = X.copy()
    constant[:, 2] = 7.0
    yield Golden("a constant column", constant, {})
    yield Golden("all rows equal", np.full((30, 4), 3.25), {})
    yield Golden("most rows equal", np.where(np.arange(60)[:, None] < 50, 1.0, X[:60]), {})
    for n in (2, 3, 5, 7, 8, 12):
        yield Golden(f"{n} rows", X[20 : 20 + n], {})
        if n > 2:
            yield Golden(f"{n} rows, one far", np.vstack([X[20 : 19 + n], 1e5 + X[:1]]), {})
    yield Golden("one column", X[:, :1], {})
    yield Golden("whole numbers", np.round(8 * X).astype(np.int64), {})
    yield Golden("bytes", np.clip(np.round(30 * X + 90), 0, 255).astype(np.uint8), {})
    yield Golden("single precision", X.astype(np.float32), {})
    yield Golden("single precision, shifted", (X + 1000.0).astype(np.float32), {})
    yield Golden("true and false", X > 0.3, {})
    yield Golden("columns first", np.asfortranarray(X), {})


def wide_and_sparse() -> Iterator[Golden]:
    """Few rows and many columns; sparse matrices."""
    for i, (n, d) in enumerate([(30, 2000), (60, 700), (12, 5000), (300, 600)]):
        for j, bad in enumerate([none, far, near, cells]):
            r = np.random.default_rng([14, i, j])
            X = GOOD["normal" if i % 2 else "lognormal"](r, n, d)
            bad(r, X, n // 6)
            yield Golden(f"{bad.__name__}, {n} x {d}", X, {})
            if j < 2:
                yield Golden(f"{bad.__name__}, {n} x {d}, symmetric", X, {"assume": "symmetric"})
    for i, (n, d) in enumerate([(300, 50), (100, 400), (50, 3000)]):
        for j, bad in enumerate([none, far, cells]):
            r = np.random.default_rng([15, i, j])
            X = GOOD["normal"](r, n, d) * (r.random((n, d)) < 0.1)
            bad(r, X, n // 8)
            yield Golden(f"sparse, {bad.__name__}, {n} x {d}", sp.csr_array(X), {})
            yield Golden(
                f"sparse, {bad.__name__}, {n} x {d}, sigma", sp.csc_array(X), {"sigma": 2.0}
            )


def of_scikit_learn() -> Iterator[Golden]:
    """Tables that come with scikit-learn, clean and with planted errors."""
    for load in (
        packaged.load_iris,
        packaged.load_wine,
        packaged.load_breast_cancer,
        packaged.load_diabetes,
        packaged.load_linnerud,
    ):
        X = np.asarray(load().data, dtype=float)
        name = load.__name__.removeprefix("load_")
        yield Golden(name, X, {})
        for j, bad in enumerate([cells, slips, far]):
            r = np.random.default_rng([16, j, len(X)])
            dirty = X.copy()
            bad(r, dirty, max(2, len(X) // 10))
            yield Golden(f"{name}, {bad.__name__}", dirty, {})
    digits, labels = packaged.load_digits(return_X_y=True)
    mixed = np.vstack([digits[labels == 0], digits[labels == 1][:60]])
    yield Golden("digits", mixed, {})
    yield Golden("digits, symmetric", mixed, {"assume": "symmetric"})
    yield Golden("digits, sigma", mixed, {"sigma": spread(digits[labels == 0])})


def noise() -> Iterator[Golden]:
    """Symmetric good rows, and bad ones that only show together."""
    for i, (n, d) in enumerate([(400, 20), (500, 100), (300, 300)]):
        for j, alpha in enumerate([0.1, 0.2, 0.3, 0.4]):
            r = np.random.default_rng([19, i, j])
            k = int(alpha * n)
            one_side = r.standard_normal((n, d))
            v = r.standard_normal(d)
            one_side[:k] += 4.0 * np.sqrt(d) * v / np.linalg.norm(v)
            mixed = r.standard_normal((n, d))
            mixed[: k // 2] += np.sqrt(d / 2) * r.choice([-1.0, 1.0], d)
            mixed[k // 2 : k] = r.uniform(-3, 3, (k - k // 2, d)) + 3.0
            quiet = r.standard_normal((n, d)) * np.r_[np.full(2, 0.05), np.ones(d - 2)]
            quiet[:k, :2] += 0.25
            quiet = quiet @ np.linalg.qr(r.standard_normal((d, d)))[0]
            tails = r.standard_t(3, (n, d))
            tails[:k] += 3.0
            near_half = r.standard_normal((n, d))
            near_half[: int(0.47 * n)] += 8.0
            for name, X in {
                "one side": one_side,
                "mixed": mixed,
                "quiet": quiet,
                "tails": tails,
                "near half": near_half,
            }.items():
                if name == "near half" and j:
                    continue
                yield Golden(f"{name}, {alpha}, {n} x {d}", X, {})
                yield Golden(f"{name}, {alpha}, {n} x {d}, symmetric", X, {"assume": "symmetric"})
    for i, (n, d, alpha) in enumerate([(1000, 100, 0.1), (1500, 80, 0.05), (2000, 60, 0.2)]):
        r = np.random.default_rng([21, i])
        uneven = r.standard_normal((n, d)) * np.geomspace(1.0, 0.05, d)
        uneven[: int(alpha * n), -2:] += 6.0 * 0.05
        yield Golden(f"low-variance directions, {n} x {d}", uneven, {})
        yield Golden(
            f"low-variance directions, {n} x {d}, symmetric", uneven, {"assume": "symmetric"}
        )
    for i in range(6):
        r = np.random.default_rng([20, i])
        X = r.exponential(size=(300, 5))
        X[: 15 + 10 * i] *= 0.3
        X[: 15 + 10 * i, :2] += 12.0
        yield Golden(f"skewed, and {15 + 10 * i} rows well separated", X, {})


def larger() -> Iterator[Golden]:
    """Tables of more rows than are judged at once."""
    for i, (n, d, kind) in enumerate(
        [(6000, 10, "normal"), (6000, 10, "lognormal"), (9000, 4, "t3"), (5000, 30, "uneven")]
    ):
        for bad in (none, far):
            r = np.random.default_rng([17, i])
            X = GOOD[kind](r, n, d)
            bad(r, X, n // 10)
            yield Golden(f"{kind}, {bad.__name__}, {n} x {d}", X, {})
    r = np.random.default_rng(18)
    X = r.standard_normal((6000, 10))
    X[:600] += 4.0
    yield Golden("6000 x 10, sigma", X, {"sigma": 1.1})


def all_tables() -> Iterator[Golden]:
    """Every table of the record, named after its kind; numbered where two share a name."""
    seen: dict[str, int] = {}
    for family in (drawn, given, missing, extreme, wide_and_sparse, of_scikit_learn, noise, larger):
        for table in family():
            name = f"{family.__name__}: {table.name}"
            seen[name] = seen.get(name, 0) + 1
            yield table._replace(name=name if seen[name] == 1 else f"{name} ({seen[name]})")


# -- answers --------------------------------------------------------------------------------------


def answer(table: Golden) -> dict[str, Any]:
    """What is on record of a fit: what was removed and why, the mean and sigma."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = inlier.robust_mean(table.X, **table.options)
    mean = np.asarray(result.location, dtype=np.float64)
    # Of a long mean, some combinations of all of its entries.
    if len(mean) > 12:
        mean = np.random.default_rng(0).standard_normal((6, len(mean))) @ mean
    certificate = result.certificate
    return {
        "removed": np.flatnonzero(~np.asarray(result.support)).tolist(),
        "location": [float(x) for x in mean],
        "sigma": float(result.sigma),
        "groups": [[group.kind, group.size, float(group.log_p)] for group in result.groups],
        "suspects": [suspect.size for suspect in result.suspects],
        "findings": sorted(finding.kind.name for finding in result._outcome.findings),
        "at_least": int(certificate.l0_lower_bound),
    }


def differences(stored: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs beyond rounding, in words."""
    rtol = 1e-7
    found = [
        f"{name}: {stored[name]} was on record, now {now[name]}"
        for name in ("removed", "suspects", "findings", "at_least")
        if stored[name] != now[name]
    ]
    if [group[:2] for group in stored["groups"]] != [group[:2] for group in now["groups"]]:
        found.append(f"groups: {stored['groups']} were on record, now {now['groups']}")
    elif not np.allclose(
        [group[2] for group in stored["groups"]],
        [group[2] for group in now["groups"]],
        rtol=1e-5,
    ):
        found.append(f"chances: {stored['groups']} were on record, now {now['groups']}")
    # Relative to the spread too: the mean of a centered column is nothing but rounding.
    scale = max(np.abs(stored["location"]).max(), stored["sigma"])
    if not np.allclose(stored["location"], now["location"], rtol=rtol, atol=rtol * scale):
        found.append(f"location: {stored['location']} was on record, now {now['location']}")
    if not np.isclose(stored["sigma"], now["sigma"], rtol=10 * rtol, atol=1e-12 * scale):
        found.append(f"sigma: {stored['sigma']} was on record, now {now['sigma']}")
    return found


def main() -> None:
    """Compare all tables with the record, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the record anew")
    write = parser.parse_args().write
    answers = {table.name: answer(table) for table in all_tables()}
    if write:
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items())
        RECORD.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
        return
    stored = json.loads(RECORD.read_text(encoding="utf-8"))
    for name, now in answers.items():
        for difference in differences(stored[name], now):
            print(f"{name}: {difference}")


if __name__ == "__main__":
    main()
