"""Robust covariance and principal components, against those of scikit-learn.

Clean tables have nothing to remove: a robust covariance has to be the plain one. In contaminated
tables a share of Gaussian rows is moved or spread, and the error is compared with that of someone
who is told which rows are good.

Prints Markdown tables; `--write` also puts them into docs/results/covariance.md.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Sequence

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import sklearn
from pages import RESULTS, figure, print_progress, write_page
from scipy.linalg import subspace_angles
from sklearn.covariance import EmpiricalCovariance, LedoitWolf, MinCovDet
from sklearn.decomposition import PCA

import inlier
from inlier import RobustCovariance, RobustPCA

WRITTEN = RESULTS / "covariance.md"
SIZES = ((500, 5), (2000, 20), (1000, 100))
WIDE = ((400, 10), (150, 2000), (100, 10000))
CLEAN_SIZES = ((50, 3), (100, 5), (500, 5), (300, 20), (2000, 20), (1000, 100))
ALPHAS = (0.1, 0.2, 0.3)
# Columns from which on the minimum covariance determinant is fitted to one draw only: it takes
# several times as long as all others together.
SLOW = 100

Rows = np.ndarray


# Tables -------------------------------------------------------------------------------------------


def student(n: int, d: int, rng: np.random.Generator) -> Rows:
    return rng.standard_t(5, (n, d)) / np.sqrt(5 / 3)


def elliptical(n: int, d: int, rng: np.random.Generator) -> Rows:
    return rng.standard_normal((n, d)) * np.sqrt(3 / rng.chisquare(5, (n, 1)))


def lognormal(n: int, d: int, rng: np.random.Generator) -> Rows:
    return (rng.lognormal(size=(n, d)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)


def uniform(n: int, d: int, rng: np.random.Generator) -> Rows:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), (n, d))


def gaussian(n: int, d: int, rng: np.random.Generator) -> Rows:
    return rng.standard_normal((n, d))


def one(column: Callable[[int, int, np.random.Generator], Rows]) -> Callable[..., Rows]:
    """Replace one column of Gaussian rows."""

    def draw(n: int, d: int, rng: np.random.Generator) -> Rows:
        X = rng.standard_normal((n, d))
        X[:, :1] = column(n, 1, rng)
        return X

    return draw


def laplace(n: int, d: int, rng: np.random.Generator) -> Rows:
    return rng.laplace(size=(n, d)) / np.sqrt(2)


CLEAN = {
    "Gaussian": gaussian,
    "t5": student,
    "multivariate t5": elliptical,
    "lognormal": lognormal,
    "uniform": uniform,
    "Gaussian, one column lognormal": one(lognormal),
    "Gaussian, one column t5": one(student),
    "Gaussian, one column Laplace": one(laplace),
}


def cluster(X: Rows, m: int, u: Rows, rng: np.random.Generator) -> None:
    X[:m] += 6 * u


def pair(X: Rows, m: int, u: Rows, rng: np.random.Generator) -> None:
    X[:m] += 6 * np.outer(rng.choice([-1, 1], m), u)


def wider(factor: float) -> Callable[..., None]:
    def spread(X: Rows, m: int, u: Rows, rng: np.random.Generator) -> None:
        X[:m] += (factor - 1) * np.outer(X[:m] @ u, u)

    return spread


def wider_in_five(X: Rows, m: int, u: Rows, rng: np.random.Generator) -> None:
    Q = np.linalg.qr(rng.standard_normal((X.shape[1], 5)))[0]
    X[:m] += 2 * X[:m] @ Q @ Q.T


def wider_everywhere(X: Rows, m: int, u: Rows, rng: np.random.Generator) -> None:
    X[:m] *= 3


BAD = {
    "a cluster, 6 sigma away": cluster,
    "two clusters, 6 sigma on either side": pair,
    "10 times as wide along a direction": wider(10),
    "5 times as wide along a direction": wider(5),
    "3 times as wide along a direction": wider(3),
    "3 times as wide along five directions": wider_in_five,
    "3 times as wide along all directions": wider_everywhere,
}


def contaminated(how: str, n: int, d: int, alpha: float, seed: int) -> tuple[Rows, Rows, Rows]:
    """Return rows, which of them are good, and the true covariance of these."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d)) / np.sqrt(d) + np.eye(d)
    X, m = rng.standard_normal((n, d)), int(alpha * n)
    u = rng.standard_normal(d)
    BAD[how](X, m, u / np.linalg.norm(u), rng)
    return X @ mixing.T, np.arange(n) >= m, mixing @ mixing.T


