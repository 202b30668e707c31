"""The same rows in other clothes keep their verdicts, whoever judges them."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.linear_model import LinearRegression

from cases import cases
from covariances import contaminated
from fits import quietly
from inlier import RobustCovariance, RobustFit, RobustPCA, robust_mean
from inlier.research.baselines.determinants import MinimumRegularizedCovarianceDeterminant as MRCD
from inlier.research.datasets import SettingB
from ordinary_tables import digits, iris_with_typos
from symmetric_fits import SMALL


def moved(X, how, seed=0):
    """The same rows, and where the k-th of them is now."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    order = rng.permutation(n) if how == "permuted" else np.arange(n)
    X = {
        "small": lambda: 1e-8 * X,
        "large": lambda: 1e8 * X,
        "far": lambda: X + 1e6 * X.std() * rng.choice([-1.0, 1.0], d),
        "rotated": lambda: X @ ortho_group.rvs(d, random_state=rng),
        "reflected": lambda: -X,
        "permuted": lambda: X[order],
        "columns": lambda: X[:, rng.permutation(d)],
        "units": lambda: X * 2.0 ** rng.integers(-8, 9, d),
        "wider": lambda: np.insert(X, [0, d // 2], [7.0, -2.0], axis=1),
    }[how]()
    return X, order


UNITS = ("small", "large", "far", "permuted")
ALL = (*UNITS, "rotated", "reflected", "columns", "wider")
DIGITS, SPREAD = digits()[0], contaminated("spread", 600, 5, 0.2).X
LINE = np.random.default_rng(0).standard_normal((300, 6))
LINE[:, 5] = LINE[:, :5] @ [1.0, -2.0, 0.5, 0.0, 3.0] + 0.3 * LINE[:, 5]
LINE[:40, 5] = 10.0 * LINE[:40, 5] + 30.0
SLANTED = np.random.default_rng(0).standard_normal((300, 6))
SLANTED[:45, :3] += 3.0


def support(X, order, **options):
    return robust_mean(X, **options).support


def symmetric(X, order):
    return support(X, order, assume="symmetric")


# A table, who judges its rows, and the moves that change nothing.
JUDGED = {
    "nothing given": (iris_with_typos(), support, (*UNITS, "units")),
    "point masses": (SettingB(300, 60, 0.3).sample(0).X, support, UNITS),
    "a seed": (iris_with_typos(), lambda X, at: support(X, at, random_state=7), UNITS),
    "a fraction": (DIGITS, lambda X, at: support(X, at, contamination=0.26), UNITS),
    "trusted rows": (DIGITS, lambda X, at: support(X, at, trusted=at < 40), UNITS),
    "a diagonal": (
        SLANTED,
        lambda X, at: support(X, at, contamination=0.15, scatter="diagonal"),
        (*UNITS, "units"),
    ),
    "a covariance": (SPREAD, lambda X, at: RobustCovariance().fit(X).support_, UNITS),
    "components": (SPREAD, lambda X, at: RobustPCA(2).fit(X).support_, UNITS),
    "MRCD": (LINE, lambda X, at: MRCD(alpha=0.2).fit(X).support_, ("permuted", "units")),
    **{
        f"symmetric, {name}": (SMALL[name]().X, symmetric, moves)
        for names, moves in (
            (("A", "spiked"), ALL),
            (("A, n < d", "B", "heavy", "obvious and subtle"), ("far", "permuted")),
        )
        for name in names
    },
}


@cache
def plain(name):
    X, judge, _ = JUDGED[name]
    return quietly(judge, X, np.arange(len(X)))


@cases(("name", "how"), [(name, how) for name, (*_, moves) in JUDGED.items() for how in moves])
def test_the_same_rows_are_kept(name, how):
    X, judge, _ = JUDGED[name]
    Y, order = moved(X, how)
    assert not plain(name).all() or name in ("nothing given", "a seed")
    np.testing.assert_array_equal(quietly(judge, Y, order), plain(name)[order])


@pytest.mark.parametrize("how", ["permuted", "units"])
def test_nearly_the_same_rows_are_kept(how):
    """Which directions are tried first depends on the coordinates; a row at the edge may too."""

    def line(X):
        return RobustFit(LinearRegression()).fit(X[:, :5], X[:, 5]).support_

    for X, judge in ((SPREAD, lambda X: RobustCovariance().fit(X).support_), (LINE, line)):
        Y, order = moved(X, how)
        assert (judge(Y) != judge(X)[order]).mean() < 0.02
