"""Delimited text: CSV, TSV and their kin.

Cells are read as text, and a column is numeric if all of its cells are, also those far down. A text
that fits into memory is loaded. A larger one is streamed: a first pass detects the layout, a second
writes its numbers to a temporary file, which all later passes read.
"""

import codecs
import csv
import io
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, BinaryIO, Self

from inlier.data.sources.base import arrow, listed, opening
from inlier.data.sources.columns import (
    MISSING,
    Columns,
    NumberDetector,
    convert_all,
    in_batches,
    update_all,
)
from inlier.data.sources.content import Content, Format, ReadOptions, Reason, distinct, holds
from inlier.data.sources.location import CHUNK_BYTES, Location

# In the order of preference, where a file could be read with several.
DELIMITERS = ("\t", ";", "|", ",", " ")
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
BOM = codecs.BOM_UTF8
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Records that decide what the delimiter is, and whether there is a header.
SAMPLE = 100
LONGEST_CELL = (1 << 31) - 1
# A text that is loaded is held as bytes, cells, columns and an array; short cells take more, for
# where they begin and for their numbers, of which there are two copies.
COPIES, CELL_BYTES = 4, 24
CELL_ENDS = (b"\n", b",", b";", b"\t")
# A record is held as a list of cells: so many bytes for each of its own, and more for a column.
RECORD_COPIES, COLUMN_BYTES, FEW_COLUMNS = 16, 2000, 1000
BLOCK_BYTES, MOST_BLOCK_BYTES = 1 << 20, 1 << 30
BLOCK_RECORDS = 1 << 12
# pyarrow reads several blocks ahead.
STREAMED_BLOCK_BYTES = 1 << 20
TRAILING = holds("nothing: the lines end in a delimiter")


@dataclass(frozen=True)
class TextFile:
    """A text whose encoding is known."""

    location: Location
    encoding: str
    """"utf-8", "latin-1" or "utf-16"."""
    quoted: bool
    """Whether there are quotes in it."""
    data: bytes | None
    """All of it, if it fits into memory."""

    def open(self) -> BinaryIO:
        """Open the bytes as they are stored."""
        return self.location.open() if self.data is None else io.BytesIO(self.data)

    def lines(self) -> Generator[bytes]:
        """Yield the lines with their ends, without a byte order mark; UTF-16 becomes UTF-8."""
        wide = self.encoding == "utf-16"
        stored = "utf-16" if wide else "latin-1"
        with io.TextIOWrapper(self.open(), stored, newline="") as lines:
            for i, line in enumerate(lines):
                raw = line.encode("utf-8" if wide else "latin-1")
                yield raw.removeprefix(BOM) if i == 0 else raw


def _longest_record(location: Location) -> int:
    """Return how many bytes a record may have."""
    return max(CHUNK_BYTES, location.max_bytes // RECORD_COPIES)


def _too_long(location: Location) -> ValueError:
    return ValueError(
        f"{location} has a record of more than {_longest_record(location):,} bytes, which takes "
        "more memory than is allowed. End its lines, close its quotes, or raise the limit, "
        f"{location.limit}={location.max_bytes}."
    )


def open_text(location: Location) -> TextFile:
    """Detect the encoding of a text, and load it if it fits into memory."""
    held: list[bytes] | None = []
    size, cells, since_end, quoted, blank = 0, 0, 0, False, True
    decoder: Any = None
    encoding = "utf-8"
    with location.decompressing(), location.open() as file:
        while chunk := file.read(CHUNK_BYTES):
            if decoder is None:
                encoding = "utf-16" if chunk.startswith(UTF16) else encoding
                decoder = codecs.getincrementaldecoder(encoding)()
            size += len(chunk)
            if encoding != "utf-16" and b"\0" in chunk:
                raise ValueError(f"{location} is not delimited text: there are zero bytes in it.")
            encoding, text = _decoded(decoder, chunk, encoding, location)
            quoted, blank = quoted or b'"' in chunk, blank and not text.strip()
            cells += sum(map(chunk.count, CELL_ENDS))
            since_end += len(chunk)
            if (end := max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))) >= 0:
                since_end = len(chunk) - end
            if since_end > _longest_record(location):
                raise _too_long(location)
            if held is not None and location.fits(max(COPIES * size, CELL_BYTES * cells)):
                held.append(chunk)
            else:
                held = None
        if decoder is not None:
            encoding, _ = _decoded(decoder, b"", encoding, location, final=True)
    if blank:
        raise ValueError(f"{location} is empty: there is no table in it.")
    return TextFile(location, encoding, quoted, None if held is None else b"".join(held))