# Errors -------------------------------------------------------------------------------------------


def relative_error(covariance: Rows, truth: Rows) -> float:
    """Return the largest relative error of the variance along a direction."""
    inverse = np.linalg.inv(np.linalg.cholesky(truth))
    return float(np.linalg.norm(inverse @ covariance @ inverse.T - np.eye(len(truth)), 2))


def markdown(header: str, lines: list[list[str]]) -> str:
    n = header.count("|") + 1
    rule = "|" + "---|" + "---:|" * (n - 1)
    return "\n".join([f"| {header} |", rule, *(f"| {' | '.join(line)} |" for line in lines)])


def table_of_clean(draws: int) -> str:
    """Error over that of the plain covariance, and rows lost."""
    lines = []
    for name, draw in CLEAN.items():
        for n, d in CLEAN_SIZES:
            print_progress(f"clean, {name}, {n} x {d}")
            ratios, lost = [], []
            for seed in range(draws if n * d < 1e5 else max(2, draws // 5)):
                X = draw(n, d, np.random.default_rng(seed))
                model, truth = RobustCovariance().fit(X), np.eye(d)
                plain = relative_error(EmpiricalCovariance().fit(X).covariance_, truth)
                ratios.append(relative_error(model.covariance_, truth) / plain)
                lost.append(np.mean(~model.support_))
            gone = np.array(lost)
            lines.append([
                name, f"{n} x {d}", figure(float(np.mean(ratios))), figure(float(max(ratios))),
                f"{np.sum(gone > 0)} of {len(gone)}", f"{100 * gone.max():.1f}%",
            ])  # fmt: skip
    return markdown(
        "clean rows | size | error / error of the plain covariance | at most | tables that lose "
        "rows | most rows lost",
        lines,
    )


def table_of_contaminated(n: int, d: int, draws: int) -> str:
    methods: dict[str, Callable[[], EmpiricalCovariance]] = {
        "plain": EmpiricalCovariance,
        "Ledoit-Wolf": LedoitWolf,
        "MinCovDet": lambda: MinCovDet(random_state=0),
        "RobustCovariance": RobustCovariance,
        'assume="gaussian"': lambda: RobustCovariance(assume="gaussian"),
    }
    lines = []
    for how in BAD:
        if how == "3 times as wide along five directions" and d == 5:
            continue  # which are all
        for alpha in ALPHAS:
            print_progress(f"{n} x {d}, {how}, alpha {alpha}")
            errors: dict[str, list[float]] = {name: [] for name in ("told", *methods)}
            for seed in range(draws):
                X, good, truth = contaminated(how, n, d, alpha, seed)
                told = EmpiricalCovariance().fit(X[good])
                errors["told"].append(relative_error(told.covariance_, truth))
                for name, method in methods.items():
                    slow = d >= SLOW and name == "MinCovDet"
                    if slow and seed > 0:
                        continue
                    errors[name].append(relative_error(method().fit(X).covariance_, truth))
            medians = {k: float(np.median(v)) if v else float("nan") for k, v in errors.items()}
            robust = ("MinCovDet", "RobustCovariance", 'assume="gaussian"')
            best = np.nanmin([medians[name] for name in robust])
            cells = [
                f"**{figure(v)}**" if k in robust and v <= 1.05 * best else figure(v)
                for k, v in medians.items()
            ]
            lines.append([how, f"{alpha:g}", *cells])
    names = " | ".join(["bad rows", "share", "told which are good", *methods])
    return markdown(names, lines)


def angle(components: Rows, basis: Rows) -> float:
    return float(np.degrees(subspace_angles(components.T, basis.T).max()))


def table_of_components(draws: int) -> str:
    """Rows near a plane; the largest principal angle to it."""
    lines = []
    for n, d in WIDE:
        for how in ("none", "cluster", "two clusters", "spread"):
            for alpha in (0.1, 0.3) if how != "none" else (0.0,):
                print_progress(f"components, {n} x {d}, {how}, alpha {alpha}")
                angles, seconds = [], []
                for seed in range(draws):
                    X, basis, m = near_a_plane(n, d, alpha, how, seed)
                    start = time.process_time()
                    ours = RobustPCA(2).fit(X)
                    seconds.append(time.process_time() - start)
                    models = (PCA(2).fit(X[m:]), PCA(2, random_state=0).fit(X), ours)
                    angles.append([angle(model.components_, basis) for model in models])
                found = np.median(angles, axis=0)
                cells = [f"{x:.1f}" for x in found] + [f"{np.median(seconds):.2f}"]
                lines.append([how, f"{n} x {d}", f"{alpha:g}", *cells])
    return markdown("bad rows | size | share | told which are good | PCA | RobustPCA | s", lines)


def near_a_plane(n: int, d: int, alpha: float, how: str, seed: int) -> tuple[Rows, Rows, int]:
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, 3)))[0].T
    X = rng.standard_normal((n, 2)) * [6, 4] @ basis[:2]
    X += rng.standard_normal((n, d)) * min(1.0, 10 / np.sqrt(d))
    m = int(alpha * n)
    if how == "cluster":
        X[:m] += 30 * basis[2]
    elif how == "two clusters":
        X[:m] += 30 * np.outer(rng.choice([-1, 1], m), basis[2])
    elif how == "spread":
        X[:m] += 30 * np.outer(rng.standard_normal(m), basis[2])
    return X, basis[:2], m


