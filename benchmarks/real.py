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

import warnings
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import common
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import inlier
from inlier.research import baselines
from inlier.research.datasets import Sample

# A clean table that loses more than this share of its rows is harmed.
LOST = 0.01
# Standard errors by which bad rows have to move the mean to matter.
MATTERS = 2.5


# With nothing given -------------------------------------------------------------------------------


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
    X, is_bad, truth = sample.X, sample.is_outlier, common.Truth(sample)
    start = perf_counter()
    answer = rule(X)
    seconds = perf_counter() - start
    clean = rule(sample.inliers)
    return {
        "name": name,
        "n": len(X),
        "d": X.shape[1],
        "bad": int(is_bad.sum()),
        "mean_error": truth.plain_error,
        "error": truth.error(answer.location),
        "ratio": truth.ratio(answer.location),
        "risk": truth.risk(answer.location),
        "clean_risk": common.Truth.of_clean(sample.inliers).risk(clean.location),
        "matters": truth.plain_error > MATTERS * truth.standard_error,
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
        f"risk above {common.HARM}": sets.risk > common.HARM,
        f"clean version: risk above {common.HARM}": sets.clean_risk > common.HARM,
        f"error over the mean's in the {sets.matters.sum()} sets where it matters": f"{matter:.3f}",
        "error over the mean's, geometric mean (none below .01)": f"{ratio:.3f}",
        f"worse than {common.HARM} times the mean": sets.ratio > common.HARM,
        f"better than the mean by {common.HARM}": sets.ratio < 1 / common.HARM,
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
        "error / mean's": common.bold(common.figure(s.ratio), s.ratio > common.HARM),
        "risk, clean": f"{common.figure(s.risk)}, {common.figure(s.clean_risk)}",
        "bad kept / good removed": f"{s.bad_kept} / {s.good_removed}",
        "clean: lost": f"{s.clean_lost} ({common.percent(s.clean_share)})".removesuffix(" (0)"),
        "order": "changes" if s.reordered else "-",
        "units": "change" if s.rescaled else "-",
        "s": f"{s.seconds:.2f}",
        "suspects (mostly bad), clean": f"{s.suspects} ({s.mostly_bad}), {s.clean_suspects}",
    }


# With what a user may know ------------------------------------------------------------------------

ABOUT_GIVEN = """\
The risk of an answer is sqrt(se^2 + err^2) / sqrt(se^2 + m^2): err and m are the errors of the
answer and of the plain mean, and se is the standard error of the mean of the good rows, so that a
table whose bad rows move the mean by less than chance counts little."""
# A fraction is below one half.
MOST = 0.49
# Of a clean table that is given as bad.
CLEAN = (0.05, 0.1, 0.15, 0.2, 0.3)
# Drawn clean tables: rows, columns, and how many of each size.
SIZES = tuple((n, d) for n in (60, 200, 600) for d in (1, 3, 10, 40))
TABLES = 10
# Of trusted rows; the figure of a set is the geometric mean.
DRAWS = 3
# Trusted rows for a false discovery rate of 5%.
CALIBRATION = (100, 300)
LEVEL = 0.05
RIVALS = (
    baselines.NormTrimmedMean,
    baselines.LeeValiant,
    baselines.MultiKrum,
    baselines.MinimumRegularizedCovarianceDeterminant,
    baselines.LaiRaoVempala,
    baselines.ProjectedGradient,
    baselines.SpectralReweighting,
)


