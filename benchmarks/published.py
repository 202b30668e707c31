"""Data sets that others publish benchmarks on: where does `robust_mean(X)` stand?

A folder holds .npz files with `X` (rows) and `y` (1 for a bad row), also in folders below it: sets
of ADBench (`ad_cardio.npz`), classics of R's robustbase (`rb_hbk.npz`), embeddings. What is missing
is left out. The data stay where they are: only names and figures are printed, or written with
`--write`. What rivals say of a set is kept in out/joblib.
"""

from collections.abc import Sequence
from pathlib import Path

import common
import pandas as pd
from ranking import OURS, judged
from tables import METHODS as DEFAULTS
from tables import chosen_methods, fitted

import inlier
from inlier.research import methods

# AUC of 14 detectors, as PyOD commits them (pyod/utils/knowledge/_raw/adbench_aucroc_unsup.csv in
# yzhao062/pyod, b98912a; measured by ADBench, Han et al. 2022).
PRINTED = Path(__file__).with_name("adbench.csv")
EMBEDDINGS = {
    "llm_Albert768field": "ALBERT, another sense",
    "fllm_bert_rev": "BERT, reviews",
    "glove300_pleasant": "GloVe 300, pleasant",
    "fglove200_unpl": "GloVe 200, unpleasant",
    "glove100_male": "GloVe 100, male",
}
# Those that the study of the embeddings compares, and newer ones.
RIVALS = (
    *("mean", "coordinate-median", "geometric-median", "trimmed-mean", "norm-trimmed-mean"),
    *("median-of-means", "lee-valiant", "lrv", "que", "projected-gradient", "rand-eigen"),
    "spectral-signatures",
)
CLASSICS = {
    "rb_hbk": "Hawkins, Bradu and Kass (1984): 14 leverage points",
    "rb_stars": "Hertzsprung-Russell diagram of CYG OB1: 4 giants",
    "rb_wood": "wood gravity (Rousseeuw 1984): rows 4, 6, 8 and 19",
    "rb_animals_log": "brain and body weights, in logarithms: 3 dinosaurs",
}
# With nothing to guess, of benchmarks/tables.py.
VERDICTS = (
    *(OURS, "MCD", "MCD, PyThresh", "isolation forest", "isolation forest, PyThresh"),
    *("MAD 5", "Tukey 3"),
)


def embeddings(folder: Path) -> str:
    """Errors over the plain mean's, by method and set."""
    found: dict[str, dict[str, float]] = {}
    for name, sample in common.folder_data(folder, among=EMBEDDINGS):
        title = f"{EMBEDDINGS[name]}, {len(sample.X)} x {sample.X.shape[1]}, {sample.alpha:.0%}"
        fit = inlier.robust_mean(sample.X)
        answers = {"**inlier**": fit.location}
        answers["**inlier**, given alpha"] = fit.at(contamination=sample.alpha).location
        for rival in RIVALS:
            method = methods()[rival]
            given = f"`{rival}`" + (f", given {method.needs[0]}" if method.needs else "")
            estimator = method.make(alpha=sample.alpha, sigma=sample.sigma)
            answers[given] = estimator.fit(sample.X).location_
        for told, location in answers.items():
            found.setdefault(told, {})[title] = common.Truth(sample).ratio(location)
    if not found:
        return ""
    table = pd.DataFrame(found).T
    table["geometric mean"] = [common.geometric_mean(line) for line in table.to_numpy()]
    lines = table.sort_values("geometric mean", kind="stable").map("{:.3f}".format)
    return common.markdown(lines.rename_axis("method").reset_index().to_dict("records"))


