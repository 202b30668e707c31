"""`reproduce` as a whole, on small data."""

import csv
import importlib
import re
import sqlite3
from xml.etree import ElementTree

import pytest

from cases import cases
from inlier.research.datasets import SettingB
from inlier.research.reproduce import chapter, optimality, price, tables
from inlier.research.reproduce.chapter import Chapter, Drawing, number
from inlier.research.reproduce.methods import COLUMNS
from inlier.research.reproduce.reproduction import EXPERIMENTS, Reproduction, reproduce
from studies import Cells, Watched, shrink

# The function of that name stands before the module.
MODULE = importlib.import_module("inlier.research.reproduce.reproduction")


# -- All of it, on small data ---------------------------------------------------------------------


@pytest.fixture
def few(small_data, monkeypatch):
    """Some methods only."""
    monkeypatch.setattr(tables, "IN_TABLES", FEW)


FEW = ("iterative-filtering", "paper-lp", "inlier-sigma", "inlier")


def results(folder):
    with open(folder / "results.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "made" / "anew"
    watched = Watched()
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        made = reproduce(folder, quick=True, n_jobs=1, watch=watched)
    return made, watched, {path.name: path.read_bytes() for path in made.files}


FIGURES = [
    "figure1",
    "figure2",
    "faces",
    "digits",
    "error-alpha",
    "error-sigma",
    "error-dimension",
    "price",
    "cost",
]


# Not fits that a store could keep.
OTHER_STAGES = {"Figures 1 and 2", optimality.STAGE, price.STAGE}


def test_all_files_are_there(whole):
    made, _, contents = whole
    expected = {f"{name}.{ending}" for name in FIGURES for ending in ("png", "svg")}
    expected |= {"README.md", "tables.html", "tables.tex", "results.csv"}
    assert set(contents) == expected and len(made.files) == len(expected)
    # Nothing half-written beside them.
    assert {path.name for path in made.folder.iterdir()} == expected | {
        "fits.sqlite",
        "fits-timed.sqlite",
    }
    assert made.worse == () and made.seconds > 0.0
    assert all(contents.values())


def test_figures_can_be_opened(whole):
    from PIL import Image

    made, _, contents = whole
    for name in FIGURES:
        assert ElementTree.fromstring(contents[f"{name}.svg"]).tag.endswith("svg")
        with Image.open(made.folder / f"{name}.png") as picture:
            picture.load()
            assert min(picture.size) > 300 and len(picture.convert("L").getcolors()) > 2


def test_the_page_shows_everything(whole):
    made, _, contents = whole
    page = contents["README.md"].decode()
    for name in FIGURES:
        assert f"]({name}.svg)" in page
    assert page.count("\n## ") == len(EXPERIMENTS)
    assert "Made by `inlier reproduce --quick` in" in page
    links = re.findall(r"\]\(([^)]*\.svg)\)", page)
    assert all((made.folder / link).is_file() for link in links)
    # Each table has lines with as many bars.
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_the_same_tables_in_three_ways(whole):
    contents = {
        name: content.decode()
        for name, content in whole[2].items()
        if "." in name[-5:] and not name.endswith("png")
    }
    html, latex, page = contents["tables.html"], contents["tables.tex"], contents["README.md"]
    n_tables = html.count("<table>")
    assert n_tables == html.count("</table>") == latex.count(r"\begin{table}") > 10
    assert n_tables == len(re.findall(r"^\|:?-", page, re.MULTILINE))
    body = html[html.index("<div") : html.rindex("</div>") + len("</div>")]
    assert len(Cells(body).rows) == latex.count(r"\\" + "\n")


def test_results_have_a_line_for_each_fit(whole):
    pandas = pytest.importorskip("pandas")
    made, watched, _ = whole
    frame = pandas.read_csv(made.folder / "results.csv")
    fits = sum(n for stage, n in watched.total.items() if stage not in OTHER_STAGES)
    assert len(frame) == fits
    assert set(frame["experiment"]) == {
        "table1",
        "table6",
        "faces",
        "digits",
        "error-alpha",
        "error-sigma",
        "error-dimension",
        "cost",
    }
    assert set(frame["status"]) == {"ok"} and set(frame["method"]) == set(COLUMNS)
    assert frame["error"].notna().all() and (frame["seconds"] > 0.0).all()
    # The mean of the lines is what stands in the tables.
    chosen = frame[(frame["experiment"] == "table1") & (frame["method"] == "paper-l1")]
    assert number(chosen["error"].mean()) in (made.folder / "README.md").read_text()


def test_every_stage_comes_to_its_end(whole):
    _, watched, _ = whole
    assert len(watched.total) == 10
    assert watched.last == watched.total and set(watched.first.values()) == {0}


def test_the_second_time_nothing_is_fitted_and_nothing_changes(whole, small_data):
    made, first, contents = whole
    watched = Watched()
    again = reproduce(made.folder, quick=True, n_jobs=1, watch=watched)
    assert again.files == made.files
    for stage, total in first.total.items():
        assert watched.first[stage] == (0 if stage in OTHER_STAGES else total)
    for path in again.files:
        content = path.read_bytes()
        if path.name in ("README.md", "tables.html"):  # they say how long it took, if all was done
            old, new = contents[path.name].splitlines(), content.splitlines()
            apart = [a for a, b in zip(old, new, strict=True) if a != b]
            assert len(apart) == 1 and b"minutes in" in apart[0]
        else:
            assert content == contents[path.name], path.name


def test_fresh_forgets(tmp_path, few):
    def run(**options):
        watched = Watched()
        made = reproduce(tmp_path, quick=True, only=["tables"], n_jobs=1, watch=watched, **options)
        return watched, made, results(tmp_path)

    first, _, before = run()
    resumed, _, kept = run()
    anew, made, after = run(fresh=True)
    assert set(first.first.values()) == set(anew.first.values()) == {0}
    assert resumed.first == first.total and kept == before
    # The same draws give the same answers; only seconds differ.
    assert [line.pop("seconds") for line in before] != [line.pop("seconds") for line in after]
    assert before == after
    assert "minutes in" in (made.folder / "README.md").read_text()


def test_the_other_half_is_done_after_an_interruption(tmp_path, few):
    def stop(stage, done, total):
        if stage == "Table 6" and done == 5:
            raise KeyboardInterrupt

    options = {"quick": True, "only": ["tables"], "n_jobs": 1}
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, watch=stop, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["fits.sqlite"]
    watched = Watched()
    reproduce(tmp_path, watch=watched, **options)
    assert watched.first == {"Table 1": watched.total["Table 1"], "Table 6": 5}
    file = sqlite3.connect(tmp_path / "fits.sqlite")
    assert file.execute("SELECT COUNT(*) FROM fits").fetchone() == (sum(watched.total.values()),)
    file.close()


def test_trials_are_draws(tmp_path, few):
    reproduce(tmp_path, trials=3, only="tables", n_jobs=1)
    lines = results(tmp_path)
    assert {line["seed"] for line in lines} == {"0", "1", "2"}
    assert len(lines) == 3 * 3 * len(FEW)
    page = (tmp_path / "README.md").read_text()
    assert "mean over 3 draws" in page
    assert "`inlier reproduce --trials 3 --only tables`" in page


def test_worse_cells_are_reported(tmp_path, few, monkeypatch):
    # Nobody is better than less than nothing.
    cell = tables.PrintedCell(0.2, SettingB(30, 4, 0.2), {"lp": -1.0, "l1": -1.0, "que": -1.0})
    monkeypatch.setattr(tables, "NUMBERS", (1,))
    monkeypatch.setattr(tables, "cells", lambda i: [cell])
    made = reproduce(tmp_path, trials=2, only=["tables"], n_jobs=1)
    assert isinstance(made, Reproduction) and len(made.worse) == 2
    assert {text.partition(" in Table")[0] for text in made.worse} == {
        COLUMNS[name].label for name in ("inlier-sigma", "inlier")
    }
    page = (tmp_path / "README.md").read_text()
    assert "there are 2" in page.replace("\n", " ") and all(text in page for text in made.worse)


def test_workers_find_the_same(tmp_path, few, monkeypatch):
    monkeypatch.setattr(tables, "QUICK_NUMBERS", (6,))
    options = {"quick": True, "only": ["tables"]}
    reproduce(tmp_path / "here", n_jobs=1, **options)
    monkeypatch.setattr(chapter, "TIMEOUT", 60.0)
    reproduce(tmp_path / "there", n_jobs=2, **options)
    here, there = (
        [{**line, "seconds": ""} for line in results(path)]
        for path in (tmp_path / "here", tmp_path / "there")
    )
    assert here == there


# -- One experiment -------------------------------------------------------------------------------


def test_experiments_keep_their_order():
    assert list(MODULE._chosen(["price", "tables", "price"])) == ["tables", "price"]
    assert list(MODULE._chosen(name for name in ("l0",))) == ["l0"]
    assert list(MODULE._chosen("cost")) == ["cost"]
    assert MODULE._chosen(None) is EXPERIMENTS


# -- Wrong arguments ------------------------------------------------------------------------------


@cases(
    ("arguments", "message"),
    [
        ({"only": ["nonsense"]}, "only has 'nonsense': name some of tables, figures, faces"),
        ({"only": "table"}, "only has 'table': name some of"),
        ({"only": []}, "only is empty: name some of"),
        ({"trials": 0}, "trials must be a whole number >= 1, but is 0"),
        ({"trials": 2.5}, "trials must be a whole number"),
        ({"only": ["faces"], "faces": "nowhere"}, "no file or folder 'nowhere'"),
        ({"only": ["faces"], "faces": __file__}, "cannot be used"),
        ({"only": ["cost", "tables"], "n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, message):
    folder = tmp_path / "out"
    with pytest.raises(ValueError, match=message):
        reproduce(folder, quick=True, **arguments)
    assert not (folder / "README.md").exists()


def test_a_folder_that_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="is a file: give the name of a folder"):
        reproduce(file)
    assert file.read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "tables"])
def test_a_quick_look_at_the_real_sizes(tmp_path, name):
    made = reproduce(tmp_path, quick=True, only=[name])
    assert all(path.stat().st_size for path in made.files) and made.worse == ()


def test_results_without_fits_can_be_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = MODULE._write_lines(tmp_path / "results.csv", [])
    assert len(pandas.read_csv(path)) == 0


def test_the_command_is_escaped_in_html():
    assert "<faces>" not in MODULE._html([], "Made by `inlier reproduce --faces <faces>`")


class Half:
    """A figure that cannot be written to its end."""

    def savefig(self, path, **options):
        path.write_text("half")
        raise OSError("no space left")


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    (tmp_path / "broken.png").write_text("from before")
    broken = Chapter("t", "t", drawings=[Drawing("broken", "c", Half())])
    monkeypatch.setitem(EXPERIMENTS, "figures", lambda setup: broken)
    with pytest.raises(OSError, match="no space left"):
        reproduce(tmp_path, only=["figures"])
    assert [path.name for path in tmp_path.iterdir()] == ["broken.png"]
    assert (tmp_path / "broken.png").read_text() == "from before"