def drawn(sample: Sample, m: int, seed: int = 0) -> np.ndarray:
    """Good rows that somebody has checked: at most half of them."""
    good = np.flatnonzero(~sample.is_outlier)
    return np.random.default_rng(seed).choice(good, min(m, len(good) // 2), replace=False)


def answers(sample: Sample, fit: Any) -> Iterator[tuple[str, np.ndarray]]:
    """What is given, and the mean that is found with it; a row for each draw."""
    X, alpha = sample.X, sample.alpha
    yield "nothing", fit.location
    for times, name in ((1.0, "the fraction"), (1.5, "1.5 times it"), (2.0, "twice")):
        yield name, fit.at(contamination=min(times * alpha, MOST)).location
    for m in (30, 100):
        draws = (drawn(sample, m, seed) for seed in range(DRAWS))
        found = [inlier.robust_mean(X, trusted=rows).location for rows in draws]
        yield f"{m} trusted rows", np.stack(found)
    yield "the fraction: top of `ranking`", X[fit.ranking[round(alpha * len(X)) :]].mean(axis=0)
    for rival in RIVALS:
        yield f"the fraction: {rival.name}", rival(alpha=min(alpha, MOST)).fit(X).location_


def measure_given(sample: Sample) -> dict[str, float]:
    """The risk and the relative error of each answer, of clean versions, and false discoveries."""
    truth, found = common.Truth(sample), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, location in answers(sample, inlier.robust_mean(sample.X)):
            locations = np.atleast_2d(location)
            found[name] = common.geometric_mean(truth.risk(locations))
            found[f"{name}: error"] = common.geometric_mean(truth.ratio(locations))
        clean = inlier.robust_mean(sample.inliers)
        without_bad = common.Truth.of_clean(sample.inliers)
        for fraction in CLEAN:
            found[f"clean {fraction}"] = without_bad.risk(clean.at(contamination=fraction).location)
        for m in CALIBRATION:
            found[f"false {m}"] = false_discoveries(sample, m)
    return found


def false_discoveries(sample: Sample, m: int) -> float:
    """The share of good rows among the discoveries, 0 if there are none; nan with too few rows."""
    if len(sample.inliers) < 2 * m:
        return float("nan")
    rows = inlier.robust_mean(sample.X, trusted=drawn(sample, m)).details.discoveries(LEVEL)
    return float((~sample.is_outlier[rows]).mean()) if len(rows) else 0.0


LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "Gaussian": lambda rng, shape: rng.standard_normal(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "log-normal": lambda rng, shape: np.exp(0.5 * rng.standard_normal(shape)),
}


def drawn_risks(law: str) -> dict[float, np.ndarray]:
    """The risk of drawn clean tables, by the fraction that is given; 1 if all rows stay."""
    rng = np.random.default_rng(0)
    risks: dict[float, list[float]] = {fraction: [] for fraction in CLEAN}
    for shape in SIZES:
        for _ in range(TABLES):
            clean = LAWS[law](rng, shape)
            truth, fit = common.Truth.of_clean(clean), inlier.robust_mean(clean)
            for fraction, found in risks.items():
                answer = fit.at(contamination=fraction)
                found.append(1.0 if answer.support.all() else truth.risk(answer.location))
    return {fraction: np.array(found) for fraction, found in risks.items()}


def totals_of_given(sets: pd.DataFrame) -> str:
    """Geometric means over all sets, for all that may be given."""
    names = [name.removesuffix(": error") for name in sets if name.endswith(": error")]
    return common.markdown(
        {
            "given": name,
            "risk": f"{common.geometric_mean(sets[name]):.3f}",
            f"sets above {common.HARM}": int((sets[name] > common.HARM).sum()),
            "error / mean's where it matters": common.figure(
                common.geometric_mean(sets[f"{name}: error"][sets.matters])
            ),
        }
        for name in names
    )


def safety(sets: pd.DataFrame) -> str:
    """Clean tables given a fraction, and false discoveries."""
    lines: list[dict[str, object]] = [
        {
            "what": f"clean version given {fraction:.0%}: risk, median / largest",
            "figure": f"{risk.median():.2f} / {risk.max():.2f}",
            "sets": len(risk),
        }
        for fraction in CLEAN
        for risk in [sets[f"clean {fraction}"]]
    ]
    lines += [
        {
            "what": f"clean {law} rows given {fraction:.0%}: tables that lose some, largest risk",
            "figure": f"{common.percent(np.mean(risks > 1.0))}, {risks.max():.2f}",
            "sets": len(risks),
        }
        for law in LAWS
        for fraction, risks in drawn_risks(law).items()
    ]
    lines += [
        {
            "what": f"{m} trusted rows: false discoveries at {LEVEL:.0%}, mean",
            "figure": common.percent(share.mean()),
            "sets": len(share),
        }
        for m in CALIBRATION
        for share in [sets[f"false {m}"].dropna()]
    ]
    return common.markdown(lines)


# The page -----------------------------------------------------------------------------------------


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    only = (None, "sets separated by commas")
    arguments = common.options(
        __doc__, "real.md", given, data=common.DATA, only=only, rule=common.RULE
    )
    rule = common.rule_named(arguments.rule)
    samples = list(common.folder_data(arguments.data, arguments.only))
    sets = pd.DataFrame(measure(rule, name, sample) for name, sample in samples)
    common.save_records("real", sets)
    sections = {"Totals": totals(sets), "Sets": common.markdown(map(line_of, sets.itertuples()))}
    if not arguments.rule:
        of_given = pd.DataFrame(measure_given(sample) for _, sample in samples)
        of_given[["name", "matters"]] = sets[["name", "matters"]]
        common.save_records("given", of_given)
        sections["What is given"] = f"{ABOUT_GIVEN}\n\n{totals_of_given(of_given)}"
        sections["What is given, and cannot be used"] = safety(of_given)
    note = (
        f"{common.about(__doc__)} Bold: worse than {common.HARM} times the mean. One shuffle of "
        "the rows (seed 0), two other orders, other powers of two as units. The data are not part "
        f"of this project. {common.versions()}; one thread."
    )
    common.publish(arguments, "Real tables", note, "make bench-real DATA=folder", sections)


if __name__ == "__main__":
    main()
