"""Files as people have them, from the command line: what is read, and what is refused."""

import gzip
import io
import re
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from commands import fit_record, invoke
from inlier.io import read

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": rng.integers(20, 80, 60),
        "pay": rng.normal(3000, 900, 60).round(2),
        "rate": rng.normal(0, 9, 60).round(1),
    }
)
MEANS = FRAME.mean().tolist()


def european(value):
    return f"{value:,}".translate(str.maketrans(".,", ",."))


def to_duckdb(path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as database:
        database.register("given", FRAME)
        database.execute("CREATE TABLE people AS SELECT * FROM given")


def to_zstd(path):
    with pa.CompressedOutputStream(str(path), "zstd") as out:
        out.write(FRAME.to_csv(index=False).encode())


def to_workbook(path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="data", startrow=3, index=False)
        book.sheets["data"]["A1"] = "Our people, 2024"


def to_spss(path):
    labels = {"site": {1.0: "north", 2.0: "south"}, "age": {99.0: "unknown"}}
    sites = FRAME.assign(site=np.arange(60) % 2 + 1)
    pytest.importorskip("pyreadstat").write_sav(sites, path, variable_value_labels=labels)


def to_told(path):
    FRAME.to_csv(path, index=False, sep=";")
    path.write_text("sep=;\n" + path.read_text())


def text(content, encoding="utf-8"):
    return lambda path: path.write_bytes(content.encode(encoding))


CSV = FRAME.to_csv(index=False)
FILES = {
    "european.csv": text(FRAME.map(european).to_csv(index=False, sep=";")),
    "american.csv": text(FRAME.map(lambda value: f"{value:,}").to_csv(index=False)),
    "swiss.tsv": text(FRAME.map("{:_}".format).replace("_", "'", regex=True).to_csv(sep="\t")),
    "index.csv": text(FRAME.to_csv()),
    "from R.txt": text(" ".join(f'"{name}"' for name in FRAME) + FRAME.to_csv(sep=" ")[13:]),
    "told.csv": to_told,
    "titles.csv": text("Our people\nof 2024\n\n" + CSV),
    "padded.csv": text("Our people,,\n,,\n" + CSV, "utf-16"),
    "t.csv.zip": lambda path: FRAME.to_csv(path, index=False),
    "t.csv.bz2": lambda path: FRAME.to_csv(path, index=False),
    "t.csv.zst": to_zstd,
    "t.json": lambda path: FRAME.to_json(path),
    "records.json": lambda path: FRAME.to_json(path, orient="records"),
    "t.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "t.dta": lambda path: FRAME.to_stata(path, write_index=False),
    "t.sav": to_spss,
    "t.duckdb": to_duckdb,
    "t.xlsx": to_workbook,
    "index.xlsx": lambda path: FRAME.to_excel(path),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_many_kinds(tmp_path, name):
    """As pandas has them; and the kept rows again, as a text that says the same."""
    path = tmp_path / name
    FILES[name](path)
    words = ["--thousands", "'"] if name == "swiss.tsv" else []
    clean = tmp_path / f"clean.{'parquet' if name == 'index.csv' else 'csv'}"
    record = fit_record(path, *words, "--clean", clean)
    assert record["columns"] == list(FRAME) and record["rows_read"] == 60
    np.testing.assert_allclose(record["fits"][0]["plain_mean"], MEANS)
    again = fit_record(clean, *words)
    kept = [x for x, keep in zip(FRAME["pay"], record["fits"][0]["is_kept"], strict=True) if keep]
    np.testing.assert_allclose(again["fits"][0]["plain_mean"][1], np.mean(kept))
    if name in ("index.csv", "swiss.tsv", "from R.txt", "index.xlsx"):
        assert record["fits"][0]["name"] == [str(i) for i in range(60)]
    if name in ("titles.csv", "padded.csv", "t.xlsx"):
        said = r"left out: (they are|it is) above the table. --skip 0 keeps (them|it)"
        assert re.search(said, record["notes"][0])
        header = {"titles.csv": "4", "padded.csv": "3", "t.xlsx": "4"}[name]
        assert fit_record(path, "--header-row", header)["columns"] == list(FRAME)


@pytest.mark.parametrize(
    ("content", "words", "read"),
    [
        ("a;b\n1,5;1.234\n2,5;857\n", (), [1234, 857]),
        ("a;b\n0.5;1.234\n2.5;857\n", (), [1.234, 857]),
        ("a;b\n1;1.234\n2;857\n", ("--decimal", ","), [1234, 857]),
        ("a;b\n1;1.234\n2;857\n", ("--decimal", "."), [1.234, 857]),
        ("a;b\n1;1.234\n2;857\n", ("--thousands", "."), [1234, 857]),
        ("a,b\n1,1.234\n2,857\n", (), [1.234, 857]),
        ('a,b\n0.5,"1,234"\n2,857\n', (), [1234, 857]),
        ('a,b\n"6,384.91","1,234"\n2,857\n', (), [1234, 857]),
        ("a\tb\n1\t1 234,5\n2\t-1 000 857\n", ("--thousands", " "), [1234.5, -1000857]),
        ("a;b\n1;1.234.567,5\n2;1e3\n", (), [1234567.5, 1000]),
        # A cell far down tells how the others are read.
        ("a;b\n" + "1;1.234\n" * 30 + "2;1.234,5\n", (), [1234] * 30 + [1234.5]),
        ("a;b\n" + "1;7\n" * 30 + "2;1.234\n1,5;2\n", (), [7] * 30 + [1234, 2]),
        ("a;b\n1;-0,25\n2;\n3;,5\n", (), [-0.25, 0.5]),
        ("a,b\n1,-999.0\n2,857\n3,7\n", ("--na-values=-999",), [857, 7]),
    ],
)
def test_marks_of_numbers(tmp_path, content, words, read):
    (tmp_path / "t.csv").write_text(content)
    (fit,) = fit_record(tmp_path / "t.csv", *words)["fits"]
    assert fit["plain_mean"][1] == pytest.approx(np.mean(read))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "a;b\n1;1.234\n2;857\n",
            "column 'b' cannot be read for sure: .* 1.234 or 1234. Give --dec",
        ),
        ('a,b\n1,"1,234"\n2,857\n', "numbers such as '1,234', which may be 1234 or 1.234"),
        ("a;b;c\n1,5;0.5;1.234\n2,5;7.5;857\n", "column 'c' cannot be read for sure"),
    ],
)
def test_what_is_in_doubt_is_refused(tmp_path, content, said):
    (tmp_path / "t.csv").write_text(content)
    done = invoke("fit", tmp_path / "t.csv")
    assert done.exit_code == 2 and not done.stdout
    assert re.search(said, done.stderr), done.stderr


