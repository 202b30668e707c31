"""`inlier fit` and `inlier explain`: what they print and write, and their exit codes."""

import csv
import json
import re
import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem

import inlier
import inlier.api
from commands import invoke
from inlier._internal.csv_text import harmless

NAMED = ("--id-column", "name", "--exclude", "site")


def test_the_verdict(patients):
    done = invoke("fit", patients, *NAMED)
    assert done.exit_code == 0
    assert "Kept 360 of 400 rows; removed 40 (10%)." in done.stdout
    assert "times the standard deviation of the kept rows in that direction" in done.stdout
    assert "If at most 10% of the rows are bad" in done.stdout
    assert "'seen'" in done.stdout  # left out, with a note
    assert len(re.findall(r"^p0[0-3]\d ", done.stdout, flags=re.M)) == 10
    assert "w$x = " in done.stdout and "<script> (-10)" in done.stdout
    assert done.stderr == ""


def test_the_numbers_are_those_of_the_library(patients, tmp_path):
    done = invoke("fit", patients, *NAMED, "--json", tmp_path / "fit.json", "-q")
    assert (done.exit_code, done.output) == (0, "")
    record = json.loads((tmp_path / "fit.json").read_text())
    X = pd.read_csv(patients).select_dtypes("number").to_numpy()
    result = inlier.robust_mean(X)
    (fit,) = record["fits"]
    assert record["schema"] == "inlier/fit-1" and record["rows_read"] == 400
    np.testing.assert_allclose(fit["mean"], X[result.support].mean(axis=0))
    np.testing.assert_allclose(fit["plain_mean"], X.mean(axis=0))
    np.testing.assert_allclose(fit["median"], np.median(X, axis=0), rtol=1e-6)
    np.testing.assert_allclose(fit["deviation"], X[result.support].std(axis=0))
    np.testing.assert_allclose(fit["standard_error"], sem(X[result.support]))
    np.testing.assert_allclose(fit["score"], result.scores)
    assert fit["is_kept"] == result.support.tolist()
    assert fit["row"] == list(range(1, 401))
    assert fit["name"][0] == "p000"
    assert sorted(row for group in fit["groups"] for row in group["rows"]) == list(range(1, 41))
    before = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1] ** 0.5
    np.testing.assert_allclose(fit["spectrum"]["before"], before)
    worst = fit["worst"][0]
    assert worst["row"] == 1 + int(np.argmax(result.scores))
    total = sum(feature["contribution"] for feature in worst["features"])
    assert total == pytest.approx(worst["score"])


def test_the_files(patients, tmp_path):
    written = {
        name: tmp_path / name for name in ("mean.csv", "rows.csv", "clean.csv", "report.html")
    }
    options = [word for name, path in written.items() for word in (f"--{name.split('.')[0]}", path)]
    done = invoke("fit", patients, *NAMED, *options)
    assert done.exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(written)
    lines = patients.read_bytes().splitlines(keepends=True)
    assert written["clean.csv"].read_bytes() == b"".join(lines[:1] + lines[41:])
    verdicts = pd.read_csv(written["rows.csv"])
    assert verdicts["kept"].tolist() == [0] * 40 + [1] * 360
    assert verdicts["name"][0] == "p000" and verdicts["row"].tolist() == list(range(1, 401))
    means = pd.read_csv(written["mean.csv"], index_col="column")
    X = pd.read_csv(patients)
    np.testing.assert_allclose(means["mean"], X[means.index][40:].mean())
    np.testing.assert_allclose(means["standard_error"], sem(X[means.index][40:]))
    assert "p000" in written["report.html"].read_text()


def test_groups_are_fitted_apart(patients, tmp_path):
    done = invoke(
        "fit", patients, "--group-by", "site", "--rows", tmp_path / "r.csv",
        "--report", tmp_path / "r.html", "--clean", tmp_path / "c.parquet",
    )  # fmt: skip
    assert done.exit_code == 0
    assert done.stdout.count("Kept 180 of 200 rows") == 2
    assert "group north" in done.stdout and "group south" in done.stdout
    assert pd.read_csv(tmp_path / "r.csv")["kept"].tolist() == [0] * 40 + [1] * 360
    assert len(pd.read_parquet(tmp_path / "c.parquet")) == 360


