"""Run commands, in this process or in one of its own."""

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
