"""Files whose records are loaded as a whole: JSON, spreadsheets, databases, Stata and SPSS."""

import io
import json
import sqlite3
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from sys import getsizeof
from typing import Any

from inlier.data.sources.base import arrow, package, pick
from inlier.data.sources.columns import Columns, in_batches
from inlier.data.sources.content import Format, ReadOptions
from inlier.data.sources.location import ZIP, Location
from inlier.data.sources.text import SAMPLE, has_header, labels_among, left_out_above, titles_above

# A query may select, and nothing else: not even attach another file.
READS = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
# Instructions of SQLite's virtual machine between two checks whether it has to stop.
STEPS = 1 << 16
# What a cell takes in memory as an object.
CELL_BYTES = 32


def of_records(
    titles: Sequence[str],
    records: Iterable[Sequence[Any]],
    location: Location,
    options: ReadOptions,
    **more: Any,
) -> Columns:
    """Return the columns of records, whose cells have types of their own.

    A column that is neither all numbers nor all text is read as a text would be.
    """
    pa = arrow()
    arrays, untyped = [], []
    columns: list[Sequence[Any]] = list(zip(*records, strict=True)) or [()] * len(titles)
    for j, cells in enumerate(columns):
        kinds = {type(cell) for cell in cells} - {type(None)}
        if kinds == {float} and all(cell is None or cell.is_integer() for cell in cells):
            cells = [None if cell is None else int(cell) for cell in cells]  # of a spreadsheet
        if kinds <= {int, float} or len(kinds) == 1:
            try:
                arrays.append(pa.array(cells))
                continue
            except (pa.ArrowException, OverflowError):
                pass
        words = (cell if cell is None or isinstance(cell, str) else str(cell) for cell in cells)
        arrays.append(pa.array(words, pa.string()))
        untyped.append(j)
    table = pa.table(arrays, names=[f"f{j}" for j in range(len(titles))])
    return Columns(
        table.schema, in_batches(table), location, options,
        n=len(table), untyped=untyped, titles=titles, **more,
    )  # fmt: skip


def load_json(location: Location, options: ReadOptions) -> Columns:
    """Read a list of records, a table of columns, or one record in each line.

    The records may be in a field of an object, as other programs answer, and pandas writes them.
    """
    raw = location.read()
    try:
        found = json.loads(raw)
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data"):
            raise
        found = [json.loads(line) for line in raw.splitlines() if line.strip()]
    if isinstance(found, dict):
        lists = [v for v in found.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
        if found.keys() >= {"columns", "data"} and isinstance(found["columns"], list):
            titles = list(map(str, found["columns"]))
            found = [dict(zip(titles, row, strict=True)) for row in found["data"]]
        elif len(lists) == 1:
            found = lists[0]
    if isinstance(found, dict) and found and all(isinstance(v, dict) for v in found.values()):
        labels = list(dict.fromkeys(label for cells in found.values() for label in cells))
        found = {name: [cells.get(label) for label in labels] for name, cells in found.items()}
    if isinstance(found, dict) and found and all(isinstance(v, list) for v in found.values()):
        if len(set(map(len, found.values()))) > 1:
            raise ValueError(f"{location} has columns of different lengths.")
        return of_records(list(found), zip(*found.values(), strict=True), location, options)
    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        titles = list(dict.fromkeys(name for record in found for name in record))
        rows = [[record.get(title) for title in titles] for record in found]
        return of_records(titles, rows, location, options)
    even = isinstance(found, list) and found and all(isinstance(one, list) for one in found)
    if even and len(set(map(len, found))) == 1:
        return of_records([""] * len(found[0]), found, location, options)
    raise ValueError(
        f"{location} holds no table: it should be a list of records, a table of columns, or a "
        "record in each line."
    )


def load_spreadsheet(location: Location, options: ReadOptions) -> Columns:
    """Read the only sheet of a workbook, or the one that is named."""
    calamine = package("python_calamine", "cli")
    raw = location.read()
    if raw.startswith(ZIP):
        sizes = [item.file_size for item in zipfile.ZipFile(io.BytesIO(raw)).infolist()]
        location.check_size(sum(sizes))
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
    found = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
    sheets = {name: sheet for name, sheet in found.items() if sheet.height}
    key = pick(sheets, options.table, location.label, "table")
    location.check_size(CELL_BYTES * sheets[key].height * sheets[key].width)
    rows = [[None if cell == "" else cell for cell in row] for row in sheets[key].to_python()]
    rows = rows[options.skip or 0 :]
    if not rows:
        raise ValueError(f"{location} has no rows below line skip={options.skip}.")
    words = [["" if cell is None else str(cell) for cell in row] for row in rows[:SAMPLE]]
    above = titles_above(words) if options.skip is None else 0
    header = has_header(words[above:]) if options.header is None else options.header
    titles = words[above] if header else [""] * len(words[0])
    label, notes = labels_among(titles) if header else (None, [])
    if above:
        notes.insert(0, left_out_above(above, "row"))
    options = replace(options, table=key, header=header)
    rows = rows[above + header :]
    return of_records(titles, rows, location, options, label=label, notes=notes)


def load_sqlite(location: Location, options: ReadOptions) -> Columns:
    """Read the only table of a database, the one that is named, or what a query gives."""
    address = f"{location.local_path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.set_authorizer(lambda action, *_: action not in READS)
        database.text_factory = lambda raw: raw.decode(errors="replace")
        tables = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
            "'sqlite#_%' ESCAPE '#'"
        )
        names = [name for (name,) in database.execute(tables)]
        query, options = _query(names, location, options)
        try:
            titles, records = _answer(database, query, location)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise _refused(query, location, error) from None
    return of_records(titles, records, location, options)


