"""How the cost of a fit grows with rows and columns, against the fastest methods of others.

Rows, columns and long rows: Setting B in single precision with a fifth of the rows bad and 5
added to every column, because real columns are not centered. For each fit seconds, passes, the
bytes that these read, these bytes per second of the whole fit and as a part of what the machine
copies in a second, whether the set is exact, and the distance to the mean of the good rows. Then
all methods on the same data.
"""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import common
import numpy as np
import pandas as pd
from common import print_progress
from sklearn.exceptions import ConvergenceWarning

from inlier.data import as_table
from inlier.research import methods

ALPHA = 0.2
SHIFT = 5.0
OURS = {"sigma": "inlier-sigma", "nothing": "inlier"}
# The last two are the fastest of those that find the set in Setting B (docs/results/rivals.md).
RIVALS = (
    *("mean", "coordinate-median", "geometric-median"),
    *("iterative-filtering", "fraction-agnostic", "fdr-filter"),
)
# Nothing is repeated once its runs have taken this many seconds; a rival that took longer than the
# limit is left out of larger sizes.
ENOUGH, LIMIT = 30.0, 60.0
COPIED_BYTES = 512 * 10**6
SLOPE_SIZES = 3


# The data -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """A table, which rows are good, their mean, and their largest deviation in any direction."""

    X: np.ndarray
    good: np.ndarray
    mean: np.ndarray
    sigma: float

    @classmethod
    def of(cls, X: np.ndarray, good: np.ndarray) -> Data:
        """From the Gram matrix of rows or columns, whichever are fewer."""
        mean, rows = X[good].mean(axis=0, dtype=np.float64), as_table(X).take(good)
        wide = rows.shape[0] < rows.shape[1]
        gram = rows.gram(mean) if wide else rows.scatter(mean, rows.constant(1.0))[0]
        return cls(X, good, mean, float(np.linalg.eigvalsh(gram)[-1] / good.sum()) ** 0.5)

    def error(self, location: np.ndarray) -> str:
        """Distance to the mean of the good rows."""
        return f"{np.linalg.norm(location - self.mean):.2g}"


