"""The command line: what it prints, where, and with which exit code."""

import csv
import gzip
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem

pytest.importorskip("typer")
from typer.testing import CliRunner

import inlier
import inlier.api
import inlier.experiments
from inlier._internal.csv_text import harmless
from inlier.cli.app import app
from inlier.experiments import EXPERIMENTS, Reproduction

# A wide screen, no colours: lines are not broken.
PLAIN = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words], env=PLAIN)


def shell(*words, code=None, **environment):
    """The command in a process of its own."""
    start = ["-m", "inlier"] if code is None else ["-c", code]
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    return subprocess.run(
        [sys.executable, *start, *map(str, words)],
        capture_output=True,
        text=True,
        env={**clean, "OMP_NUM_THREADS": "1", **environment},
        timeout=120,
    )


@pytest.fixture
def fake(monkeypatch):
    """Puts something else in the place of the experiments; gives what it was called with."""

    def replace(answer):
        calls = []

        def run(folder, **arguments):
            calls.append({"folder": folder, **arguments})
            return answer(folder, **arguments)

        monkeypatch.setattr(inlier.experiments, "reproduce", run)
        return calls

    return replace


def made(folder, worse=(), **arguments):
    return Reproduction(Path(folder), (Path(folder) / "README.md",), tuple(worse), 12.3)


def test_version():
    answer = invoke("--version")
    assert (answer.exit_code, answer.stdout) == (0, f"inlier {version('inlier')}\n")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_everything(option):
    assert "reproduce" in invoke(option).stdout
    answer = invoke("reproduce", option)
    assert answer.exit_code == 0
    for word in ("--out", "--trials", "--quick", "--only", "--faces", "--fresh", "--jobs"):
        assert word in answer.stdout
    for name in EXPERIMENTS:
        assert name in answer.stdout


def test_without_arguments_there_is_help():
    answer = invoke()
    assert "reproduce" in answer.output and "Traceback" not in answer.output


def test_options_reach_the_experiments(fake, tmp_path):
    calls = fake(made)
    assert invoke("reproduce").exit_code == 0
    words = ["--quick", "--trials", 3, "--only", "l0", "--only", "price", "--fresh", "--jobs", 2]
    answer = invoke("reproduce", "--out", tmp_path, "--faces", tmp_path / "f", *words)
    assert answer.exit_code == 0, answer.output
    plain, full = ({k: v for k, v in call.items() if k != "watch"} for call in calls)
    assert plain == {
        "folder": Path("out/reproduce"),
        "trials": 20,
        "quick": False,
        "only": None,
        "faces": None,
        "fresh": False,
        "n_jobs": -1,
    }
    assert full == {
        "folder": tmp_path,
        "trials": 3,
        "quick": True,
        "only": ["l0", "price"],
        "faces": tmp_path / "f",
        "fresh": True,
        "n_jobs": 2,
    }


def test_the_page_is_named(fake, tmp_path):
    fake(made)
    answer = invoke("reproduce", "--out", tmp_path)
    assert answer.stdout == f"{tmp_path / 'README.md'}: 1 files in 12 seconds.\n"
    assert answer.stderr == ""


def test_progress_is_for_terminals(fake, tmp_path):
    def watched(folder, watch, **arguments):
        for stage in ("one", "other"):
            for done in range(4):
                watch(stage, done, 3)
        return made(folder)

    fake(watched)
    assert invoke("reproduce", "--out", tmp_path).stderr == ""


def test_worse_cells_are_told_by_the_exit_code(fake, tmp_path):
    fake(lambda folder, **arguments: made(folder, ["lp in Table 1: 2, printed 1", "another"]))
    answer = invoke("reproduce", "--out", tmp_path)
    assert answer.exit_code == 1
    page, head, *cells = answer.stdout.splitlines()
    assert "README.md" in page and head == "Worse than printed:"
    assert cells == ["  lp in Table 1: 2, printed 1", "  another"]