# The page -----------------------------------------------------------------------------------------


def main(options: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--draws", type=int, default=3, help="of each contaminated table")
    parser.add_argument("--clean-draws", type=int, default=20, help="of each clean table")
    parser.add_argument("--most-columns", type=int, default=10**9, help="leave out larger tables")
    parser.add_argument("--write", action="store_true", help=f"write {WRITTEN.name}")
    arguments = parser.parse_args(options)
    warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
    # Of MinCovDet, where the determinant of a step increases by rounding.
    warnings.simplefilter("ignore", RuntimeWarning)
    sections = {"Clean tables": table_of_clean(arguments.clean_draws)}
    for n, d in SIZES:
        if d <= arguments.most_columns:
            sections[f"Contaminated, {n} x {d}"] = table_of_contaminated(n, d, arguments.draws)
    sections["Principal components"] = table_of_components(arguments.draws)
    print_progress("")
    text = "\n\n".join(f"## {title}\n\n{lines}" for title, lines in sections.items())
    print(text)
    if arguments.write:
        about = __doc__.split("\n\n")[1].strip()
        note = (
            f"{about}\n\nErrors of a covariance are the largest relative error of the variance "
            "along a direction. Columns of clean tables have variance 1 and are independent, but "
            f"for the multivariate t5; {arguments.clean_draws} draws of each, a fifth from 100,000 "
            "cells on. Good rows of contaminated tables are Gaussian with a covariance drawn at "
            f"random: medians of {arguments.draws} draws; MinCovDet with {SLOW} columns is one "
            "draw. Bold: the best of the robust ones, within 5%. Principal "
            "components are the first two of rows near a plane, bad rows are 30 away from it (a "
            "cluster, two, or spread so much); the figures are the largest principal angle to the "
            "plane, in degrees, and the processor time of RobustPCA on one thread. scikit-learn "
            f"{sklearn.__version__}, numpy {np.__version__}.\n\n    make bench-covariance\n"
        )
        write_page(WRITTEN, "Covariance and principal components", note, text)


if __name__ == "__main__":
    main()
