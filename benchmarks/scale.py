"""How the cost of a fit grows with rows and columns, against the fastest methods of others.

    python benchmarks/scale.py                    everything
    python benchmarks/scale.py --quick            small tables only
    python benchmarks/scale.py --only rows        one section: rows, columns, long or wide
    python benchmarks/scale.py --threads 2        of the linear algebra (1)
    python benchmarks/scale.py --limit 20         seconds after which a rival is left out (60)
    python benchmarks/scale.py --write            tables and figures into docs/results/scale.*

rows, columns and long (few rows): Setting B in single precision with a fifth of the rows bad and 5
added to every column, because real columns are not centered. For each fit seconds,
passes, the bytes that these read, these bytes per second of the whole fit and as a part of what the
machine copies in a second, whether the set is exact, and the distance to the mean of the good rows.
Then all methods on the same data. wide: a table of 50 long rows against one product `X @ X.T`.
"""

from __future__ import annotations

import argparse
import os

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--quick", action="store_true", help="small tables only")
parser.add_argument("--only", choices=("rows", "columns", "long", "wide"), help="one section")
parser.add_argument("--threads", type=int, default=1, help="of the linear algebra (1)")
parser.add_argument("--repeats", type=int, default=5, help="the fastest counts (5)")
parser.add_argument("--limit", type=float, default=60.0, help="seconds for a rival (60)")
parser.add_argument("--wide-columns", type=int, help="of the wide table (10,000,000)")
parser.add_argument("--seed", type=int, default=0, help="of the data (0)")
parser.add_argument("--write", action="store_true", help="write docs/results/scale.md")
parser.add_argument("--page", help="another place for the page that --write writes")
OPTIONS = parser.parse_args()

# Read by the linear algebra libraries when numpy loads them.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = str(OPTIONS.threads)
os.environ["VECLIB_MAXIMUM_THREADS"] = str(OPTIONS.threads)

import platform
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from pages import RESULTS, print_progress, write_page
from sklearn.exceptions import ConvergenceWarning

import inlier
from inlier.data.arrays import DenseTable

ALPHA = 0.2
ROWS, COLUMNS_OF_ROWS = (10**3, 10**4, 10**5, 10**6, 10**7), 50
COLUMNS, ROWS_OF_COLUMNS = (16, 64, 256, 1024, 4096), 10**4
LONG_COLUMNS, LONG_ROWS = (10**3, 10**4, 10**5, 10**6), 100
QUICK_ROWS, QUICK_COLUMNS, QUICK_LONG = 10**5, 256, 10**4
SHIFT = 5.0
WIDE_SHIFT, WIDE_SLACK = 0.5, 1.1
WIDE_COLUMNS, QUICK_WIDE_COLUMNS = 10**7, 10**5
OURS = {"sigma": "inlier-sigma", "nothing": "inlier"}
# The last two are the fastest of those that find the set in Setting B (docs/results/rivals.md).
RIVALS = (
    "mean",
    "coordinate-median",
    "geometric-median",
    "iterative-filtering",
    "fraction-agnostic",
    "fdr-filter",
)
# Nothing is repeated once its runs have taken so many seconds.
ENOUGH = 30.0
COPIED_BYTES = 512 * 10**6
BLOCK_ELEMENTS = 1 << 22
SLOPE_SIZES = 3

LOAD_BEFORE = os.getloadavg()[0] if hasattr(os, "getloadavg") else None


# ---- the data ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """A table, which rows are good, their mean, and their largest deviation in any direction."""

    X: np.ndarray
    good: np.ndarray
    mean: np.ndarray
    sigma: float

    @classmethod
    def of(cls, X: np.ndarray, good: np.ndarray) -> Data:
        wide = X.shape[0] <= X.shape[1]
        return cls(X, good, *(by_columns(X, good) if wide else by_rows(X, good)))

    def error(self, location: np.ndarray) -> float:
        return float(np.linalg.norm(location - self.mean))

    def recovered(self, support: np.ndarray) -> str:
        kept, lost = int((support & ~self.good).sum()), int((~support & self.good).sum())
        wrong = [f"{kept:,} bad kept"] * (kept > 0) + [f"{lost:,} good lost"] * (lost > 0)
        return ", ".join(wrong) or "yes"


