"""The examples in docstrings, pages and the gallery do what they say."""

import doctest
import importlib
import pkgutil
import re
import runpy
import shlex
import tomllib
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import inlier
from cases import cases
from inlier.research.comparison import run
from inlier.research.comparison.fits import run_here

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """A block of Python, and what the page says that it prints, if it does."""

    code: str
    printed: str | None
    line: int


def pages() -> list[Path]:
    """The pages that are written by hand; those under docs/results are written by benchmarks."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text(encoding="utf-8")
    found: list[Snippet] = []
    for block in FENCE.finditer(text):
        if block[1] == "python":
            found.append(Snippet(block[2], None, text[: block.start()].count("\n") + 1))
        elif block[1] == "text" and found:
            found[-1] = replace(found[-1], printed=block[2])
    return found


def commands(page: Path) -> list[str]:
    """The lines of indented blocks, without comments."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    lines = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    return [line.partition("  #")[0].strip() for line in lines]


FOUND = [found.name for found in pkgutil.walk_packages(inlier.__path__, "inlier.")]
# The kernels of GPUs need Triton, the strategies Flower, and the detector PyOD.
APART = ("__main__", "data.fused", "federated.flower", "inlier.pyod")
MODULES = [name for name in FOUND if not name.endswith(APART)]