def test_weights(patients, tmp_path):
    frame = pd.read_csv(patients)
    frame["visits"] = np.random.default_rng(0).integers(0, 9, 400)
    frame.loc[:39, "visits"] = 1000  # of the bad rows
    path = tmp_path / "weighted.csv"
    frame.to_csv(path, index=False)
    told = json.loads(invoke("fit", path, *NAMED, "--weights", "visits", "--json", "-").stdout)
    fit, w = told["fits"][0], frame["visits"].to_numpy()[40:]
    assert "visits" not in told["columns"] and fit["kept"] == 360 and fit["weighted"]
    good = frame[told["columns"]].to_numpy()[40:]
    np.testing.assert_allclose(fit["mean"], np.average(good, axis=0, weights=w))
    assert fit["effective_size"] == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert "the mean with each row counted once is within" in fit["certificate"]["statement"]
    plain = json.loads(invoke("fit", patients, *NAMED, "--json", "-").stdout)["fits"][0]
    assert fit["score"] == plain["score"] and not plain["weighted"]
    apart = json.loads(
        invoke("fit", path, "--group-by", "site", "--weights", "visits", "--json", "-").stdout
    )
    for one in apart["fits"]:
        rows = frame[frame["site"] == one["group"]][40 // 2 :]
        expected = np.average(rows[apart["columns"]], axis=0, weights=rows["visits"])
        np.testing.assert_allclose(one["mean"], expected)
    done = invoke("fit", path, *NAMED, "--weights", "visits")
    assert "an effective size of" in done.stdout
    explained = invoke("explain", path, *NAMED, "--weights", "visits", "--row", "p000")
    assert explained.stdout == invoke("explain", patients, *NAMED, "--row", "p000").stdout


def test_weights_that_are_none_are_refused(patients, tmp_path):
    frame = pd.read_csv(patients)
    frame["visits"] = 1.0
    frame.loc[7, "visits"] = -2.0
    frame.to_csv(tmp_path / "w.csv", index=False)
    for name, said in (
        ("site", "--weights site names a column that is not used as numbers"),
        ("visit", "--weights names column 'visit', which is not in"),
        ("visits", "The column 'visits' of weights has a negative entry (-2, the first in row 7)"),
    ):
        done = invoke("fit", tmp_path / "w.csv", "--weights", name)
        assert done.exit_code == 2 and said in done.stderr


def test_missing_values(patients, tmp_path):
    frame = pd.read_csv(patients)
    frame.loc[50, "age"] = frame.loc[60, "w$x"] = np.nan
    path = tmp_path / "holes.csv"
    frame.to_csv(path, index=False)
    told = json.loads(invoke("fit", path, "--json", "-").stdout)
    columns, fit = told["columns"], told["fits"][0]
    assert fit["missing"] == [int(name in ("age", "w$x")) for name in columns]
    means = frame[columns][fit["is_kept"]].mean()  # pandas leaves out what is missing
    assert fit["mean"] == pytest.approx(means.tolist())
    assert fit["plain_mean"] == pytest.approx(frame[columns].mean().tolist())
    assert fit["deviation"] == pytest.approx(frame[columns][fit["is_kept"]].std(ddof=0).tolist())
    assert told["entries_imputed"] == told["rows_dropped"] == 0
    assert "2 entries are missing, in 2 of 400 rows" in told["notes"][-1]
    shown = invoke("fit", path)
    assert shown.exit_code == 0
    assert "2 missing cells (in 2 columns) count as the median" in shown.stdout
    why = invoke("explain", path, "--row", "51").stdout
    assert re.search(r"age +missing", why)
    refused = invoke("fit", path, "--missing", "error")
    assert refused.exit_code == 2
    assert "row 51, column 'age'" in refused.stderr and "--missing drop" in refused.stderr
    dropped = json.loads(invoke("fit", path, "--missing", "drop", "--json", "-").stdout)
    assert dropped["rows_dropped"] == 2
    assert dropped["fits"][0]["row"] == [i for i in range(1, 401) if i not in (51, 61)]
    imputed = json.loads(invoke("fit", path, "--missing", "impute-robust", "--json", "-").stdout)
    assert imputed["entries_imputed"] == 2 and imputed["fits"][0]["rows"] == 400


def test_a_column_without_a_value_in_a_group(patients, tmp_path):
    frame = pd.read_csv(patients)
    frame.loc[frame["site"] == "south", "age"] = np.nan
    frame.to_csv(tmp_path / "holes.csv", index=False)
    refused = invoke("fit", tmp_path / "holes.csv", "--group-by", "site")
    assert refused.exit_code == 2
    assert "group 'south' has no value at all in 'age'" in refused.stderr


def test_choices(patients):
    told = json.loads(invoke("fit", patients, "--sigma", "4", "--json", "-").stdout)["fits"][0]
    X = pd.read_csv(patients).select_dtypes("number").to_numpy()
    assert told["is_kept"] == inlier.robust_mean(X, sigma=4.0).support.tolist()
    cut = json.loads(invoke("fit", patients, "--threshold", "1e9", "--json", "-").stdout)
    assert cut["fits"][0]["removed"] == 0
    first = json.loads(invoke("fit", patients, "--point", "0", "--json", "-").stdout)
    assert first["fits"][0]["removed"] == 0
    assert invoke("fit", patients, "--point", "99").exit_code == 2
    back = json.loads(invoke("fit", patients, "--keep", "1", "--json", "-").stdout)["fits"][0]
    assert back["removed"] == 0 and back["groups"] == []
    assert back["message"].startswith("Put back: 40 rows")


def test_what_did_not_converge_is_told_by_the_exit_code(patients):
    done = invoke("fit", patients, "--sigma", "1e-3")
    assert done.exit_code == 1
    assert "Note: " in done.stdout and "larger sigma" in done.stdout


def test_explain(patients):
    done = invoke("explain", patients, "--row", "p003", *NAMED)
    assert done.exit_code == 0
    assert "p003: removed." in done.stdout and "w$x = " in done.stdout
    done = invoke("explain", patients, "--row", "p003", *NAMED, "--assume", "symmetric")
    assert "p003: removed." in done.stdout and "[b]x[/b]" in done.stdout
    by_number = json.loads(
        invoke("explain", patients, "--row", "4", "--exclude", "site", "--json").stdout
    )
    result = inlier.robust_mean(pd.read_csv(patients).select_dtypes("number").to_numpy())
    assert by_number["score"] == pytest.approx(result.scores[3])
    assert by_number["row"] == 4 and by_number["removed"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fit", "nowhere.csv"], "'nowhere.csv': there is no such file"),
        (["fit", "{file}", "--columns", "agee"], "--columns names column 'agee'"),
        (["fit", "{file}", "--clean", "{file}"], "is the file that is read"),
        (["fit", "{file}", "--clean", "x.xlsx"], ".parquet"),
        (["fit", "{file}", "--report", "nowhere/x.html"], "there is no folder"),
        (["fit", "{file}", "--mean", "a.csv", "--rows", "a.csv"], "same name"),
        (["fit", "{file}", "--image", "3x3"], "9 pixels, but the table has 5"),
        (["fit", "{file}", "--image", "three"], "such as 36x30"),
        (["fit", "{file}", "--sigma", "-1"], "sigma must be"),
        (["fit", "{file}", "--p", "0.3"], "--p needs --sigma"),
        (["fit", "{file}", "--keep", "7"], "--keep 7: there is no such group"),
        (["fit", "{file}", "--report", "-"], "only --json"),
        (["fit", "{file}", "--group-by", "name"], "no group has more than one row"),
        (["explain", "{file}", "--row", "0"], "is not there: the file has 400 rows"),
        (["explain", "{file}", "--row", "p003"], "there is no --id-column"),
    ],
)
def test_mistakes_are_one_line(patients, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke(*[word.format(file=patients) for word in words])
    assert done.exit_code == 2
    assert done.stdout == "" and done.stderr.startswith("Error: ")
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_hints_about_columns(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)) * [1.0, 1e6, 1.0], columns=list("abc"))
    frame["smoker"] = rng.random(200) < 0.3
    frame["b2"] = ["ERR" if i == 7 else str(i) for i in range(200)]
    path = tmp_path / "hints.csv"
    frame.to_csv(path, index=False)
    said = invoke("fit", path).stdout
    assert "Columns with two values only: 'smoker'" in said
    told = invoke("fit", path, "--sigma", "1e6").stdout
    assert "times as much as others" in told and "--scatter diagonal" in told
    assert "--na-values" in said
    kept = invoke("fit", path, "--exclude", "smoker").stdout
    assert "The rows farthest out; all were kept" in kept
    used = json.loads(
        invoke("fit", path, "--na-values", "ERR", "--missing", "drop", "--json", "-").stdout
    )
    assert "b2" in used["columns"] and used["rows_dropped"] == 1


