"""The l0 problem of the paper with a given sigma: its convex relaxations, and the fit."""

from inlier.l0.fit import Options
from inlier.l0.full_space import Solution
from inlier.l0.solvers import project, solve_l1, solve_least_squares

__all__ = ["Options", "Solution", "project", "solve_l1", "solve_least_squares"]
