"""`reproduce` and its parts: verdicts, tables, figures, and what is written where."""

import csv
import importlib
import math
import re
import sqlite3
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from inlier.comparison import Comparison
from inlier.comparison.table import Trial
from inlier.datasets import SettingA, SettingB, digits, printed_tables
from inlier.experiments import (
    EXPERIMENTS,
    Reproduction,
    cost,
    look,
    optimality,
    page,
    part,
    pictures,
    price,
    reproduce,
    sweeps,
    tables,
)
from inlier.experiments.columns import COLUMNS, IN_TABLES, contenders
from inlier.experiments.part import Chapter, Drawing, PrintableTable, Setup, number, tidy
from inlier.experiments.verdict import CHANCE, Verdict, judge

# The function of that name stands before the module.
MODULE = importlib.import_module("inlier.experiments.reproduce")

BETTER, SAME, WORSE = Verdict.BETTER, Verdict.SAME, Verdict.WORSE
NAN = float("nan")


# -- Verdicts -------------------------------------------------------------------------------------


@cases(
    ("error", "se", "printed", "verdict"),
    [
        (0.1, 0.01, 0.2, BETTER),
        (0.3, 0.01, 0.2, WORSE),
        (0.21, 0.01, 0.2, SAME),
        (0.21, 0.0, 0.2, SAME),  # 5% are rounding
        (0.2101, 0.0, 0.2, WORSE),
        (0.1899, 0.0, 0.2, BETTER),
        (0.0, 0.0, 0.2, BETTER),
        (0.0, 0.0, 0.0, SAME),
        (1e-9, 0.0, 0.0, WORSE),
        (NAN, NAN, 0.2, WORSE),
        (NAN, 0.1, 0.2, WORSE),
        # A single draw says little: only half the printed figure is better.
        (0.09, NAN, 0.2, BETTER),
        (0.11, NAN, 0.2, SAME),
        (0.3, NAN, 0.2, SAME),
        (0.0, NAN, 0.2, BETTER),
    ],
)
def test_verdicts(error, se, printed, verdict):
    assert judge(error, se, printed) is verdict


@given(st.floats(0, 10), st.floats(0, 1), st.floats(0, 10), st.floats(0, 10))
def test_smaller_errors_are_never_judged_worse(error, se, printed, less):
    order = [BETTER, SAME, WORSE]
    lower, higher = sorted((error, less))
    assert order.index(judge(lower, se, printed)) <= order.index(judge(higher, se, printed))
    # The band is symmetric, and no draw has a verdict that depends on the unit.
    assert judge(8.0 * error, 8.0 * se, 8.0 * printed) is judge(error, se, printed)


def test_the_band_is_what_chance_does():
    # Two means of 20 draws from the same: they differ by more than the band in about 5% of cases.
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(1.0, 0.5, (2, 4000, 20))
    se = ours.std(axis=1, ddof=1) / np.sqrt(20)
    apart = np.abs(ours.mean(axis=1) - theirs.mean(axis=1)) > CHANCE * se
    assert 0.03 < apart.mean() < 0.08


def test_marks():
    assert [verdict.mark for verdict in Verdict] == ["+", "=", "-"]


# -- Columns --------------------------------------------------------------------------------------


def test_what_columns_are_held_against():
    printed = {"mean": 1.0, "lp": 2.0, "l1": 3.0, "que": 4.0}
    against = {name: column.held_against(printed) for name, column in COLUMNS.items()}
    for name in ("paper-lp", "inlier-sigma", "inlier", "paper-lp-reweighted-l1"):
        assert against[name] == 2.0
        # Table 6 has no lp.
        assert COLUMNS[name].held_against({"l1": 3.0}) == 3.0
        assert COLUMNS[name].held_against({"que": 4.0}) is None
    assert against["paper-l1"] == 3.0 and against["que"] == 4.0 and against["lrv"] is None
    assert COLUMNS["mean"].held_against({"mean": 0.0}) == 0.0


def test_every_printed_column_is_there():
    printed = {name for t in printed_tables().values() for row in t.errors.values() for name in row}
    assert printed <= {column.printed for column in COLUMNS.values()}
    assert {c.name for c in COLUMNS.values() if c.is_ours} == {"inlier-sigma", "inlier"}


