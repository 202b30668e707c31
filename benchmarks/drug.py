"""Sever's attack on drug data: does `robust_mean(X)` help, and does it do harm?

Molecules are described by flags (`X`, 0 or 1) and a figure (`y`). To n good rows k = floor(eps n)
bad ones are added, with which Diakonikolas et al. (Sever, 2019) attack a regression: with
d = X^T y / k and g standard normal, each is (d + |d| g / (10 sqrt(columns))) / s. Errors are
distances to the mean of the good rows.
"""

from collections.abc import Sequence
from pathlib import Path

import common
import numpy as np
import pandas as pd

from inlier.research.datasets import Sample

DATA = (Path("..") / "shared" / "data" / "sever" / "qsar.npz", ".npz file with X and y")
SCALES = (1, 3, 8)
FRACTIONS = (0.01, 0.02, 0.03, 0.05, 0.1)


def attacked(
    X: np.ndarray, y: np.ndarray, scale: float, fraction: float, rng: np.random.Generator
) -> np.ndarray:
    """The good rows, then the bad ones."""
    k = int(fraction * len(X))
    target = X.T @ y / k
    noise = rng.standard_normal((k, len(target))) / (10 * np.sqrt(len(target)))
    return np.concatenate([X, (target + np.linalg.norm(target) * noise) / scale])


def measure(
    X: np.ndarray, y: np.ndarray, scale: float, fraction: float, seed: int
) -> dict[str, float]:
    """One cell of the table."""
    common.print_progress(f"s = {scale}, eps = {fraction}")
    table = attacked(X, y, scale, fraction, np.random.default_rng(seed))
    good = np.arange(len(table)) < len(X)
    truth, answer = common.Truth(Sample(table, ~good)), common.robust_mean(table)
    return {
        "scale": scale,
        "fraction": fraction,
        "bad": int((~good).sum()),
        "mean_error": truth.plain_error,
        "error": truth.error(answer.location),
        "ratio": truth.ratio(answer.location),
        "bad_kept": int((answer.kept & ~good).sum()),
        "good_removed": int((~answer.kept & good).sum()),
        "good_aside": int((answer.aside & good).sum()),
    }


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    seed = (0, "of the bad rows")
    arguments = common.options(__doc__, "drug.md", given, data=DATA, seed=seed)
    if not arguments.data.is_file():
        raise SystemExit(f"no file {arguments.data}; name one: --data")
    with np.load(arguments.data) as content:
        X, y = content["X"].astype(float), content["y"].astype(float)
    if len(X) < (fewest := round(1 / min(FRACTIONS))):
        raise SystemExit(
            f"eps = {min(FRACTIONS)} needs at least {fewest} rows, but X has {len(X)}."
        )
    cells = pd.DataFrame(
        measure(X, y, scale, fraction, arguments.seed) for scale in SCALES for fraction in FRACTIONS
    )
    common.save_records("drug", cells)
    clean = common.robust_mean(X)
    truth = common.Truth.of_clean(X)
    moved = truth.error(clean.location) / truth.standard_error
    totals = (
        f"Error over the mean's: median {cells.ratio.median():.3f}, largest "
        f"{cells.ratio.max():.3f}; above 1 in "
        f"{(cells.ratio > 1 + common.ROUNDING).sum()} and above {common.HARM} in "
        f"{(cells.ratio > common.HARM).sum()} of {len(cells)} cells. Bad rows stay in "
        f"{(cells.bad_kept > 0).sum()}. Without bad rows {int((~clean.kept).sum())} of {len(X):,} "
        f"rows are removed, and the answer is {common.figure(moved)} standard "
        "errors from the plain mean."
    )
    lines = common.markdown(
        {
            "s": f"{c.scale:g}",
            "eps": f"{c.fraction:g}",
            "bad rows": c.bad,
            "mean's error": common.figure(c.mean_error),
            "error": common.figure(c.error),
            "error / mean's": common.bold(f"{c.ratio:.3f}", c.ratio > common.HARM),
            "bad kept / good removed": f"{c.bad_kept} / {c.good_removed}",
            "good rows with a cell set aside": c.good_aside,
        }
        for c in cells.itertuples()
    )
    note = (
        f"{common.about(__doc__)} Bold: worse than {common.HARM} times the mean. {len(X):,} good "
        f"rows, {X.shape[1]} columns, bad rows of seed {arguments.seed}. The data are not part of "
        f"this project. {common.versions()}; one thread."
    )
    command = "make bench-drug DATA=path/to/qsar.npz"
    common.publish(arguments, "Sever's drug data", note, command, f"{totals}\n\n{lines}")


if __name__ == "__main__":
    main()
