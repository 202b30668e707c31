"""Real tables with known bad rows: how well does the outlyingness of rows rank them?

Each .npz file of a folder holds `X` (rows) and `y` (1 for a bad row). Rows are ranked by
`RobustMean().fit(X).score_samples(X)`, by the detectors of PyOD with their defaults (seed 0 where
there is one), and by the plain robust z-distance: the norm of a row in the columns' median absolute
deviations from their medians. KNN, LOF and OCSVM depend on the units of the columns; they are given
the table as it is, and in robust units too. A ranking is judged by its ROC-AUC and by its average
precision, each averaged over all sets.

The data stay where they are: only names and figures are printed, or written with `--write`. What
others say of a set is kept in out/joblib.
"""

import warnings
from collections.abc import Sequence
from time import perf_counter

import common
import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

import inlier

OURS = "inlier"
SCORES = {"AUC": roc_auc_score, "AP": average_precision_score}
# By the names of PyOD; with ", robust units" the table is standardised first.
RIVALS = (
    *("robust z", "IForest", "COPOD", "HBOS", "KNN", "KNN, robust units", "ECOD", "LOF"),
    *("LOF, robust units", "MCD", "PCA", "OCSVM", "OCSVM, robust units"),
)


def in_robust_units(X: np.ndarray) -> np.ndarray:
    """Medians are 0, and median absolute deviations those of a standard Gaussian."""
    median, unit = common.robust_units(X)
    return (X - median) / unit


def outlyingness(method: str, X: np.ndarray) -> np.ndarray:
    """How far each row is out, according to one method."""
    if method == OURS:
        return np.asarray(inlier.robust_mean(X)._outlyingness)
    if method == "robust z":
        return np.linalg.norm(in_robust_units(X), axis=1)
    name, _, robust = method.partition(", ")
    found = common.detected(name, in_robust_units(X) if robust else X)
    return np.asarray(found.decision_scores_)


def scored(scores: np.ndarray, is_bad: np.ndarray) -> dict[str, float]:
    """ROC-AUC and average precision; what is no number ranks lowest."""
    scores = np.nan_to_num(scores, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    ranks = np.unique(scores, return_inverse=True)[1]
    return {name: float(score(is_bad, ranks)) for name, score in SCORES.items()}


def judged(method: str, X: np.ndarray, is_bad: np.ndarray) -> dict[str, float]:
    """One method on one set; NaN if it fails."""
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = outlyingness(method, X)
    except ImportError:
        raise
    except Exception as error:  # of a method of others
        print(f"{method}: {error!r}")
        return dict.fromkeys((*SCORES, "s"), np.nan)
    seconds = perf_counter() - start
    return scored(scores, is_bad) | {"s": seconds}


def summary(lines: pd.DataFrame) -> str:
    """One line for each method, the best AUC first."""
    by = lines.groupby("ranking", sort=False)
    means = by[list(SCORES)].mean().add_prefix("mean ").map("{:.3f}".format)
    means["s"] = by["s"].sum().map("{:.0f}".format)
    order = by["AUC"].mean().sort_values(ascending=False)
    means = means.loc[order.index].rename({OURS: f"**{OURS}**"}).rename_axis("ranking")
    return common.markdown(means.reset_index().to_dict("records"))


def comparison(lines: pd.DataFrame, shapes: dict[str, dict[str, object]]) -> str:
    """One line for each set: ours beside the best of the others."""
    table, behind = [], dict.fromkeys(SCORES, 0)
    for name, shape in shapes.items():
        found = lines[lines["set"] == name].set_index("ranking")
        rivals = found.drop(OURS)
        line = {"set": name, **shape}
        for score in SCORES:
            own, best = found.loc[OURS, score], rivals[score].max()
            worse = bool(best > own + common.ROUNDING)
            behind[score] += worse
            line[score] = common.bold(f"{own:.3f}", not worse)
            line[f"best other {score}"] = (
                f"{best:.3f} {rivals[score].idxmax()}" if best == best else "-"
            )
        table.append(line)
    note = (
        f"On {behind['AUC']} of {len(shapes)} sets some other ranking has a higher AUC than ours, "
        f"and on {behind['AP']} a higher average precision; bold where none has."
    )
    return f"{note}\n\n{common.markdown(table)}"


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    arguments = common.options(
        __doc__,
        "ranking.md",
        given,
        data=common.DATA,
        only=(None, "sets separated by commas"),
        methods=(None, "rivals separated by semicolons"),
    )
    methods, known = common.chosen(arguments.methods, RIVALS, ";"), common.cached(judged)
    lines, shapes = [], {}
    for name, sample in common.folder_data(arguments.data, arguments.only):
        X, is_bad = np.asarray(sample.X, np.float64), sample.is_outlier
        shapes[name] = {"n x d": "{} x {}".format(*X.shape), "bad": int(is_bad.sum())}
        for method in (OURS, *methods):
            common.print_progress(f"{name}: {method}")
            found = (judged if method == OURS else known)(method, X, is_bad)
            lines.append({"set": name, "ranking": method} | found)
    frame = pd.DataFrame(lines)
    sections = {
        f"Mean over {len(shapes)} sets": summary(frame),
        "Sets": comparison(frame, shapes),
    }
    note = (
        f"{common.about(__doc__)} Nothing is subsampled. The data are not part of this project. "
        f"{common.versions('scikit-learn', 'pyod')}; one thread."
    )
    common.publish(arguments, "Rankings of rows", note, "make bench-ranking DATA=folder", sections)


if __name__ == "__main__":
    main()