def _decoded(
    decoder: Any, chunk: bytes, encoding: str, location: Location, final: bool = False
) -> tuple[str, str | bytes]:
    """Decode a chunk; what is not UTF-8 is Latin-1, in which everything can be decoded."""
    if encoding == "latin-1":
        return encoding, chunk
    try:
        return encoding, decoder.decode(chunk, final).removeprefix("\ufeff")
    except UnicodeError as error:
        if encoding == "utf-16":
            raise ValueError(f"{location} is not text: {error}") from None
        return "latin-1", chunk


class Records:
    """Python's CSV reader of a text; those lines that it has taken are added to `taken`.

    Each character of its cells is a byte. Blank lines are empty records.
    """

    def __init__(self, text: TextFile, delimiter: str, taken: list[bytes] | None = None) -> None:
        self._text, self._taken, self._spaced = text, taken, delimiter == " "
        self._source = text.lines()
        # By default Python refuses cells above 128 KB.
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
        # Several spaces are one delimiter, as numpy.savetxt and Fortran write them.
        self._reader = csv.reader(self._lines(), delimiter=delimiter, skipinitialspace=self._spaced)

    def _lines(self) -> Iterator[str]:
        longest = _longest_record(self._text.location)
        for raw in self._source:
            self._held += len(raw)
            if self._held > longest:  # a quote that is not closed
                raise _too_long(self._text.location)
            if self._taken is not None:
                self._taken.append(raw)
            line = raw.decode("latin-1")
            if self._spaced:  # those at the end are not followed by a cell
                body = line.rstrip("\r\n")
                line = body.rstrip(" ") + line[len(body) :]
            yield line

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> list[str]:
        self._held = 0
        return next(self._reader)

    @property
    def line_num(self) -> int:
        """Number of the last line of the last record, from 1."""
        return self._reader.line_num

    def close(self) -> None:
        """Close the file."""
        self._source.close()


def load(location: Location, options: ReadOptions) -> Content:
    """Load delimited text, or stream it."""
    text = open_text(location)
    layout = Layout(text, options)
    notes = list(layout.notes)
    if text.encoding == "latin-1":
        notes.insert(0, f"{location} is not UTF-8: it was read as Latin-1.")
    elif text.encoding == "utf-16":
        notes.insert(0, "UTF-16 was read, and UTF-8 is written.")
    pa = arrow()
    names, detectors = layout.names, layout.detectors
    reasons: dict[int, Reason | None] = {j: found.reason for j, found in enumerate(detectors)}
    commas = [name for name, found in zip(names, detectors, strict=True) if found.decimal_commas]
    if commas:
        notes.append(f"Commas were read as decimal points in {listed(commas)}.")
    if layout.ends_in_delimiter:
        reasons[len(names) - 1] = TRAILING
    unnamed = [name for name, title in zip(names, layout.titles, strict=True) if not title]
    if layout.header and unnamed:
        notes.append(
            f"The header leaves columns without a name. They are called {listed(unnamed)}."
        )
    options = replace(options, delimiter=layout.delimiter, header=layout.header)
    schema = pa.schema([(name, found.kind) for name, found in zip(names, detectors, strict=True)])

    def batches(columns: list[int] | None) -> Iterator[Any]:
        chosen = list(range(len(names))) if columns is None else columns
        for batch in layout.batches(chosen):
            arrays = convert_all([detectors[j] for j in chosen], batch)
            yield pa.record_batch(arrays, schema=pa.schema([schema.field(j) for j in chosen]))

    table = None if layout.cells is None else pa.Table.from_batches(batches(None), schema)
    given = (schema, layout.n, names, options, batches if table is None else in_batches(table))
    rest: dict[str, Any] = {"table": table, "cells": layout.batches, "notes": tuple(notes)}
    return Columns(*given, reasons=reasons, **rest)


