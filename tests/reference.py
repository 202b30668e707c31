"""What the tests compare with: cvxpy, dense linear algebra and brute force. Nothing of `inlier`."""

from dataclasses import dataclass
from functools import cache
from itertools import product

import cvxpy as cp
import numpy as np

KINDS = ["random", "clustered", "duplicated", "rank-deficient"]


@dataclass(frozen=True, eq=False)
class Instance:
    """Rows, the first fifth of them bad, about their coordinate-wise median."""

    X: np.ndarray
    n_bad: int

    @property
    def center(self):
        return np.median(self.X, axis=0)

    @property
    def A(self):
        return self.X - self.center

    def budget(self, fraction):
        """A fraction of the good rows' own spectral norm."""
        return fraction * largest_eigenvalue(
            self.A[self.n_bad :], np.ones(len(self.X) - self.n_bad)
        )


@cache
def instance(kind, n, d, seed=0):
    rng = np.random.default_rng([seed, n, d])
    X = rng.standard_normal((n, d))
    n_bad = n // 5
    if kind == "random":
        X *= rng.uniform(0.5, 2.0, d)
    elif kind == "clustered":
        X[:n_bad] = 0.3 * X[:n_bad] + 2.0 * rng.choice([-1.0, 1.0], d)
    elif kind == "duplicated":
        X[: n_bad // 2] = 3.0 * rng.standard_normal(d)
        X[n_bad // 2 : n_bad] = 2.0 * rng.standard_normal(d)
    elif kind == "rank-deficient":
        rank = max(1, d // 3)
        X = X[:, :rank] @ rng.standard_normal((rank, d))
        X[:n_bad] += 10.0 * X[0] / np.linalg.norm(X[0])
        X[:, rank:][:, -1:] = 7.0  # a constant column
    return Instance(X, n_bad)


def largest_eigenvalue(A, w):
    return float(np.linalg.eigvalsh((A.T * w) @ A)[-1])


def optimum(A, budget, objective):
    """The smallest `objective(w)` over the packing set, and its minimiser, by Clarabel."""
    n, d = A.shape
    w = cp.Variable(n)
    products = np.einsum("ni,nj->ijn", A, A).reshape(d * d, n) / budget
    scatter = cp.reshape(products @ w, (d, d), order="C")
    # One direction needs no matrix cone, which cvxpy refuses for 1 x 1.
    within = products[0] @ w <= 1 if d == 1 else np.eye(d) - scatter >> 0
    problem = cp.Problem(cp.Minimize(objective(w)), [w >= 0, w <= 1, within])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return float(problem.value), w.value


def weighted_l1(u):
    return lambda w: u @ (1 - w)


def weighted_squares(u):
    return lambda w: cp.sum_squares(cp.multiply(u, 1 - w))


def weighted_distance(t, s):
    return lambda w: 0.5 * cp.sum_squares(cp.multiply(np.sqrt(s), w - t))


def subsets(n):
    """All of them, as rows of zeros and ones."""
    return np.array(list(product([0.0, 1.0], repeat=n)))


def fewest_removed_about(A, budget):
    """The l0 problem at a fixed center, over all subsets of the rows."""
    kept = subsets(len(A))
    scatters = np.einsum("sn,ni,nj->sij", kept, A, A, optimize=True)
    return _fewest_removed(kept, scatters, budget)


def fewest_removed(X, budget):
    """The joint l0 problem: every subset about its own mean, which is the best center for it."""
    X = X - X.mean(axis=0)
    kept = subsets(len(X))
    sums = kept @ X
    scatters = np.einsum("sn,ni,nj->sij", kept, X, X, optimize=True)
    scatters -= sums[:, :, None] * sums[:, None] / np.maximum(kept.sum(axis=1), 1.0)[:, None, None]
    return _fewest_removed(kept, scatters, budget)


def _fewest_removed(kept, scatters, budget):
    feasible = np.linalg.eigvalsh(scatters)[:, -1] <= budget * (1.0 + 1e-9)
    return int(kept.shape[1] - kept[feasible].sum(axis=1).max())


def contaminated(n=60, d=4, n_bad=6, seed=0, far=6.0):
    """Standard Gaussian rows, the first few of them moved in all columns."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:n_bad] += far
    return X
