"""How fast and how exact the engine is, on one thread, each line against its target.

    python benchmarks/engine.py                 everything
    python benchmarks/engine.py --quick         small tables only
    python benchmarks/engine.py --only fit      one section: fit, l1, half or import

Every section prints a table and writes its records to DIR/<section>.json.
"""

from __future__ import annotations

import os

# Read by the linear algebra libraries when numpy loads them, and by the processes started below.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
os.environ["VECLIB_MAXIMUM_THREADS"] = "1"

import argparse
import json
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.linalg import eigvalsh
from sklearn.exceptions import ConvergenceWarning

import inlier
from inlier.datasets import Sample, SettingA, SettingB

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {"A": SettingA, "B": SettingB}
REPEATS = 5
# The mean of the same rows, summed in another order, differs by rounding.
ROUNDING = 1e-10

MOST_PASSES = 25
MOST_EIGHS = {(2000, 100): 15.0, (800, 400): 2.0, (4000, 2000): 0.2}
L1_SPEEDUP, L1_GAP, L1_MEGABYTES = 500.0, 1e-6, 100.0
HALF_SLOWDOWN, HALF_GAP = 20.0, 1e-4
IMPORT_RATIO = 1.3

# Of the other processes: above the spare cores, the times are not to be trusted.
LOAD_BEFORE = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None

Record = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    quick: bool
    seed: int
    output: Path


# ---- the sections --------------------------------------------------------------------------------


def fit(options: Options) -> list[Record]:
    """robust_mean with its defaults against one eigendecomposition of the covariance."""
    records = []
    sizes = list(MOST_EIGHS)[: 2 if options.quick else 3]
    for (n, d), setting, alpha in product(sizes, SETTINGS, (0.1, 0.2, 0.3)):
        progress(f"fit: setting {setting}, {n} x {d}, alpha {alpha}")
        sample = SETTINGS[setting](n, d, alpha).sample(options.seed)
        sigma = sample.sigma
        eigh, ours = best_of(
            REPEATS,
            lambda X=sample.X: np.linalg.eigh(np.cov(X.T)),
            lambda X=sample.X, sigma=sigma: inlier.robust_mean(X, sigma=sigma),
        )
        result = ours.answer
        good = ~sample.is_outlier
        record = {
            "setting": setting,
            "n": n,
            "d": d,
            "alpha": alpha,
            "seconds": ours.seconds,
            "eigh_seconds": eigh.seconds,
            "ratio": ours.seconds / eigh.seconds,
            "ratio_target": MOST_EIGHS[n, d],
            "n_passes": result.n_passes,
            "outliers_kept": int((result.support & ~good).sum()),
            "inliers_lost": int((~result.support & good).sum()),
            "error": float(np.linalg.norm(result.location - sample.mean)),
            "converged": result.converged,
        }
        record["missed"] = missed(
            ratio=record["ratio"] <= record["ratio_target"],
            passes=record["n_passes"] <= MOST_PASSES,
            set=bool((result.support == good).all()),
            error=record["error"] <= ROUNDING,
        )
        records.append(record)
    print_table(
        f"Fit, sigma known, against eigh(cov) (at most {MOST_PASSES} passes, exact set, error 0)",
        records,
        [
            Column("", lambda r: r["setting"]),
            Column("n x d", shape),
            Column("alpha", lambda r: f"{r['alpha']:.1f}"),
            Column("ms", lambda r: f"{1e3 * r['seconds']:.1f}"),
            Column("eigh ms", lambda r: f"{1e3 * r['eigh_seconds']:.1f}"),
            Column("ratio", lambda r: f"{r['ratio']:.3g}"),
            Column("target", lambda r: f"<= {r['ratio_target']:g}"),
            Column("passes", lambda r: str(r["n_passes"])),
            Column("set", recovered),
            Column("error", error),
            VERDICT,
        ],
    )
    return records


