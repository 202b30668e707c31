"""How to fit, and what to choose in place of the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inlier.api import robust_mean
from inlier.result import RobustMeanResult, Step


@dataclass(frozen=True)
class Choice:
    """How to fit, and what to choose in place of the answer."""

    sigma: float | None
    scatter: str
    p: float | None
    seed: int
    keep: list[int] | None
    threshold: float | None
    point: int | None

    def fit(self, X: Any, callback: Callable[[Step], object]) -> RobustMeanResult:
        """The answer, or what was chosen in its place."""
        result = robust_mean(
            X,
            sigma=self.sigma,
            scatter=self.scatter,
            p=self.p,
            random_state=self.seed,
            callback=callback,
        )
        if self.threshold is not None or self.point is not None:
            result = result.at(self.point, threshold=self.threshold)
        for group in self._put_back(len(result.groups)):
            result = result.keep(group)
        return result

    def _put_back(self, n_groups: int) -> list[int]:
        """Indices of groups, the last first: a group that is put back leaves the list."""
        wanted = sorted(set(self.keep or ()), reverse=True)
        for number in wanted:
            if not 1 <= number <= n_groups:
                raise ValueError(
                    f"--keep {number}: there is no such group. The verdict has {n_groups}, "
                    "counted from 1."
                )
        return [number - 1 for number in wanted]