def test_every_group_is_among_the_worst_rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((600, 6))
    X[:40, 0] += 500.0
    X[40:70, 3] -= 60.0
    np.save(tmp_path / "x.npy", X)
    done = invoke("fit", tmp_path / "x.npy", "--assume", "symmetric", "--json", "-")
    (fit,) = json.loads(done.stdout)["fits"]
    assert len(fit["groups"]) == 2
    for group, column in zip(fit["groups"], (0, 3), strict=True):
        assert np.argmax(np.abs(group["shift"])) == column
        assert {why["row"] for why in fit["worst"]} & set(group["rows"])
    scores = [why["score"] for why in fit["worst"]]
    assert len(scores) == 10 and scores == sorted(scores, reverse=True)


def test_names_that_a_terminal_would_obey(tmp_path):
    path = tmp_path / "names.csv"
    rows = "".join(f"r\x1b[31m{i},{i % 7}.5,{i % 5}\n" for i in range(60))
    path.write_text("id,a\x1b]0;x\x07,:heart:\n" + rows)
    done = invoke("fit", path, "--id-column", "id")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout and ":heart:" in done.stdout


@pytest.mark.parametrize("command", [["fit"], ["explain", "--row", "1"]])
def test_a_wrong_seed_is_named(patients, command):
    done = invoke(*command, patients, "--seed", "-1")
    assert done.exit_code == 2 and "'--seed'" in done.stderr
    assert "random_state" not in done.stderr and "Traceback" not in done.stderr


