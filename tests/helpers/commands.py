"""Run commands, in this process or in one of its own."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from inlier.cli.app import app

PLAIN = {"COLUMNS": "400", "NO_COLOR": "1", "TERM": "dumb"}


def invoke(*words, input=None, **environment):
    """The command in this process."""
    runner = CliRunner(env={**PLAIN, **environment})
    return runner.invoke(app, [str(word) for word in words], input=input)


def fit_record(*words):
    """What `inlier fit` writes as JSON."""
    done = invoke("fit", *words, "--json", "-")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


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


EACH = """
import json, sys
sys.path.insert(0, sys.argv[1])
from commands import invoke
for words in json.loads(sys.argv[2]):
    done = invoke(*words)
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
"""


def bounded(commands, **options):
    """Commands one after the other, in a process that may take a minute and 4000 MB of memory."""
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (4000 << 20, 4000 << 20))

    words = json.dumps([[str(word) for word in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", EACH, os.path.dirname(__file__), words],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        timeout=60,
        preexec_fn=limit,
        **options,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(commands)
    return found
