"""How to fit, and what to choose in place of the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inlier.api import Assumption, robust_mean
from inlier.results.records import Step
from inlier.results.result import RobustMeanResult


@dataclass(frozen=True)
class FitChoices:
    """How to fit, and what to choose in place of the answer."""

    sigma: float | None
    assume: Assumption
    scatter: str
    p: float | None
    seed: int
    keep: list[int] | None
    drop: list[int] | None
    threshold: float | None
    point: int | None

    def fit(self, X: Any, callback: Callable[[Step], object]) -> RobustMeanResult:
        """The answer, or what was chosen in its place."""
        result = robust_mean(
            X,
            sigma=self.sigma,
            assume=self.assume,
            scatter=self.scatter,
            p=self.p,
            random_state=self.seed,
            callback=callback,
        )
        if self.threshold is not None or self.point is not None:
            result = result.at(self.point, threshold=self.threshold)
        # The last first: what is put back or dropped leaves its list. Suspects that are dropped
        # become groups, so these come first.
        for group in _indices("--keep", self.keep, len(result.groups), "group"):
            result = result.keep(group)
        for suspect in _indices("--drop", self.drop, len(result.suspects), "suspect"):
            result = result.drop(suspect)
        return result


def _indices(option: str, numbers: list[int] | None, count: int, what: str) -> list[int]:
    """Where in a list the numbered ones are, the last first."""
    wanted = sorted(set(numbers or ()), reverse=True)
    for number in wanted:
        if not 1 <= number <= count:
            raise ValueError(
                f"{option} {number}: there is no such {what}. The verdict has {count}, counted "
                "from 1."
            )
    return [number - 1 for number in wanted]