def blocks(length: int, other: int) -> Iterable[slice]:
    """Parts of one side of a table, by the length of the other."""
    step = max(1, BLOCK_ELEMENTS // other)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def by_rows(X: np.ndarray, good: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean of the good rows and square root of the top eigenvalue of their covariance."""
    n, d = X.shape
    n_good = int(good.sum())
    mean, scatter = np.zeros(d), np.zeros((d, d))
    for part in blocks(n, d):
        mean += X[part][good[part]].sum(axis=0, dtype=np.float64) / n_good
    for part in blocks(n, d):
        centered = X[part][good[part]] - mean
        scatter += centered.T @ centered
    return mean, float(np.linalg.eigvalsh(scatter)[-1] / n_good) ** 0.5


def by_columns(X: np.ndarray, good: np.ndarray) -> tuple[np.ndarray, float]:
    """The same from the Gram matrix of the centered good rows."""
    n, d = X.shape
    n_good = int(good.sum())
    mean, gram = np.empty(d), np.zeros((n_good, n_good))
    for part in blocks(d, n):
        rows = X[good, part].astype(np.float64)
        mean[part] = rows.mean(axis=0)
        rows -= mean[part]
        gram += rows @ rows.T
    return mean, float(np.linalg.eigvalsh(gram)[-1] / n_good) ** 0.5


def setting_b(n: int, d: int) -> Data:
    """N(0, I); half of the bad rows at (c, c, 0, ...), half at (c, -c, 0, ...), c^2 = d / 2.

    Then SHIFT is added to every cell.
    """
    rng = np.random.default_rng(OPTIONS.seed)
    X = np.empty((n, d), np.float32)
    rng.standard_normal(out=X, dtype=np.float32)
    bad = rng.permutation(n)[: round(ALPHA * n)]
    good = np.ones(n, dtype=np.bool_)
    good[bad] = False
    X[bad] = 0.0
    for rows, sign in zip(np.array_split(bad, 2), (1.0, -1.0), strict=True):
        X[rows, 0], X[rows, 1] = (d / 2) ** 0.5, sign * (d / 2) ** 0.5
    X += np.float32(SHIFT)
    return Data.of(X, good)


def shifted_rows(n: int, d: int) -> Data:
    """N(0, I) with the last rows moved in all columns."""
    rng = np.random.default_rng(OPTIONS.seed)
    X = np.empty((n, d), np.float32)
    rng.standard_normal(out=X, dtype=np.float32)
    good = np.arange(n) < n - n // 5
    for row in np.flatnonzero(~good):
        X[row] += np.float32(WIDE_SHIFT)
    return Data.of(X, good)


# ---- measuring -----------------------------------------------------------------------------------


class Counted:
    """Adds up what the passes over tables in memory read: each reads its table once."""

    moved = 0.0

    def __enter__(self) -> Counted:
        def passes(table: DenseTable) -> int:
            return int(table.__dict__.get("n_passes", 0))

        def count(table: DenseTable, n_passes: int) -> None:
            more = n_passes - table.__dict__.get("n_passes", 0)
            if more > 0:
                n, d = table.shape
                self.moved += more * n * d * table._Y.dtype.itemsize
            table.__dict__["n_passes"] = n_passes

        DenseTable.n_passes = property(passes, count)  # type: ignore[assignment]
        return self

    def __exit__(self, *error: object) -> None:
        del DenseTable.n_passes


@dataclass
class Run:
    """The shortest time of a call, what it returned, and the bytes that its passes read."""

    seconds: float = np.inf
    answer: Any = None
    moved: float = 0.0


def best(call: Callable[[], Any]) -> Run:
    """Of several runs, unless they take long."""
    run, spent = Run(), 0.0
    for _ in range(OPTIONS.repeats):
        run.answer = None  # before the next is made
        with Counted() as counted:
            start = perf_counter()
            run.answer = call()
            seconds = perf_counter() - start
        run.seconds, run.moved = min(run.seconds, seconds), counted.moved
        spent += seconds
        if spent + seconds > ENOUGH:
            break
    return run


def copy_bandwidth() -> float:
    """Bytes that are read and written in a second by a copy."""
    source = np.ones(COPIED_BYTES // 4, np.float32)
    target = np.zeros_like(source)
    target.fill(2.0)
    return 2.0 * source.nbytes / best(lambda: np.copyto(target, source)).seconds


def extra_memory(call: Callable[[], Any]) -> int:
    """Bytes of arrays that a call has at most, beside its data."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """Of the straight line through log seconds against log size, at the largest sizes."""
    if len(sizes) < SLOPE_SIZES:
        return "-"
    x, y = np.log(sizes[-SLOPE_SIZES:]), np.log(seconds[-SLOPE_SIZES:])
    return f"{np.polyfit(x, y, 1)[0]:.2f}"


# ---- the sections --------------------------------------------------------------------------------


@dataclass
class Series:
    """Seconds and errors of one method, by size; a size that is not there was left out."""

    seconds: dict[int, float] = field(default_factory=dict)
    errors: dict[int, float] = field(default_factory=dict)

    @property
    def late(self) -> bool:
        return any(seconds > OPTIONS.limit for seconds in self.seconds.values())


def rows(bandwidth: float) -> str:
    most = QUICK_ROWS if OPTIONS.quick else max(ROWS)
    sizes = [n for n in ROWS if n <= most]
    made = grown(sizes, "n", lambda n: setting_b(n, COLUMNS_OF_ROWS), bandwidth)
    return f"## Rows\n\nn rows of {COLUMNS_OF_ROWS} columns.\n\n{made}"


def columns(bandwidth: float) -> str:
    most = QUICK_COLUMNS if OPTIONS.quick else max(COLUMNS)
    sizes = [d for d in COLUMNS if d <= most]
    made = grown(sizes, "d", lambda d: setting_b(ROWS_OF_COLUMNS, d), bandwidth)
    return f"## Columns\n\n{ROWS_OF_COLUMNS:,} rows of d columns.\n\n{made}"


def long(bandwidth: float) -> str:
    most = QUICK_LONG if OPTIONS.quick else max(LONG_COLUMNS)
    sizes = [d for d in LONG_COLUMNS if d <= most]
    made = grown(sizes, "d", lambda d: setting_b(LONG_ROWS, d), bandwidth, figure=False)
    return f"## Long rows\n\n{LONG_ROWS} rows of d columns.\n\n{made}"


def grown(
    sizes: list[int],
    side: str,
    draw: Callable[[int], Data],
    bandwidth: float,
    figure: bool = True,
) -> str:
    """All methods at all sizes."""
    methods = inlier.research.methods()
    series = {name: Series() for name in (*OURS.values(), *RIVALS)}
    lines = []
    for size in sizes:
        print_progress(f"{side} = {size:,}: data")
        data = draw(size)
        for told, name in OURS.items():
            print_progress(f"{side} = {size:,}: {name}")
            sigma = data.sigma if told == "sigma" else None
            run = best(lambda X=data.X, sigma=sigma: inlier.robust_mean(X, sigma=sigma))
            error = data.error(run.answer.location)
            series[name].seconds[size], series[name].errors[size] = run.seconds, error
            lines.append(
                [
                    f"{size:,}",
                    told,
                    duration(run.seconds),
                    str(run.answer.n_passes),
                    amount(run.moved),
                    *speeds(run.moved / run.seconds, bandwidth),
                    data.recovered(run.answer.support),
                    f"{error:.2g}",
                ]
            )
        for name in RIVALS:
            if series[name].late:
                continue
            print_progress(f"{side} = {size:,}: {name}")
            estimator = methods[name].make(alpha=1.0 - data.good.mean(), sigma=data.sigma)
            run = best(lambda X=data.X, estimator=estimator: estimator.fit(X))
            series[name].seconds[size] = run.seconds
            series[name].errors[size] = data.error(run.answer.location_)
        del data, run
    print_progress("")
    heads = [side, "told", "seconds", "passes", "moved", "GB/s", "of copy", "exact set", "error"]
    shown = ""
    if figure and OPTIONS.write:
        drawn = page().with_name(f"scale-{side}.svg")
        draw_growth(series, side, drawn)
        shown = f"![Seconds of a fit against {side}, with sigma and without]({drawn.name})"
    return "\n\n".join(
        (
            *([shown] if shown else []),
            table(heads, lines),
            "Seconds, and the slope of log seconds against "
            f"log {side} over the {SLOPE_SIZES} largest sizes of each method:",
            compared(series, sizes, side, "seconds"),
            "Distance to the mean of the good rows:",
            compared(series, sizes, side, "errors"),
        )
    )


def compared(series: dict[str, Series], sizes: list[int], side: str, what: str) -> str:
    """A line for each method, a column for each size."""
    methods = inlier.research.methods()
    lines = []
    for name, one in series.items():
        found = getattr(one, what)
        show = duration if what == "seconds" else "{:.2g}".format
        line = [name, " and ".join(methods[name].needs) or "-"]
        line += [show(found[size]) if size in found else "-" for size in sizes]
        if what == "seconds":
            line.append(slope(list(found), list(found.values())))
        lines.append(line)
    heads = ["method", "told", *(f"{side} = {size:,}" for size in sizes)]
    return table(heads + ["slope"] * (what == "seconds"), lines)


def wide(bandwidth: float) -> str:
    d = OPTIONS.wide_columns or (QUICK_WIDE_COLUMNS if OPTIONS.quick else WIDE_COLUMNS)
    lines = [*of_few_rows(40, d // 10, bandwidth), *of_few_rows(50, d, bandwidth)]
    print_progress("")
    heads = ["table", "", "seconds", "times `X @ X.T`", "passes", "moved", "GB/s", "of copy"]
    heads += ["extra memory", "exact set", "error"]
    return (
        f"## Few rows, many columns\n\nA fifth of the rows is shifted by {WIDE_SHIFT:g} in all "
        f"columns. Sigma is {WIDE_SLACK:g} times that of the good rows. Numpy works out `X @ X.T` "
        "as a symmetric product. Extra memory: the most that is allocated beside the data, in a "
        f"run of its own, and as a part of the data.\n\n{table(heads, lines)}"
    )


def of_few_rows(n: int, d: int, bandwidth: float) -> list[list[str]]:
    print_progress(f"{n} x {d:,}: data")
    data = shifted_rows(n, d)
    X = data.X
    print_progress(f"{n} x {d:,}: X @ X.T")
    product = best(lambda: X @ X.T)
    size = f"{n} x {d:,} ({amount(X.nbytes)})"
    speed = speeds(X.nbytes / product.seconds, bandwidth)
    own = [duration(product.seconds), "1", "1", amount(X.nbytes), *speed, "-", "-", "-"]
    lines = [[size, "`X @ X.T`", *own]]
    for told in ("nothing", "sigma"):
        print_progress(f"{n} x {d:,}: told {told}")
        sigma = WIDE_SLACK * data.sigma if told == "sigma" else None

        def fit(sigma: float | None = sigma) -> Any:
            return inlier.robust_mean(X, sigma=sigma)

        run = best(fit)
        location, support, n_passes = run.answer.location, run.answer.support, run.answer.n_passes
        run.answer = None
        extra = extra_memory(fit)
        lines.append(
            [
                size,
                f"fit, told {told}",
                duration(run.seconds),
                f"{run.seconds / product.seconds:.2f}",
                str(n_passes),
                amount(run.moved),
                *speeds(run.moved / run.seconds, bandwidth),
                f"{amount(extra)} ({extra / X.nbytes:.1%})",
                data.recovered(support),
                f"{data.error(location):.2g}",
            ]
        )
    return lines


SECTIONS: dict[str, Callable[[float], str]] = {
    "rows": rows,
    "columns": columns,
    "long": long,
    "wide": wide,
}


# ---- showing -------------------------------------------------------------------------------------


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rules = "|---|" + "---:|" * (len(heads) - 1)
    return "\n".join([f"| {' | '.join(heads)} |", rules, *(f"| {' | '.join(x)} |" for x in lines)])


def draw_growth(series: dict[str, Series], side: str, path: Path) -> None:
    """Seconds with sigma and without, beside lines of slope 1 through the last points."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style = {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "inlier",
    }
    # Blue and vermilion of Okabe and Ito, told apart by the marker too.
    looks = {"sigma": ("#0072B2", "o", "sigma given"), "nothing": ("#D55E00", "s", "nothing given")}
    with plt.rc_context(style):
        figure, axes = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
        lowest = np.inf
        for told, (color, marker, label) in looks.items():
            found = series[OURS[told]].seconds
            size, seconds = np.array(list(found), dtype=float), np.array(list(found.values()))
            axes.loglog(size, seconds, color=color, marker=marker, markersize=5, label=label)
            axes.loglog(size, seconds[-1] * size / size[-1], ":", color=color, lw=1.2, zorder=1)
            lowest = min(lowest, seconds.min())
        axes.plot([], [], ":", color="0.4", lw=1.2, label="slope 1: linear")
        # The lines run below the fixed costs of small tables: do not let them set the scale.
        axes.set_ylim(bottom=0.5 * lowest)
        axes.set(xlabel={"n": "rows n", "d": "columns d"}[side], ylabel="seconds of a fit")
        axes.grid(color="0.9", lw=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="upper left")
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def duration(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 100.0 else f"{seconds:.0f}"


def amount(size: float) -> str:
    """Bytes, in a unit that suits."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"


def speeds(speed: float, bandwidth: float) -> tuple[str, str]:
    """GB/s, and as a part of the copy bandwidth."""
    return f"{speed / 1e9:.2f}", f"{speed / bandwidth:.0%}"


def cpu_model() -> str:
    """As the system calls it."""
    if (info := Path("/proc/cpuinfo")).exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def command() -> str:
    """With what was asked for, but for the place of the page."""
    given = ["python benchmarks/scale.py"]
    for name, value in vars(OPTIONS).items():
        if name != "page" and value != parser.get_default(name):
            flag = f"--{name.replace('_', '-')}"
            given.append(flag if value is True else f"{flag} {value}")
    return " ".join(given)


def note(bandwidth: float) -> str:
    from threadpoolctl import threadpool_info

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    threads = max((pool["num_threads"] for pool in pools), default=OPTIONS.threads)
    kernels = ", ".join(sorted({pool.get("architecture", "") for pool in pools} - {""}))
    load = "unknown" if LOAD_BEFORE is None else f"{LOAD_BEFORE:.1f}"
    return (
        f"{cpu_model()}, {os.cpu_count()} cores, {threads} "
        f"{'thread' if threads == 1 else 'threads'}; load average before the run {load}; numpy "
        f"{np.__version__}, {blas['name']} {blas['version']}{f' ({kernels})' * bool(kernels)}. "
        f"Copy bandwidth {bandwidth / 1e9:.1f} GB/s, read and written, of {COPIED_BYTES // 10**6} "
        "MB.\n\n"
        f"Single precision. All but the last section: Setting B with {ALPHA:.0%} of the rows bad "
        f"and {SHIFT:g} added to every cell; methods "
        "that need alpha or sigma are told the true ones. Seconds on the wall, best of "
        f"{OPTIONS.repeats}, fewer where the runs take more than {ENOUGH:g} s. Moved: what the "
        "passes read, each its table once; not the look for NaN before the fit, nor copies that "
        "stay in the cache. GB/s: of the whole fit. Of copy: as a part of the copy bandwidth; "
        "tables that fit into the cache may exceed it. Errors of about 1e-7 of a row's length are "
        f"rounding. '-': left out, after more than {OPTIONS.limit:g} s at a smaller size.\n\n"
        f"    {command()}\n"
    )


def page() -> Path:
    return Path(OPTIONS.page) if OPTIONS.page else RESULTS / "scale.md"


def main() -> None:
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    bandwidth = copy_bandwidth()
    head = note(bandwidth)
    print(head)
    made = []
    for name in [OPTIONS.only] if OPTIONS.only else SECTIONS:
        made.append(SECTIONS[name](bandwidth))
        print(made[-1], end="\n\n", flush=True)
    if OPTIONS.write:
        write_page(page(), "Growth with rows and columns", head, "\n\n".join(made))


if __name__ == "__main__":
    main()
