"""`inlier reproduce`, and what all commands have in common."""

import sys
from pathlib import Path

import pytest

from commands import invoke, shell
from inlier.research.reproduce import reproduction
from inlier.research.reproduce.reproduction import Reproduction


@pytest.fixture
def fake(monkeypatch):
    """Puts something else in the place of the experiments; gives what it was called with."""

    def replace(answer):
        calls = []

        def run(folder, **arguments):
            calls.append({"folder": folder, **arguments})
            return answer(folder, **arguments)

        monkeypatch.setattr(reproduction, "reproduce", run)
        return calls

    return replace


def made(folder, worse=(), **arguments):
    return Reproduction(Path(folder), (Path(folder) / "README.md",), tuple(worse), 12.3)


def test_options_reach_the_experiments(fake, tmp_path):
    calls = fake(made)
    assert invoke("reproduce").exit_code == 0
    words = ["--quick", "--trials", 3, "--only", "sigma", "--only", "alpha", "--jobs", 2]
    answer = invoke("reproduce", "--out", tmp_path, "--faces", tmp_path / "f", *words)
    assert answer.exit_code == 0, answer.output
    plain, full = ({k: v for k, v in call.items() if k != "watch"} for call in calls)
    assert plain == {
        "folder": Path("out/reproduce"),
        "trials": 20,
        "quick": False,
        "only": None,
        "faces": None,
        "n_jobs": -1,
    }
    assert full == {
        "folder": tmp_path,
        "trials": 3,
        "quick": True,
        "only": ["sigma", "alpha"],
        "faces": tmp_path / "f",
        "n_jobs": 2,
    }


def test_worse_cells_are_told_by_the_exit_code(fake, tmp_path):
    fake(lambda folder, **arguments: made(folder, ["lp in Table 1: 2, printed 1", "another"]))
    answer = invoke("reproduce", "--out", tmp_path)
    assert answer.exit_code == 1
    page, head, *cells = answer.stdout.splitlines()
    assert "README.md" in page and head == "Worse than printed:"
    assert cells == ["  lp in Table 1: 2, printed 1", "  another"]


def test_errors_are_one_line_and_an_exit_code(tmp_path):
    answer = invoke("reproduce", "--only", "nonsense", "--out", tmp_path)
    assert answer.exit_code == 2 and answer.stdout == ""
    assert answer.stderr.startswith("Error: only has 'nonsense': name some of tables")


@pytest.mark.slow
def test_a_real_run(tmp_path):
    out = tmp_path / "new" / "folder"
    done = shell("reproduce", "--only", "figures", "--quick", "--out", out)
    assert (done.returncode, done.stderr) == (0, "Figure 2: 1 steps\n")
    assert done.stdout.startswith(f"{out / 'README.md'}: 2 files in ")
    assert done.stdout.count("\n") == 1 and (out / "README.md").is_file()


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from inlier.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["typer", "rich"])
def test_what_the_command_line_needs_is_named(name):
    done = shell("--version", code=WITHOUT.format(name=name))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f'The command line needs {name}: pip install "inlier[cli]".\n'


@pytest.mark.slow
def test_what_the_experiments_need_is_named(tmp_path, monkeypatch):
    words = ["reproduce", "--only", "figures", "--quick", "--out", tmp_path]
    done = shell(*words, code=WITHOUT.format(name="matplotlib"))
    assert done.returncode == 2 and done.stdout == ""
    said = {"matplotlib": done.stderr}
    for name in ("skimage", "pandas"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            answer = invoke(*words)
        assert answer.exit_code == 2 and answer.stdout == ""
        said[name] = answer.stderr
    for name, text in said.items():
        needed = f'To reproduce the paper, {name} is needed: pip install "inlier[research]" ('
        assert text.startswith(f"Error: {needed}") and text.count("\n") == 1
    assert not list(tmp_path.iterdir())
