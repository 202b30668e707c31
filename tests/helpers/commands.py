"""Run commands, in this process or in one of its own."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from inlier.cli.app import app

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


def bounded(*words, start=("-m", "inlier"), **options):
    """The command in a process that may take a minute and 4000 MB of memory, and no more."""
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (4000 << 20, 4000 << 20))

    return subprocess.run(
        [sys.executable, *start, *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, **PLAIN, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        timeout=60,
        preexec_fn=limit,
        **options,
    )


EACH = """
import json, sys
from commands import invoke
for words in json.loads(sys.argv[1]):
    done = invoke(*words)
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
"""


def bounded_each(commands, **options):
    """Several commands one after the other in such a process: starting one takes a second."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n{EACH}"
    done = bounded(words, start=("-c", code), **options)
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(commands)
    return [subprocess.CompletedProcess([], *one) for one in found]


def refused(done, *said):
    """Whether it ended with one line that says what is wrong."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: ") and "Traceback" not in done.stderr
    for words in said:
        assert words in done.stderr