class Layout:
    """Delimiter, header, names and types of the columns of a text.

    `cells` are all cells as text, if it was loaded; `detectors`, one for each column, have seen
    them.
    """

    def __init__(self, text: TextFile, options: ReadOptions) -> None:
        self.text = text
        location = text.location
        self.delimiter = _delimiter(text, options.delimiter)
        with opening("delimited text", location.label, csv.Error):
            start: list[bytes] = []
            with closing(Records(text, self.delimiter, start)) as reader:
                self.width = len(next(filter(None, reader)))
        if self.width > FEW_COLUMNS:
            location.check_size(COLUMN_BYTES * self.width)
        # Most mistakes are near the top, and Arrow prepares every column before it finds one.
        self._check_widths(SAMPLE)
        self.header = options.header
        self.cells: Any = None
        self.titles: list[str] = []
        self.notes: tuple[str, ...] = ()
        self._na_values = options.na_values or ()
        # A block becomes a chunk of every column: of a wide table it should hold many records. If
        # one record does not fit, the largest block is tried.
        size = max(BLOCK_BYTES, BLOCK_RECORDS * sum(map(len, start)))
        if text.data is None:
            size = min(size, STREAMED_BLOCK_BYTES)
        fault: Exception | None = None
        most = min(MOST_BLOCK_BYTES, _longest_record(location))
        for block in (min(size, most), most):
            self._block_bytes = block
            try:
                self._detect()
                return
            except arrow().ArrowInvalid as error:
                fault = error
                self._check_widths()
        raise ValueError(
            f"{location} could not be read as text with {self.delimiter!r} between cells: {fault}"
        )

    def _detect(self) -> None:
        """Look at all cells; those of a text that was loaded are kept."""
        self.n, self.titles = 0, []
        self.cells = None
        held = []
        for batch in self.batches(None):
            self.n += len(batch)
            update_all(self.detectors, batch)
            if self.text.data is not None:
                held.append(batch)
        self.cells = arrow().Table.from_batches(held) if held else None

    def _begin(self, cells: Any) -> None:
        """Find out from the first records whether there is a header."""
        if self.titles:
            return
        if self.header is None:
            self.header = _has_header(cells)
        self.titles = _first(cells) if self.header else [""] * cells.num_columns
        named = [title or f"x{j}" for j, title in enumerate(self.titles)]
        self.names, self.notes = distinct(named)
        commas = self.delimiter != ","
        self.detectors = [NumberDetector(self._na_values, commas) for _ in self.names]

    @property
    def ends_in_delimiter(self) -> bool:
        """Whether the last column has neither a name nor a cell."""
        last = self.detectors[-1]
        return self.width > 1 and not self.titles[-1] and last.n_missing == self.n

    def batches(self, columns: list[int] | None) -> Iterator[Any]:
        """Yield the cells of some columns, without the header."""
        if self.cells is not None:
            yield from in_batches(self.cells)(columns)
            return
        with self._arrow_file() as file:
            skip = None
            for batch in arrow("pyarrow.csv").open_csv(file, *self._arrow_options(columns)):
                if skip is None:
                    self._begin(batch)
                    skip = int(bool(self.header))
                yield batch.slice(skip)
                skip = 0

    @contextmanager
    def _arrow_file(self) -> Iterator[Any]:
        """Open the text for pyarrow, which takes a single byte for the delimiter."""
        if self.delimiter != " ":
            with self.text.open() as file:
                yield file
            return
        with closing(Records(self.text, self.delimiter)) as reader:
            yield io.BufferedReader(_TabDelimited(reader), CHUNK_BYTES)

    def _arrow_options(self, columns: list[int] | None) -> tuple[Any, Any, Any]:
        pa, csv_ = arrow(), arrow("pyarrow.csv")
        recoded = self.delimiter == " " and self.text.encoding == "utf-16"
        names = [f"f{j}" for j in (range(self.width) if columns is None else columns)]
        return (
            csv_.ReadOptions(
                autogenerate_column_names=True,
                block_size=self._block_bytes,
                encoding="utf-8" if recoded else self.text.encoding,
            ),
            csv_.ParseOptions(
                delimiter="\t" if self.delimiter == " " else self.delimiter,
                newlines_in_values=self.text.quoted,
            ),
            # Words with a meaning are kept for each column: of a million they take gigabytes.
            csv_.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=[] if columns is None else names,
                null_values=[],
                true_values=[],
                false_values=[],
            ),
        )

    def _check_widths(self, most: int | None = None) -> None:
        """Name the first line that is too long or too short, of so many records or of all."""
        location = self.text.location
        reader = Records(self.text, self.delimiter)
        with opening("delimited text", location.label, csv.Error), closing(reader):
            for record in islice(reader, most):
                if record and len(record) != self.width:
                    break
            else:
                return
        raise ValueError(
            f"{location}: line {reader.line_num} has {len(record)} cells, but the first record has "
            f"{self.width}, with delimiter={self.delimiter!r}. Correct the line, or give another "
            "delimiter."
        )


