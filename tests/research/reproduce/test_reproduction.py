"""`reproduce` as a whole, on small data."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from cases import cases
from inlier.research.datasets import SettingA, SettingB, digits, printed_tables
from inlier.research.reproduce import chapter, pictures, tables
from inlier.research.reproduce.chapter import COLUMNS
from inlier.research.reproduce.reproduction import EXPERIMENTS, reproduce

FEW = ("iterative-filtering", "paper-lp", "inlier-sigma", "inlier")


def shrink(patch):
    """Small data, in this process."""
    patch.setattr(chapter, "TIMEOUT", None)
    patch.setattr(tables, "NUMBERS", (1, 6))
    patch.setattr(tables, "QUICK_NUMBERS", (1, 6))
    chosen = {
        1: [tables.PrintedCell(0.2, SettingA(30, 4, 0.2), {"lp": 9.0, "l1": 9.0})],
        6: [tables.PrintedCell(a, SettingB(30, 4, a), {"l1": 9.0, "que": 9.0}) for a in (0.1, 0.2)],
    }
    patch.setattr(tables, "cells", chosen.get)
    patch.setattr(pictures, "faces", lambda: digits(3, 4, 20))


class Watched:
    """How far each stage was at first, and at last."""

    def __init__(self):
        self.first, self.last, self.total = {}, {}, {}

    def __call__(self, stage, done, total):
        self.first.setdefault(stage, done)
        self.last[stage], self.total[stage] = done, total


FIGURES = [
    "figure2.svg",
    "faces.svg",
    "digits.svg",
]


@pytest.fixture
def few(monkeypatch):
    """Small data and some methods only."""
    shrink(monkeypatch)
    monkeypatch.setattr(tables, "IN_TABLES", FEW)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "made" / "anew"
    watched = Watched()
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        made = reproduce(folder, quick=True, n_jobs=1, watch=watched)
    return made, watched, {path.name: path.read_bytes() for path in made.files}


@pytest.mark.slow
def test_all_files_are_there(whole):
    made, _, contents = whole
    assert list(contents) == [*FIGURES, "README.md"] and all(contents.values())
    # Nothing half-written beside them.
    assert {path.name for path in made.folder.iterdir()} == {*contents, "fits"}
    assert made.worse == () and made.seconds > 0.0
    for name in FIGURES:
        assert ElementTree.fromstring(contents[name]).tag.endswith("svg")


@pytest.mark.slow
def test_the_page_shows_everything(whole):
    page = whole[2]["README.md"].decode()
    assert re.findall(r"\]\(([^)]*\.svg)\)", page) == FIGURES
    assert page.count("\n## ") == len(EXPERIMENTS)
    assert "Made by `inlier reproduce --quick` in" in page
    # Each table has lines with as many bars.
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


@pytest.mark.slow
def test_every_stage_is_watched_to_its_end(whole):
    _, watched, _ = whole
    methods = len(tables.IN_TABLES)
    expected = {"Table 1": methods, "Table 6": 2 * methods, "Figure 2": 1}
    expected["Faces and digits"] = 2 * len(COLUMNS)
    assert watched.last == watched.total == expected and set(watched.first.values()) == {0}


@pytest.mark.slow
def test_the_second_time_nothing_is_fitted_and_nothing_changes(whole, monkeypatch):
    shrink(monkeypatch)
    made, _, contents = whole
    again = reproduce(made.folder, quick=True, n_jobs=1)
    assert again.files == made.files
    for path in again.files:
        old, new = contents[path.name].splitlines(), path.read_bytes().splitlines()
        apart = [a for a, b in zip(old, new, strict=True) if a != b]
        # The page states how long it took, if all was done.
        assert len(apart) == (path.name == "README.md") and all(b"minutes in" in a for a in apart)


def test_it_resumes_after_an_interruption(tmp_path, few):
    def stop(stage, done, total):
        if stage == "Table 6" and done == 5:
            raise KeyboardInterrupt

    options = {"quick": True, "only": ["tables"], "n_jobs": 1}
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, watch=stop, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["fits"]
    kept = set((tmp_path / "fits").rglob("output.pkl"))
    reproduce(tmp_path, **options)
    written = set((tmp_path / "fits").rglob("output.pkl"))
    assert kept < written and len(kept) == len(FEW) + 5 and len(written) == 3 * len(FEW)
    assert "minutes in" not in (tmp_path / "README.md").read_text()


def test_trials_are_draws_and_worse_cells_are_reported(tmp_path, few, monkeypatch):
    # Nobody is better than less than nothing.
    cell = tables.PrintedCell(0.2, SettingB(30, 4, 0.2), {"lp": -1.0, "l1": -1.0, "que": -1.0})
    monkeypatch.setattr(tables, "NUMBERS", (1,))
    monkeypatch.setattr(tables, "cells", lambda i: [cell])
    made = reproduce(tmp_path, trials=2, only=["tables"], n_jobs=1)
    assert {text.partition(" in Table")[0] for text in made.worse} == {
        COLUMNS[name].label for name in ("inlier-sigma", "inlier")
    }
    page = (tmp_path / "README.md").read_text()
    assert "mean over 2 draws" in page and "`inlier reproduce --trials 2 --only tables`" in page
    assert "there are 2" in page.replace("\n", " ") and all(text in page for text in made.worse)


def test_faces_of_the_user(tmp_path, few, monkeypatch):
    monkeypatch.setattr(pictures, "ALL", FEW)
    monkeypatch.setattr(pictures, "digits", lambda: digits(3, 4, 20))
    rng = np.random.default_rng(0)
    path = tmp_path / "my_faces.npz"
    X = rng.random((30, 12)) + 5.0 * (np.arange(30) < 5)[:, None]
    np.savez(path, X=X, y=np.arange(30) < 5, shape=(4, 3))
    reproduce(tmp_path / "out", quick=True, only=["faces"], faces=path, n_jobs=1)
    page = (tmp_path / "out" / "README.md").read_text()
    assert "The faces are those of my_faces." in page and "--faces my_faces.npz`" in page
    assert "my_faces: 30 pictures of 4 x 3, 5 of them bad" in page
    (printed,) = printed_tables()["table5"].errors.values()
    for name, error in printed.items():
        assert f"{name.replace('_', ' ')} {error:g}" in page


# -- Wrong arguments ------------------------------------------------------------------------------


@cases(
    ("arguments", "message"),
    [
        ({"only": ["nonsense"]}, "only has 'nonsense': name some of tables, figures, faces"),
        ({"only": []}, "only is empty: name some of"),
        ({"trials": 0}, "trials must be a whole number >= 1, but is 0"),
        ({"only": ["faces"], "faces": "nowhere"}, "no file or folder 'nowhere'"),
        ({"only": ["tables"], "faces": __file__}, "name faces in only"),
        ({"only": ["faces"], "faces": __file__}, "cannot be used"),
        ({"only": ["tables"], "n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        reproduce(tmp_path / "out", quick=True, **arguments)
    assert not (tmp_path / "out" / "README.md").exists()
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="is a file: give the name of a folder"):
        reproduce(file)
    assert file.read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "tables"])
def test_a_quick_run_at_the_real_sizes(tmp_path, name):
    made = reproduce(tmp_path, quick=True, only=[name])
    assert all(path.stat().st_size for path in made.files) and made.worse == ()
