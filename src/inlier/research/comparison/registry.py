"""All methods by name, ours and published ones, with the parameters they need."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from inlier.estimators import RobustMean
from inlier.estimators.base import MeanEstimator
from inlier.l0.fit import Options
from inlier.research.baselines import BASELINES

PAPER = "Liu, Deshmukh and Veeravalli (2020)"


@dataclass(frozen=True)
class Method:
    """An entry of the registry."""

    name: str
    needs: tuple[str, ...]  # required parameters, of "alpha" and "sigma"; see `Baseline`
    paper: str
    summary: str  # one sentence
    estimator: Callable[..., MeanEstimator] = field(repr=False)  # the scikit-learn class
    # Parameters of the class that the name implies.
    fixed: dict[str, Any] = field(default_factory=dict, repr=False, hash=False)

    def make(
        self, *, alpha: float | None = None, sigma: float | None = None, **parameters: Any
    ) -> MeanEstimator:
        """Make an estimator; alpha and sigma are passed on if the method needs them."""
        known = {"alpha": alpha, "sigma": sigma}
        needed = {name: known[name] for name in self.needs}
        return self.estimator(**{**self.fixed, **needed, **parameters})

    def __str__(self) -> str:
        needs = " and ".join(self.needs) or "nothing"
        return f"{self.name:<24} needs {needs:<16} {self.summary} [{self.paper}]"


def methods() -> dict[str, Method]:
    """Return all methods by name: ours first, then published ones.

    Examples
    --------
    >>> import inlier
    >>> inlier.research.methods()["iterative-filtering"].needs
    ('sigma',)
    >>> estimator = inlier.research.methods()["norm-trimmed-mean"].make(alpha=0.1)
    """
    of_paper = "Algorithm 1 as published, with"
    l1, lp = (
        {"l0": Options(algorithm="paper", surrogate=name)} for name in ("l1", "reweighted-l2")
    )
    after, steps = f"this library, after {PAPER}", "Continuation in the budget, with p = 1/2."
    found = [
        Method("inlier", (), "this library", "Removes groups of rows on evidence.", RobustMean),
        Method("inlier-sigma", ("sigma",), after, steps, RobustMean),
        Method("paper-l1", ("sigma",), PAPER, f"{of_paper} the l1 norm.", RobustMean, l1),
        Method("paper-lp", ("sigma",), PAPER, f"{of_paper} p = 1/2.", RobustMean, lp),
    ]
    for method in BASELINES:
        summary = (method.__doc__ or "").partition("\n\n")[0].strip()
        found.append(Method(method.name, method.needs, method.paper, summary, method))
    return {method.name: method for method in found}