def _query(names: list[str], location: Location, options: ReadOptions) -> tuple[str, ReadOptions]:
    """Return the query that was given, or that of a table."""
    if options.query is not None:
        return options.query, options
    table = pick(names, options.table, location.label, "table")
    return 'SELECT * FROM "{}"'.format(table.replace('"', '""')), replace(options, table=table)


def _refused(query: str, location: Location, error: Exception) -> ValueError:
    return ValueError(
        f"query={query!r} could not be read from {location}: {error}. It may only select."
    )


def _answer(
    database: sqlite3.Connection, query: str, location: Location
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Fetch the columns and records of an answer; stop beyond the bound on bytes or steps."""
    steps = size = 0

    def stop() -> bool:
        nonlocal steps
        steps += STEPS
        return steps > location.max_bytes

    longest = min(location.max_bytes, database.getlimit(sqlite3.SQLITE_LIMIT_LENGTH))
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    database.set_progress_handler(stop, STEPS)
    records = []
    try:
        answer = database.execute(query)
        for record in answer:
            size += getsizeof(record) + sum(map(getsizeof, record))
            location.check_size(size, at_least=True)
            records.append(record)
    except sqlite3.OperationalError as error:
        if str(error) != "interrupted":
            raise
        if steps <= location.max_bytes:  # by a signal, whose exception SQLite has swallowed
            raise KeyboardInterrupt from None
        raise ValueError(
            f"{location} has no answer after {location.max_bytes:,} steps. Raise the limit, "
            f"{location.limit}={location.max_bytes}."
        ) from None
    return [column[0] for column in answer.description or ()], records


def load_duckdb(location: Location, options: ReadOptions) -> Columns:
    """Read the only table of a database, the one that is named, or what a query gives."""
    duckdb = package("duckdb")
    config = {"enable_external_access": False, "memory_limit": f"{location.max_bytes}B"}
    path = str(location.local_path)
    with closing(duckdb.connect(path, read_only=True, config=config)) as database:
        tables = "SELECT table_name FROM information_schema.tables"
        names = [name for (name,) in database.execute(tables).fetchall()]
        query, options = _query(names, location, options)
        batches, size = [], 0
        try:
            answer = arrow().RecordBatchReader.from_stream(database.sql(query))
            for batch in answer:
                size += batch.nbytes
                location.check_size(size, at_least=True)
                batches.append(batch)
        except (duckdb.Error, TypeError) as error:  # what does not select has no answer
            raise _refused(query, location, error) from None
        table = arrow().Table.from_batches(batches, answer.schema)
    return Columns(table.schema, in_batches(table), location, options, n=len(table))


def load_statistics(location: Location, options: ReadOptions) -> Columns:
    """Read a file of Stata or SPSS; variables whose values have labels are categories."""
    pyreadstat = package("pyreadstat")
    path = location.local_path
    stata = location.suffixes[0] == ".dta"
    reader = pyreadstat.read_dta if stata else pyreadstat.read_sav
    _, about = reader(path, metadataonly=True)
    location.check_size(CELL_BYTES * (about.number_rows or 0) * about.number_columns)
    columns, about = reader(path, output_format="dict")
    pa = arrow()
    for name, labels in about.variable_value_labels.items():
        cells = pa.array(columns[name], from_pandas=True)
        if set(cells.unique().to_pylist()) <= {None, *labels}:
            words = [labels.get(cell) for cell in cells.to_pylist()]
            columns[name] = pa.array(words, pa.string()).dictionary_encode()
    arrays = [pa.array(cells, from_pandas=True) for cells in columns.values()]
    table = pa.table(arrays, names=list(columns))
    return Columns(table.schema, in_batches(table), location, options, n=len(table))


MARKS = ("decimal", "thousands", "na_values")
JSON = Format("JSON", (".json", ".jsonl", ".ndjson"), load_json, MARKS, rb"\s*(\{|\[\s*[{\[])")
SPREADSHEET = Format(
    "spreadsheet",
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    load_spreadsheet,
    ("table", "header", "skip", *MARKS),
    rb"PK\x03\x04.*xl/",
)
SQLITE = Format(
    "SQLite",
    (".db", ".sqlite", ".sqlite3"),
    load_sqlite,
    ("table", "query", *MARKS),
    rb"SQLite format 3\0",
)
DUCKDB = Format(
    "DuckDB", (".duckdb", ".ddb"), load_duckdb, ("table", "query", "na_values"), b".{8}DUCK"
)
STATISTICS = Format("Stata or SPSS", (".dta", ".sav", ".zsav"), load_statistics, ("na_values",))
