"""Commands as processes: pipes, signals, and limits."""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

import inlier
from commands import bounded, invoke


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


def begun(*words, **options):
    """A command that runs."""
    return subprocess.Popen(
        [sys.executable, "-m", "inlier", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


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


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_the_end_of_a_job_leaves_no_half_file(tmp_path, number):
    path = tmp_path / "large.npy"
    np.save(path, np.random.default_rng(0).standard_normal((60_000, 300)))
    process = begun("fit", path, "--clean", tmp_path / "clean.npy")
    wait_until_open(process, path)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    interrupted = "Interrupted. No file was left half written.\n"
    assert said == (interrupted if number == signal.SIGINT else "")
    assert [p.name for p in tmp_path.iterdir()] == ["large.npy"]


# By `python -m`, and as pip starts it.
START = {"module": ["-m", "inlier"], "script": ["-c", "from inlier.cli import main; main()"]}


@pytest.mark.parametrize(
    ("start", "number", "module"),
    [
        ("module", signal.SIGINT, "numpy"),
        ("script", signal.SIGINT, "typer"),
        ("script", signal.SIGTERM, "scipy"),
        ("module", signal.SIGHUP, "typer"),
    ],
)
def test_the_end_of_a_job_while_packages_are_imported(tmp_path, start, number, module):
    """A module in the place of a package waits until the job is ended."""
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
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "here\n"
    process.send_signal(number)
    printed, said = process.communicate(timeout=30)
    assert (process.returncode, printed, said) == (128 + number, "", "")


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE t (a, b)")
        made.executemany("INSERT INTO t VALUES (?, ?)", [(i, i * i % 7) for i in range(50)])
        made.execute(f"CREATE VIEW endless AS {ENDLESS} SELECT x, 2 * x AS y FROM c")
    return path


def test_a_query_can_be_interrupted(database):
    """While it is in SQLite, where Python hears of no signal."""
    process = begun("fit", database, "--query", ENDLESS + "SELECT count(*) AS n FROM c")
    wait_until_open(process, database)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGINT and "Traceback" not in said


def header_of_npy(shape):
    described = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    described = described.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(described).to_bytes(2, "little") + described.encode()


def make_hostile_files(folder):
    """Files in a folder, and what is said of each."""
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    (folder / "lost.csv").symlink_to(folder / "nowhere.csv")
    (folder / "folder").mkdir()
    (folder / "folder" / "p.parquet").write_bytes(b"no such thing")
    said = {
        "loop.csv": "loop.csv' is a link that leads to no file",
        "lost.csv": "lost.csv' is a link that leads to no file",
        ".": "'.' is a folder, and neither of zarr nor of Parquet files. Give a file in it",
        "folder": "'p.parquet' in 'folder' could not be read",
    }
    # A short line near the top, and where detection does not reach, below very many names.
    for before, width in ((0, 1_000_000), (120, 100_000)):
        with open(folder / f"wide{before}.csv", "w") as file:
            file.write(",".join(f"c{j}" for j in range(width)) + "\n")
            file.writelines([",".join("1" * width) + "\n"] * before)
            file.write("1,2,3\n")
        cells = f"line {before + 2} has 3 cells, but the first record has {width}"
        said[f"wide{before}.csv"] = f"wide{before}.csv': {cells}"
    shapes = {
        "(-3, 2)": "0.npy' could not be read",
        "(-3, -2)": "1.npy' could not be read",
        f"({1 << 33}, {1 << 33})": "2.npy' could not be read",
        f"(0, {1 << 62})": "3.npy' could not be read",
    }
    for i, (shape, why) in enumerate(shapes.items()):
        raw = header_of_npy(shape) + bytes(48)
        (folder / f"{i}.npy").write_bytes(raw)
        (folder / f"{i}.npy.gz").write_bytes(gzip.compress(raw))
        said |= {f"{i}.npy": why, f"{i}.npy.gz": f"{i}.npy.gz"}
    return said


def test_what_is_hostile_is_refused_in_one_line_and_within_memory(tmp_path, database, patients):
    """Also what has no end, which is read up to a limit."""
    told = [([name], said) for name, said in make_hostile_files(tmp_path).items()]
    told.append(([patients, "--clean", "loop.csv"], "leads to itself"))
    too_much = "33,554,432 bytes that may be read into memory. Raise the limit, --max-bytes"
    endless = [
        (["--query", f"{ENDLESS} SELECT x, -x AS y FROM c"], too_much),
        (["--query", f"{ENDLESS} SELECT count(*) AS n FROM c"], "no answer after 33,554,432 steps"),
        (["--query", "SELECT zeroblob(900000000) AS a FROM t"], "too big"),
        (["--query", "SELECT zeroblob(9000000) AS a FROM t"], too_much),
        (["--table", "endless"], too_much),
    ]
    endless = [([database, *words], said) for words, said in endless]
    endless.append((["/dev/zero"], f"/dev/zero' has more than the {too_much}"))
    with subprocess.Popen(["yes", "1,2"], stdout=subprocess.PIPE) as lines:
        pipe = lines.stdout.fileno()
        endless.append(([f"/dev/fd/{pipe}"], f"/dev/fd/{pipe}' has more than the {too_much}"))
        told += [([*words, "--max-bytes", "32M"], said) for words, said in endless]
        found = bounded([["fit", *words] for words, _ in told], cwd=tmp_path, pass_fds=[pipe])
        lines.kill()
    for (code, printed, error), (words, said) in zip(found, told, strict=True):
        assert (code, printed, error.count("\n")) == (2, "", 1), (words, error)
        assert error.startswith("Error: ") and said in error, words


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
