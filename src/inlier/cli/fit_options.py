"""Options of a fit, and of what is chosen in place of its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from inlier.api import Assumption, robust_mean
from inlier.results.records import Step
from inlier.results.result import RobustMeanResult


@dataclass(frozen=True)
class CommandOptions:
    """Options of a fit, and of what is chosen in place of its answer."""

    sigma: float | None
    assume: Assumption
    scatter: str
    p: float | None
    seed: int
    keep: list[int] | None
    drop: list[int] | None
    threshold: float | None
    point: int | None

    @classmethod
    def parsed(cls, given: dict[str, Any]) -> CommandOptions:
        """Return the options of a command."""
        return cls(**{field.name: given[field.name] for field in fields(cls)})

    def fit(self, X: Any, callback: Callable[[Step], object]) -> RobustMeanResult:
        """Fit a table, and choose as the options say."""
        if self.p is not None and self.sigma is None:
            raise ValueError("--p needs --sigma. Give it too, or leave --p out.")
        if self.assume != "auto" and self.sigma is not None:
            raise ValueError(
                f"--assume {self.assume} is for an unknown bound: leave --sigma out, or leave "
                "--assume out."
            )
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
    """Return positions in a list from numbers that count from 1, the last first."""
    wanted = sorted(set(numbers or ()), reverse=True)
    for number in wanted:
        if not 1 <= number <= count:
            raise ValueError(
                f"{option} {number}: there is no such {what}. The verdict has {count}, counted "
                "from 1."
            )
    return [number - 1 for number in wanted]