def l1(options: Options) -> list[Record]:
    """One packing SDP about the coordinate-wise median, against cvxpy with SCS."""
    n, d = (200, 20) if options.quick else (800, 100)
    case = (n, d, options.seed)
    progress(f"l1: {n} x {d}, ours")
    before, memory = timed_l1(*case), alone(l1_memory, *case)
    progress(f"l1: {n} x {d}, cvxpy (half a minute at 800 x 100)")
    rival = alone(l1_by_cvxpy, *case)
    ours = min(before, timed_l1(*case), key=lambda record: record["seconds"]) | memory

    # What either is worth, measured by the better of the two bounds that we know: ours.
    rival["relative_gap"] = (rival.pop("objective") - ours["dual_objective"]) / n
    speedup = rival["seconds"] / ours["seconds"]
    ours["missed"] = missed(
        # A target at 800 x 100: a smaller problem is all overhead.
        speed=speedup >= L1_SPEEDUP or options.quick,
        gap=ours["relative_gap"] <= L1_GAP,
        memory=ours["megabytes"] < L1_MEGABYTES,
    )
    common = {"setting": "B", "n": n, "d": d, "alpha": 0.2}
    records = [
        common | {"solver": "inlier", "speedup": speedup} | ours,
        common | {"solver": "cvxpy + SCS", "speedup": 1.0, "missed": None} | rival,
    ]
    print_table(
        f"One l1 problem, setting B, {n} x {d}, alpha 0.2, against cvxpy with SCS (at least "
        f"{L1_SPEEDUP:g} times faster, gap {L1_GAP:g}, under {L1_MEGABYTES:g} MB)",
        records,
        [
            Column("", lambda r: r["solver"]),
            Column("seconds", lambda r: f"{r['seconds']:.4g}"),
            Column("solver alone", lambda r: f"{r['solver_seconds']:.4g}"),
            Column("times faster", lambda r: f"{r['speedup']:.0f}"),
            Column("relative gap", lambda r: f"{r['relative_gap']:.1e}"),
            Column("extra MB", lambda r: f"{r['megabytes']:.1f}"),
            Column("passes", lambda r: str(r.get("n_passes", ""))),
            VERDICT,
        ],
    )
    return records


def half(options: Options) -> list[Record]:
    """The l1 problem with half of the budget that the inliers need, against all of it."""
    sizes = [(800, 100), (2000, 100), (800, 400)] + ([] if options.quick else [(4000, 2000)])
    records = []
    for (n, d), setting in product(sizes, SETTINGS):
        progress(f"half: setting {setting}, {n} x {d}")
        sample = SETTINGS[setting](n, d, 0.2).sample(options.seed)
        budget = n * sample.sigma**2
        full, tight = best_of(
            1 if d >= 2000 else REPEATS,
            lambda s=sample, b=budget: inlier.l0.solve_l1(s.X, s.mean, b, tol=L1_GAP),
            lambda s=sample, b=budget / 2: inlier.l0.solve_l1(s.X, s.mean, b, tol=HALF_GAP),
        )
        record = {"setting": setting, "n": n, "d": d, "alpha": 0.2}
        for name, run in (("full", full), ("half", tight)):
            primal, dual = bounds(sample.X - sample.mean, run.answer)
            prices = run.answer.multiplier
            record |= {
                f"{name}_seconds": run.seconds,
                f"{name}_relative_gap": (primal - dual) / n,
                f"{name}_rank": int((prices > 1e-6 * prices.max(initial=0.0)).sum()),
                f"{name}_passes": run.answer.n_passes,
                f"{name}_converged": run.answer.converged,
            }
        record["ratio"] = tight.seconds / full.seconds
        record["missed"] = missed(
            ratio=record["ratio"] <= HALF_SLOWDOWN,
            gap=record["half_relative_gap"] <= HALF_GAP and record["full_relative_gap"] <= L1_GAP,
            converged=tight.answer.converged and full.answer.converged,
        )
        records.append(record)
    print_table(
        f"The l1 problem at half the inliers' norm (gap {HALF_GAP:g}) against the full norm (gap "
        f"{L1_GAP:g}), alpha 0.2 (at most {HALF_SLOWDOWN:g} times slower)",
        records,
        [
            Column("", lambda r: r["setting"]),
            Column("n x d", shape),
            Column("full s", lambda r: f"{r['full_seconds']:.3f}"),
            Column("half s", lambda r: f"{r['half_seconds']:.3f}"),
            Column("ratio", lambda r: f"{r['ratio']:.1f}"),
            Column("gap full", lambda r: f"{r['full_relative_gap']:.1e}"),
            Column("half", lambda r: f"{r['half_relative_gap']:.1e}"),
            Column("rank full", lambda r: str(r["full_rank"])),
            Column("half", lambda r: str(r["half_rank"])),
            Column("passes full", lambda r: str(r["full_passes"])),
            Column("half", lambda r: str(r["half_passes"])),
            VERDICT,
        ],
    )
    return records


