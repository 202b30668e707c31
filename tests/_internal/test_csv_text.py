"""No cell of a written table is a formula, and every cell can be read back."""

import csv

from cases import cases
from inlier._internal.csv_text import harmless, writing


@cases(
    "cell",
    [
        "=1+1",
        "+A1",
        "-x",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "＝1",
        "-1e",
        "=-1",
        " =1+1",
        '"=1+1"',
        "\n" * 100_000 + "+A1",
        "\u00a0@x",
    ],
)
def test_formulas_get_an_apostrophe(cell):
    assert harmless(cell) == "'" + cell


@cases(
    "cell",
    [
        "a=b",
        "",
        "-1",
        "+2.5e-3",
        "-.5",
        "-",
        "-inf",
        "NaN",
        "1,000.5",
        " -1",
        "a;-1",
        7,
        None,
        -2.0,
    ],
)
def test_numbers_and_other_text_stay(cell):
    assert harmless(cell) == cell


def test_a_table_is_read_back(tmp_path):
    rows = [["name", "x"], ["a,b", "1"], ['say "so"', "-2"], ["two\nlines", "3"], ["end\r", "4"]]
    with writing(tmp_path / "t.csv") as writer:
        writer.writerows(rows)
        writer.writerow(["=cmd()", 0.5])
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [*rows, ["'=cmd()", "0.5"]]