def setting_b(n: int, d: int) -> Data:
    """N(0, I); half of the bad rows at (c, c, 0, ...), half at (c, -c, 0, ...), c^2 = d / 2.

    Then SHIFT is added to every cell.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    bad = rng.permutation(n)[: round(ALPHA * n)]
    X[bad] = 0.0
    for rows, sign in zip(np.array_split(bad, 2), (1.0, -1.0), strict=True):
        X[rows, 0], X[rows, 1] = (d / 2) ** 0.5, sign * (d / 2) ** 0.5
    X += np.float32(SHIFT)
    good = np.ones(n, dtype=np.bool_)
    good[bad] = False
    return Data.of(X, good)


class Growth(NamedTuple):
    """A section: what grows, the sizes (the last two are left out by --quick), and the table."""

    about: str
    side: str
    sizes: Sequence[int]
    shape: Callable[[int], tuple[int, int]]


GROWTHS = {
    "Rows": Growth("n rows of 50 columns.", "n", [10**k for k in range(3, 8)], lambda n: (n, 50)),
    "Columns": Growth(
        "10,000 rows of d columns.", "d", [4**k for k in range(2, 7)], lambda d: (10**4, d)
    ),
    "Long rows": Growth(
        "100 rows of d columns.", "d", [10**k for k in range(3, 7)], lambda d: (100, d)
    ),
}


# Measuring ----------------------------------------------------------------------------------------


def best(call: Callable[[], Any], repeats: int) -> common.Run:
    """On the wall."""
    return common.fastest(call, repeats=repeats, clock=perf_counter, most_seconds=ENOUGH)[0]


def copy_bandwidth(repeats: int) -> float:
    """Bytes that are read and written in a second by a copy."""
    source = np.ones(COPIED_BYTES // 4, np.float32)
    target = np.full_like(source, 2.0)
    return 2.0 * source.nbytes / best(partial(np.copyto, target, source), repeats).seconds


def slope(seconds: pd.Series) -> str:
    """Of the straight line through log seconds against log size, at the largest sizes."""
    largest = np.log(seconds.dropna()[-SLOPE_SIZES:])
    if len(largest) < SLOPE_SIZES:
        return "-"
    return f"{np.polyfit(np.log(largest.index.to_numpy(float)), largest, 1)[0]:.2f}"


# The sections -------------------------------------------------------------------------------------


def measured(growth: Growth, quick: bool, repeats: int) -> pd.DataFrame:
    """A line for each method and size, but for rivals that were too slow at a smaller one."""
    lines: list[dict[str, Any]] = []
    for size in growth.sizes[: -2 if quick else None]:
        print_progress(f"{growth.side} = {size:,}: data")
        data = setting_b(*growth.shape(size))
        slow = {line["method"] for line in lines if line["seconds"] > LIMIT} - {*OURS.values()}
        for name in [name for name in (*OURS.values(), *RIVALS) if name not in slow]:
            print_progress(f"{growth.side} = {size:,}: {name}")
            estimator = methods()[name].make(alpha=1.0 - data.good.mean(), sigma=data.sigma)
            run = best(partial(estimator.fit, data.X), repeats)
            result = estimator.result_
            line = {"method": name, "size": size, "seconds": run.seconds, "bytes": data.X.nbytes}
            line["passes"] = getattr(result, "details", result).n_passes
            line["set"] = common.wrong_rows(estimator.support_, data.good)
            lines.append(line | {"error": data.error(estimator.location_)})
        del data, estimator, run
    return pd.DataFrame(lines)


def grown(growth: Growth, figure: str, arguments: Namespace, bandwidth: float) -> str:
    """All methods at all sizes."""
    side, found = growth.side, measured(growth, arguments.quick, arguments.repeats)
    seconds, errors = (
        found.pivot(index="method", columns="size", values=value).loc[found.method.unique()]
        for value in ("seconds", "error")
    )
    told = {name: told for told, name in OURS.items()}
    ours = [
        {side: f"{x.size:,}", "told": told[x.method], "seconds": common.figure(x.seconds)}
        | moved(x.passes, x.bytes, x.seconds, bandwidth)
        | {"set": x.set, "error": x.error}
        for x in found[found.method.isin(told)].itertuples()
    ]
    parts = [growth.about]
    if figure and arguments.write:
        draw_growth(seconds, side, arguments.page.with_name(figure))
        parts.append(f"![Seconds of a fit against {side}, with sigma and without]({figure})")
    shown = seconds.map(common.figure)
    shown["slope"] = seconds.apply(slope, axis=1)
    parts += [
        common.markdown(ours),
        f"Seconds, and the slope of log seconds against log {side} over the {SLOPE_SIZES} largest "
        "sizes of each method:",
        compared(shown, side),
        "Distance to the mean of the good rows:",
        compared(errors.fillna("-"), side),
    ]
    return "\n\n".join(parts)


def compared(table: pd.DataFrame, side: str) -> str:
    """A line for each method, a column for each size."""
    known = methods()
    told = [" and ".join(known[name].needs) or "-" for name in table.index]
    heads = {size: f"{side} = {size:,}" for size in table.columns if size != "slope"}
    lines = table.rename(columns=heads).reset_index()
    lines.insert(1, "told", told)
    return common.markdown(lines.to_dict("records"))


# Showing ------------------------------------------------------------------------------------------


def draw_growth(seconds: pd.DataFrame, side: str, path: Path) -> None:
    """Seconds with sigma and without, beside lines of slope 1 through the last points."""
    # Blue and vermilion of Okabe and Ito, told apart by the marker too.
    looks = {"sigma": ("#0072B2", "o", "sigma given"), "nothing": ("#D55E00", "s", "nothing given")}
    with common.styled(5.4, 3.6) as figure:
        axes = figure.subplots()
        lowest = np.inf
        for told, (color, marker, label) in looks.items():
            found = seconds.loc[OURS[told]]
            size, spent = found.index.to_numpy(float), found.to_numpy()
            axes.loglog(size, spent, color=color, marker=marker, markersize=5, label=label)
            axes.loglog(size, spent[-1] * size / size[-1], ":", color=color, lw=1.2, zorder=1)
            lowest = min(lowest, spent.min())
        axes.plot([], [], ":", color="0.4", lw=1.2, label="slope 1: linear")
        # The lines run below the fixed costs of small tables: do not let them set the scale.
        axes.set_ylim(bottom=0.5 * lowest)
        axes.set(xlabel={"n": "rows n", "d": "columns d"}[side], ylabel="seconds of a fit")
        axes.legend(loc="upper left")
    common.save(figure, path)


def moved(n_passes: int, size: int, seconds: float, bandwidth: float) -> dict[str, object]:
    """What passes over a table of so many bytes read, in all and in a second."""
    speed = n_passes * size / seconds
    return {
        "passes": n_passes,
        "GB": f"{n_passes * size / 1e9:.3g}",
        "GB/s": f"{speed / 1e9:.2f}",
        "of copy": f"{speed / bandwidth:.0%}",
    }


def note(arguments: Namespace, bandwidth: float) -> str:
    """The machine, and how it is measured."""
    threads = f"{arguments.threads} {'thread' if arguments.threads == 1 else 'threads'}"
    return (
        f"{common.machine()}; {threads}. "
        f"Copy bandwidth {bandwidth / 1e9:.1f} GB/s, read and written, of {COPIED_BYTES // 10**6} "
        "MB.\n\n"
        f"Single precision, Setting B with {ALPHA:.0%} of the rows bad "
        f"and {SHIFT:g} added to every cell; methods that need alpha or sigma are given the true "
        f"ones. Seconds on the wall, best of {arguments.repeats}, fewer where the runs take more "
        f"than {ENOUGH:g} s. GB: what the passes read, each the whole table once; not the test "
        "for NaN before the fit, nor copies that stay in the cache. GB/s: of the whole fit. Of "
        "copy: as a part of the copy bandwidth; tables that fit into the cache may exceed it. "
        "Errors of about 1e-7 of a row's length are rounding. '-': left out, after more than "
        f"{LIMIT:g} s at a smaller size."
    )


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "scale.md",
        given,
        quick=(False, "small tables only"),
        only=(None, "sections separated by semicolons"),
        threads=(1, "of the linear algebra"),
        repeats=(5, "the fastest counts"),
    )
    warnings.simplefilter("ignore", ConvergenceWarning)
    bandwidth = copy_bandwidth(arguments.repeats)
    sections = {}
    for name in common.chosen(arguments.only, GROWTHS, ";"):
        # Long rows are a second table that grows with d, without a figure.
        figure = f"scale-{GROWTHS[name].side}.svg" if name != "Long rows" else ""
        sections[name] = grown(GROWTHS[name], figure, arguments, bandwidth)
    title, command = "Growth with rows and columns", "python benchmarks/scale.py --write"
    common.publish(arguments, title, note(arguments, bandwidth), command, sections)


if __name__ == "__main__":
    main()
