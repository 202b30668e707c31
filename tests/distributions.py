"""Check the wheel and the sdist in dist/: what is in them, and that they work where they are new.

python tests/distributions.py
"""

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMOKE = ROOT / "tests" / "smoke.py"
# Of no use to who has no repository.
LEFT_OUT = (".ci/", ".github/")


def only(pattern: str) -> Path:
    (path,) = (ROOT / "dist").glob(pattern)
    return path


def tracked(folder: str = ".") -> set[str]:
    """Files of the repository."""
    done = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(done.stdout.splitlines())


def check_contents(wheel: Path, sdist: Path) -> None:
    """Compare with the repository: nothing is forgotten, nothing else is taken along."""
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == {name.removeprefix("src/") for name in tracked("src")}, found
    assert {"inlier/py.typed", "inlier/report/templates/page.html"} <= found

    with tarfile.open(sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    assert found == {n for n in tracked() if not n.startswith(LEFT_OUT)} | {"PKG-INFO"}, found


def check_in_empty_environment(path: Path) -> None:
    """Install it with what it requires; use it, and let mypy find its types."""
    home = ROOT / ".venv-dist"
    venv.create(home, clear=True, with_pip=True)
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    install = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", path]
    strict = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", home]
    for command in (install, [python, SMOKE], [*strict, "--python-executable", python, SMOKE]):
        subprocess.run(command, cwd=home, check=True)  # not in the repository, where src is


if __name__ == "__main__":
    wheel, sdist = only("*.whl"), only("*.tar.gz")
    check_contents(wheel, sdist)
    for path in (wheel, sdist):
        print(path.name, flush=True)
        check_in_empty_environment(path)
