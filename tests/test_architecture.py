"""Dependencies inside the package point downwards only, and importing it stays light."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from cases import cases

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "inlier"

# Top to bottom. A name is a module or a folder directly under src/inlier. It may import from
# strictly lower layers; the files of one folder may import each other.
LAYERS: list[set[str]] = [
    {"__init__", "__main__"},
    {"cli"},
    {"report", "plots", "experiments", "io"},
    {"figures"},
    {"comparison"},
    {"baselines", "pyod"},
    {"estimators"},
    {"covariance"},
    {"api", "federated"},
    {"search"},
    {"results"},
    {"l0"},
    {"linalg", "theory", "datasets"},
    {"data"},
    {"_internal"},
]

LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}

# What holds data. Optional, so the data layer loads them by name.
HOMES = {"torch", "cupy", "jax", "dask", "distributed", "zarr", "h5py", "pyarrow"}
HEAVY = [
    "matplotlib",
    "pandas",
    "polars",
    "torch",
    "dask",
    "zarr",
    "h5py",
    "pyarrow",
    "cvxpy",
    "jinja2",
    "pyod",
]


def unit(parts: tuple[str, ...]) -> str:
    """The module or folder directly under the package that a dotted name belongs to."""
    return parts[1] if len(parts) > 1 else "__init__"


def imported_units(source: str, parts: tuple[str, ...], is_package: bool) -> set[str]:
    """Units of the package that a file imports, wherever in the file the import stands.

    ``parts`` is the file's dotted name, split: ("inlier", "data", "arrays").
    """
    root = parts[0]
    package = parts if is_package else parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # "inlier.report:page" is imported by name.
            if match := re.fullmatch(r"inlier\.(\w+)[\w.]*(:\w+)?", node.value):
                found.add(match[1])
        elif isinstance(node, ast.Import):
            for alias in node.names:
                target = tuple(alias.name.split("."))
                if target[0] == root:
                    found.add(unit(target))
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                module = package[: len(package) - node.level + 1] + module
            if module[:1] != (root,):
                continue
            if len(module) > 1:
                found.add(unit(module))
            else:  # from inlier import spectral: a module, or a name of __init__
                known = units_on_disk() | LEVEL.keys()
                found |= {a.name if a.name in known else "__init__" for a in node.names}
    return found


def violations(importer: str, imported: set[str]) -> list[str]:
    """What is wrong with the imports of one file, in words."""
    faults = []
    for name in sorted({importer} | imported):
        if name not in LEVEL:
            faults.append(f"'{name}' has no layer: place it in LAYERS of {Path(__file__).name}")
    if faults:
        return faults
    for name in sorted(imported - {importer}):
        if LEVEL[name] <= LEVEL[importer]:
            faults.append(f"'{importer}' may not import '{name}'")
    return faults


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def units_on_disk() -> set[str]:
    return {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in sources()}


def dotted(path: Path) -> tuple[str, ...]:
    parts = ("inlier", *path.relative_to(PACKAGE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def test_package_is_found():
    assert PACKAGE / "__init__.py" in sources()


def test_every_module_has_one_layer():
    names = [name for layer in LAYERS for name in layer]
    assert len(names) == len(set(names)), "a module stands in two layers"
    missing = units_on_disk() - set(names)
    assert not missing, f"place {sorted(missing)} in LAYERS of {Path(__file__).name}"


def test_imports_point_downwards():
    faults = {}
    for path in sources():
        parts = dotted(path)
        imported = imported_units(path.read_text(encoding="utf-8"), parts, path.stem == "__init__")
        if found := violations(unit(parts), imported):
            faults[".".join(parts)] = found
    assert faults == {}


def libraries(source: str) -> set[str]:
    """The packages that a file imports from, or loads by name, wherever that stands."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Call) and node.args:
            # optional("h5py", ...), import_module("dask.array"), or what a file calls them.
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.add(first.value.partition(".")[0])
    return found


def test_no_algorithm_knows_where_data_live():
    faults = {}
    for path in sources():
        if unit(dotted(path)) in ("data", "io"):
            continue
        if dotted(path) == ("inlier", "federated", "ddp"):  # a hook into PyTorch's own training
            continue
        if homes := libraries(path.read_text(encoding="utf-8")) & HOMES:
            faults[".".join(dotted(path))] = homes
    assert faults == {}


@cases(
    ("source", "expected"),
    [
        ("import torch.nn as nn, numpy", {"torch", "numpy"}),
        ("def f():\n    from dask.array import Array", {"dask"}),
        ("from .torch import f", set()),
        ('h5py = optional("h5py", "To read", "files")', {"h5py"}),
        ('with import_module("zarr.core").open() as z: pass', {"zarr"}),
        ('name = "torch"', set()),
    ],
)
def test_libraries_are_read(source, expected):
    assert libraries(source) == expected


@cases(
    ("source", "importer", "is_package", "expected"),
    [
        ("import inlier.l0.problem as p", "inlier.linalg.eigenpairs", False, {"l0"}),
        ("import numpy, inlier", "inlier.api", False, {"__init__"}),
        ("from inlier.data.base import Table", "inlier.linalg.eigenpairs", False, {"data"}),
        ("from . import __version__", "inlier.cli", False, {"__init__"}),
        ("from . import api", "inlier.theory", False, {"api"}),
        ("from .api import path", "inlier.theory", False, {"api"}),
        ('late = import_module("inlier.report")', "inlier.results.result", False, {"report"}),
        ('connect({"page": "inlier.report:page"})', "inlier.results", True, {"report"}),
        ("from .base import Table", "inlier.data.arrays", False, {"data"}),
        ("from .base import Table", "inlier.data", True, {"data"}),
        ("from ..l0 import Packing", "inlier.data.arrays", False, {"l0"}),
        ("from .. import linalg", "inlier.data", True, {"linalg"}),
        (
            "def f():\n    from inlier.l0.continuation import g",
            "inlier.l0.problem",
            False,
            {"l0"},
        ),
        ("from inliers import problem\nimport numpy as np", "inlier.data", True, set()),
    ],
)
def test_imports_are_read(source, importer, is_package, expected):
    assert imported_units(source, tuple(importer.split(".")), is_package) == expected


@cases(
    ("importer", "imported", "allowed"),
    [
        ("l0", {"linalg", "data", "_internal"}, True),
        ("linalg", {"l0"}, False),
        ("linalg", {"theory"}, False),
        ("data", {"data"}, True),
        ("results", {"report"}, False),
        ("results", {"theory"}, True),
        ("__init__", {"cli", "api", "_internal"}, True),
        ("cli", {"__init__"}, False),
        ("l0", {"no_such_module"}, False),
    ],
)
def test_rule(importer, imported, allowed):
    assert (violations(importer, imported) == []) is allowed


def test_import_is_silent_and_light():
    code = (
        "import sys, inlier\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