def import_time(options: Options) -> list[Record]:
    """Fresh interpreters that import us, or scikit-learn's covariance module, or nothing."""
    commands = {
        "nothing": "pass",
        "sklearn": "import sklearn.covariance",
        "inlier": "import inlier",
    }

    def fresh(command: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", command], check=True)

    progress("import")
    runs = best_of(3 if options.quick else 7, *map(fresh, commands.values()), clock=perf_counter)
    nothing, sklearn, ours = (run.seconds for run in runs)
    # Without the start of the interpreter, which both have: the stricter of the two ratios.
    ratio = (ours - nothing) / (sklearn - nothing)
    record = {
        "inlier_seconds": ours,
        "sklearn_seconds": sklearn,
        "interpreter_seconds": nothing,
        "ratio": ratio,
        "process_ratio": ours / sklearn,
        "missed": missed(ratio=ratio <= IMPORT_RATIO),
    }
    print_table(
        f"Import, fresh processes, in seconds (at most {IMPORT_RATIO:g} times sklearn.covariance)",
        [record],
        [
            Column("inlier", lambda r: f"{r['inlier_seconds']:.3f}"),
            Column("sklearn.covariance", lambda r: f"{r['sklearn_seconds']:.3f}"),
            Column("bare python", lambda r: f"{r['interpreter_seconds']:.3f}"),
            Column("ratio", lambda r: f"{r['process_ratio']:.2f}"),
            Column("ratio less bare python", lambda r: f"{r['ratio']:.2f}"),
            VERDICT,
        ],
    )
    return [record]


SECTIONS: dict[str, Callable[[Options], list[Record]]] = {
    "fit": fit,
    "l1": l1,
    "half": half,
    "import": import_time,
}


# ---- the l1 problem, by us and by cvxpy ----------------------------------------------------------


def l1_problem(n: int, d: int, seed: int) -> tuple[Sample, np.ndarray, float]:
    """Rows, center and budget."""
    sample = SettingB(n, d, 0.2).sample(seed)
    return sample, np.median(sample.X, axis=0), n * sample.sigma**2


def timed_l1(n: int, d: int, seed: int) -> Record:
    """Seconds and gap of our solution."""
    sample, center, budget = l1_problem(n, d, seed)
    [run] = best_of(REPEATS, lambda: inlier.l0.solve_l1(sample.X, center, budget, tol=L1_GAP))
    primal, dual = bounds(sample.X - center, run.answer)
    return {
        "seconds": run.seconds,
        "solver_seconds": run.seconds,
        "dual_objective": dual,
        "relative_gap": (primal - dual) / n,
        "n_passes": run.answer.n_passes,
        "converged": run.answer.converged,
    }


def l1_memory(n: int, d: int, seed: int) -> Record:
    """Megabytes that our solution takes; for a process of its own."""
    sample, center, budget = l1_problem(n, d, seed)
    resident = fresh_peak()
    inlier.l0.solve_l1(sample.X, center, budget, tol=L1_GAP)
    return {"megabytes": (peak_memory() - resident) / 1e6}


def l1_by_cvxpy(n: int, d: int, seed: int) -> Record:
    """Seconds, megabytes and the value of SCS's weights; for a process of its own."""
    import cvxpy as cp

    sample, center, budget = l1_problem(n, d, seed)
    A = sample.X - center
    resident = fresh_peak()
    start = process_time()
    w = cp.Variable(n)
    within = A.T @ cp.diag(w) @ A << budget * np.eye(d)
    problem = cp.Problem(cp.Minimize(cp.sum(1 - w)), [w >= 0, w <= 1, within])
    problem.solve(solver=cp.SCS)
    return {
        "seconds": process_time() - start,
        "solver_seconds": float(problem.solver_stats.solve_time),
        "megabytes": (peak_memory() - resident) / 1e6,
        "objective": n - feasible(A, w.value, budget).sum(),
        "status": problem.status,
    }


def bounds(A: np.ndarray, solution: inlier.Solution) -> tuple[float, float]:
    """Objectives of the l1 problem and of its dual, with nothing taken over but w and Lambda."""
    n = len(A)
    w = feasible(A, solution.weights, solution.budget)
    q = (A @ solution.directions.T) ** 2 @ solution.multiplier / solution.budget
    # Any multiple of Lambda is a multiplier too; the best makes some row's score 1.
    multiples = np.append(1.0 / q[q > 0.0], 0.0)
    paying = np.maximum(1.0 - np.outer(multiples, q), 0.0).sum(axis=1)
    most_kept = np.min(multiples * solution.multiplier.sum() + paying)
    return float(n - w.sum()), float(n - most_kept)


def feasible(A: np.ndarray, w: np.ndarray, budget: float) -> np.ndarray:
    """The weights, scaled down until they are within the budget."""
    w = np.clip(w, 0.0, 1.0)
    last = A.shape[1] - 1
    top = eigvalsh(A.T @ (w[:, None] * A), subset_by_index=(last, last))[0]
    return w * min(1.0, budget / top)


# ---- measuring -----------------------------------------------------------------------------------


class Run(NamedTuple):
    """The shortest time that a call took, and what it returned."""

    seconds: float
    answer: Any


def best_of(
    repeats: int,
    *calls: Callable[[], Any],
    at_most: float = np.inf,
    clock: Callable[[], float] = process_time,
) -> list[Run]:
    """Calls in turn, so that a slow moment of the machine meets all; at most for some seconds.

    The time is that of the processor, which on one thread is the time on the wall unless other
    processes want the core; those would hit the longer calls more often.
    """
    runs = [Run(np.inf, None)] * len(calls)
    begin = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the tables say it
        for repeat in range(repeats):
            for i, call in enumerate(calls):
                start = clock()
                answer = call()
                runs[i] = Run(min(runs[i].seconds, clock() - start), answer)
            elapsed = perf_counter() - begin
            if elapsed * (repeat + 2) / (repeat + 1) > at_most:
                break
    return runs


def alone(function: Callable[..., Record], *args: Any) -> Record:
    """What a function returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def peak_memory() -> int:
    """The most memory, in bytes, that this process has had."""
    # Not getrusage on Linux: a new process starts with the peak of its parent there.
    if (status := Path("/proc/self/status")).exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return 1024 * int(fields["VmHWM"].split()[0])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def fresh_peak() -> int:
    """The peak, after forgetting what lies before now where the system can (man 5 proc)."""
    if (forget := Path("/proc/self/clear_refs")).exists():
        forget.write_text("5")
    return peak_memory()


def missed(**reached: bool) -> list[str]:
    """The names of the targets that were not reached."""
    return [name for name, so in reached.items() if not so]


def machine() -> Record:
    """What the figures depend on, without anything that names the machine."""
    from threadpoolctl import threadpool_info

    pools = threadpool_info()
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "threads": max((pool["num_threads"] for pool in pools), default=1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas": f"{blas['name']} {blas['version']}",
        "blas_kernel": next((pool["architecture"] for pool in pools if "architecture" in pool), ""),
        "inlier": inlier.__version__,
        "load_before": LOAD_BEFORE,
    }


def cpu_model() -> str:
    """As the system calls it."""
    if (info := Path("/proc/cpuinfo")).exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


# ---- showing -------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A column of a printed table."""

    title: str
    text: Callable[[Record], str]


def shape(record: Record) -> str:
    return f"{record['n']} x {record['d']}"


def recovered(record: Record) -> str:
    kept, lost = record["outliers_kept"], record["inliers_lost"]
    wrong = [f"{kept} bad kept"] * (kept > 0) + [f"{lost} good lost"] * (lost > 0)
    return ", ".join(wrong) or "exact"


def error(record: Record) -> str:
    return "0" if record["error"] <= ROUNDING else f"{record['error']:.1e}"


def verdict(record: Record) -> str:
    if record["missed"] is None:
        return ""
    return "missed: " + ", ".join(record["missed"]) if record["missed"] else "ok"


VERDICT = Column("verdict", verdict)


def print_table(title: str, records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Columns of equal width: the first and the verdict to the left, the rest to the right."""
    progress("")
    lines = [[c.title for c in columns]] + [[c.text(r) for c in columns] for r in records]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    left = {0, len(columns) - 1}
    print(f"\n{title}\n")
    for i, line in enumerate(lines):
        cells = [
            cell.ljust(width) if j in left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  " + "  ".join(cells).rstrip())
        if i == 0:
            print("  " + "  ".join("-" * width for width in widths))
    sys.stdout.flush()


def progress(text: str) -> None:
    """One line that is written over, if someone is watching."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


class replaced:
    """A temporary path that takes the place of the given one if all goes well."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.temporary = path.with_name(f".{path.name}.{os.getpid()}")

    def __enter__(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.temporary

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.temporary.replace(self.path)
        else:
            self.temporary.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the sections, print their tables and write their records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables only")
    parser.add_argument("--only", choices=SECTIONS, help="one section")
    parser.add_argument("--seed", type=int, default=0, help="of the data (0)")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="where records and figures go (docs/results/engine; with --quick out/engine)",
    )
    given = parser.parse_args(arguments)
    default = ROOT / ("out/engine" if given.quick else "docs/results/engine")
    options = Options(given.quick, given.seed, given.output or default)

    begin = perf_counter()
    judged = []
    for name in [given.only] if given.only else SECTIONS:
        records = SECTIONS[name](options)
        judged += [record for record in records if record["missed"] is not None]
        content = {
            "section": name,
            "quick": options.quick,
            "seed": options.seed,
            "machine": machine(),
            "records": records,
        }
        with replaced(options.output / f"{name}.json") as path:
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    reached = sum(not record["missed"] for record in judged)
    seconds = perf_counter() - begin
    print(f"\n{reached} of {len(judged)} lines reach their targets; {seconds:.0f} s in all.\n")
    for key, value in machine().items():
        print(f"  {key.replace('_', ' '):<12} {value}")


if __name__ == "__main__":
    main()