@pytest.mark.parametrize("error", [ValueError, OSError, ImportError])
def test_errors_are_one_line(fake, tmp_path, error):
    def fail(folder, **arguments):
        raise error("[bold]no[/bold] such luck")  # it is no markup

    fake(fail)
    answer = invoke("reproduce", "--out", tmp_path)
    assert answer.exit_code == 2 and answer.stdout == ""
    assert answer.stderr == "Error: [bold]no[/bold] such luck\n"


def test_bugs_are_not_hidden(fake, tmp_path):
    def fail(folder, **arguments):
        raise AssertionError("a bug")

    fake(fail)
    assert isinstance(invoke("reproduce", "--out", tmp_path).exception, AssertionError)


def test_an_interruption_says_how_to_go_on(fake, tmp_path):
    def interrupted(folder, **arguments):
        raise KeyboardInterrupt

    fake(interrupted)
    answer = invoke("reproduce", "--out", tmp_path)
    assert answer.exit_code == 130 and answer.stdout == ""
    assert answer.stderr == "Interrupted. The same command, without --fresh, goes on from here.\n"


@pytest.mark.parametrize(
    "words",
    [["--trials", "0"], ["--trials", "some"], ["--nonsense"], ["--jobs", "many"], ["--only"]],
)
def test_wrong_options(fake, words):
    calls = fake(made)
    answer = invoke("reproduce", *words)
    assert answer.exit_code == 2 and answer.stdout == ""
    assert words[0] in answer.stderr and "Traceback" not in answer.stderr
    assert not calls


def test_wrong_arguments_are_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    for words, message in (
        (("--only", "nonsense", "--out", tmp_path), "only has 'nonsense': name some of tables"),
        (("--only", "figures", "--out", file), "is a file: give the name of a folder"),
        (("--only", "faces", "--faces", tmp_path / "no", "--out", tmp_path), "no file or folder"),
    ):
        answer = invoke("reproduce", *words)
        assert answer.exit_code == 2 and answer.stdout == ""
        assert answer.stderr.startswith("Error: ") and message in answer.stderr
    assert file.read_text() == "mine"


# -- As a process of its own ----------------------------------------------------------------------