def test_methods_look_different():
    columns = list(COLUMNS.values())
    for what in ("color", "marker", "label"):
        assert len({getattr(column, what).lower() for column in columns}) == len(columns)
    assert all(re.fullmatch("#[0-9A-Fa-f]{6}", column.color) for column in columns)


def test_contenders_are_methods():
    chosen = contenders(("inlier", "paper-lp-reweighted-l1"))
    assert list(chosen) == ["inlier", "paper-lp-reweighted-l1"]
    estimator = chosen["paper-lp-reweighted-l1"].make(sigma=1.0)
    assert (estimator.algorithm, estimator.surrogate) == ("paper", "reweighted-l1")


# -- Tables ---------------------------------------------------------------------------------------


class Cells(HTMLParser):
    """The texts in a table, as a browser would show them."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.texts = [], [], {"caption": "", "p": ""}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data.strip()
        elif self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]] += data


ASCII = "".join(chr(i) for i in range(33, 127))
WORDS = st.text(ASCII, max_size=6)


@st.composite
def any_table(draw, words=WORDS):
    width = draw(st.integers(1, 4))
    row = st.lists(words, min_size=width, max_size=width)
    return PrintableTable(draw(words), draw(row), draw(st.lists(row, min_size=1, max_size=3)))


@given(any_table())
def test_browsers_show_what_is_in_a_table(table):
    seen = Cells(table.html())
    assert seen.rows == [list(table.head), *map(list, table.rows)]
    assert seen.texts["caption"] == table.caption


@given(any_table(st.text(ASCII.replace("|", ""), max_size=6)))
def test_lines_of_markdown_have_as_many_columns(table):
    caption, blank, head, rule, *rows = table.markdown().splitlines()
    assert caption == f"**{table.caption}**" and blank == ""
    assert set(rule) <= set("|-:")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (head, *rows)]
    assert cells == [list(table.head), *map(list, table.rows)]


def test_bars_do_not_end_a_column():
    line = PrintableTable("c", ["a", "b"], [["x|y", "1"]]).markdown().splitlines()[4]
    assert len(re.findall(r"(?<!\\)\|", line)) == 3


def bare(text, signs):
    return re.findall(rf"(?<!\\)[{re.escape(signs)}]", text)


@given(any_table(st.text("abc &%#_$<>.", max_size=8)))
def test_latex_is_not_misled(table):
    text = table.latex()
    caption = re.search(r"\\caption\{(.*)\}\n", text).group(1)
    assert not bare(caption, "&%#_$")
    body = text[text.index("\\toprule") : text.index("\\bottomrule")].splitlines()
    lines = [line for line in body if line.endswith("\\\\")]
    assert len(lines) == 1 + len(table.rows)
    for line in lines:
        assert len(bare(line[:-2], "&")) == len(table.head) - 1
        assert not bare(line.replace("\\ensuremath{<}", "").replace("\\ensuremath{>}", ""), "%#_$")
    for begin, end in ((r"\begin{table}", r"\end{table}"), (r"\begin{tabular}", r"\end{tabular}")):
        assert text.count(begin) == text.count(end) == 1


@pytest.mark.parametrize("sign", ["^", "~", "{", "}", "\\x"])
def test_captions_in_latex(sign):
    caption = re.search(
        r"\\caption\{(.*)\}\n", PrintableTable(f"a{sign}b", ["c"], [["d"]]).latex()
    ).group(1)
    assert sign not in caption.replace("\\" + sign, "")


def test_a_table_as_it_is():
    table = PrintableTable("Errors, n < 5 & d_1", ["", "a"], [["x", "0.1 +"], ["y", "-"]])
    assert table.markdown() == (
        "**Errors, n < 5 & d_1**\n\n|    |     a |\n|:---|------:|\n| x  | 0.1 + |\n| y  |     - |"
    )
    assert "<caption>Errors, n &lt; 5 &amp; d_1</caption>" in table.html()
    assert r"\caption{Errors, n < 5 \& d\_1}" in table.latex()


def test_numbers():
    shown = {None: "-", NAN: "-", 0.0: "0", 0.012345: "0.0123", 18: "18", 1.0: "1", 140: "140"}
    for value, text in shown.items():
        assert number(value) == text


@given(st.floats(1e-8, 999.0))
def test_numbers_have_three_digits(value):
    assert float(number(value)) == pytest.approx(value, rel=5.1e-3)


def test_counts_are_shown_as_counts():
    assert number(1490) == "1490"


# -- The paper's tables ---------------------------------------------------------------------------


def made_up(model, names, errors, **more):
    """A comparison that nobody carried out; errors of each method, by trial."""
    records = [
        Trial(name, i, i, "ok", error=errors[name][i], seconds=1.0, **more)
        for i in range(len(errors[names[0]]))
        for name in names
    ]
    return Comparison(tuple(records), str(model))


def shown(i, error=1.0):
    """Table i, with this error in all cells of ours."""
    cells = tables.cells(i)
    errors = {name: [error, error] for name in IN_TABLES}
    return tables._table(i, cells, [made_up(c.model, IN_TABLES, errors) for c in cells])


@pytest.mark.parametrize("i", tables.NUMBERS)
def test_every_printed_figure_is_shown(i):
    printed, table = printed_tables()[f"table{i}"], shown(i)
    labels = {column.printed: column.label for column in COLUMNS.values()}
    assert len(table.rows) == 2 * len(printed.errors)
    for line, (value, errors) in zip(table.rows[::2], printed.errors.items(), strict=True):
        cells = dict(zip(table.head, line, strict=True))
        assert float(cells[printed.vary]) == value
        for name, error in errors.items():
            assert float(cells.pop(labels[name])) == pytest.approx(error, rel=5.1e-3)
        # What is not printed is not made up.
        assert set(cells.values()) == {f"{value:g}", "paper", "-"}
    for text in (table.markdown(), table.html(), table.latex()):
        for line in table.rows:
            assert all(cell in text for cell in line)


@pytest.mark.parametrize("i", tables.NUMBERS)
def test_printed_figures_are_shown_as_printed(i):
    cells = {cell for line in shown(i).rows for cell in line}
    for errors in printed_tables()[f"table{i}"].errors.values():
        assert {f"{error:g}" for error in errors.values()} <= cells


def test_the_faces_are_in_the_text():
    (printed,) = printed_tables()["table5"].errors.values()
    assert pictures._printed() == printed


@pytest.mark.parametrize("i", tables.NUMBERS)
def test_cells_are_the_papers(i):
    printed = printed_tables()[f"table{i}"]
    for cell, value in zip(tables.cells(i), printed.errors, strict=True):
        expected = {**printed.fixed, printed.vary: value}
        assert {name: getattr(cell.model, name) for name in ("n", "d", "alpha")} == expected
        assert isinstance(cell.model, {"A": SettingA, "B": SettingB}[printed.setting])
        assert cell.printed == printed.errors[value]


def test_marks_stand_behind_our_figures():
    for error, mark in ((0.0, "+"), (100.0, "-")):
        for line in shown(1, error).rows[1::2]:
            assert line[:2] == ["", "here"]
            assert all(cell == f"{error:g} {mark}" for cell in line[2:])


def test_cells_of_ours_that_are_worse():
    cell = replace(tables.cells(1)[0], printed={"lp": 0.1, "l1": 0.1, "que": 0.1})
    errors = {name: [1.0, 1.0] for name in IN_TABLES}
    worse = tables._worse(1, cell, made_up(cell.model, IN_TABLES, errors))
    assert sorted(text.partition(" in Table 1")[0] for text in worse) == [
        "inlier, told nothing",
        "inlier, told sigma",
    ]
    assert all("1, printed 0.1" in text and str(cell.model) in text for text in worse)
    errors["inlier"] = [NAN, NAN]
    (nothing,) = [
        text
        for text in tables._worse(1, cell, made_up(cell.model, IN_TABLES, errors))
        if "nothing" in text
    ]
    assert "-, printed 0.1" in nothing
    errors = {name: [0.05, 0.06] for name in IN_TABLES}
    assert tables._worse(1, cell, made_up(cell.model, IN_TABLES, errors)) == []


def test_an_answer_to_some_draws_only_is_worse():
    cell = replace(tables.cells(1)[0], printed={"lp": 0.1})
    found = made_up(cell.model, ("inlier",), {"inlier": [0.05, 0.06, 0.05]})
    failed = Trial("inlier", 3, 3, "failed", message="no such luck")
    assert tables._worse(1, cell, replace(found, records=(*found.records, failed)))


def test_remarks_on_sets_that_are_not_exact():
    (cell,) = [c for c in tables.cells(1) if c.value == 0.2]
    errors = {name: [0.1, 0.1] for name in IN_TABLES}
    found = made_up(cell.model, IN_TABLES, errors, exact=False, removed=159)
    assert tables._inexact(1, cell, found) == [
        ["1", str(cell.model), label, "2", "2", "2"] for label in ("lp", "inlier, told sigma")
    ]
    exact = made_up(cell.model, IN_TABLES, errors, exact=True, removed=160)
    assert tables._inexact(1, cell, exact) == []


# -- Brute force ----------------------------------------------------------------------------------


def fewest(X, budget):
    """The same by a list of all subsets, one at a time, without a table of them."""
    best = len(X)
    for mask in range(1, 2 ** len(X)):
        kept = X[[i for i in range(len(X)) if mask >> i & 1]]
        scatter = np.cov(kept, rowvar=False, bias=True).reshape(X.shape[1], -1) * len(kept)
        if np.linalg.eigvalsh(scatter).max() <= budget * (1.0 + 1e-9):
            best = min(best, len(X) - len(kept))
    return best


@cases("seed", range(6))
@cases("share", [0.05, 0.3, 0.7, 1.0])
def test_brute_force_is_brute_force(seed, share):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 2)) * rng.choice([1.0, 5.0], (8, 1))
    all_of_them = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    found = optimality._fewest_of_all(X, share * all_of_them)
    assert found == fewest(X, share * all_of_them)
    assert (found == 0) == (share == 1.0)


def test_brute_force_on_rows_that_are_known():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [50.0, 0.0], [0.0, 50.0]])
    assert optimality._fewest_of_all(X, 2.0) == 2
    assert optimality._fewest_of_all(X, 1e9) == 0
    # One row needs no budget.
    assert optimality._fewest_of_all(X, 0.0) == 4


@given(st.integers(0, 1000), st.floats(0.5, 2.0))
def test_within_the_budget(seed, share):
    X = np.random.default_rng(seed).standard_normal((12, 3)) + 100.0
    needed = np.linalg.eigvalsh(np.cov(X, rowvar=False, bias=True) * 12).max()
    assert optimality._within(X, share * needed) == (share >= 1.0) or abs(share - 1.0) < 1e-6
    assert optimality._within(X, needed)
    # Any other centre needs more.
    about = np.linalg.norm(X - X.mean(axis=0) - 0.3, 2) ** 2
    assert about >= needed


def test_answers_are_judged_as_solutions():
    model = SettingB(12, 2, 0.2)
    sample = model.sample(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged = {answer.method: answer for answer in optimality._judged(model, 0)}
    assert set(judged) == set(IN_TABLES) - {"lrv"}
    for name in ("paper-lp", "inlier-sigma"):
        estimator = COLUMNS[name].method.make(alpha=sample.alpha, sigma=sample.sigma)
        estimator.fit(sample.X)
        assert judged[name].removed == (~estimator.support_).sum()
        assert judged[name].within
    # Lower bounds are below what brute force finds.
    optimum = optimality._fewest_of_all(sample.X, 12 * sample.sigma**2)
    assert all(a.fewest <= optimum <= a.removed for a in judged.values() if a.within)


# -- Models, stages and figures -------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_a_wrong_sigma_is_told(factor):
    model = SettingB(50, 4, 0.2)
    wrong = sweeps.Misjudged(model, factor)
    drawn, truth = wrong.sample(3), model.sample(3)
    assert drawn.sigma == factor * truth.sigma
    for name in ("X", "is_outlier", "mean", "alpha"):
        np.testing.assert_array_equal(getattr(drawn, name), getattr(truth, name))
    assert (wrong.n, wrong.d, wrong.alpha, wrong.name) == (50, 4, 0.2, "SettingB")
    # A store tells models apart by their repr.
    assert repr(wrong) != repr(sweeps.Misjudged(model, factor + 1.0))


def test_a_wrong_sigma_reaches_the_method(tmp_path, monkeypatch):
    monkeypatch.setattr(part, "TIMEOUT", None)
    setup = Setup(1, True, 1, tmp_path / "fits.sqlite", lambda *_: None)
    models = [sweeps.Misjudged(SettingB(50, 4, 0.2), factor) for factor in (0.4, 1.0)]
    for model, found in zip(models, setup.compare("a", models, ("paper-lp",), 1), strict=True):
        sample = model.model.sample(0)
        estimator = COLUMNS["paper-lp"].method.make(sigma=model.factor * sample.sigma)
        np.testing.assert_array_equal(found.records[0].location, estimator.fit(sample.X).location_)


def test_each_keeps_the_order_and_tells_how_far_it_is(tmp_path):
    seen = []
    setup = Setup(1, True, 2, tmp_path / "x", lambda *told: seen.append(told))
    assert setup.each("powers", pow, [(3, 2), (2, 3), (10, 0)]) == [9, 8, 1]
    assert seen == [("powers", done, 3) for done in range(4)]


def test_lines_of_results(tmp_path):
    model = SettingB(50, 4, 0.2)
    found = made_up(model, ("mean",), {"mean": [0.5, 0.6]}, removed=3)
    one, other = tidy("mine", sweeps.Misjudged(model, 2.0), found)
    assert (one["experiment"], one["data"], one["n"], one["sigma_factor"]) == (
        "mine",
        "SettingB",
        50,
        2.0,
    )
    assert (other["trial"], other["error"], other["removed"], other["exact"]) == (1, 0.6, 3, None)
    assert tidy("a", digits(), found)[0]["data"] == "digits 0 and 1"


@given(st.lists(st.one_of(st.floats(1e-6, 1e6), st.sampled_from([0.0, NAN, math.inf]))))
def test_zero_stands_below_all_others(values):
    floor = look.floor_of(values)
    positive = [value for value in values if 0.0 < value < math.inf]
    assert floor > 0.0
    if positive:
        assert min(positive) / 11.0 < floor < min(positive)


def drawn_at(values):
    axes = look.new_figure(3, 3).subplots()
    look.lines(axes, range(len(values)), {"inlier": values}, zero=0.1)
    return axes.lines[0].get_ydata().tolist()


def test_zeros_are_drawn():
    assert drawn_at([0.5, 0.0, 0.2]) == [0.5, 0.1, 0.2]


def test_what_failed_is_not_drawn_as_exact():
    assert math.isnan(drawn_at([0.5, NAN, 0.2])[1])


# -- All of it, on small data ---------------------------------------------------------------------


def small(kind):
    # All different: what is done twice at a time has the seconds of the second.
    return lambda n, d, alpha: kind(20 + n // 20, 2 + d // 25, min(alpha, 0.4))


def shrink(patch):
    """Small data, in this process."""
    patch.setattr(part, "TIMEOUT", None)
    patch.setattr(tables, "NUMBERS", (1, 6))
    patch.setattr(tables, "QUICK_NUMBERS", (1, 6))
    chosen = {
        1: [tables.PrintedCell(0.2, SettingA(30, 4, 0.2), {"lp": 9.0, "l1": 9.0})],
        6: [tables.PrintedCell(a, SettingB(30, 4, a), {"l1": 9.0, "que": 9.0}) for a in (0.1, 0.2)],
    }
    patch.setattr(tables, "cells", chosen.get)
    for module in (sweeps, price):
        kinds = {"Setting A": small(SettingA), "Setting B": small(SettingB)}
        patch.setattr(module, "SETTINGS", kinds)
    patch.setattr(price, "QUICK_STEPS", 3)
    patch.setattr(optimality, "SMALL", (SettingA(8, 2, 0.2), SettingB(8, 2, 0.2)))
    patch.setattr(optimality, "LARGE", (None, SettingB(30, 4, 0.2)))
    patch.setattr(cost, "ROWS", (0, 20, 0, 40))
    patch.setattr(cost, "COLUMNS_OF_DATA", (0, 3, 0, 5))
    patch.setattr(cost, "N", 30)
    patch.setattr(cost, "D", 4)
    patch.setattr(pictures, "faces", lambda: digits(3, 4, 20))


@pytest.fixture
def small_data(monkeypatch):
    shrink(monkeypatch)


@pytest.fixture
def few(small_data, monkeypatch):
    """Some methods only."""
    monkeypatch.setattr(tables, "IN_TABLES", FEW)


FEW = ("iterative-filtering", "paper-lp", "inlier-sigma", "inlier")


def results(folder):
    with open(folder / "results.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Watched:
    """How far each stage was at first, and at last."""

    def __init__(self):
        self.first, self.last, self.total = {}, {}, {}

    def __call__(self, stage, done, total):
        self.first.setdefault(stage, done)
        self.last[stage], self.total[stage] = done, total


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
    monkeypatch.setattr(part, "TIMEOUT", 60.0)
    reproduce(tmp_path / "there", n_jobs=2, **options)
    here, there = (
        [{**line, "seconds": ""} for line in results(path)]
        for path in (tmp_path / "here", tmp_path / "there")
    )
    assert here == there


# -- One experiment -------------------------------------------------------------------------------


def test_figures_alone(tmp_path):
    watched = Watched()
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        made = reproduce(folder, quick=True, only=["figures"], watch=watched)
    names = {"figure1.png", "figure1.svg", "figure2.png", "figure2.svg"}
    names |= {"README.md", "tables.html", "tables.tex", "results.csv"}
    assert {path.name for path in made.files} == names
    assert {path.name for path in folders[0].iterdir()} == names
    for name in names - {"README.md", "tables.html"}:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    assert watched.last == watched.total == {"Figures 1 and 2": 2}


def test_results_without_fits_can_be_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = page._write_lines(tmp_path / "results.csv", [])
    assert len(pandas.read_csv(path)) == 0


def test_experiments_keep_their_order():
    assert list(MODULE._chosen(["price", "tables", "price"])) == ["tables", "price"]
    assert list(MODULE._chosen(name for name in ("l0",))) == ["l0"]
    assert list(MODULE._chosen("cost")) == ["cost"]
    assert MODULE._chosen(None) is EXPERIMENTS


def test_faces_of_the_user(tmp_path, small_data):
    rng = np.random.default_rng(0)
    path = tmp_path / "my_<faces>.npz"
    X = rng.random((30, 12)) + 5.0 * (np.arange(30) < 5)[:, None]
    np.savez(path, X=X, y=np.arange(30) < 5, shape=(4, 3))
    reproduce(tmp_path / "out", quick=True, only=["faces"], faces=path, n_jobs=1)
    page = (tmp_path / "out" / "README.md").read_text()
    assert "The faces are those of my_<faces>." in page
    assert "my_<faces>: 30 pictures of 4 x 3, 5 of them bad" in page
    assert "<caption>my_&lt;faces&gt;: 30" in (tmp_path / "out" / "tables.html").read_text()
    assert r"\caption{my\_<faces>: 30" in (tmp_path / "out" / "tables.tex").read_text()
    (printed,) = printed_tables()["table5"].errors.values()
    for name, error in printed.items():
        assert f"{name.replace('_', ' ')} {error:g}" in page


def test_the_command_is_escaped_in_html():
    assert "<faces>" not in page._html([], "Made by `inlier reproduce --faces <faces>`")


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


def test_faces_that_are_not_there_are_told_at_once(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setitem(EXPERIMENTS, "tables", lambda setup: begun.append(1) or Chapter("t", "t"))
    with pytest.raises(ValueError, match="no file or folder"):
        reproduce(tmp_path, only=["tables", "faces"], faces="nowhere")
    assert not begun


def test_seconds_are_not_those_of_another_experiment(tmp_path, monkeypatch):
    # One fit at a time is timed: none may be taken from a stage that ran several.
    monkeypatch.setattr(part, "TIMEOUT", None)
    watched = Watched()
    setup = Setup(1, True, 1, tmp_path / "fits.sqlite", watched)
    for stage, timed in (("several", False), ("one", True), ("again", True)):
        setup.compare(stage, [SettingB(30, 4, 0.2)], ("mean",), trials=1, timed=timed)
    assert watched.first == {"several": 0, "one": 0, "again": 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "tables"])
def test_a_quick_look_at_the_real_sizes(tmp_path, name):
    made = reproduce(tmp_path, quick=True, only=[name])
    assert all(path.stat().st_size for path in made.files) and made.worse == ()