@cases("name", ["inlier", *MODULES])
def test_examples(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner()
    for example in finder.find(module, globs=dict(vars(module))):
        runner.run(example)
    assert runner.failures == 0


# -- Pages ----------------------------------------------------------------------------------------


def rows(n=60, d=5):
    return np.random.default_rng(0).standard_normal((n, d))


def large_tables():
    """What docs/scale.md reads: a tensor, files, a Dask array and a cluster in this process."""
    torch, zarr = pytest.importorskip("torch"), pytest.importorskip("zarr")
    dask, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    X = rows(2000, 4)
    np.save("table.npy", X)
    zarr.save("table.zarr", X)
    chunked = dask.from_array(X, chunks=(500, 4))
    client = distributed.Client(processes=False, n_workers=1, dashboard_address=None)
    known = {"np": np, "torch_tensor_on_cuda": torch.asarray(X), "X": chunked}
    return {**known, "dask_array": chunked, "client": client}


# What a page takes as given.
GIVEN = {
    "assume.md": lambda: {"X": rows(), "noise": rows(30)},
    "covariance.md": lambda: {"X": rows()},
    "command-line.md": lambda: {"frame": with_a_suspect()},
    "federated.md": lambda: {
        "rounds": 2,
        "updates": rows(8, 30),
        "sample_counts": np.full(8, 100),
        "model": np.zeros(30),
    },
    "rivals.md": lambda: {"X": rows()},
    "scale.md": large_tables,
}
# A page may speak of more rows than a test should wait for.
SMALLER = {"10_000_000": "500", "trials=10": "trials=2"}


def with_a_suspect():
    """Skewed rows beside a tight group, which is suspected and kept."""
    rng = np.random.default_rng(0)
    return np.r_[rng.exponential(size=(180, 6)), 0.05 * rng.standard_normal((30, 6)) - 2.0]


@pytest.mark.parametrize("page", [page for page in pages() if snippets(page)], ids=lambda p: p.name)
def test_snippets_of_pages(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "run_in_workers", lambda fits, n_jobs, timeout: run_here(fits))
    known = {"inlier": inlier, **GIVEN.get(page.name, dict)()}
    try:
        for snippet in snippets(page):
            code = snippet.code
            for large, small in SMALLER.items():
                code = code.replace(large, small)
            capsys.readouterr()
            exec(compile(code, f"{page.name}:{snippet.line}", "exec"), known)
            if snippet.printed is not None:
                assert capsys.readouterr().out == snippet.printed
    finally:
        if "client" in known:
            known["client"].close()


def test_the_verdict_of_the_readme(tmp_path, monkeypatch):
    """What README.md shows of the command line is what it prints for the table of its example."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    readme = ROOT / "README.md"
    (shown,) = [
        block[2] for block in FENCE.finditer(readme.read_text("utf-8")) if block[1] == "console"
    ]
    known = {}
    exec(compile(snippets(readme)[0].code, "README.md", "exec"), known)
    monkeypatch.chdir(tmp_path)
    known["table"].to_csv("wines.csv", index=False)
    app = importlib.import_module("inlier.cli.app").app
    printed = CliRunner().invoke(app, ["fit", "wines.csv"], env={"COLUMNS": "80"}).output
    printed = [line.rstrip() for line in printed.splitlines()]
    for line in shown.splitlines():
        assert line == "..." or line in printed


def targets():
    return re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


def check_command(line):
    """Raise unless a line for a shell can be understood; True if it was one that is known."""
    if line.split()[0] not in ("make", "pip", "python", "inlier", "cat"):
        return False
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        assert words[1] in targets()
    elif words[:2] == ["pip", "install"]:
        named = re.findall(r"\[([\w,]+)\]", line)
        assert set(",".join(named).split(",")) <= extras() | {""}
    elif words[0] == "python":
        assert (ROOT / words[1]).exists()
    else:
        typer, app = pytest.importorskip("typer"), importlib.import_module("inlier.cli.app")
        start = words.index("inlier") + 1
        end = words.index("|", start) if "|" in words[start:] else len(words)
        name, *arguments = words[start:end]
        try:
            typer.main.get_command(app.app).commands[name].make_context(name, arguments)
        except Exception as error:
            raise AssertionError(f"{line} is refused: {error}") from error
    return True


def test_commands_of_pages():
    known = [line for page in pages() for line in commands(page) if check_command(line)]
    for word in ("make", "pip", "inlier"):
        assert any(line.startswith(word) for line in known)


def test_links_of_pages_lead_somewhere():
    results = (ROOT / "docs" / "results").rglob("*.md")
    for page in [*pages(), *results]:
        links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        there = [link for link in links if not link.startswith(("https://", "http://"))]
        assert [link for link in there if not (page.parent / link).exists()] == []


# -- Reference ------------------------------------------------------------------------------------

LISTED = (
    "inlier",
    "inlier.federated",
    "inlier.theory",
    "inlier.research",
    "inlier.research.baselines",
    "inlier.research.datasets",
)


@cases("module", LISTED)
def test_the_reference_lists_every_public_name(module):
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    parts = re.split(r"^\.\. currentmodule:: (\S+)$", text, flags=re.MULTILINE)
    listed = dict(zip(parts[1::2], parts[2::2], strict=True))[module]
    found = importlib.import_module(module)
    public = {name for name in found.__all__ if callable(getattr(found, name))}
    assert set(re.findall(r"^   (\w+)$", listed, re.MULTILINE)) == public


# -- Gallery --------------------------------------------------------------------------------------

# What the text of an example says, and its output has to.
SAID = {
    "plot_01_unit_errors": "20 of 20 bad cells set aside, and 0 others",
    "plot_02_inches": "cells like inches: 14",
    "plot_03_digits": "removed: 45 of 45 other digits, 0 of 178 zeros",
    "plot_04_faces": "removed: 28 of 40 backgrounds, 0 of 100 faces",
    "plot_05_clean_table": "removes   0 rows, the mean moves by 0.000",
    "plot_06_poisoned_gradients": "removed: 60 of 60 poisoned rows, 0 of 300 others",
    "plot_07_mislabelled": "nine or ten found in 50 of 90 pairs, none in 40",
    "plot_08_torch": "the same rows: True",
    "plot_09_dask": "chunk 10: 100.0% of its rows removed",
    "plot_10_federated_round": "14 of 20 updates count. Rejected: 0, 1, 2, 3, 4, 5.",
    "plot_11_rivals": "inlier, symmetric     0 ",
    "plot_12_certificate": "10 rows removed, 10 of them bad",
    "plot_13_nearest_centroid": "40 rows removed, 40 of them bad",
    "plot_14_kmeans": "8 rows removed, 8 of them in millimeters",
    "plot_15_robust_regression": "less than a fifth of the plain fit's: True",
    "plot_16_flipped_labels": "at least two thirds of the flipped labels found: True",
}
SLOW = ("plot_07", "plot_08", "plot_09")  # more than three seconds, torch and Dask included
GALLERY = sorted((ROOT / "examples").glob("plot_*.py"))


def test_every_example_of_the_gallery_has_a_statement():
    assert [path.stem for path in GALLERY] == list(SAID)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.stem.startswith(SLOW) else [])
        for path in GALLERY
    ],
    ids=lambda path: path.stem,
)
def test_gallery(path, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("error", inlier.WeakEvidenceWarning)
        runpy.run_path(str(path))
    assert pyplot.get_fignums()
    pyplot.close("all")
    assert SAID[path.stem] in capsys.readouterr().out


def test_classes_and_clusters_far_from_zero(capsys):
    """Such as times in seconds since 1970: the answers are those near zero."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 100)
    X = rng.standard_normal((300, 2)) + 10.0 * y[:, None]
    examples = {path.stem[8:]: path for path in GALLERY}
    found = {name: runpy.run_path(examples[name]) for name in ("nearest_centroid", "kmeans")}
    pyplot.close("all")
    for offset in (0.0, 1.7e9):
        model = found["nearest_centroid"]["NearestMean"]().fit(X + offset, y)
        assert (model.predict(X + offset) == y).all()
        centers, support = found["kmeans"]["robust_kmeans"](X + offset, 3)
        means = [X[support & (y == j)].mean(axis=0) for j in range(3)]
        np.testing.assert_allclose(np.sort(centers, axis=0) - offset, means, atol=1e-5)


@pytest.mark.slow
def test_pictures_of_the_method(tmp_path):
    pytest.importorskip("matplotlib")
    runpy.run_path(str(ROOT / "docs" / "pictures" / "draw.py"))["main"](tmp_path)
    pages = [ROOT / "docs" / name for name in ("method.md", "no-knobs.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"pictures/(\w+\.\w+)\)", text))
    assert shown == {path.name for path in tmp_path.iterdir()}