def test_only_weak_evidence_is_weak_evidence(patients, tmp_path, monkeypatch):
    """Not each warning that a fit, or a package behind it, may give."""
    honest = inlier.api.robust_mean

    def is_weak(path):
        record = json.loads(invoke("fit", path, "--json", "-").stdout)
        return record["fits"][0]["weak_evidence"]

    def fit(*arguments, **options):
        for category in (DeprecationWarning, FutureWarning, RuntimeWarning, UserWarning):
            warnings.warn("by a package", category, stacklevel=2)
        return honest(*arguments, **options)

    monkeypatch.setattr("inlier.cli.fitting.robust_mean", fit)
    assert is_weak(patients) is False
    X = np.random.default_rng(0).standard_normal((200, 5))
    X[:76] = 100.0 + X[:76] ** 3
    np.savetxt(tmp_path / "t.csv", X, delimiter=",")
    with pytest.warns(inlier.WeakEvidenceWarning, match="minority"):
        assert honest(X).support.sum() == 124
    assert is_weak(tmp_path / "t.csv") is True


FORMULAS = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1+1",
    '=HYPERLINK("x")',
)


PLAINLY = ("-1.5", "+2", "-1,5", "-1e-3", "-inf", "-", "a=b", "'=1", "")


def obeyed(cell):
    """Whether a spreadsheet would run what is in a cell."""
    if cell[:1] not in ("=", "+", "-", "@", "\t", "\r", "＝") or cell == "-":
        return False
    return not re.fullmatch(r"[+-](\d+([.,]\d+)?(e-?\d+)?|inf)", cell)


def cells_of(path, delimiter=","):
    with open(path, newline="", encoding="utf-8") as file:
        return [cell for record in csv.reader(file, delimiter=delimiter) for cell in record]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".db"])
