"""Message, terminal, report, card and JSON say the same about a fit, in the same words."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import inlier
from commands import fit_record, invoke
from inlier.report import card, page
from inlier.results.cells import reasons
from inlier.results.explanation import explained
from inlier.results.wording import remarks

COLUMNS = ["income", "debt", "<b>age</b>", "height", "weight", "[red]rent[/red]"]
SET_ASIDE = [100, 101, 110, 111, 112, 113, 114]
REMOVED = [120, 121]


def skewed():
    """Skewed rows, the first 50 clear of the others, some with an extreme cell, two with three."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(400, 6))
    X[:50] *= 0.3
    X[:50, :2] += 8.0
    X[:, 3] = 1.7 + 0.08 * rng.standard_normal(400)
    X[:, 4] = 70.0 + 9.0 * rng.standard_normal(400)
    X[100:102, 3] *= 100.0  # in centimetres
    X[110:115, 2] = 999.0  # a code
    X[120:122, 3:] *= 12345.0
    return X


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("surfaces") / "skewed.csv"
    frame = pd.DataFrame(skewed(), columns=COLUMNS)
    frame.insert(0, "name", [f"p{i:03d}" for i in range(len(frame))])
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def result(table):
    frame = pd.read_csv(table)
    found = inlier.robust_mean(frame[COLUMNS])
    return found.with_data(frame[COLUMNS], names=frame["name"].to_numpy())


