"""The choices behind the last step of a fit: smoothing, budget and cut (docs/engine.md)."""

from __future__ import annotations

import argparse
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

import inlier
from inlier import surrogates, with_sigma
from inlier.datasets import Sample, SettingA

ALPHAS = (0.1, 0.2, 0.3, 0.4)


def exact_sets(n: int, d: int, draws: int) -> list[int]:
    """In how many draws the very set of outliers is found, for each alpha."""
    counts = []
    for alpha in ALPHAS:
        samples = (SettingA(n, d, alpha).sample(seed) for seed in range(draws))
        counts.append(sum(_is_exact(sample) for sample in samples))
    return counts


def _is_exact(sample: Sample) -> bool:
    result = inlier.robust_mean(sample.X, sigma=sample.sigma)
    return np.array_equal(result.support, ~sample.is_outlier)


def main() -> None:
    """Exact sets by the place of the cut, the budget and the last smoothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    smoothing, judge = surrogates.SMOOTHING, with_sigma.tightening_was_right
    clearly = surrogates.CLEARLY
    print(f"exact sets of {draws} draws, Setting A, alpha {ALPHAS}")
    for n, d in ((2000, 100), (500, 50)):
        for cut, wider in (("where it falls", np.inf), ("in a gap", clearly)):
            surrogates.CLEARLY = wider
            for name, verdict in (("kept rows", judge), ("all rows", lambda *_: False)):
                with_sigma.tightening_was_right = verdict
                for last in (1e-2, 1e-3, 1e-4):
                    surrogates.SMOOTHING = tuple(
                        10.0**-k for k in range(5) if 10.0**-k >= 0.99 * last
                    )
                    counts = exact_sets(n, d, draws)
                    print(f"{n} x {d}, cut {cut}, budget of {name}, last eps {last:g}: {counts}")
    surrogates.SMOOTHING, with_sigma.tightening_was_right = smoothing, judge
    surrogates.CLEARLY = clearly


if __name__ == "__main__":
    main()