def test_other_marks_between_thousands_are_noticed(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1;1\u202f234\n2;857\n3;2\u202f000,5\n", "utf-8")
    assert "--thousands ' ' reads" in invoke("fit", tmp_path / "t.csv").stdout
    record = fit_record(tmp_path / "t.csv", "--thousands", " ")
    assert record["fits"][0]["plain_mean"][1] == pytest.approx((1234 + 857 + 2000.5) / 3)


def test_labels_are_as_they_were_written(tmp_path):
    (tmp_path / "t.csv").write_text("code,a\n007,1\n1e3,2\n-0,4\n")
    (fit,) = fit_record(tmp_path / "t.csv", "--id-column", "code")["fits"]
    assert fit["name"] == ["007", "1e3", "-0"]


def test_columns_of_json_by_label(tmp_path):
    (tmp_path / "t.json").write_text('{"a": {"x": 1, "y": 2}, "b": {"y": 4, "x": 8, "z": 9}}')
    frame = read(tmp_path / "t.json", missing="auto")
    np.testing.assert_array_equal(frame.X, [[1, 8], [2, 4], [np.nan, 9]])


@pytest.mark.parametrize(
    "content",
    [
        '{"columns": ["a", "b"], "index": [7, 8], "data": [[1, 2], [3, 4]]}',
        '{"count": 2, "results": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}',
    ],
)
def test_records_in_a_field_of_json(tmp_path, content):
    (tmp_path / "t.json").write_text(content)
    frame = read(tmp_path / "t.json")
    assert frame.columns == ("a", "b")
    np.testing.assert_array_equal(frame.X, [[1, 2], [3, 4]])


def test_a_closed_quote_may_have_lines(tmp_path):
    for end in ("", "\n"):
        (tmp_path / "t.csv").write_text(f'a,n\n1,x\n2,"y\nz"{end}')
        assert read(tmp_path / "t.csv", id_column="n").names.tolist() == ["x", "y\nz"]


def test_markers_that_occur_nowhere(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,-999.0\n2,ERR\n3,7\n5,8\n")
    record = fit_record(tmp_path / "t.csv", "--na-values=-999,ERR,9999")
    assert "Markers of missing values that no column in use has: '9999'." in record["notes"]
    assert record["fits"][0]["missing"] == [0, 2]


def several_files():
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("b.csv", CSV)
    return raw.getvalue()


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("t.json", b'{"a": 1}', "t.json' holds no table"),
        ("t.json", b'{"a": [1, 2], "b": [3]}', "t.json' has columns of different lengths"),
        ("t.json", b'[{"a": 1}, 2', "t.json' could not be read"),
        ("t.jsonl", b'{"a": 1}\n{"a": ', "t.jsonl' could not be read"),
        ("t.xlsx", CSV.encode(), "t.xlsx' could not be read"),
        ("t.dta", CSV.encode(), "t.dta' could not be read"),
        ("t.duckdb", CSV.encode(), "t.duckdb' could not be read"),
        ("t.zip", several_files(), "is an archive of several files. Unpack it"),
        ("t.csv.gz", gzip.compress(CSV.encode())[:-9], "t.csv.gz' could not be read"),
        ("t.csv.bz2", b"BZh9 and something else", "t.csv.bz2' could not be read"),
        (
            "t.csv",
            b'a,n\n1,x\n2,"y\n3,z\n4,w\n',
            "quote before 'y.* is not closed, so that 2 lines",
        ),
        ("t.csv", b"a,b\n1,1,000\n2,1,001\n3,2,500\n", "line 2 has 3 cells, but the first"),
        ("t.csv", b"a,b\n1,5,2\n1,6,3\n2,5,9\n", "line 2 has 3 cells, but the first"),
        ("t.csv", b"a,b\nkg,cm\n1,2\n3,4\n", "--na-values ... names markers of missing"),
        ("t.csv", b'a,n\n1,x\n2,"y\n3,z', "is not closed, so that 1 line below it is in one"),
        ("t.csv", (b"1,2\n" * 150) + b"3\n", "line 151 has 1 cell,?"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, name, raw, said):
    (tmp_path / name).write_bytes(raw)
    done = invoke("fit", tmp_path / name)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert re.search(said, done.stderr), done.stderr


def test_an_address_is_not_a_file():
    assert "'https://a.org/b.csv' is an address" in invoke("fit", "https://a.org/b.csv").stderr


def test_a_bomb_of_a_workbook_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "")
        archive.writestr("xl/worksheets/sheet1.xml", bytes(1 << 24))
    done = invoke("fit", tmp_path / "t.xlsx", "--max-bytes", "1M")
    assert done.exit_code == 2 and "Raise the limit, --max-bytes" in done.stderr


def test_a_query_of_duckdb_may_only_select(tmp_path):
    to_duckdb(tmp_path / "t.duckdb")
    record = fit_record(tmp_path / "t.duckdb", "--query", "SELECT age, 2 * pay AS p FROM people")
    np.testing.assert_allclose(record["fits"][0]["plain_mean"], [MEANS[0], 2 * MEANS[1]])
    before = (tmp_path / "t.duckdb").read_bytes()
    for query in (
        "DROP TABLE people",
        f"COPY people TO '{tmp_path}/x.csv'",
        "SELECT * FROM '/etc/passwd'",
    ):
        done = invoke("fit", tmp_path / "t.duckdb", "--query", query)
        assert done.exit_code == 2 and "could not be read from" in done.stderr
    assert (tmp_path / "t.duckdb").read_bytes() == before and not (tmp_path / "x.csv").exists()