def test_a_real_run(tmp_path):
    out = tmp_path / "new" / "folder"
    done = shell("reproduce", "--only", "figures", "--quick", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{out / 'README.md'}: 8 files in ")
    assert done.stdout.count("\n") == 1 and (out / "README.md").is_file()


def test_a_real_error_has_one_line_and_no_traceback(tmp_path):
    out = tmp_path / ("a-long-name-" * 8)
    out.write_text("mine")
    done = shell("reproduce", "--only", "figures", "--out", out)
    assert done.returncode == 2 and done.stdout == ""
    # Not broken where nobody looks: paths can be copied.
    assert done.stderr == f"Error: folder={str(out)!r} is a file: give the name of a folder.\n"


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from inlier.cli import main
main()
"""


@pytest.mark.parametrize("name", ["typer", "rich"])
def test_what_the_command_line_needs_is_named(name):
    done = shell("--version", code=WITHOUT.format(name=name))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f'The command line needs {name}: pip install "inlier[cli]".\n'


@pytest.mark.parametrize("name", ["matplotlib", "skimage", "tabulate"])
def test_what_the_experiments_need_is_named(name, tmp_path):
    words = ["reproduce", "--only", "figures", "--quick", "--out", tmp_path]
    done = shell(*words, code=WITHOUT.format(name=name))
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f'Error: reproduce needs {name}: pip install "inlier[reproduce]".\n'
    assert not list(tmp_path.iterdir())


def test_what_breaks_inside_is_not_called_missing():
    # Another module that is missing is a fault of the installation, and is told as it is.
    done = shell("--version", code=WITHOUT.format(name="shutil"))
    assert "inlier[cli]" not in done.stderr and done.returncode == 1


# inlier fit and inlier explain


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """A table with names, a group column, a date, and 40 bad rows at the top."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5)) * [1.0, 2.0, 3.0, 1.0, 1.0] + 10.0
    X[:40] += np.array([30.0, 0.0, -30.0, 20.0, 0.0])
    frame = pd.DataFrame(X, columns=["age", "height", "<script>", "w$x", "[b]x[/b]"])
    frame.insert(0, "name", [f"p{i:03d}" for i in range(400)])
    frame["seen"] = "2020-01-01"
    frame["site"] = np.where(np.arange(400) % 2, "north", "south")
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    frame.to_csv(path, index=False)
    return path


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


def test_a_pipe(patients):
    """Standard input to standard output, with nothing else there."""
    done = subprocess.run(
        [sys.executable, "-m", "inlier", "fit", "-", "--json", "-", "--exclude", "site"],
        input=patients.read_bytes(),
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["fits"][0]["removed"] == 40


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
        (["fit", "{file}", "--p", "0.3"], "--p is of the problem with a known bound: give --sigma"),
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


def test_progress_is_shown_on_a_terminal(patients):
    """What a pseudo-terminal gets to see."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "inlier", "fit", patients, "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
        timeout=120,
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0 and json.loads(done.stdout)
    assert "fitting" in shown or "looking" in shown or "reading" in shown


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


def in_bash(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_who_stops_reading_is_no_error(patients):
    done = in_bash(
        f'"{sys.executable}" -m inlier fit "{patients}" | head -1; echo "${{PIPESTATUS[0]}}"'
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


def test_a_pipe_is_read_once(tmp_path):
    done = in_bash(
        f'"{sys.executable}" -m inlier fit <(seq 1 3000) --json - --rows >(cat > "{tmp_path}/r")'
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["rows_read"] == 3000
    assert record["fits"][0]["plain_mean"] == [1500.5]


def wait_until_mapped(process, path):
    """Until the command is at work on a file."""
    maps = Path(f"/proc/{process.pid}/maps")
    if not maps.exists():
        time.sleep(2.5)
    while maps.exists() and process.poll() is None and str(path) not in maps.read_text():
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_end_of_a_job_leaves_no_half_file(tmp_path, number):
    path = tmp_path / "large.npy"
    np.save(path, np.random.default_rng(0).standard_normal((60_000, 300)))
    process = subprocess.Popen(
        [sys.executable, "-m", "inlier", "fit", path, "--clean", tmp_path / "clean.npy"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until_mapped(process, path)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number and "Traceback" not in said
    assert ("Interrupted" in said) is (number == signal.SIGINT)
    assert [p.name for p in tmp_path.iterdir()] == ["large.npy"]


def test_names_that_a_terminal_would_obey(tmp_path):
    path = tmp_path / "names.csv"
    rows = "".join(f"r\x1b[31m{i},{i % 7}.5,{i % 5}\n" for i in range(60))
    path.write_text("id,a\x1b]0;x\x07,:heart:\n" + rows)
    done = invoke("fit", path, "--id-column", "id")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout and ":heart:" in done.stdout


# -- hostile files, pipes without an end, signals --------------------------------------------------


def bounded(*words, seconds=60, megabytes=4000, **options):
    """The command in a process that may take so long and so much memory, and no more."""
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [sys.executable, "-m", "inlier", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, **PLAIN, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        timeout=seconds,
        preexec_fn=limit,
        **options,
    )


def refused(done, *said):
    """Whether it ended with one line that says what is wrong."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: ") and "Traceback" not in done.stderr
    for words in said:
        assert words in done.stderr


@pytest.mark.parametrize("before", [0, 120])
def test_a_short_line_below_very_many_names(tmp_path, before):
    """Near the top, and where a first look does not reach: both within memory."""
    width = 1_000_000 if before == 0 else 100_000
    path = tmp_path / "wide.csv"
    with open(path, "w") as file:
        file.write(",".join(f"c{j}" for j in range(width)) + "\n")
        file.writelines([",".join("1" * width) + "\n"] * before)
        file.write("1,2,3\n")
    refused(bounded("fit", path), f"wide.csv': line {before + 2} has 3 cells", f"{width}")


START = {
    "module": ["-m", "inlier"],
    "script": ["-c", "from inlier.cli import main; main()"],  # what pip writes
}


@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("module", ["numpy", "scipy", "typer"])
def test_the_end_of_a_job_while_packages_are_imported(tmp_path, start, number, module):
    """Whatever is imported first stands in the way until it is told to end."""
    (tmp_path / f"{module}.py").write_text(
        "import time\nprint('here', flush=True)\ntime.sleep(60)\n"
    )
    paths = [str(tmp_path), str(Path(inlier.__file__).parents[1])]
    process = subprocess.Popen(
        [sys.executable, *START[start], "fit", "x.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert process.stdout.readline() == "here\n"
    process.send_signal(number)
    printed, said = process.communicate(timeout=30)
    assert (process.returncode, printed, said) == (128 + number, "", "")


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_an_interruption_at_any_time_is_quiet(tmp_path, part):
    """From some time after Python has started to just before the end."""
    path = tmp_path / "x.csv"
    np.savetxt(path, np.random.default_rng(0).standard_normal((500, 5)), delimiter=",")

    def seconds(*words):
        began = time.perf_counter()
        subprocess.run([sys.executable, *words], capture_output=True, timeout=120)
        return time.perf_counter() - began

    bare, whole = 1.5 * seconds("-c", "pass"), seconds("-m", "inlier", "fit", path)
    process = subprocess.Popen(
        [sys.executable, "-m", "inlier", "fit", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(bare + part * max(0.0, whole - bare))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    # It may have been done, or Python about to end, which leaves signals to the system.
    assert process.returncode in (130, 0, -signal.SIGINT)
    assert said in ("", "Interrupted. No file was left half written.\n")


def test_a_job_of_nohup_outlives_its_terminal(tmp_path):
    path = tmp_path / "large.npy"
    np.save(path, np.random.default_rng(0).standard_normal((20_000, 100)))
    process = subprocess.Popen(
        [sys.executable, "-m", "inlier", "fit", path, "--quiet"],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    wait_until_mapped(process, path)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("source", ["/dev/zero", "-", "pipe"])
def test_what_has_no_end_is_read_up_to_a_limit(tmp_path, source):
    endless = subprocess.Popen(["yes", "1,2"], stdout=subprocess.PIPE)
    pipe = {}
    if source == "pipe":
        source, pipe = f"/dev/fd/{endless.stdout.fileno()}", {"pass_fds": [endless.stdout.fileno()]}
    elif source == "-":
        pipe = {"stdin": endless.stdout}
    try:
        done = bounded("fit", source, "--max-bytes", "64M", **pipe)
    finally:
        endless.kill()
        endless.communicate()
    refused(done, "67,108,864 bytes", "--max-bytes", "standard input" if source == "-" else source)


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t (a, b)")
        made.executemany("INSERT INTO t VALUES (?, ?)", [(i, i * i % 7) for i in range(50)])
        made.execute(f"CREATE VIEW endless AS {ENDLESS} SELECT x, 2 * x AS y FROM c")
    made.close()
    return path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--query", ENDLESS + "SELECT x, -x AS y FROM c"], "bytes that may be read into memory"),
        (["--query", ENDLESS + "SELECT count(*) AS n FROM c"], "no answer after 33,554,432 steps"),
        (["--table", "endless"], "bytes that may be read into memory"),
        (["--query", "SELECT zeroblob(900000000) AS a FROM t"], "too big"),
        (["--query", "SELECT zeroblob(9000000) AS a FROM t"], "bytes that may be read into memory"),
    ],
)
def test_a_query_without_an_end_is_asked_up_to_a_limit(database, words, said):
    refused(bounded("fit", database, *words, "--max-bytes", "32M"), "t.db'", said)


def test_the_limit_can_be_raised(database, tmp_path):
    path = tmp_path / "x.csv"
    np.savetxt(path, np.random.default_rng(0).standard_normal((100, 3)), delimiter=",")
    for words in ([path], [database, "--table", "t"]):
        done = invoke("fit", *words, "--max-bytes", "1k")
        assert done.exit_code == 2 and "--max-bytes" in done.stderr
        assert invoke("fit", *words, "--max-bytes", "1 MiB").exit_code == 0
    for wrong in ("0", "-1", "many", "1X", ""):
        done = invoke("fit", path, f"--max-bytes={wrong}")
        assert done.exit_code == 2 and "--max-bytes must be a size such as" in done.stderr
    assert "2G" in invoke("fit", "--help").stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_query_can_be_interrupted(database, number):
    """While it is in SQLite, where Python hears of no signal."""
    query = ENDLESS + "SELECT count(*) AS n FROM c"
    process = subprocess.Popen(
        [sys.executable, "-m", "inlier", "fit", database, "--query", query],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    folder = Path(f"/proc/{process.pid}/fd")
    if not folder.exists():
        pytest.skip("this system does not tell which files are open")
    while str(database) not in {os.path.realpath(link) for link in folder.iterdir()}:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + number and "Traceback" not in said


def header_of_npy(shape):
    described = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    described = described.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(described).to_bytes(2, "little") + described.encode()


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("(-3, 2)", "shape (-3, 2)"),
        ("(-3, -2)", "shape (-3, -2)"),
        (f"({1 << 33}, {1 << 33})", "is cut off"),
        (f"(0, {1 << 62})", "bytes"),
    ],
)
@pytest.mark.parametrize("name", ["x.npy", "x.npy.gz"])
def test_arrays_that_cannot_be(tmp_path, shape, said, name):
    raw = header_of_npy(shape) + bytes(48)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    refused(bounded("fit", tmp_path / name), "x.npy", said if name == "x.npy" else "")


def test_paths_that_are_no_files(tmp_path, patients):
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    (tmp_path / "lost.csv").symlink_to(tmp_path / "nowhere.csv")
    for name in ("loop.csv", "lost.csv"):
        refused(bounded("fit", tmp_path / name), f"{name}' is a link that leads to no file")
    refused(bounded("fit", patients, "--clean", tmp_path / "loop.csv"), "leads to itself")
    refused(bounded("fit", ".", cwd=tmp_path), "'.' is a folder", "Give a file in it")
    (tmp_path / "p.parquet").write_bytes(b"no such thing")
    refused(bounded("fit", ".", cwd=tmp_path), "'p.parquet' in '.' is not a Parquet file")


@pytest.mark.parametrize("command", [["fit"], ["explain", "--row", "1"]])
def test_a_wrong_seed_is_named(patients, command):
    done = bounded(*command, patients, "--seed", "-1")
    assert done.returncode == 2 and "'--seed'" in done.stderr
    assert "random_state" not in done.stderr and "Traceback" not in done.stderr


def test_only_weak_evidence_is_weak_evidence(patients, monkeypatch):
    """Not each warning that a fit, or a package behind it, may give."""
    honest = inlier.api.robust_mean

    def warned(category):
        def fit(*arguments, **options):
            warnings.warn("by a package", category, stacklevel=2)
            return honest(*arguments, **options)

        monkeypatch.setattr("inlier.cli.choice.robust_mean", fit)
        record = json.loads(invoke("fit", patients, "--json", "-").stdout)
        return record["fits"][0]["weak_evidence"]

    assert warned(inlier.WeakEvidenceWarning) is True
    for category in (DeprecationWarning, FutureWarning, RuntimeWarning, UserWarning):
        assert warned(category) is False


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
