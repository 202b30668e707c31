"""`inlier fit`: what it prints and writes, and its exit codes."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem

import inlier
import inlier.api
from commands import fit_record, invoke

NAMED = ("--id-column", "name", "--exclude", "site")


def test_the_verdict(patients):
    done = invoke("fit", patients, *NAMED)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Kept 360 of 400 rows; removed 40 (10%)." in done.stdout
    frame = pd.read_csv(patients).select_dtypes("number")
    kept, lines = frame[40:], done.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("column "))
    heads = re.split(r"  +", lines[start].strip())
    assert heads == ["column", "robust mean", "std error", "plain mean", "shift", "cells"]
    for name, line in zip(frame, lines[start + 1 : start + 6], strict=True):
        shown, error, plain, shift, cells = map(float, line.removeprefix(name).split())
        assert shown == pytest.approx(kept[name].mean(), abs=0.006)
        assert error == pytest.approx(kept[name].sem(), abs=0.0006)
        assert plain == pytest.approx(frame[name].mean(), abs=0.006)
        expected = (frame[name].mean() - kept[name].mean()) / kept[name].sem()
        assert shift == pytest.approx(expected, abs=0.06) and cells == 0
    assert "If at most 10% of the rows are bad" in done.stdout
    assert "'seen'" in done.stdout  # left out, with a note
    assert "<script> (-10)" in done.stdout and ": p000, p001, p002" in done.stdout
    assert re.search(r"^  --keep 1 +to put group 1 back$", done.stdout, flags=re.M)
    (option,) = re.findall(r"^  (--explain=p\d+) +to explain a row$", done.stdout, flags=re.M)
    assert invoke("fit", patients, *NAMED, option).exit_code == 0


def test_a_pipe_and_progress_on_a_terminal(patients):
    """Standard input to standard output, with nothing else there."""
    terminal = {"TERM": "xterm", "FORCE_COLOR": "1"}
    words = ("fit", "-", "--json", "-", "--exclude", "site")
    done = invoke(*words, input=patients.read_bytes(), **terminal)
    assert json.loads(done.stdout)["fits"][0]["removed"] == 40
    assert "reading" in done.stderr and "writing" in done.stderr
    assert invoke(*words, input=patients.read_bytes()).stderr == ""


def test_all_files_have_the_numbers_of_the_library(patients, tmp_path):
    names = ("mean.csv", "rows.csv", "clean.csv", "report.html", "json.json")
    written = {name.split(".")[0]: tmp_path / name for name in names}
    options = [word for name, path in written.items() for word in (f"--{name}", path)]
    done = invoke("fit", patients, *NAMED, *options, "-q")
    assert (done.exit_code, done.output) == (0, "")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)
    record = json.loads(written["json"].read_text())
    frame = pd.read_csv(patients)
    X = frame.select_dtypes("number").to_numpy()
    result = inlier.robust_mean(X)
    good = X[result.support]
    (fit,) = record["fits"]
    assert record["schema"] == "inlier/fit-1" and record["rows_read"] == 400
    np.testing.assert_allclose(fit["mean"], good.mean(axis=0))
    np.testing.assert_allclose(fit["plain_mean"], X.mean(axis=0))
    np.testing.assert_allclose(fit["median"], np.median(X, axis=0), rtol=1e-6)
    np.testing.assert_allclose(fit["deviation"], good.std(axis=0))
    np.testing.assert_allclose(fit["standard_error"], sem(good))
    np.testing.assert_allclose(fit["score"], result.scores)
    assert fit["is_kept"] == result.support.tolist() == [False] * 40 + [True] * 360
    assert fit["row"] == list(range(1, 401)) and fit["name"][0] == "p000"
    assert fit["left_with"] == [1] * 40 + [None] * 360 and len(fit["groups"]) == 1
    before = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1] ** 0.5
    np.testing.assert_allclose(fit["before"], before)
    worst = fit["worst"][0]
    assert worst["row"] == 1 + int(np.argmax(result.scores))
    assert sum(worst["contributions"]) == pytest.approx(worst["score"])
    lines = patients.read_bytes().splitlines(keepends=True)
    assert written["clean"].read_bytes() == b"".join(lines[:1] + lines[41:])
    verdicts = pd.read_csv(written["rows"])
    assert verdicts["kept"].tolist() == [0] * 40 + [1] * 360
    assert verdicts["name"].tolist() == fit["name"] and verdicts["row"].tolist() == fit["row"]
    np.testing.assert_allclose(verdicts["score"], fit["score"])
    means = pd.read_csv(written["mean"], index_col="column")
    assert means.index.tolist() == record["columns"]
    for name in ("mean", "plain_mean", "median", "deviation", "standard_error"):
        np.testing.assert_allclose(means[name], fit[name])
    assert "p000" in written["report"].read_text()
    shown = invoke("fit", patients, "--mean", written["mean"]).stdout
    assert f"Wrote {written['mean']}" in shown


def test_groups_are_fitted_apart(patients, tmp_path):
    frame = pd.read_csv(patients)
    frame.loc[len(frame)] = frame.loc[100].replace("south", "west")
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = invoke(
        "fit", tmp_path / "t.csv", "--group-by", "site", "--rows", tmp_path / "r.csv",
        "--report", tmp_path / "r.html", "--clean", tmp_path / "c.parquet",
    )  # fmt: skip
    assert done.exit_code == 0
    assert done.stdout.count("Kept 180 of 200 rows") == 2
    assert "group north" in done.stdout and "group south" in done.stdout
    assert "Group 'west' has only one row" in done.stdout
    assert "--keep 1" in done.stdout
    assert pd.read_csv(tmp_path / "r.csv")["kept"].tolist() == [0] * 40 + [1] * 361
    assert len(pd.read_parquet(tmp_path / "c.parquet")) == 361
    why = invoke("fit", tmp_path / "t.csv", "--group-by", "site", "--explain", "401")
    assert why.exit_code == 2 and "row 401 is the only row of its group" in why.stderr
    clean = frame[(frame["site"] == "north") | (frame.index >= 40)]
    clean.to_csv(tmp_path / "t.csv", index=False)
    one = invoke("fit", tmp_path / "t.csv", "--group-by", "site")
    assert "removed 20" in one.stdout and "--keep" not in one.stdout  # the other has no group 1
    frame.loc[frame["site"] == "south", "age"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    refused = invoke("fit", tmp_path / "t.csv", "--group-by", "site")
    assert refused.exit_code == 2
    assert "group 'south' has no value at all in 'age'" in refused.stderr


def test_negative_weights_are_counted_from_1(patients, tmp_path):
    frame = pd.read_csv(patients).assign(w=1.0)
    numbers = frame.select_dtypes("number").columns.drop("w")
    frame.loc[3, numbers] = np.nan  # this row is left out
    frame.loc[6, "w"] = -2.0
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = invoke("fit", tmp_path / "t.csv", "--weights", "w")
    assert done.exit_code == 2 and "(-2, the first in row 7)" in done.stderr


def test_choices(patients):
    X = pd.read_csv(patients).select_dtypes("number").to_numpy()
    (told,) = fit_record(patients, "--sigma", "4")["fits"]
    assert told["is_kept"] == inlier.robust_mean(X, sigma=4.0).support.tolist()
    said = invoke("fit", patients, *NAMED, "--sigma", "4").stdout
    assert f"{told['removed']} rows beyond the cut: p000, p001" in said
    (cut,) = fit_record(patients, "--threshold", "1e9")["fits"]
    assert cut["removed"] == 0
    (back,) = fit_record(patients, "--keep", "1")["fits"]
    assert back["removed"] == 0 and back["groups"] == []
    assert back["message"].startswith("Put back: 40 rows")
    failed = invoke("fit", patients, "--sigma", "1e-3")
    assert failed.exit_code == 1
    assert "Note: " in failed.stdout and "larger sigma" in failed.stdout


def test_explain(patients):
    words = ("fit", patients, "--explain", "p003", *NAMED)
    for more, named in (((), "w$x = "), (("--assume", "symmetric"), "[b]x[/b] = ")):
        done = invoke(*words, *more)
        assert done.exit_code == 0
        assert re.search(r"^p003: score .*, removed \(the cut is at 1\)", done.stdout)
        assert named in done.stdout
        same = invoke("explain", patients, "--row", "p003", *NAMED, *more)
        assert (same.exit_code, same.stdout) == (0, done.stdout)
    record = fit_record(patients, "--explain", "4", "--exclude", "site")["explained"]
    result = inlier.robust_mean(pd.read_csv(patients).select_dtypes("number").to_numpy())
    assert record["score"] == pytest.approx(result.scores[3])
    assert record["row"] == 4 and record["removed"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fit", "nowhere.csv"], "'nowhere.csv': there is no such file"),
        (["fit", "{file}", "--columns", "agee"], "--columns 'agee': there is no such column"),
        (["fit", "{file}", "--weights", "site"], "--weights 'site' is a column that is not used"),
        (["fit", "{file}", "--clean", "{file}"], "would replace what is read"),
        (["fit", "{folder}", "--clean", "{file}"], "would replace what is read"),
        (["fit", "{file}", "--clean", "x.xlsx"], "--clean 'x.xlsx' ends in '.xlsx'"),
        (["fit", "{file}", "--report", "nowhere/x.html"], "there is no folder"),
        (
            ["fit", "{file}", "--mean", "a.csv", "--rows", "a.csv"],
            "is also the file of another option",
        ),
        (["fit", "{file}", "--sigma", "-1"], "sigma must be"),
        (["fit", "{file}", "--keep", "7"], "--keep 7: there is no such group"),
        (["fit", "{file}", "--keep", "7", "--group-by", "site"], "The verdict of group "),
        (["fit", "{file}", "--report", "-"], "only --mean and --json"),
        (["fit", "{file}", "--group-by", "name"], "no group has more than one row"),
        (
            ["fit", "{file}", "--explain", "0"],
            "'0': there is no row of this number. Numbers are from 1",
        ),
        (["fit", "{file}", "--explain", "p003"], "'p003': there is no row of this number"),
        (["fit", "{file}", "--explain", "4", *NAMED], "'4': there is no row of this name"),
        (["fit", "{file}", "--explain", "2020-01-01", "--id-column", "seen"], "of 400 rows"),
    ],
)
def test_mistakes_are_one_line(patients, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke(*[word.format(file=patients, folder=patients.parent) for word in words])
    assert done.exit_code == 2
    assert done.stdout == "" and done.stderr.startswith("Error: ")
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--skip", "--point"])
def test_wrong_options_are_named(patients, option):
    done = invoke("fit", patients, option, "-1")
    assert done.exit_code == 2 and option in done.stderr
    assert "Traceback" not in done.stderr


def test_hints_about_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) * [1.0, 1e6, 1.0]
    X[:20, 0] += 15.0
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["b2"] = ["ERR" if i == 7 else str(i) for i in range(200)]
    path = tmp_path / "hints.csv"
    frame.to_csv(path, index=False)
    said = invoke("fit", path).stdout
    assert "--na-values" in said and "--scatter" not in said
    told = invoke("fit", path, "--sigma", "1e6").stdout
    assert "vary 1,000,000 times as much as others" in told and "--scatter diagonal" in told
    used = fit_record(path, "--na-values", "ERR", "--missing", "drop")
    assert "b2" in used["columns"] and used["rows_dropped"] == 1
    frame[20:].to_csv(path, index=False)
    assert "Farthest out, and kept: rows " in invoke("fit", path).stdout


def test_names_that_a_terminal_would_obey(tmp_path):
    path = tmp_path / "names.csv"
    rows = "".join(f"r\x1b[31m{i},{i % 7}.5,{i % 5}\n" for i in range(60))
    path.write_text("id,a\x1b]0;x\x07,:heart:\n" + rows)
    for words in ([], ["--explain", "r\x1b[31m8"]):
        done = invoke("fit", path, *words, "--id-column", "id")
        assert done.exit_code == 0
        assert "\x1b" not in done.stdout and ":heart:" in done.stdout