def adbench(folder: Path, rules: list[str]) -> dict[str, str]:
    """Rankings beside the printed AUC, and verdicts beside those of other defaults."""
    printed = pd.read_csv(PRINTED, index_col=0)
    stems = {f"{prefix}{name}": name for name in printed.index for prefix in ("ad_", "fad_")}
    lines, verdicts = [], []
    for stem, sample in common.folder_data(folder, among=stems):
        X, bad, others = sample.X, sample.is_outlier, printed.loc[stems[stem]].dropna()
        own = judged(OURS, X, bad)["AUC"]
        line = {
            "set": stems[stem],
            "n x d": "{} x {}".format(*X.shape),
            "bad": int(bad.sum()),
            "inlier": own,
            "IForest": others.IForest,
            "median of 14": others.median(),
            "best of 14": others.max(),
            "which": others.idxmax(),
            "place": 1 + int((others > own).sum()),
        }
        lines.append(line)
        plain = fitted("mean", X, X, bad)["error"]
        for rule in rules:
            common.print_progress(f"{stem}: {rule}")
            fit = (fitted if rule == OURS else common.cached(fitted))(rule, X, X, bad)
            verdicts.append({"rule": rule, "ratio": fit["error"] / plain} | fit)
    if not lines:
        return {}
    table = pd.DataFrame(lines)
    mean = {"set": "**mean**", **table.select_dtypes("float").mean()}
    lines.append(dict.fromkeys(table, "") | mean | {"place": f"{table.place.mean():.3g}"})
    shown = ({k: f"{x:.3f}" if isinstance(x, float) else x for k, x in x.items()} for x in lines)
    return {
        "ADBench: rankings": common.markdown(shown, text=["which"]),
        "ADBench: verdicts": verdicts_of(pd.DataFrame(verdicts)),
    }


def verdicts_of(found: pd.DataFrame) -> str:
    """Averages over the sets, the smallest error first."""
    by = {"found": "mean", "lost": "mean", "most": "max", "ratio": common.geometric_mean}
    table = found.assign(most=found.lost).groupby("rule", sort=False).agg(by)
    return common.markdown(
        {
            "rule": rule,
            "bad rows found": common.percent(x.found),
            "good rows lost": common.percent(x.lost),
            "most lost of a set": common.percent(x.most),
            "error / mean's": f"{x.ratio:.3f}",
        }
        for rule, x in table.sort_values("ratio").iterrows()
    )


def classics(folder: Path, rules: list[str]) -> str:
    """Rows that the literature calls outliers: found, of those; good rows lost."""
    lines = []
    for name, sample in common.folder_data(folder, among=CLASSICS):
        X, bad = sample.X, sample.is_outlier
        answers = {rule: DEFAULTS[rule](X).kept for rule in rules}
        line = {"set": CLASSICS[name], "n x d": "{} x {}".format(*X.shape)}
        for rule, kept in answers.items():
            line[rule] = f"{(~kept & bad).sum()} of {bad.sum()}, {(~kept & ~bad).sum()} lost"
        lines.append(line)
    return common.markdown(lines)


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    data = (Path("..") / "shared" / "data", "folder of .npz files with X and y")
    arguments = common.options(__doc__, "published.md", given, data=data)
    rules = chosen_methods("; ".join(VERDICTS), None)
    sections = {
        "Embeddings of language models": embeddings(arguments.data),
        **adbench(arguments.data, rules),
        "Classics of robust statistics": classics(arguments.data, rules[:-1]),
    }
    sections = {name: f"{NOTES[name]}\n\n{text}" for name, text in sections.items() if text}
    if not sections:
        raise SystemExit(f"none of the sets is below {arguments.data}; name a folder: --data")
    versions = common.versions("scikit-learn", "pyod", "pythresh")
    note = (
        "Data of published benchmarks, with nothing given unless said; one shuffle of the rows "
        "(seed 0). The data are not part of this project: [against published figures]"
        f"(../published.md) says where they are. {versions}; one thread."
    )
    command = "make bench-published DATA=folder"
    common.publish(arguments, "Published data sets", note, command, sections)


NOTES = {
    "Embeddings of language models": (
        "Distance to the mean of the good rows over that of the plain mean; alpha and sigma are "
        "the true ones. The sets are of Anderson and Phillips (2025), who draw curves for them and "
        "print no table. Geometric mean: none below .01."
    ),
    "ADBench: rankings": (
        "AUC of `RobustMean`'s ranking of the rows, and that of 14 detectors as PyOD commits it. "
        "Theirs are of ADBench's own runs, which fit to some of the rows and judge others; here "
        "the sets have at most 3,000 rows, fitted and ranked. Place: among 15."
    ),
    "ADBench: verdicts": (
        "Rows removed with nothing to guess, averaged over the same sets. PyThresh: cut by FILTER, "
        "the best thresholder of its own benchmark. Error over the mean's, each column in units of "
        "its good rows: geometric mean, none below .01."
    ),
    "Classics of robust statistics": (
        "Rows that the literature calls outliers: found, and good rows lost. MCD removes rows "
        "beyond the 97.5% point of chi-square."
    ),
}


if __name__ == "__main__":
    main()
