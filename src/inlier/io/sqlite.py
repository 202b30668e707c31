"""SQLite: a table, a view, or the answer to a query."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

from inlier.data.sources.base import opening
from inlier.io.base import Format, Options, Place, arrow, picked
from inlier.io.tabular import Columns, distinct, parsed

MAGIC = b"SQLite format 3\0"
# A query may look, and nothing else: not even attach another file.
READS = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite#_%' "
    "ESCAPE '#'"
)


def load(place: Place, options: Options) -> Columns:
    """Read the only table, the one that is named, or what a query gives."""
    if options.table is not None and options.query is not None:
        raise ValueError("table and query were both given: a query says which table it is about.")
    if place.read(len(MAGIC)) != MAGIC:
        raise ValueError(f"{place} is not a SQLite database.")
    address = f"{place.plain.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
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
            answer = database.execute(query)
            records = answer.fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            what = f"query={query!r}" if options.query else f"table={options.table!r}"
            raise ValueError(
                f"{what} could not be read from {place}: {error}. It may only select."
            ) from None
        titles = [column[0] for column in answer.description or ()]
    found, notes = distinct(titles)
    return _typed(list(zip(*records, strict=True)) or [()] * len(found), found, options, notes)


def _typed(
    columns: list[Any], names: tuple[str, ...], options: Options, notes: tuple[str, ...]
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
