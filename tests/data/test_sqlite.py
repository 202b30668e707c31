"""Tables and queries of SQLite."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from file_writers import numbers_of
from inlier.io import read, write

STRANGE = 'people"; DROP TABLE "other'


@pytest.fixture
def database(tmp_path) -> Path:
    path = tmp_path / "t #1?.db"
    connection = sqlite3.connect(path)
    quoted = '"{}"'.format(STRANGE.replace('"', '""'))
    columns = 'name TEXT, age INT, "<script>" REAL, code TEXT, raw BLOB, mixed'
    connection.execute(f"CREATE TABLE {quoted} ({columns})")
    connection.executemany(
        f"INSERT INTO {quoted} VALUES (?, ?, ?, ?, ?, ?)",
        [
            ("u", 1, 0.5, "007", b"0", 1),
            ("v", 2, 1.5, "008", b"1", ""),
            ("w", 3, 2.0, "9", None, 2),
        ],
    )
    connection.execute("CREATE TABLE other (a REAL)")
    connection.executemany("INSERT INTO other VALUES (?)", [(1,), (2,), (None,)])
    connection.commit()
    connection.close()
    return path


def test_tables_of_a_database(database, tmp_path):
    with pytest.raises(ValueError, match=r"holds 2 tables: 'other', .* Name one with table="):
        read(database)
    frame = read(database, table=STRANGE, id_column="name", exclude="mixed")
    assert frame.columns == ("age", "<script>")
    np.testing.assert_array_equal(numbers_of(frame), [[1, 0.5], [2, 1.5], [3, 2]])
    said = " ".join(frame.notes)
    assert "'code' was left out: it holds text" in said
    assert "'raw' was left out: it holds values of type binary" in said
    write(frame, np.array([True, False, True]), tmp_path / "out.parquet")
    written = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["code"] for row in written] == ["007", "9"]
    with pytest.raises(ValueError, match=r"1 entry is missing.* row 2, column 'mixed'"):
        read(database, table=STRANGE)


@pytest.mark.parametrize("table", ['other"; DROP TABLE other; --', "other; DROP TABLE other", ""])
def test_a_table_name_is_no_statement(database, table):
    before = database.read_bytes()
    with pytest.raises(ValueError, match=r"^table=.* has no such table"):
        read(database, table=table)
    assert database.read_bytes() == before


def test_queries(database, tmp_path):
    frame = read(database, query="SELECT a, 2 * a AS b FROM other WHERE a IS NOT NULL")
    assert frame.columns == ("a", "b")
    np.testing.assert_array_equal(numbers_of(frame), [[1, 2], [2, 4]])
    before = database.read_bytes()
    for query in (
        "DROP TABLE other",
        "DELETE FROM other",
        "SELECT 1; DROP TABLE other",
        f"ATTACH '{tmp_path / 'new.db'}' AS new",
        "nonsense",
    ):
        with pytest.raises(ValueError, match=r"^query=.* could not be read from"):
            read(database, query=query)
    assert database.read_bytes() == before
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(ValueError, match="table='other' and a query were both given"):
        read(database, table="other", query="SELECT 1")


def test_a_query_is_asked_once(tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (a REAL)")
        database.executemany("INSERT INTO t VALUES (?)", [(float(i),) for i in range(50)])
        database.commit()
    frame = read(path, query="SELECT a FROM t ORDER BY random()")
    kept = frame.X[:, 0] < 10.0
    write(frame, kept, tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), frame.X[kept])