def read(html):
    """The words of a page, without its marks; what is in its head is left out."""
    body = re.sub(r"<(script|style|title|desc)\b.*?</\1>|<head>.*?</head>", "", html, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", body)).split())


def as_json(*words):
    return fit_record(*words, "--id-column", "name")["fits"][0]


def all_surfaces(table, result, *options):
    """What each of them says, as one line."""
    told = as_json(table, *options)
    terminal = invoke("fit", table, "--id-column", "name", *options)
    spoken = [told["message"], told["certificate"]["statement"]]
    spoken += [*(group["description"] for group in told["groups"]), *told["suspects"]]
    return told, {
        "message": result.message,
        "terminal": " ".join(terminal.stdout.split()),
        "report": read(page(result._summary)),
        "card": read(card(result)),
        "json": " ".join(spoken),
    }


# What is given to the fit, what is chosen afterwards, and the same as options.
CHOICES = {
    "fit": ({}, [], []),
    "drop": ({}, ["drop"], ["--drop", "1"]),
    "keep": ({}, ["keep"], ["--keep", "1"]),
    "both": ({}, ["keep", "drop"], ["--keep", "1", "--drop", "1"]),
    "symmetric": ({"assume": "symmetric"}, [], ["--assume", "symmetric"]),
    "sigma": ({"sigma": 9.0}, [], ["--sigma", "9"]),
}


def chosen(frame, names, choice):
    given, calls, options = CHOICES[choice]
    result = inlier.robust_mean(frame, **given).with_data(frame, names=names)
    for call in calls:
        result = getattr(result, call)(0)
    return result, options


def test_the_fit_has_all_there_is_to_say(result):
    assert [group.kind for group in result.groups] == ["cells"]
    assert len(result.suspects) == 1 and result.suspects[0].size == 50
    assert sorted({cell.row for cell in result.cells if cell.set_aside}) == SET_ASIDE
    assert [cell.row for cell in result.cells if not cell.set_aside] == [120] * 3 + [121] * 3
    assert result.support[SET_ASIDE].all() and not result.support[REMOVED].any()
    assert [str(reason) for reason in reasons(c for c in result.cells if c.set_aside)] == [
        "5 x 999 in <b>age</b>, like a code for a missing value",
        "2 x about 100 times the usual in height, like a misplaced decimal point",
    ]


def test_the_plain_mean_has_the_cells_that_were_set_aside(result):
    X, weights = skewed(), np.random.default_rng(1).random(400)
    np.testing.assert_allclose(result._summary.plain, X.mean(axis=0))
    X[7, 2] = X[110, 1] = np.nan
    found = inlier.robust_mean(X, sample_weight=weights)
    expected = np.ma.average(np.ma.masked_invalid(X), axis=0, weights=weights)
    np.testing.assert_allclose(found._summary.plain, expected)


@pytest.mark.parametrize("choice", CHOICES)
def test_all_surfaces_agree(table, result, choice):
    X = pd.read_csv(table)[COLUMNS]
    result, options = chosen(X, result._data.names, choice)
    told, said = all_surfaces(table, result, *options)
    kept, n = int(result.support.sum()), len(result.support)
    removed = n - kept
    assert (told["rows"], sum(told["is_kept"]), told["removed"]) == (n, kept, removed)
    assert told["message"] == result.message
    counted = f"Kept {kept} of {n} rows" if removed else f"Kept all {n} rows"
    assert counted in said["terminal"]
    for where in ("card", "report"):
        assert f"{kept} of {n} rows kept" in said[where]
        assert f"{removed} removed" in said[where]
    by_choice = choice in ("drop", "keep", "both")
    assert (f"Kept {kept} of {n} rows by choice." if by_choice else counted) in said["message"]
    everywhere = ("terminal", "report", "card", "json")
    sentences = [str(group) for group in result.groups]
    for where in everywhere if choice == "sigma" else ("message", *everywhere):
        assert result.certificate.statement() in said[where], where
        for sentence in [] if where == "message" and by_choice else sentences:
            assert sentence in said[where], (where, sentence)
    for where in everywhere:
        assert all(str(suspect) in said[where] for suspect in result.suspects), where
    assert remarks(result) in said["message"] and remarks(result) in said["report"]
    shown = remarks(result).replace("result.keep", "--keep")
    shown = shown.replace("result.groups", "the groups").replace("Pass sigma", "Give --sigma")
    assert shown in said["terminal"]
    aside = [cell for cell in result.cells if cell.set_aside]
    assert all(str(reason) in said["terminal"] for reason in reasons(aside))
    assert all(str(reason) in said["report"] for reason in reasons(result.cells)[:12])
    for cell in result.cells:
        assert str(cell.slip) in said["report"]
    assert said["report"].count("cell set aside") == len(aside)


@pytest.mark.parametrize("choice", ["fit", "drop", "keep", "symmetric", "sigma"])
def test_all_surfaces_tell_of_missing_cells(tmp_path, choice):
    X = skewed()
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=COLUMNS)
    names = [f"p{i:03d}" for i in range(len(X))]
    frame.assign(name=names).to_csv(tmp_path / "gaps.csv", index=False)
    frame = pd.read_csv(tmp_path / "gaps.csv")[COLUMNS]
    result, options = chosen(frame, names, choice)
    told, said = all_surfaces(tmp_path / "gaps.csv", result, *options)
    n_missing = int(np.isnan(X).sum())
    assert told["message"] == result.message and sum(told["missing"]) == n_missing
    note = f"{n_missing} missing cells (in 6 columns) count as the median of their column"
    if choice != "sigma":
        aside = int((~np.isnan(X[SET_ASIDE, [3] * 2 + [2] * 5])).sum())
        assert sum(told["set_aside"]) == aside
        note = f"{aside} extreme cells (in 2 columns) were set aside; they and {note}"
    assert remarks(result).count(note) == 1
    for where in ("message", "terminal", "report"):
        assert said[where].count(remarks(result)) == 1, where
    assert said["message"].count(note) == 1
    for where in ("terminal", "report", "card", "json"):
        assert result.certificate.statement() in said[where], where
    rows = np.flatnonzero(np.isnan(X).any(axis=1))[:5]
    for why, row in zip(explained(result, rows), rows, strict=True):
        assert why.missing.tolist() == np.flatnonzero(np.isnan(X[row])).tolist()
        assert str(why) == str(result.explain(int(row)))
    for why in result._summary.worst:
        assert why.missing.tolist() == np.flatnonzero(np.isnan(X[why.row])).tolist()


