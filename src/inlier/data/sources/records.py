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
from inlier.data.sources.content import Content
from inlier.data.sources.location import ZIP, Location
from inlier.data.sources.options import ReadOptions
from inlier.data.sources.text import SAMPLE, header_of

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


def of_columns(
    titles: Sequence[str],
    columns: Iterable[Sequence[Any]],
    location: Location,
    options: ReadOptions,
    **more: Any,
) -> Content:
    """Return columns whose cells have types of their own.

    A column that is neither all numbers nor all text is read as a text would be.
    """
    pa = arrow()
    held: list[Any] = []
    texts = []
    for j, cells in enumerate(columns):
        kinds = {type(cell) for cell in cells} - {type(None)}
        if kinds == {float} and all(cell is None or cell.is_integer() for cell in cells):
            cells = [None if cell is None else int(cell) for cell in cells]  # of a spreadsheet
        try:
            if len(kinds) > 1 and not kinds <= {int, float}:
                raise OverflowError
            held.append(pa.array(cells, from_pandas=True))
        except (pa.ArrowException, OverflowError):
            words = [c if c is None or isinstance(c, str) else str(c) for c in cells]
            held.append(pa.array(words, pa.string()))
            texts.append(j)
    schema = pa.schema([(title, cells.type) for title, cells in zip(titles, held, strict=True)])
    n = len(held[0]) if held else 0
    return Content(
        location, options, schema, lambda columns: [[held[j] for j in columns]],
        n=n, texts=texts, **more,
    )  # fmt: skip


def of_records(
    titles: Sequence[str],
    records: Iterable[Sequence[Any]],
    location: Location,
    options: ReadOptions,
    **more: Any,
) -> Content:
    """Return the columns of records."""
    columns = list(zip(*records, strict=True)) or [()] * len(titles)
    return of_columns(titles, columns, location, options, **more)


def load_json(location: Location, options: ReadOptions) -> Content:
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
            return of_records(titles, found["data"], location, options)
        if len(lists) == 1:
            found = lists[0]
    if isinstance(found, dict) and found and all(isinstance(v, dict) for v in found.values()):
        labels = list(dict.fromkeys(label for cells in found.values() for label in cells))
        found = {name: [cells.get(label) for label in labels] for name, cells in found.items()}
    if isinstance(found, dict) and found and all(isinstance(v, list) for v in found.values()):
        if len(set(map(len, found.values()))) > 1:
            raise ValueError(f"{location} has columns of different lengths.")
        return of_columns(list(found), found.values(), location, options)
    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        titles = list(dict.fromkeys(name for record in found for name in record))
        columns = ([record.get(title) for record in found] for title in titles)
        return of_columns(titles, columns, location, options)
    if isinstance(found, list) and found and all(isinstance(one, list) for one in found):
        return of_records([""] * len(found[0]), found, location, options)
    raise ValueError(
        f"{location} holds no table: it should be a list of records, a table of columns, or a "
        "record in each line."
    )


def load_spreadsheet(location: Location, options: ReadOptions) -> Content:
    """Read the only sheet of a workbook, or the one that is named."""
    calamine = package("python_calamine", "cli")
    raw = location.read()
    if raw.startswith(ZIP):
        sizes = [item.file_size for item in zipfile.ZipFile(io.BytesIO(raw)).infolist()]
        location.check_size(sum(sizes))
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
    found = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
    sheets = {name: sheet for name, sheet in found.items() if sheet.height}
    sheet = sheets[pick(sheets, options.table, location.label, "table")]
    location.check_size(CELL_BYTES * sheet.height * sheet.width)
    rows = [[None if cell == "" else cell for cell in row] for row in sheet.to_python()]
    rows = rows[options.skip or 0 :]
    if not rows:
        raise ValueError(f"{location} has no rows below line skip={options.skip}.")
    words = [["" if cell is None else str(cell) for cell in row] for row in rows[:SAMPLE]]
    above, titles, notes = header_of(words, options, range(1, len(words) + 1), "row")
    options = replace(options, header=any(titles))
    return of_records(titles, rows[above:], location, options, notes=notes)


def load_sqlite(location: Location, options: ReadOptions) -> Content:
    """Read the only table of a database, the one that is named, or what a query gives."""
    steps, most = 0, location.max_bytes

    def stop() -> bool:
        nonlocal steps
        steps += STEPS
        return steps > most

    address = f"{location.local_path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.set_authorizer(lambda action, *_: action not in READS)
        database.text_factory = lambda raw: raw.decode(errors="replace")
        longest = min(most, database.getlimit(sqlite3.SQLITE_LIMIT_LENGTH))
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        database.set_progress_handler(stop, STEPS)
        tables = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
            "'sqlite#_%' ESCAPE '#'"
        )
        try:
            return _answer(database, tables, (sqlite3.Error, sqlite3.Warning), location, options)
        except ValueError as error:
            if "interrupted" not in str(error):
                raise
            if steps <= most:  # by a signal, whose exception SQLite has swallowed
                raise KeyboardInterrupt from None
            raise ValueError(
                f"{location} has no answer after {most:,} steps. Raise the limit, "
                f"{location.limit}={most}."
            ) from None


def load_duckdb(location: Location, options: ReadOptions) -> Content:
    """Read the only table of a database, the one that is named, or what a query gives."""
    duckdb = package("duckdb")
    config = {"enable_external_access": False, "memory_limit": f"{location.max_bytes}B"}
    path = str(location.local_path)
    with closing(duckdb.connect(path, read_only=True, config=config)) as database:
        tables = "SELECT table_name FROM information_schema.tables"
        return _answer(database, tables, duckdb.Error, location, options)


def _answer(
    database: Any, tables: str, errors: Any, location: Location, options: ReadOptions
) -> Content:
    """Fetch the answer to a query, or a table; stop beyond the bound on bytes."""
    query = options.query
    if query is None:
        names = [name for (name,) in database.execute(tables).fetchall()]
        table = pick(names, options.table, location.label, "table")
        query = 'SELECT * FROM "{}"'.format(table.replace('"', '""'))
    records, size = [], 0
    try:
        answer = database.execute(query)
        while record := answer.fetchone():
            size += getsizeof(record) + sum(map(getsizeof, record))
            location.check_size(size, at_least=True)
            records.append(record)
        titles = [column[0] for column in answer.description or ()]
    except errors as error:
        raise ValueError(
            f"query={query!r} could not be read from {location}: {error}. It may only select."
        ) from None
    return of_records(titles, records, location, options)


def load_statistics(location: Location, options: ReadOptions) -> Content:
    """Read a file of Stata or SPSS; variables whose values have labels are text."""
    pyreadstat = package("pyreadstat")
    path = location.local_path
    reader = pyreadstat.read_dta if location.suffixes[0] == ".dta" else pyreadstat.read_sav
    _, about = reader(path, metadataonly=True)
    location.check_size(CELL_BYTES * (about.number_rows or 0) * about.number_columns)
    columns, about = reader(path, output_format="dict")
    for name, labels in about.variable_value_labels.items():
        cells = arrow().array(columns[name], from_pandas=True).to_pylist()
        if set(cells) <= {None, *labels}:
            columns[name] = [labels.get(cell) for cell in cells]
    return of_columns(list(columns), columns.values(), location, options)
