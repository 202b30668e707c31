"""The choices behind the last step of a fit, measured: smoothing and budget (docs/engine.md)."""

from __future__ import annotations

import argparse
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

import inlier
from inlier.datasets import SettingA
from inlier.l0 import fit as with_sigma
from inlier.l0 import surrogates

ALPHAS = (0.1, 0.2, 0.3, 0.4)


def exact_sets(alpha: float, draws: int) -> int:
    """In how many draws the very set of outliers is found."""
    found = 0
    for seed in range(draws):
        sample = SettingA(2000, 100, alpha).sample(seed)
        result = inlier.robust_mean(sample.X, sigma=sample.sigma)
        found += np.array_equal(result.support, ~sample.is_outlier)
    return found


def main() -> None:
    """Exact sets by last smoothing, with the budget of the kept rows and of all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    smoothing, judge = surrogates.SMOOTHING, with_sigma.kept_budget_is_consistent
    print(f"exact sets of {draws} draws, Setting A 2000 x 100, alpha {ALPHAS}")
    for name, verdict in (("kept rows", judge), ("all rows", lambda *_: False)):
        with_sigma.kept_budget_is_consistent = verdict
        for last in (1e-2, 1e-3, 1e-4):
            surrogates.SMOOTHING = tuple(10.0**-k for k in range(5) if 10.0**-k >= 0.99 * last)
            counts = [exact_sets(alpha, draws) for alpha in ALPHAS]
            print(f"budget of {name:<10} last eps {last:g}: {counts}")
    surrogates.SMOOTHING, with_sigma.kept_budget_is_consistent = smoothing, judge


if __name__ == "__main__":
    main()