def test_no_file_that_is_written_holds_a_formula(tmp_path, suffix):
    """Names of columns, rows and groups, and text, wherever they come from."""
    rng = np.random.default_rng(0)
    names = [*FORMULAS, *PLAINLY] * 4
    frame = pd.DataFrame(rng.standard_normal((len(names), 3)), columns=["=a", "-b+1", "c"])
    frame.insert(0, "@id", names)
    frame["+g"] = ["=left", "+right"] * (len(names) // 2)
    path = tmp_path / f"hostile{suffix}"
    if suffix == ".csv":
        frame.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)
    elif suffix == ".parquet":
        frame.astype({"+g": "category"}).to_parquet(path)
    else:
        with closing(sqlite3.connect(path)) as made:
            frame.to_sql("t", made, index=False)
    out = {kind: tmp_path / f"{kind}.csv" for kind in ("mean", "rows")}
    clean = tmp_path / "clean.tsv"
    words = ["--id-column", "@id", "--group-by", "+g", "--clean", clean]
    done = invoke("fit", path, *words, *(w for k, p in out.items() for w in (f"--{k}", p)))
    assert done.exit_code == 0, done.stderr
    found = {kind: cells_of(file) for kind, file in out.items()}
    found["clean"] = cells_of(clean, "\t")
    for kind, cells in found.items():
        assert len(cells) > 20 and not [cell for cell in cells if obeyed(cell)], kind
    assert {"'=a", "'-b+1", "c", "'=left", "'+right"} <= set(found["mean"])
    for kind in ("rows", "clean"):
        assert {f"'{name}" for name in FORMULAS} | set(PLAINLY) <= set(found[kind])
    # Numbers are the same numbers, and what is only read keeps its names.
    values = pd.read_csv(clean, sep="\t")[["'=a", "'-b+1", "c"]].to_numpy()
    assert (
        np.abs(values[:, None] - frame[["=a", "-b+1", "c"]].to_numpy()).min(axis=1) < 1e-9
    ).all()
    record = json.loads(invoke("fit", path, *words[:4], "--json", "-").stdout)
    assert record["columns"] == ["=a", "-b+1", "c"]


def test_a_copy_is_a_copy(tmp_path):
    """As docs/command-line.md has it: text of the same kind stays as it was, formulas included."""
    path = tmp_path / "hostile.csv"
    path.write_text("=id,a\n" + "".join(f"=1+{i},{i % 7}\n" for i in range(40)))
    assert invoke("fit", path, "--clean", tmp_path / "clean.csv").exit_code == 0
    assert (tmp_path / "clean.csv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("cell", [*FORMULAS, *PLAINLY, 1.5, -1, None, True])
def test_formulas_are_text(cell):
    becomes = harmless(cell)
    if cell in FORMULAS:
        assert becomes == f"'{cell}" and not obeyed(becomes)
    else:
        assert becomes is cell


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv"])
def test_times_are_left_out_as_text_is(tmp_path, suffix):
    days = pd.date_range("2020-01-01", periods=40)
    times = {
        "ns": days.astype("datetime64[ns]"),
        "us": days.astype("datetime64[us]"),
        "zone": days.tz_localize("UTC"),
        "date": days.date,
        "clock": [at.time() for at in days],
        "age": days - days[0],
    }
    x = np.random.default_rng(0).standard_normal(40)
    frame = pd.DataFrame({"x": x, "flag": x > 0, "n": pd.array(range(40), "Int64"), **times})
    path = tmp_path / f"t{suffix}"
    getattr(frame, {".parquet": "to_parquet", ".feather": "to_feather", ".csv": "to_csv"}[suffix])(
        path, **({"index": False} if suffix == ".csv" else {})
    )
    record = json.loads(invoke("fit", path, "--json", "-").stdout)
    assert record["columns"] == ["x", "flag", "n"]
    for name in times:
        assert any(repr(name) in note for note in record["notes"])
        done = invoke("fit", path, "--columns", f"x,{name}")
        assert done.exit_code == 2
        assert f"--columns names '{name}', which is not used as numbers" in done.stderr
