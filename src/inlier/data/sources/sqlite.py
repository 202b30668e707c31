"""SQLite: a table, a view, or the answer to a query."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from sys import getsizeof
from threading import Event
from typing import Any

from inlier.data.sources.base import arrow, opening, pick
from inlier.data.sources.columns import Columns, NumberDetector, in_batches
from inlier.data.sources.content import Format, ReadOptions, Reason, distinct
from inlier.data.sources.location import Location

MAGIC = b"SQLite format 3\0"
# A query may select, and nothing else: not even attach another file.
READS = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
# Instructions of SQLite's virtual machine between two checks whether it has to stop.
STEPS = 1 << 16
TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite#_%' "
    "ESCAPE '#'"
)


def load(location: Location, options: ReadOptions) -> Columns:
    """Read the only table, the one that is named, or what a query gives."""
    if options.table is not None and options.query is not None:
        raise ValueError(f"table={options.table!r} and a query were both given: leave one out.")
    if location.read(len(MAGIC)) != MAGIC:
        raise ValueError(f"{location} is not a SQLite database.")
    address = f"{location.local_path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
        database.set_authorizer(lambda action, *_: action not in READS)
        database.text_factory = lambda raw: raw.decode(errors="replace")
        if options.query is None:
            with opening("a whole SQLite database", location.label, sqlite3.Error):
                names = [name for (name,) in database.execute(TABLES)]
            options = replace(options, table=pick(names, options.table, location.label, "table"))
            query = 'SELECT * FROM "{}"'.format(str(options.table).replace('"', '""'))
        else:
            query = options.query
        try:
            titles, records = _asked(database, query, location)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise ValueError(
                f"query={query!r} could not be read from {location}: {error}. It may only select."
            ) from None
    found, notes = distinct(titles)
    return _typed(list(zip(*records, strict=True)) or [()] * len(found), found, options, notes)


def _asked(
    database: sqlite3.Connection, query: str, location: Location
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Fetch the columns and records of an answer, which may have no end.

    In a thread of its own: while SQLite runs in the main one, Python handles no signals.
    """
    told = Event()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(_answer, database, query, location, told)
        try:
            return answer.result()
        except BaseException:
            told.set()
            raise


def _answer(
    database: sqlite3.Connection, query: str, location: Location, told: Event
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Fetch an answer; stop beyond the bound on bytes or steps, or if told to."""
    steps = size = 0

    def stop() -> bool:
        nonlocal steps
        steps += STEPS
        return told.is_set() or steps > location.max_bytes

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
    except sqlite3.OperationalError:
        if steps <= location.max_bytes:
            raise
        raise ValueError(
            f"{location} has no answer after {location.max_bytes:,} steps. Raise the limit, "
            f"{location.limit}={location.max_bytes}."
        ) from None
    return [column[0] for column in answer.description or ()], records


def _typed(
    columns: list[Any], names: tuple[str, ...], options: ReadOptions, notes: tuple[str, ...]
) -> Columns:
    """Type the columns: cells have types of their own in SQLite; text is text if all cells are."""
    pa = arrow()
    out = []
    reasons: dict[int, Reason | None] = {}
    for j, cells in enumerate(columns):
        kinds = {type(cell) for cell in cells} - {type(None)}
        if kinds <= {int}:
            values = pa.chunked_array([cells], pa.int64())
        elif kinds <= {int, float}:
            values = pa.chunked_array([[None if c is None else float(c) for c in cells]])
        elif kinds == {bytes}:
            values = pa.chunked_array([cells], pa.binary())
        else:
            text = [c if c is None or isinstance(c, str) else str(c) for c in cells]
            values = pa.chunked_array([text], pa.string())
            if kinds != {str}:
                detector = NumberDetector()
                detector.update(values)
                values, reasons[j] = detector.convert(values), detector.reason
        out.append(values)
    table = pa.table(out, names=list(names))
    given = (table.schema, len(table), names, options, in_batches(table))
    return Columns(*given, table=table, reasons=reasons, notes=notes)


FORMAT = Format(
    "SQLite",
    (".db", ".sqlite", ".sqlite3"),
    load,
    ("table", "query"),
    lambda head: head.startswith(MAGIC),
)
