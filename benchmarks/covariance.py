"""Robust covariance and principal components, against those of scikit-learn.

Clean tables have nothing to remove: a robust covariance has to be the plain one. In contaminated
tables a share of Gaussian rows is moved or spread, and the error is compared with that of someone
who is told which rows are good.

Prints Markdown tables; `--write` also puts them into docs/results/covariance.md.
"""

import warnings
from collections.abc import Callable, Sequence
from time import process_time

import common
import numpy as np
from scipy.linalg import subspace_angles
from sklearn.covariance import EmpiricalCovariance, LedoitWolf, MinCovDet
from sklearn.decomposition import PCA

from inlier import RobustCovariance, RobustPCA
from inlier.research.datasets import Gaussian, Laplace, StudentT

SIZES = ((500, 5), (2000, 20), (1000, 100))
WIDE = ((400, 10), (150, 2000), (100, 10000))
CLEAN_SIZES = ((50, 3), (100, 5), (500, 5), (300, 20), (2000, 20), (1000, 100))
ALPHAS = (0.1, 0.2, 0.3)
# Columns from which on the minimum covariance determinant is fitted to one draw only: it takes
# several times as long as all others together.
SLOW = 100

Rows = np.ndarray


def lognormal(n: int, d: int, rng: np.random.Generator) -> Rows:
    """Of variance 1."""
    return (rng.lognormal(size=(n, d)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)


def student(n: int, d: int, rng: np.random.Generator) -> Rows:
    """Of variance 1."""
    return StudentT(5).draw(n, d, rng) / np.sqrt(5 / 3)


def one(column: Callable[[int, int, np.random.Generator], Rows]) -> Callable[..., Rows]:
    """Replace one column of Gaussian rows."""

    def draw(n: int, d: int, rng: np.random.Generator) -> Rows:
        X = rng.standard_normal((n, d))
        X[:, :1] = column(n, 1, rng)
        return X

    return draw


CLEAN: dict[str, Callable[[int, int, np.random.Generator], Rows]] = {
    "Gaussian": Gaussian().draw,
    "t5": student,
    "multivariate t5": lambda n, d, rng: StudentT(5, joint=True).draw(n, d, rng) / np.sqrt(5 / 3),
    "lognormal": lognormal,
    "uniform": lambda n, d, rng: rng.uniform(-np.sqrt(3), np.sqrt(3), (n, d)),
    "Gaussian, one column lognormal": one(lognormal),
    "Gaussian, one column t5": one(student),
    "Gaussian, one column Laplace": one(lambda n, d, rng: Laplace().draw(n, d, rng) / np.sqrt(2)),
}


def wider_in_five(bad: Rows, u: Rows, rng: np.random.Generator) -> Rows:
    Q = np.linalg.qr(rng.standard_normal((bad.shape[1], 5)))[0]
    return bad + 2 * bad @ Q @ Q.T


# Of Gaussian rows and a direction.
BAD: dict[str, Callable[[Rows, Rows, np.random.Generator], Rows]] = {
    "a cluster, 6 sigma away": lambda bad, u, rng: bad + 6 * u,
    "two clusters, 6 sigma on either side": (
        lambda bad, u, rng: bad + 6 * np.outer(rng.choice([-1, 1], len(bad)), u)
    ),
    "10 times as wide along a direction": lambda bad, u, rng: bad + 9 * np.outer(bad @ u, u),
    "5 times as wide along a direction": lambda bad, u, rng: bad + 4 * np.outer(bad @ u, u),
    "3 times as wide along a direction": lambda bad, u, rng: bad + 2 * np.outer(bad @ u, u),
    "3 times as wide along five directions": wider_in_five,
    "3 times as wide along all directions": lambda bad, u, rng: 3 * bad,
}


def contaminated(how: str, n: int, d: int, alpha: float, seed: int) -> tuple[Rows, Rows, Rows]:
    """Return rows, which of them are good, and the true covariance of these."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d)) / np.sqrt(d) + np.eye(d)
    X, m = rng.standard_normal((n, d)), int(alpha * n)
    u = rng.standard_normal(d)
    X[:m] = BAD[how](X[:m], u / np.linalg.norm(u), rng)
    return X @ mixing.T, np.arange(n) >= m, mixing @ mixing.T


def relative_error(covariance: Rows, truth: Rows) -> float:
    """Return the largest relative error of the variance along a direction."""
    inverse = np.linalg.inv(np.linalg.cholesky(truth))
    return float(np.linalg.norm(inverse @ covariance @ inverse.T - np.eye(len(truth)), 2))


def table_of_clean(draws: int) -> str:
    """Error over that of the plain covariance, and rows lost."""
    lines = []
    for name, draw in CLEAN.items():
        for n, d in CLEAN_SIZES:
            common.print_progress(f"clean, {name}, {n} x {d}")
            ratios, lost = [], []
            for seed in range(draws if n * d < 1e5 else max(2, draws // 5)):
                X = draw(n, d, np.random.default_rng(seed))
                model, truth = RobustCovariance().fit(X), np.eye(d)
                plain = relative_error(EmpiricalCovariance().fit(X).covariance_, truth)
                ratios.append(relative_error(model.covariance_, truth) / plain)
                lost.append(np.mean(~model.support_))
            line = {
                "clean rows": name,
                "size": f"{n} x {d}",
                "error / error of the plain covariance": common.figure(np.mean(ratios)),
                "at most": common.figure(max(ratios)),
                "tables that lose rows": f"{np.count_nonzero(lost)} of {len(lost)}",
                "most rows lost": f"{100 * max(lost):.1f}%",
            }
            lines.append(line)
    return common.markdown(lines)


METHODS: dict[str, Callable[[], EmpiricalCovariance]] = {
    "plain": EmpiricalCovariance,
    "Ledoit-Wolf": LedoitWolf,
    "MinCovDet": lambda: MinCovDet(random_state=0),
    "RobustCovariance": RobustCovariance,
    'assume="gaussian"': lambda: RobustCovariance(assume="gaussian"),
}
ROBUST = tuple(METHODS)[2:]


def table_of_contaminated(n: int, d: int, draws: int) -> str:
    """Errors of all methods, and of one who is told which rows are good."""
    lines = []
    for how in BAD:
        if how == "3 times as wide along five directions" and d == 5:
            continue  # which are all
        for alpha in ALPHAS:
            common.print_progress(f"{n} x {d}, {how}, alpha {alpha}")
            errors: dict[str, list[float]] = {
                name: [] for name in ("told which are good", *METHODS)
            }
            for seed in range(draws):
                X, good, truth = contaminated(how, n, d, alpha, seed)
                told = EmpiricalCovariance().fit(X[good])
                errors["told which are good"].append(relative_error(told.covariance_, truth))
                for name, method in METHODS.items():
                    if seed == 0 or d < SLOW or name != "MinCovDet":
                        errors[name].append(relative_error(method().fit(X).covariance_, truth))
            medians = {name: float(np.median(found)) for name, found in errors.items()}
            best = min(medians[name] for name in ROBUST)
            cells = {
                name: common.bold(common.figure(x), name in ROBUST and x <= 1.05 * best)
                for name, x in medians.items()
            }
            lines.append({"bad rows": how, "share": f"{alpha:g}"} | cells)
    return common.markdown(lines)


def table_of_components(draws: int) -> str:
    """Rows near a plane; the largest principal angle to it."""
    lines = []
    for n, d in WIDE:
        for how in ("none", "cluster", "two clusters", "spread"):
            for alpha in (0.1, 0.3) if how != "none" else (0.0,):
                common.print_progress(f"components, {n} x {d}, {how}, alpha {alpha}")
                angles, seconds = [], []
                for seed in range(draws):
                    X, basis, m = near_a_plane(n, d, alpha, how, seed)
                    start = process_time()
                    ours = RobustPCA(2).fit(X)
                    seconds.append(process_time() - start)
                    models = (PCA(2).fit(X[m:]), PCA(2, random_state=0).fit(X), ours)
                    found = [subspace_angles(model.components_.T, basis.T) for model in models]
                    angles.append(np.degrees(np.max(found, axis=1)))
                heads = ("told which are good", "PCA", "RobustPCA")
                cells = (f"{x:.1f}" for x in np.median(angles, axis=0))
                line = {"bad rows": how, "size": f"{n} x {d}", "share": f"{alpha:g}"}
                line |= dict(zip(heads, cells, strict=True))
                lines.append(line | {"s": f"{np.median(seconds):.2f}"})
    return common.markdown(lines)


def near_a_plane(n: int, d: int, alpha: float, how: str, seed: int) -> tuple[Rows, Rows, int]:
    """Return rows, of which the first are bad, two directions of the plane, and how many are."""
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


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "covariance.md",
        given,
        draws=(3, "of each contaminated table"),
        clean_draws=(20, "of each clean table"),
        most_columns=(10**9, "leave out larger tables"),
    )
    # Of MinCovDet, where the determinant of a step increases by rounding.
    warnings.simplefilter("ignore", RuntimeWarning)
    sections = {"Clean tables": table_of_clean(arguments.clean_draws)}
    for n, d in SIZES:
        if d <= arguments.most_columns:
            sections[f"Contaminated, {n} x {d}"] = table_of_contaminated(n, d, arguments.draws)
    sections["Principal components"] = table_of_components(arguments.draws)
    note = (
        f"{common.about(__doc__)}\n\nErrors of a covariance are the largest relative error of the "
        "variance along a direction. Columns of clean tables have variance 1 and are independent, "
        f"but for the multivariate t5; {arguments.clean_draws} draws of each, a fifth from 100,000 "
        "cells on. Good rows of contaminated tables are Gaussian with a covariance drawn at "
        f"random: medians of {arguments.draws} draws; MinCovDet with {SLOW} columns is one draw. "
        "Bold: the best of the robust ones, within 5%. Principal components are the first two of "
        "rows near a plane, bad rows are 30 away from it (a cluster, two, or spread that much); "
        "the figures are the largest principal angle to the plane, in degrees, and the processor "
        f"time of RobustPCA on one thread. {common.versions('scikit-learn')}."
    )
    title = "Covariance and principal components"
    common.publish(arguments, title, note, "make bench-covariance", sections)


if __name__ == "__main__":
    main()
