"""The options of the published algorithm."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from inlier._internal.validation import check_choice, check_number, check_whole
from inlier.l0.surrogates import Surrogate, SurrogateName, surrogate


@dataclass(frozen=True, eq=False)
class Options:
    """Options of the l0 problem and of its algorithms, the parameter `l0` of `robust_mean`.

    Without sigma they are refused, except for `start`, unless ``algorithm="paper"``, which is run
    with the sigma that was found.

    Parameters
    ----------
    p : float
        The power of h in the surrogate sum_i h_i^p, 0 < p <= 1. At 1 it is the convex l1 problem.
    c1 : float
        The paper's factor on sigma; its theorems require sqrt(3/2) or more.
    algorithm : {"continuation", "paper"}
        "continuation" lowers the budget in steps from one that all rows satisfy and finishes with
        Algorithm 1; it succeeds from starts that are far off. "paper" is Algorithm 1 as published.
    surrogate : {"reweighted-l2", "reweighted-l1", "l1"}
        How sum_i h_i^p is minimised. "l1" ignores p.
    start : {"auto", "coordinate-median", "geometric-median"} or array of shape (d,)
        The first center. "auto" is the coordinate-wise median, for the continuation of at most 501
        randomly chosen rows or, of at most 512 rows with more columns, their geometric median.
    prune : float, optional
        Before the fit, remove the rows farther than sigma sqrt(40 d / prune) from the start, which
        keeps at least a fraction 1 - prune of the good rows (see `inlier.theory.far_radius`).
    max_iter : int
        Maximum number of iterations of Algorithm 1.
    tol : float
        Relative duality gap of the convex problems in ``algorithm="paper"``.
    """

    p: float = 0.5
    c1: float = 1.0
    algorithm: Literal["continuation", "paper"] = "continuation"
    surrogate: SurrogateName = "reweighted-l2"
    start: Literal["auto", "coordinate-median", "geometric-median"] | Any = "auto"
    prune: float | None = None
    max_iter: int = 100
    tol: float = 1e-6

    def __post_init__(self) -> None:
        """Validate the options."""
        check_number(self.p, "p", at_most=1.0)
        check_number(self.c1, "c1", below=np.inf)
        check_choice(self.algorithm, "algorithm", ("continuation", "paper"))
        check_choice(self.surrogate, "surrogate", ("reweighted-l2", "reweighted-l1", "l1"))
        if isinstance(self.start, str):
            check_choice(self.start, "start", ("auto", "coordinate-median", "geometric-median"))
        if self.prune is not None:
            check_number(self.prune, "prune", below=1.0)
        check_whole(self.max_iter, "max_iter")
        check_number(self.tol, "tol", below=1.0)

    @property
    def published(self) -> bool:
        """Whether Algorithm 1 is run as published."""
        return self.algorithm == "paper"

    @cached_property
    def minimiser(self) -> Surrogate:
        """The algorithm that minimises the surrogate."""
        return surrogate(self.surrogate, self.p)

    def refuse_without_sigma(self) -> None:
        """Raise if options were given that need sigma."""
        names = [
            option.name
            for option in fields(self)
            if option.name != "start" and getattr(self, option.name) != option.default
        ]
        if names and not self.published:
            verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
            raise ValueError(
                f"{' and '.join(names)} {verb} of the problem with a known bound: give sigma=... "
                f"too, or leave {them} out."
            )
