"""Use the package with nothing but what it requires: no extra and no pytest.

Run in an empty environment by `make dist`. Elsewhere, what the requirements do not bring is hidden.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from types import ModuleType
from typing import assert_type


def canonical(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def brought_by(name: str, found: set[str]) -> set[str]:
    """The package, what it requires, what that requires, and so on; no extras."""
    found.add(canonical(name))
    with suppress(PackageNotFoundError):  # needed on other systems alone
        for line in requires(name) or []:
            needed = re.split(r"[^\w.-]", line, maxsplit=1)[0]
            if "extra ==" not in line and canonical(needed) not in found:
                brought_by(needed, found)
    return found


BROUGHT = brought_by("inlier", set())
HIDDEN = {
    module
    for module, homes in packages_distributions().items()
    if not any(canonical(home) in BROUGHT for home in homes)
}


class Hide(MetaPathFinder):
    """Let modules seem absent."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


sys.meta_path.insert(0, Hide())

import numpy as np  # noqa: E402

import inlier  # noqa: E402


def check_answers() -> inlier.RobustMeanResult:
    """The bad rows of a drawn table are found by the function, the estimator and among updates."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 10))
    X[:30] += 8.0
    bad = np.arange(300) < 30

    result = inlier.robust_mean(X)
    assert_type(result, inlier.RobustMeanResult)
    assert_type(result.message, str)
    assert np.array_equal(np.asarray(result.support), ~bad)
    assert np.allclose(np.asarray(result.location), X[~bad].mean(axis=0))

    estimator = inlier.RobustMean().fit(X)
    assert np.array_equal(np.asarray(estimator.support_), ~bad)

    updates = [random.normal(1.0, 0.1, size=50) for _ in range(20)]
    updates[3] = np.full(50, -100.0)
    agreed = inlier.federated.aggregate(updates)
    assert np.allclose(np.asarray(agreed.update), np.mean(updates[:3] + updates[4:], axis=0))

    assert inlier.__version__ == version("inlier")
    return result


def read(name: str, content: bytes) -> None:
    """Let the package read a file, or the folder that it is in."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        inlier.robust_mean(str(Path(folder, Path(name).parts[0])))


def check_extras(result: inlier.RobustMeanResult) -> None:
    """Everything that an extra brings says so, and names the extra."""
    ddp, cli = import_module("inlier.federated.ddp"), import_module("inlier.cli")
    wanting: dict[str, list[Callable[[], object]]] = {
        "plot": [result.plot],
        "report": [result.to_html],
        "cli": [cli.main, partial(read, "t.csv", b"a\n1\n"), partial(read, "t.parquet", b"PAR1")],
        "files": [
            partial(read, "t.h5", b"\x89HDF\r\n\x1a\n"),
            partial(read, "t.zarr/zarr.json", b"{}"),
        ],
        "dask": [partial(import_module, "inlier.data.dask")],
        "torch": [partial(ddp.robust_hook, ddp.RobustState(), None)],
        "flower": [partial(import_module, "inlier.federated.flower")],
        "research": [inlier.research.datasets.faces],
    }
    for extra, uses in wanting.items():
        for use in uses:
            try:
                use()
            except (ImportError, SystemExit) as error:
                assert f'pip install "inlier[{extra}]"' in str(error), error
            else:
                raise AssertionError(f"{use} was expected to name the extra {extra!r}")


if __name__ == "__main__":
    check_extras(check_answers())
    print(f"inlier {inlier.__version__} works with what it requires")