class _TabDelimited(io.RawIOBase):
    """Records with one tab in place of the spaces between cells."""

    def __init__(self, reader: Any) -> None:
        self._lines = io.StringIO(newline="")
        self._writer = csv.writer(self._lines, delimiter="\t")
        self._records = filter(None, reader)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self._rest) < len(buffer) and (some := list(islice(self._records, SAMPLE))):
            self._writer.writerows(some)
            self._rest += self._lines.getvalue().encode("latin-1")
            self._lines.seek(0)
            self._lines.truncate()
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


def _delimiter(text: TextFile, given: str | None) -> str:
    """Return the delimiter that gives all records the same length, and numbers."""
    if given is not None:
        delimiter = DELIMITER_NAMES.get(given, given)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise ValueError(f"delimiter={given!r} must be one character such as ','.")
        return delimiter
    best, chosen = (0.0, 0.0), ","
    for delimiter in DELIMITERS:
        widths: list[int] = []
        sample: list[list[str]] = []
        try:
            with closing(Records(text, delimiter)) as reader:
                for record in islice(filter(None, reader), SAMPLE):
                    widths.append(len(record))
                    sample.append(record[:SAMPLE])
        except csv.Error:
            continue
        usual = max(set(widths), key=widths.count)
        if usual > 1:
            cells = [cell for record in sample[1:] or sample for cell in record]
            even = widths.count(usual) / len(widths)
            plain = sum(_is_number(cell, delimiter) for cell in cells) / len(cells)
            if (even, plain) > best:
                best, chosen = (even, plain), delimiter
    return chosen


def _is_number(cell: str, delimiter: str = ",") -> bool:
    # A decimal comma speaks for another delimiter.
    cell = cell.strip()
    try:
        float(cell if delimiter == "," else cell.replace(",", ".", 1))
    except ValueError:
        return cell in MISSING
    return True


def _first(cells: Any) -> list[str]:
    return [column[0].as_py().strip() for column in cells.columns]


def _has_header(cells: Any) -> bool:
    """Whether the first record is all text, or text above numbers."""
    first = _first(cells)
    words = [j for j, cell in enumerate(first) if not _is_number(cell)]
    if len(words) == len(first):
        return True
    below = cells.slice(1, SAMPLE)
    for j in words:
        others = [cell for cell in below.column(j).to_pylist() if cell.strip() not in MISSING]
        if others and all(map(_is_number, others)):
            return True
    return False


FORMAT = Format(
    "delimited text",
    (".csv", ".tsv", ".tab", ".txt", ".dat"),
    load,
    ("delimiter", "header", "na_values"),
)
