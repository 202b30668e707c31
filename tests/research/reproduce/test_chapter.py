"""Tables in Markdown, HTML and LaTeX, numbers, and the lines of results."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inlier.research.datasets import SettingB, digits
from inlier.research.reproduce import sweeps
from inlier.research.reproduce.chapter import PrintableTable, Setup, number, tidy
from studies import NAN, Cells, made_up

# -- Tables ---------------------------------------------------------------------------------------


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


# -- Models, stages and figures -------------------------------------------------------------------


def test_each_keeps_the_order_and_tells_how_far_it_is(tmp_path):
    seen = []
    setup = Setup(1, True, 2, tmp_path / "x", lambda *told: seen.append(told))
    assert setup.each("powers", pow, [(3, 2), (2, 3), (10, 0)]) == [9, 8, 1]
    assert seen == [("powers", done, 3) for done in range(4)]


def test_lines_of_results(tmp_path):
    model = SettingB(50, 4, 0.2)
    found = made_up(model, ("mean",), {"mean": [0.5, 0.6]}, removed=3)
    one, other = tidy("mine", [sweeps.Misjudged(model, 2.0)], [found])
    assert (one["experiment"], one["data"], one["n"], one["sigma_factor"]) == (
        "mine",
        "SettingB",
        50,
        2.0,
    )
    assert (other["trial"], other["error"], other["removed"], other["exact"]) == (1, 0.6, 3, None)
    assert tidy("a", [digits()], [found])[0]["data"] == "digits 0 and 1"
