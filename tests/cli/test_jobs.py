"""Commands as processes: pipes, signals, and limits."""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import inlier
from commands import bounded, bounded_each, invoke, refused


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


def wait_until_open(process, path):
    """Until the command has opened a file."""
    links = Path(f"/proc/{process.pid}/fd")
    if not links.exists():
        pytest.skip("this system does not tell which files are open")
    while process.poll() is None:
        with suppress(FileNotFoundError):  # closed in between
            if str(path) in {os.readlink(link) for link in links.iterdir()}:
                return
        time.sleep(0.001)


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
    wait_until_open(process, path)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number and "Traceback" not in said
    assert ("Interrupted" in said) is (number == signal.SIGINT)
    assert [p.name for p in tmp_path.iterdir()] == ["large.npy"]


def test_the_end_of_a_job_leaves_no_temporary_file(tmp_path):
    path, folder = tmp_path / "large.csv", tmp_path / "temporary"
    folder.mkdir()
    path.write_text("1,2,3.5,4\n2,3,4.5,7\n" * 200_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "inlier", "fit", path, "--max-bytes", "1M"],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    while process.poll() is None and not os.listdir(folder):
        time.sleep(0.001)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert os.listdir(folder) == []


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


@pytest.fixture(scope="module")
def timed_job(tmp_path_factory):
    """A file, and how long Python takes to start, and a fit of it."""
    path = tmp_path_factory.mktemp("timed") / "x.csv"
    np.savetxt(path, np.random.default_rng(0).standard_normal((500, 5)), delimiter=",")

    def seconds(*words):
        began = time.perf_counter()
        subprocess.run([sys.executable, *words], capture_output=True, timeout=120)
        return time.perf_counter() - began

    return path, 1.5 * seconds("-c", "pass"), seconds("-m", "inlier", "fit", path)


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_an_interruption_at_any_time_is_quiet(timed_job, part):
    """From some time after Python has started to just before the end."""
    path, bare, whole = timed_job
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
    wait_until_open(process, path)
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


def test_a_query_without_an_end_is_asked_up_to_a_limit(database):
    asked = [
        (["--query", ENDLESS + "SELECT x, -x AS y FROM c"], "bytes that may be read into memory"),
        (["--query", ENDLESS + "SELECT count(*) AS n FROM c"], "no answer after 33,554,432 steps"),
        (["--table", "endless"], "bytes that may be read into memory"),
        (["--query", "SELECT zeroblob(900000000) AS a FROM t"], "too big"),
        (["--query", "SELECT zeroblob(9000000) AS a FROM t"], "bytes that may be read into memory"),
    ]
    commands = [["fit", database, *words, "--max-bytes", "32M"] for words, _ in asked]
    for done, (_, said) in zip(bounded_each(commands), asked, strict=True):
        refused(done, "t.db'", said)


def test_the_limit_can_be_raised(database, tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, np.random.default_rng(0).standard_normal((100, 3)))
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
    wait_until_open(process, database)
    time.sleep(0.2)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + number and "Traceback" not in said


def header_of_npy(shape):
    described = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    described = described.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(described).to_bytes(2, "little") + described.encode()


def test_arrays_that_cannot_be(tmp_path):
    shapes = {
        "(-3, 2)": "shape (-3, 2)",
        "(-3, -2)": "shape (-3, -2)",
        f"({1 << 33}, {1 << 33})": "is cut off",
        f"(0, {1 << 62})": "at least 2 rows",
    }
    for i, shape in enumerate(shapes):
        raw = header_of_npy(shape) + bytes(48)
        (tmp_path / f"{i}.npy").write_bytes(raw)
        (tmp_path / f"{i}.npy.gz").write_bytes(gzip.compress(raw))
    for ending in (".npy", ".npy.gz"):
        commands = [["fit", tmp_path / f"{i}{ending}"] for i in range(len(shapes))]
        found = bounded_each(commands)
        for i, (done, said) in enumerate(zip(found, shapes.values(), strict=True)):
            refused(done, f"{i}.npy", said if ending == ".npy" else "")


def test_paths_that_are_no_files(tmp_path, patients):
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    (tmp_path / "lost.csv").symlink_to(tmp_path / "nowhere.csv")
    loop, lost = tmp_path / "loop.csv", tmp_path / "lost.csv"
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "p.parquet").write_bytes(b"no such thing")
    commands = [["fit", loop], ["fit", lost], ["fit", patients, "--clean", loop], ["fit", "."]]
    found = bounded_each([*commands, ["fit", "folder"]], cwd=tmp_path)
    refused(found[0], "loop.csv' is a link that leads to no file")
    refused(found[1], "lost.csv' is a link that leads to no file")
    refused(found[2], "leads to itself")
    refused(found[3], "'.' is a folder", "Give a file in it")
    refused(found[4], "'p.parquet' in 'folder' is not a Parquet file")