def test_documented_fields(table):
    """docs/json.md names every field, and no other."""
    record = fit_record(table, "--id-column", "name")
    text = (Path(__file__).parents[1] / "docs" / "json.md").read_text()
    described = set(re.findall(r"^\| `([\w.\[\]]+)`", text, flags=re.M))

    def fields(value, path=""):
        if isinstance(value, dict):
            for name, inner in value.items():
                yield f"{path}{name}"
                yield from fields(inner, f"{path}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield from fields(value[0], f"{path.removesuffix('.')}[].")

    assert described == set(fields(record))


def test_choices_are_those_of_the_verdict(table, result):
    """Groups and suspects are numbered as in the verdict, whatever else is chosen."""
    dropped = as_json(table, "--drop", "1")
    assert dropped["suspects"] == []
    assert dropped["left_with"][:51] == [len(dropped["groups"])] * 50 + [None]
    assert dropped["message"].startswith("Dropped: 50 rows")
    both = as_json(table, "--drop", "1", "--keep", "1")
    assert both["removed"] == 50 and len(both["groups"]) == 1
    assert both["message"].startswith("Put back: 2 rows") and "Dropped: 50 rows" in both["message"]
    assert both["message"] == result.keep(0).drop(0).message
    for words, said in (
        (["--drop", "2"], "--drop 2: there is no such suspect. The verdict has 1, counted from 1."),
        (["--drop", "0"], "--drop 0: there is no such suspect."),
        (["--sigma", "3", "--assume", "nothing"], "leave sigma out, or leave assume out"),
        (["--sigma", "3", "--drop", "1"], "The verdict has 0"),
    ):
        done = invoke("fit", table, "--id-column", "name", *words)
        assert done.exit_code == 2 and done.stderr.count("\n") == 1
        assert said in done.stderr
    assert invoke("fit", table, "--sigma", "9", "--assume", "auto").exit_code == 0
    assert invoke("fit", table, "--assume", "everything").exit_code == 2


def test_cells_that_were_set_aside_are_empty_in_the_cleaned_file(table, result, tmp_path):
    def cleaned(*options):
        done = invoke("fit", table, "--clean", tmp_path / "clean.csv", *options)
        assert done.exit_code == 0, done.output
        return pd.read_csv(tmp_path / "clean.csv")

    expected = pd.read_csv(table)
    for cell in result.cells:
        expected.loc[cell.row, cell.name] = np.nan
    expected = expected[result.support].reset_index(drop=True)
    pd.testing.assert_frame_equal(cleaned(), expected)
    pd.testing.assert_frame_equal(cleaned("--drop-rows"), expected.dropna().reset_index(drop=True))
    assert invoke("fit", table, "--drop-rows").stderr.count("Give --clean too") == 1


def test_a_row_is_explained_by_the_group_it_left_with(table, result):
    for row in (120, 100, 110):
        why = result.explain(row)
        if why.removed:
            assert why.directions[0].name == f"group 1: {result.groups[0]}"
        assert set(why.cells) == {c.name + c.words for c in result.cells if c.row == row}
        assert all(words in str(why) for words in why.cells)
        assert all(words.endswith("; set aside") != why.removed for words in why.cells)
    why = result.explain(100)
    assert why.set_aside.tolist() == [3] and why.values[3] == skewed()[100, 3]
    # Seen from a mean, a median has its part.
    assert "height = 164.826 (set aside), expected" in str(result.keep(0).explain(100))
    assert result.explain(3).suspected == f"suspect 1: {result.suspects[0]}"
    assert result.explain(300).suspected == "" and result.explain(300).cells == ()
    # With the suspect dropped, its rows left with it, also where another group would claim them.
    dropped = result.drop(0)
    last = len(dropped.groups) - 1
    assert dropped.explain(3).directions[0].name == f"group {last + 1}: {dropped.groups[last]}"

    def shown(row, *options):
        return invoke("fit", table, "--id-column", "name", "--explain", row, *options).stdout

    assert result.explain(120).cells[0] in shown("p120") and str(result.groups[0]) in shown("p120")
    assert result.explain(100).cells[0] in shown("p100")
    assert f"suspect 1: {result.suspects[0]}" in shown("p003")
    gone = shown("p003", "--drop", "1")
    assert ", removed" in gone and str(result.suspects[0].group) in gone
    record = json.loads(shown("p100", "--json", "-"))["explained"]
    assert record["cells"] == list(result.explain(100).cells) and not record["suspected"]
    assert (record["row"], record["label"]) == (101, "p100")
