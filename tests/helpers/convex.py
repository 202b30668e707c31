"""What the tests of the convex problems share."""

import numpy as np

import inlier
import reference


class Problem:
    """One of the public problems, and what is needed to check its answer by hand."""

    def __init__(self, name, n):
        rng = np.random.default_rng(1)
        self.name = name
        self.u = np.ones(n) if name == "l1" else rng.uniform(0.2, 3.0, n)
        if name == "least squares":
            self.t, self.s = np.ones(n), 2.0 * self.u**2
        elif name == "projection":
            self.t, self.s = rng.uniform(0.2, 1.6, n), rng.uniform(0.2, 5.0, n)
        self.linear = name.endswith("l1")

    def solve(self, X, center, budget, factor=1.0, **options):
        """The answer of the library, to the problem with its objective in other units."""
        if self.name == "l1" and factor == 1.0:
            return inlier.l0.solve_l1(X, center, budget, **options)
        if self.linear:
            return inlier.l0.solve_l1(X, center, budget, weights=factor * self.u, **options)
        if self.name == "least squares":
            u = np.sqrt(factor) * self.u
            return inlier.l0.solve_least_squares(X, center, budget, weights=u, **options)
        return inlier.l0.project(
            X, center, budget, target=self.t, metric=factor * self.s, **options
        )

    def optimum(self, A, budget):
        if self.linear:
            objective = reference.weighted_l1(self.u)
        elif self.name == "least squares":
            objective = reference.weighted_squares(self.u)
        else:
            objective = reference.weighted_distance(self.t, self.s)
        return reference.optimum(A, budget, objective)

    def objective(self, w):
        if self.linear:
            return self.u @ (1.0 - w)
        return 0.5 * np.sum(self.s * (w - self.t) ** 2)

    def dual_objective(self, q, price):
        """The Lagrangian minimised over 0 <= w <= 1; for l1, of the best multiple of Lambda."""
        if self.linear:
            return self.u.sum() - bound_by_enumeration(self.u, q, price)
        at_bounds = [np.zeros_like(q), np.ones_like(q), np.clip(self.t - q / self.s, 0.0, 1.0)]
        values = [0.5 * self.s * (w - self.t) ** 2 + w * q for w in at_bounds]
        return np.min(values, axis=0).sum() - price

    @property
    def scale(self):
        return self.objective(np.zeros(len(self.u)))


def bound_by_enumeration(u, q, price):
    """A convex piecewise linear function has its minimum at a kink or at the end."""
    multiples = np.append(0.0, u[q > 0.0] / q[q > 0.0])
    return np.min(multiples * price + np.maximum(u[:, None] - multiples * q[:, None], 0.0).sum(0))


def rows_along(k, n, duplicated, seed=0):
    rng = np.random.default_rng([seed, k, n])
    P = rng.standard_normal((k, n))
    if duplicated:
        P[:, : n // 3] = P[:, :1]
    return P / np.sqrt(0.3 * np.linalg.eigvalsh(P @ P.T)[-1])
