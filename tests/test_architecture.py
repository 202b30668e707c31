"""Dependencies inside the package point downwards only, and importing it stays light."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "inlier"

# Top to bottom. A name is a module or a folder directly under src/inlier. It may import from
# strictly lower layers; the files of one folder may import each other. An import inside a function
# may point upwards: a result draws its own page.
LAYERS: list[set[str]] = [
    {"__init__", "__main__"},
    {"research"},
    {"cli"},
    {"report", "io"},
    {"pyod"},
    {"estimators", "fits"},
    {"covariance"},
    {"api"},
    {"given"},
    {"results"},
    {"search"},
    {"l0", "federated"},
    {"verdict"},
    {"linalg", "theory", "datasets"},
    {"data"},
    {"_internal"},
]
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}
# The command line offers `inlier reproduce`; old names lead to where things are now.
USES_RESEARCH = {"__init__.py", "cli/app.py"}

# What holds data. Optional, so the data layer loads them by name.
HOMES = {"torch", "cupy", "jax", "dask", "distributed", "zarr", "h5py", "pyarrow"}
HEAVY = {*HOMES, "matplotlib", "pandas", "polars", "cvxpy", "jinja2", "pyod", "sklearn"}

FILES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}


def unit(file: str) -> str:
    """The module or folder directly under the package that a file belongs to."""
    return file.partition("/")[0].removesuffix(".py")


@cache
def imports(file: str, everywhere: bool) -> set[str]:
    """The modules that a file imports: at its top, or wherever in the file that stands."""
    tree = ast.parse(FILES[file].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and node.args:
            # optional("h5py", ...), import_module("dask.array"), or what a file calls them.
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.add(first.value)
    return found


def units(modules: set[str]) -> set[str]:
    """The units of the package among some modules."""
    return {name.split(".")[1] for name in modules if name.startswith("inlier.")}


def test_every_module_has_one_layer():
    assert sum(map(len, LAYERS)) == len(LEVEL), "a module stands in two layers"
    assert {unit(file) for file in FILES} == LEVEL.keys()


def test_imports_point_downwards():
    upwards = {
        (file, name)
        for file in FILES
        for name in units(imports(file, everywhere=False)) - {unit(file)}
        if LEVEL[name] <= LEVEL[unit(file)]
    }
    assert upwards == {("cli/app.py", "research")}


def test_nothing_imports_research():
    users = {
        file
        for file in FILES
        if unit(file) != "research" and "research" in units(imports(file, everywhere=True))
    }
    assert users == USES_RESEARCH


def test_no_algorithm_knows_where_data_live():
    # federated/ddp is a hook into PyTorch's own training, fits/torch_modules has its gradients.
    others = [file for file in FILES if unit(file) not in ("data", "io")]
    faults = {
        file: homes
        for file in others
        if (homes := {name.partition(".")[0] for name in imports(file, everywhere=True)} & HOMES)
    }
    assert faults.keys() <= {"federated/ddp.py", "fits/torch_modules.py"}, faults


def test_import_is_silent_and_light():
    code = (
        "import sys, inlier\n"
        f"loaded = [name for name in {sorted(HEAVY)!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
        "inlier.robust_mean([[1.0, 2.0], [3.0, 5.0], [2.0, 2.0]])\n"
        "assert 'scipy.stats' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
