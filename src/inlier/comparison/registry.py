"""All methods by name, ours and those of others, with what each has to be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from inlier.baselines import BASELINES
from inlier.estimators import RobustMean
from inlier.estimators.base import MeanEstimator

PAPER = "Liu, Deshmukh and Veeravalli (2020)"


@dataclass(frozen=True)
class Method:
    """An entry of the registry.

    Attributes
    ----------
    name : str
    needs : tuple of str
        What it has to be told: "alpha", the fraction of bad rows; "sigma", the largest standard
        deviation of the good rows in any direction.
    paper : str
        Where it is from.
    summary : str
        What it does, in one sentence.
    estimator : callable
        The scikit-learn class behind it, with what the name fixes.
    fixed : dict
        Parameters that the name stands for.
    """

    name: str
    needs: tuple[str, ...]
    paper: str
    summary: str
    estimator: Callable[..., MeanEstimator] = field(repr=False)
    fixed: dict[str, Any] = field(default_factory=dict, repr=False, hash=False)

    def make(
        self, *, alpha: float | None = None, sigma: float | None = None, **parameters: Any
    ) -> MeanEstimator:
        """The estimator, told what it needs of what is known.

        Parameters
        ----------
        alpha, sigma : float, optional
            Passed on if the method needs them.
        **parameters
            Of the estimator.
        """
        known = {"alpha": alpha, "sigma": sigma}
        told = {name: known[name] for name in self.needs}
        return self.estimator(**{**self.fixed, **told, **parameters})

    def __str__(self) -> str:
        needs = " and ".join(self.needs) or "nothing"
        return f"{self.name:<24} needs {needs:<16} {self.summary} [{self.paper}]"


def methods() -> dict[str, Method]:
    """All methods by name: ours first, then those of others.

    Returns
    -------
    dict of str to Method
        A new object at each call.

    Examples
    --------
    >>> import inlier
    >>> inlier.methods()["iterative-filtering"].needs
    ('sigma',)
    >>> estimator = inlier.methods()["norm-trimmed-mean"].make(alpha=0.1)
    """
    ours = (
        Method("inlier", (), "this library", "Groups leave while there is evidence.", RobustMean),
        Method(
            "inlier-sigma",
            ("sigma",),
            f"this library, after {PAPER}",
            "Continuation in the budget, then Algorithm 1 with p = 1/2.",
            RobustMean,
        ),
        Method(
            "paper-l1",
            ("sigma",),
            PAPER,
            "Algorithm 1 as published, with the l1 norm.",
            RobustMean,
            {"algorithm": "paper", "surrogate": "l1"},
        ),
        Method(
            "paper-lp",
            ("sigma",),
            PAPER,
            "Algorithm 1 as published, with p = 1/2 by re-weighted l2.",
            RobustMean,
            {"algorithm": "paper"},
        ),
    )
    theirs = (
        Method(method.name, method.needs, method.paper, _first_sentence(method), method)
        for method in BASELINES
    )
    return {method.name: method for method in (*ours, *theirs)}


def _first_sentence(method: type) -> str:
    return (method.__doc__ or "").split(".")[0].strip() + "."
