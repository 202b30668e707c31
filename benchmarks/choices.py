"""The choices behind the last step of a fit, measured: smoothing and budget (docs/engine.md)."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import common
import numpy as np

import inlier
from inlier.l0 import fit as with_sigma
from inlier.l0 import surrogates
from inlier.research.datasets import SettingA

ALPHAS = (0.1, 0.2, 0.3, 0.4)


def exact_sets(alpha: float, draws: int) -> int:
    """In how many draws the very set of outliers is found."""
    samples = [SettingA(2000, 100, alpha).sample(seed) for seed in range(draws)]
    found = (inlier.robust_mean(sample.X, sigma=sample.sigma).support for sample in samples)
    return sum(np.array_equal(kept, ~s.is_outlier) for kept, s in zip(found, samples, strict=True))


def main(given: Sequence[str] | None = None) -> None:
    """Exact sets by last smoothing, with the budget of the kept rows and of all rows."""
    draws = common.options(__doc__, "", given, draws=(20, "of each alpha")).draws
    judge = with_sigma.tightening_was_right
    lines = []
    for name, verdict in (("kept rows", judge), ("all rows", lambda *_: False)):
        for last in (1e-2, 1e-3, 1e-4):
            steps = tuple(10.0**-k for k in range(5) if 10.0**-k >= 0.99 * last)
            with (
                patch.object(with_sigma, "tightening_was_right", verdict),
                patch.object(surrogates, "SMOOTHING", steps),
            ):
                counts = {f"alpha {alpha}": exact_sets(alpha, draws) for alpha in ALPHAS}
            lines.append({"budget of": name, "last eps": f"{last:g}"} | counts)
    print(f"Exact sets of {draws} draws, Setting A 2000 x 100\n\n{common.markdown(lines)}")


if __name__ == "__main__":
    main()
