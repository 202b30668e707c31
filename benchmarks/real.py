"""Real tables with known bad rows: does `robust_mean(X)` help, and does it do harm?

Each .npz file of a folder holds `X` (rows) and `y` (1 for a bad row). The error is the distance
to the mean of the good rows, given over that of the plain mean. The risk is the root of the sum
of squares of the error and of the standard error of the mean of the good rows, over the same for
the plain mean; it matters if the plain mean is off by 2.5 standard errors. The same table without
its bad rows is fitted too: a row that is removed there is lost. And the same rows must be removed
in any order of the rows, and in any units of the columns. Then the same tables with what a user
may know.

The data stay where they are: only names and figures are printed, or written with `--write`.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import common
import numpy as np
import pandas as pd

import given as knowledge
from inlier.research.datasets import Sample

# More than this many times the mean's error is harm.
HARM = 1.05
# A clean table that loses more than this share of its rows is harmed.
LOST = 0.01
# Standard errors by which bad rows have to move the mean to matter.
MATTERS = 2.5


def order_matters(rule: common.Rule, X: np.ndarray, kept: np.ndarray) -> bool:
    """Whether one of two permutations of the rows changes which of them are kept."""
    orders = (np.random.default_rng(seed).permutation(len(X)) for seed in (1, 2))
    return not all(np.array_equal(rule(X[order]).kept, kept[order]) for order in orders)


def units_matter(rule: common.Rule, X: np.ndarray, kept: np.ndarray) -> bool:
    """Whether columns in other units change which rows are kept.

    Units are powers of two from 1/1024 to 1024, so that not one cell is rounded.
    """
    powers = np.random.default_rng(3).integers(-10, 11, X.shape[1])
    return not np.array_equal(rule(X * 2.0**powers).kept, kept)


def measure(rule: common.Rule, name: str, sample: Sample) -> dict[str, object]:
    """All about one set; `reordered`, `rescaled`: whether other rows are removed then."""
    X, is_bad, truth = sample.X, sample.is_outlier, sample.mean
    start = perf_counter()
    answer = rule(X)
    seconds = perf_counter() - start
    clean = rule(sample.inliers)
    error = float(np.linalg.norm(answer.location - truth))
    plain = float(np.linalg.norm(X.mean(axis=0) - truth))
    good = sample.inliers
    # Of the mean of the good rows.
    standard_error = float(np.sqrt(good.var(axis=0).sum() / len(good)))
    moved = float(np.linalg.norm(clean.location - truth))
    return {
        "name": name,
        "n": len(X),
        "d": X.shape[1],
        "bad": int(is_bad.sum()),
        "mean_error": plain,
        "error": error,
        "ratio": error / plain if plain > common.ROUNDING else 1.0,
        "risk": np.hypot(standard_error, error) / np.hypot(standard_error, plain),
        "clean_risk": np.hypot(standard_error, moved) / standard_error,
        "matters": plain > MATTERS * standard_error,
        "bad_kept": int((answer.kept & is_bad).sum()),
        "good_removed": int((~answer.kept & ~is_bad).sum()),
        "clean_lost": int((~clean.kept).sum()),
        "clean_share": float((~clean.kept).mean()),
        "reordered": order_matters(rule, X, answer.kept),
        "rescaled": units_matter(rule, X, answer.kept),
        "suspects": len(answer.suspects),
        "mostly_bad": sum(bool(is_bad[rows].mean() > 0.5) for rows in answer.suspects),
        "clean_suspects": len(clean.suspects),
        "seconds": seconds,
    }


def totals(sets: pd.DataFrame) -> str:
    """What the rule is judged by, and where each figure comes from."""
    ratio, shown = common.geometric_mean(sets.ratio), sets[["suspects", "mostly_bad"]].sum()
    matter = common.geometric_mean(sets.ratio[sets.matters])
    figures: dict[str, str | pd.Series] = {
        "risk, geometric mean": f"{np.exp(np.log(sets.risk).mean()):.3f}",
        "largest risk": f"{sets.risk.max():.2f} ({sets.name[sets.risk.idxmax()]})",
        f"risk above {HARM}": sets.risk > HARM,
        f"clean version: risk above {HARM}": sets.clean_risk > HARM,
        f"error over the mean's in the {sets.matters.sum()} sets where it matters": f"{matter:.3f}",
        "error over the mean's, geometric mean (none below .01)": f"{ratio:.3f}",
        f"worse than {HARM} times the mean": sets.ratio > HARM,
        f"better than the mean by {HARM}": sets.ratio < 1 / HARM,
        f"clean version loses more than {LOST:.0%}": sets.clean_share > LOST,
        "clean version loses a row": sets.clean_lost > 0,
        "the order of rows changes the answer": sets.reordered,
        "the units of columns change the answer": sets.rescaled,
        "suspects shown, and of these mostly bad rows": f"{shown.iloc[0]}, {shown.iloc[1]}",
        "clean version shows a suspect": sets.clean_suspects > 0,
        "seconds of all fits with bad rows": f"{sets.seconds.sum():.1f}",
    }
    lines = []
    for name, found in figures.items():
        which = ""
        if not isinstance(found, str):
            which = ", ".join(sets.name[found]) or "-"
            found = f"{found.sum()} of {len(sets)}"
        lines.append({"over all sets": name, "figure": found, "which": which})
    return common.markdown(lines, text=["which"])


def line_of(s: Any) -> dict[str, object]:
    """One set."""
    return {
        "set": s.name,
        "n x d": f"{s.n} x {s.d}",
        "bad": s.bad,
        "mean's error": common.figure(s.mean_error),
        "error": common.figure(s.error),
        "error / mean's": common.bold(common.figure(s.ratio), s.ratio > HARM),
        "risk, clean": f"{common.figure(s.risk)}, {common.figure(s.clean_risk)}",
        "bad kept / good removed": f"{s.bad_kept} / {s.good_removed}",
        "clean: lost": f"{s.clean_lost} ({common.percent(s.clean_share)})".removesuffix(" (0)"),
        "order": "changes" if s.reordered else "-",
        "units": "change" if s.rescaled else "-",
        "s": f"{s.seconds:.2f}",
        "suspects (mostly bad), clean": f"{s.suspects} ({s.mostly_bad}), {s.clean_suspects}",
    }


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    only = (None, "sets separated by commas")
    arguments = common.options(
        __doc__, "real.md", given, data=common.DATA, only=only, rule=common.RULE
    )
    rule = common.rule_named(arguments.rule)
    found = common.folder_data(arguments.data, arguments.only)
    sets = pd.DataFrame(measure(rule, name, sample) for name, sample in found)
    common.save_records("real", sets)
    sections = {"Totals": totals(sets), "Sets": common.markdown(map(line_of, sets.itertuples()))}
    if not arguments.rule:
        # Bad rows have to be known, and to be fewer than the others.
        known = common.folder_data(arguments.data, arguments.only)
        of_given = pd.DataFrame(knowledge.measure(name, sample) for name, sample in known)
        common.save_records("given", of_given)
        about = common.about(knowledge.__doc__)
        sections["What is given"] = f"{about}\n\n{knowledge.totals(of_given)}"
        sections["What is given, and cannot be used"] = knowledge.safety(of_given)
    note = (
        f"{common.about(__doc__)} Bold: worse than {HARM} times the mean. One shuffle of the rows "
        "(seed 0), two other orders, other powers of two as units. The data are not part of this "
        f"project. {common.versions()}; one thread."
    )
    common.publish(arguments, "Real tables", note, "make bench-real DATA=folder", sections)


if __name__ == "__main__":
    main()
