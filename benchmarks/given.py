"""What a user knows: a fraction of bad rows, or rows that somebody has checked.

The risk of an answer is sqrt(se^2 + err^2) / sqrt(se^2 + m^2): err and m are the errors of the
answer and of the plain mean, and se is the standard error of the mean of the good rows, so that a
table whose bad rows move the mean by less than chance counts little.
"""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import common
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import inlier
from inlier.research import baselines
from inlier.research.datasets import Sample

# More than this many times that of the plain mean is harm.
HARM = 1.05
# Bad rows matter where they move the mean by more standard errors.
MATTERS = 2.5
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


def answers(sample: Sample, fit: Any) -> Iterable[tuple[str, Callable[[], np.ndarray]]]:
    """What is given, and the mean that is found with it; a row for each draw."""
    X, alpha = sample.X, float(sample.is_outlier.mean())

    def given(times: float) -> Callable[[], np.ndarray]:
        return lambda: fit.at(contamination=min(times * alpha, MOST)).location

    def trusting(m: int) -> Callable[[], np.ndarray]:
        rows = [drawn(sample, m, seed) for seed in range(DRAWS)]
        return lambda: np.stack([inlier.robust_mean(X, trusted=some).location for some in rows])

    def outermost() -> np.ndarray:
        return X[fit.ranking[round(alpha * len(X)) :]].mean(axis=0)

    yield "nothing", lambda: fit.location
    for times, name in ((1.0, "the fraction"), (1.5, "1.5 times it"), (2.0, "twice")):
        yield name, given(times)
    for m in (30, 100):
        yield f"{m} trusted rows", trusting(m)
    yield "the fraction: top of `ranking`", outermost
    for rival in RIVALS:
        named = f"the fraction: {rival.name}"
        yield named, lambda rival=rival: rival(alpha=min(alpha, MOST)).fit(X).location_


def measure(name: str, sample: Sample) -> dict[str, object]:
    """The risk and the relative error of each answer, of clean versions, and false discoveries."""
    X, good = sample.X, sample.inliers
    se = float(np.sqrt(good.var(axis=0, ddof=1).sum() / len(good)))
    plain = float(np.linalg.norm(X.mean(axis=0) - sample.mean))
    found: dict[str, object] = {"name": name, "matters": plain > MATTERS * se}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name_of, location in answers(sample, inlier.robust_mean(X)):
            errors = np.linalg.norm(np.atleast_2d(location()) - sample.mean, axis=1)
            found[name_of] = common.geometric_mean(np.hypot(se, errors) / np.hypot(se, plain))
            ratio = errors / plain if plain > common.ROUNDING else np.ones(1)
            found[f"{name_of}: error"] = common.geometric_mean(ratio)
        clean = inlier.robust_mean(good)
        for fraction in CLEAN:
            moved = clean.at(contamination=fraction).location - sample.mean
            found[f"clean {fraction}"] = np.hypot(se, np.linalg.norm(moved)) / se
        for m in CALIBRATION:
            found[f"false {m}"] = _false_discoveries(sample, m)
    return found


def _false_discoveries(sample: Sample, m: int) -> float:
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
            mean, fit = clean.mean(axis=0), inlier.robust_mean(clean)
            se = np.sqrt(clean.var(axis=0, ddof=1).sum() / len(clean))
            for fraction, found in risks.items():
                answer = fit.at(contamination=fraction)
                moved = 0.0 if answer.support.all() else np.linalg.norm(answer.location - mean)
                found.append(float(np.hypot(1.0, moved / se)))
    return {fraction: np.array(found) for fraction, found in risks.items()}


def totals(sets: pd.DataFrame) -> str:
    """Geometric means over all sets, for all that may be given."""
    names = [name.removesuffix(": error") for name in sets if name.endswith(": error")]
    return common.markdown(
        {
            "given": name,
            "risk": f"{common.geometric_mean(sets[name]):.3f}",
            f"sets above {HARM}": int((sets[name] > HARM).sum()),
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
