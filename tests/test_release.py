"""What is written in several places for a release agrees, and the required packages are enough."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import inlier

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSIONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))


def loaded(path):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_versions_agree():
    heads = re.findall(
        r"^## \[(.+)\] - (unreleased|\d{4}-\d\d-\d\d)$",
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    latest = heads[0][0]
    assert loaded("CITATION.cff")["version"] == latest
    assert loaded("conda/recipe.yaml")["context"]["version"] == latest
    assert PROJECT["tool"]["hatch"]["version"]["fallback-version"] == f"{latest}.dev0"
    assert inlier.__version__ == version("inlier")


def test_the_citation_is_complete():
    found = loaded("CITATION.cff")
    assert found["cff-version"] == "1.2.0" and found["license"] == PROJECT["project"]["license"]
    for work in (found, found["preferred-citation"]):
        assert work["title"] and work["authors"]
    assert found["preferred-citation"]["url"] in PROJECT["project"]["urls"].values()


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    recipe, project = loaded("conda/recipe.yaml"), PROJECT["project"]

    def spaced(names):
        return {re.sub(r"(?=[<>=])", " ", name, count=1) for name in names}

    needs = recipe["requirements"]
    python = f"python{project['requires-python']}"
    assert set(needs["run"]) == spaced([*project["dependencies"], python])
    assert set(needs["host"]) == spaced(PROJECT["build-system"]["requires"]) | {
        f"python {VERSIONS[0]}.*",
        "pip",
    }
    commands = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == commands
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (project["description"], project["license"])


def test_every_admitted_python_is_tested_and_can_read_the_sources():
    assert PROJECT["project"]["requires-python"] == f">={VERSIONS[0]}"
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    if workflow.exists():  # not in an sdist
        jobs = loaded(workflow.relative_to(ROOT))["jobs"]
        assert jobs["check"]["strategy"]["matrix"]["python-version"] == VERSIONS
    oldest = tuple(int(part) for part in VERSIONS[0].split("."))
    for path in (ROOT / "src").rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=oldest)


def test_what_is_required_is_enough():
    smoke = [sys.executable, "-W", "error::DeprecationWarning", ROOT / "tests" / "smoke.py"]
    done = subprocess.run(smoke, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
