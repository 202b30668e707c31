"""SQLite: a table, a view, or the answer to a query."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from sys import getsizeof
from threading import Event
from typing import Any

from inlier.data.sources.base import opening
from inlier.io.base import Format, Place, ReadOptions, arrow, picked
from inlier.io.tabular import Columns, distinct, parsed

MAGIC = b"SQLite format 3\0"
# A query may look, and nothing else: not even attach another file.
READS = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
# Of SQLite's machine, between two looks whether it has to stop.
STEPS = 1 << 16
TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite#_%' "
    "ESCAPE '#'"
)


def load(place: Place, options: ReadOptions) -> Columns:
    """Read the only table, the one that is named, or what a query gives."""
    if options.table is not None and options.query is not None:
        raise ValueError("table and query were both given: a query says which table it is about.")
    if place.read(len(MAGIC)) != MAGIC:
        raise ValueError(f"{place} is not a SQLite database.")
    address = f"{place.plain.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
        database.set_authorizer(lambda action, *_: action not in READS)
        database.text_factory = lambda raw: raw.decode(errors="replace")
        if options.query is None:
            with opening("a whole SQLite database", str(place), sqlite3.Error):
                names = [name for (name,) in database.execute(TABLES)]
            options = replace(options, table=picked(names, options.table, place, "table"))
            query = 'SELECT * FROM "{}"'.format(str(options.table).replace('"', '""'))
        else:
            query = options.query
        try:
            titles, records = _asked(database, query, place)
        except (sqlite3.Error, sqlite3.Warning) as error:
            what = f"query={query!r}" if options.query else f"table={options.table!r}"
            raise ValueError(
                f"{what} could not be read from {place}: {error}. It may only select."
            ) from None
    found, notes = distinct(titles)
    return _typed(list(zip(*records, strict=True)) or [()] * len(found), found, options, notes)


def _asked(
    database: sqlite3.Connection, query: str, place: Place
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns and records of an answer, which may have no end.

    In a thread of its own: Python hears of no signal while SQLite is at work in the main one.
    """
    told = Event()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(_answer, database, query, place, told)
        try:
            return answer.result()
        except BaseException:
            told.set()
            raise


def _answer(
    database: sqlite3.Connection, query: str, place: Place, told: Event
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Stop if it takes more bytes than may be held, or more steps, or if told to."""
    steps = size = 0

    def stop() -> bool:
        nonlocal steps
        steps += STEPS
        return told.is_set() or steps > place.most

    longest = min(place.most, database.getlimit(sqlite3.SQLITE_LIMIT_LENGTH))
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    database.set_progress_handler(stop, STEPS)
    records = []
    try:
        answer = database.execute(query)
        for record in answer:
            size += getsizeof(record) + sum(map(getsizeof, record))
            place.check_size(size, at_least=True)
            records.append(record)
    except sqlite3.OperationalError:
        if steps <= place.most:
            raise
        raise ValueError(
            f"{place} has no answer after {place.most:,} steps. Raise the limit with max_bytes=..."
        ) from None
    return [column[0] for column in answer.description or ()], records


def _typed(
    columns: list[Any], names: tuple[str, ...], options: ReadOptions, notes: tuple[str, ...]
) -> Columns:
    """Cells have types of their own here: a column is text only if all of its cells are."""
    pa = arrow()
    out, reasons = [], {}
    for j, cells in enumerate(columns):
        kinds = {type(cell) for cell in cells} - {type(None)}
        if kinds <= {int}:
            values = pa.chunked_array([pa.array(cells, pa.int64())])
        elif kinds <= {int, float}:
            values = pa.chunked_array([pa.array([None if c is None else float(c) for c in cells])])
        elif kinds == {bytes}:
            values = pa.chunked_array([pa.array(cells, pa.binary())])
        else:
            text = [c if c is None or isinstance(c, str) else str(c) for c in cells]
            values = pa.chunked_array([pa.array(text, pa.string())])
            if kinds != {str}:
                values, reasons[j] = parsed(values)
        out.append(values)
    table = pa.table(out, names=list(names))
    return Columns(table, names, options, reasons=reasons, notes=notes)


FORMAT = Format(
    "SQLite",
    (".db", ".sqlite", ".sqlite3"),
    load,
    ("table", "query"),
    lambda head: head.startswith(MAGIC),
)
