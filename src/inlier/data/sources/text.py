"""Delimited text: CSV, TSV and their kin.

pyarrow parses it: once to find the numbers, and again whenever rows are asked for, so that it may
be larger than memory. The first lines tell what it has to know: encoding, delimiter and header.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from inlier.data.sources.base import arrow, listed
from inlier.data.sources.columns import Columns
from inlier.data.sources.content import Format, ReadOptions
from inlier.data.sources.location import CHUNK_BYTES, Location
from inlier.data.sources.numbers import COMMA, MISSING, POINT

# In the order of preference, where a file could be read with several.
DELIMITERS = ("\t", ";", "|", ",", " ")
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SPACED_ROWS = 1 << 12
# Records that decide what the delimiter is, and whether there is a header.
SAMPLE = 100
# By default Python refuses cells above 128 KB.
csv.field_size_limit((1 << 31) - 1)
# A record is held as a list of cells: so many bytes for each of its own, and more for a column.
RECORD_COPIES, COLUMN_BYTES, FEW_COLUMNS = 16, 2000, 1000
# A block becomes a chunk of every column: of a wide table it should hold many records.
BLOCK_BYTES, MOST_BLOCK_BYTES, BLOCK_RECORDS = 1 << 20, 1 << 30, 64
# So spreadsheets are told the delimiter.
TOLD_DELIMITER = re.compile(r'"?sep=(.)"?\r?\n')
THREE_DIGITS = re.compile(r"\d{3}$")
PLAIN, NUMBER = re.compile(POINT.pattern), re.compile(f"{POINT.pattern}|{COMMA.pattern}")

Record = tuple[list[str], int]
"""Cells, and the number of their last line."""


@dataclass(frozen=True)
class TextFile:
    """A text, and how it is divided into cells."""

    location: Location
    encoding: str
    delimiter: str
    titles: tuple[str, ...]
    """Of all columns; empty without a header."""
    skip: int
    """Lines above the first row of data."""
    header: bool
    first_line: int | None
    block_bytes: int

    def batches(self, columns: list[int]) -> Iterator[Any]:
        """Yield the cells of some columns as text."""
        if self.delimiter == " ":  # of which several are one, as numpy.savetxt and Fortran write
            yield from self._spaced_batches(columns)
            return
        pa, csv_ = arrow(), arrow("pyarrow.csv")
        names = [f"f{j}" for j in range(len(self.titles))]
        wrong: list[Any] = []

        def note(row: Any) -> str:
            wrong.append(row)
            return "error"

        given = (
            csv_.ReadOptions(
                column_names=names,
                block_size=self.block_bytes,
                skip_rows=self.skip,
                encoding=self.encoding.removesuffix("-sig"),
                use_threads=False,
            ),
            csv_.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=note
            ),
            # Words with a meaning are kept for each column: of a million they take gigabytes.
            csv_.ConvertOptions(
                column_types={names[j]: pa.string() for j in columns},
                include_columns=[names[j] for j in columns],
                null_values=[],
                true_values=[],
                false_values=[],
            ),
        )
        last = None
        try:
            with self.location.open() as file:
                for batch in csv_.open_csv(file, *given):
                    yield batch
                    last = batch if len(batch) else last
            self._check_closed(last, columns)
        except pa.ArrowInvalid as error:
            if wrong:
                where = f"record {wrong[0].number} ({wrong[0].text[:40]!r})"
                raise ragged(self, where, wrong[0].actual_columns) from None
            if not re.search("Empty CSV|Could not skip", str(error)):  # a header, and no rows
                raise

    def _check_closed(self, last: Any, columns: list[int]) -> None:
        """Raise if a quote is never closed: then the rows below it are in the last cell of all."""
        end = len(self.titles) - 1
        if last is None or end not in columns:
            return
        cell = last.column(columns.index(end))[-1].as_py() or ""
        if "\n" in cell and not self._ends_in_quote():
            lines = cell.count("\n")
            are = "line below it is" if lines == 1 else "lines below it are"
            raise ValueError(
                f"{self.location}: a quote before {cell[:40]!r} is not closed, so that {lines} "
                f"{are} in one cell. Close it or remove it."
            )

    def _ends_in_quote(self) -> bool:
        tail = b""
        with self.location.open() as file:
            while chunk := file.read(CHUNK_BYTES):
                tail = (tail + chunk)[-CHUNK_BYTES:]
        return tail.replace(b"\0", b"").rstrip().endswith(b'"')

    def _spaced_batches(self, columns: list[int]) -> Iterator[Any]:
        with io.TextIOWrapper(self.location.open(), self.encoding, newline="") as file:
            records = _records(islice(self._lines(file), self.skip, None), " ")
            while some := [cells for cells, _ in islice(records, SPACED_ROWS)]:
                for cells in some:
                    if len(cells) != len(self.titles):
                        raise ragged(self, f"record {' '.join(cells)[:40]!r}", len(cells))
                arrays = [arrow().array([cells[j] for cells in some]) for j in columns]
                yield arrow().record_batch(arrays, names=[f"f{j}" for j in columns])

    def _lines(self, file: Any) -> Iterator[str]:
        while line := file.readline(self.block_bytes):
            if len(line) == self.block_bytes and line[-1] not in "\r\n":
                raise too_long(self.location, self.block_bytes)
            yield line


def load(location: Location, options: ReadOptions) -> Columns:
    """Read delimited text."""
    pa = arrow()
    most = min(MOST_BLOCK_BYTES, max(CHUNK_BYTES, location.max_bytes // RECORD_COPIES))
    head, whole = _head(location, most)
    encoding, block = _encoding(head, location), 0
    while True:
        text = head.decode(encoding, "ignore")
        file, label, notes = _layout(text, whole, encoding, options, location)
        file = replace(file, block_bytes=min(most, max(block, file.block_bytes)))
        try:
            return Columns(
                pa.schema([(f"f{j}", pa.string()) for j in range(len(file.titles))]),
                file.batches,
                location,
                replace(options, delimiter=file.delimiter, header=file.header),
                untyped=range(len(file.titles)),
                titles=file.titles,
                label=label,
                notes=notes,
                first_line=file.first_line,
            )
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            if "utf" in str(error).lower() and encoding != "latin-1":
                encoding = "latin-1"
            elif "straddling" not in str(error):
                raise
            elif file.block_bytes == most:
                raise too_long(location, most) from None
            else:
                block = most


def too_long(location: Location, most: int) -> ValueError:
    """Return the error that a record does not fit into memory."""
    return ValueError(
        f"{location} has a record of more than {most:,} bytes, which takes more memory than is "
        "allowed. End its lines, close its quotes, or raise the limit, "
        f"{location.limit}={location.max_bytes}."
    )


def ragged(file: TextFile, where: str, width: int) -> ValueError:
    """Return the error that a record has more or fewer cells than the first."""
    return ValueError(
        f"{file.location}: {where} has {width} {'cell' if width == 1 else 'cells'}, but the first "
        f"record has {len(file.titles)}, with delimiter={file.delimiter!r}. Correct the line, or "
        "give another delimiter; skip=... leaves out lines at the top."
    )


def _head(location: Location, most: int) -> tuple[bytes, bool]:
    """Read the first lines, at least one; and whether these are all."""
    with location.open() as file:
        head = file.read(CHUNK_BYTES)
        while not re.search(rb"[\r\n]", head) and (more := file.read(len(head))):
            if len(head) > most:
                raise too_long(location, most)
            head += more
        whole = not file.read(1)
    if not head.strip():
        raise ValueError(f"{location} is empty: there is no table in it.")
    return head, whole


def _encoding(head: bytes, location: Location) -> str:
    """Return the encoding of the first lines; what is not Unicode is Latin-1."""
    if head.startswith(UTF16):
        return "utf-16"
    if b"\0" in head:
        raise ValueError(f"{location} is not delimited text: there are zero bytes in it.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"


def _layout(
    text: str, whole: bool, encoding: str, options: ReadOptions, location: Location
) -> tuple[TextFile, int | None, list[str]]:
    """Find delimiter and titles in the first lines, the column of labels, and what to tell."""
    notes = []
    if options.skip is None and (told := TOLD_DELIMITER.match(text)):
        options = replace(options, skip=1, delimiter=options.delimiter or told[1])
    if encoding == "latin-1":
        notes.append(f"{location} is not UTF-8: it was read as Latin-1.")
    delimiter = _delimiter(text, whole, options)
    sample = _sample(text, whole, delimiter, options.skip or 0)
    if not sample:
        raise ValueError(f"{location} has no records below line skip={options.skip}.")
    above = titles_above([cells for cells, _ in sample]) if options.skip is None else 0
    if above:
        notes.append(left_out_above(sample[above - 1][1], "line"))
    rows = [cells for cells, _ in sample[above:]]
    header = has_header(rows) if options.header is None else options.header
    titles = [cell.strip() for cell in rows[0]] if header else [""] * len(rows[0])
    wider = header and len(rows) > 1 and len(titles) == usual_width(rows) - 1 > 1
    if wider and _begin_with_labels(rows[1:], delimiter):
        titles = ["", *titles]  # R writes no title for the labels of rows
    d, skip = len(titles), options.skip or 0
    if d > FEW_COLUMNS:
        location.check_size(COLUMN_BYTES * d)
    if header or above:
        skip = sample[above if header else above - 1][1]
    block = max(BLOCK_BYTES, BLOCK_RECORDS * len(delimiter.join(rows[0])))
    data = sample[above + header :]
    first_line = (
        data[0][1] if data and skip and not re.search(r"[\r\n]", "".join(data[0][0])) else None
    )
    file = TextFile(location, encoding, delimiter, tuple(titles), skip, header, first_line, block)
    for cells, line in data:
        if len(cells) != d:
            raise ragged(file, f"line {line}", len(cells))
    label, said = labels_among(titles) if header else (None, [])
    return file, label, [*notes, *said]


def _begin_with_labels(rows: list[list[str]], delimiter: str) -> bool:
    """Whether rows with a cell more than there are titles begin with labels, as R writes them.

    Commas inside of numbers, as in 1,234 without quotes, make a cell more too.
    """
    labels = [row[0].strip() for row in rows]
    if delimiter == "," and all(map(_is_number, labels)):
        if any(all(map(THREE_DIGITS.match, cells)) for cells in zip(*rows, strict=False)):
            return False
        found = [int(label) if label.isdecimal() else 0 for label in labels]
        return all(a < b for a, b in pairwise([0, *found]))
    return len(set(labels)) == len(labels)


def left_out_above(count: int, what: str) -> str:
    """Tell that lines at the top were left out."""
    said = (
        f"{count} {what}s were left out: they are" if count > 1 else f"{what} was left out: it is"
    )
    return f"The first {said} above the table. skip=0 keeps {'them' if count > 1 else 'it'}."


def labels_among(titles: list[str]) -> tuple[int | None, list[str]]:
    """Find the column with the labels of the rows: the first, if others have a title; and tell."""
    label = 0 if not titles[0] and any(titles) else None
    notes = ["The first column has no name: it was taken for the labels of the rows."]
    unnamed = [f"x{j}" for j, title in enumerate(titles) if not title and j != label]
    if unnamed:
        notes.append(f"Columns without a name in the header are called {listed(unnamed)}.")
    return label, notes if label is not None else notes[1:]


def _delimiter(text: str, whole: bool, options: ReadOptions) -> str:
    """Return the delimiter that gives all records the same length, and numbers."""
    if options.delimiter is not None:
        return options.delimiter
    best, chosen = (0.0, 0.0), ","
    for delimiter in DELIMITERS:
        rows = [cells for cells, _ in _sample(text, whole, delimiter, options.skip or 0)]
        usual = usual_width(rows)
        if usual > 1:
            cells = [cell for row in rows[1:] or rows for cell in row[:SAMPLE]]
            even = sum(len(row) == usual for row in rows) / len(rows)
            plain = sum(_is_number(cell, delimiter) for cell in cells) / len(cells)
            if (even, plain) > best:
                best, chosen = (even, plain), delimiter
    return chosen


def _sample(text: str, whole: bool, delimiter: str, skip: int) -> list[Record]:
    """Return the first records, with the numbers of their last lines."""
    lines = islice(io.StringIO(text, newline=""), skip, None)
    try:
        sample = [
            (cells, skip + line) for cells, line in islice(_records(lines, delimiter), SAMPLE)
        ]
    except csv.Error:
        return []
    return sample if whole or len(sample) in (1, SAMPLE) else sample[:-1]


def _records(lines: Iterator[str], delimiter: str) -> Iterator[Record]:
    """Divide lines into cells; spaces at the end of a line are not followed by a cell."""
    spaced = delimiter == " "
    lines = (line.rstrip(" \r\n") + "\n" for line in lines) if spaced else lines
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=spaced)
    yield from ((cells, reader.line_num) for cells in reader if cells)


def usual_width(rows: list[list[str]]) -> int:
    """Return the number of cells that most rows have; 0 if there are none."""
    widths = Counter(map(len, rows))
    return max(widths, key=lambda width: (widths[width], width), default=0)


def titles_above(rows: list[list[str]]) -> int:
    """Return how many rows at the top are no part of a table with a header.

    They have fewer cells than the table, or only one that is not empty, and do not begin with a
    number.
    """
    width = usual_width(rows)
    for count, row in enumerate(rows):
        filled = sum(bool(cell.strip()) for cell in row)
        short = len(row) < width - (width > 2) or (width > 2 and filled <= 1)
        if not short or (row[0].strip() and _is_number(row[0])):
            return count if len(row) == width and has_header(rows[count:]) else 0
    return 0


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first row is all text, text above numbers, or numbered as by pandas."""
    first, below = [cell.strip() for cell in rows[0]], rows[1:]
    words = [j for j, cell in enumerate(first) if not _is_number(cell)]
    if len(words) == len(first):
        return True
    numbered = [cell for j, cell in enumerate(first) if j not in words and (j or cell)]
    if len(numbered) < len(first) and numbered == [str(j) for j in range(len(numbered))]:
        return True
    for j in words:
        others = [row[j] for row in below if j < len(row) and row[j].strip() not in MISSING]
        if others and all(map(_is_number, others)):
            return True
    return False


def _is_number(cell: str, delimiter: str = ";") -> bool:
    # A decimal comma speaks for another delimiter.
    cell = cell.strip()
    return cell in MISSING or bool((NUMBER if delimiter != "," else PLAIN).match(cell))


FORMAT = Format(
    "delimited text",
    (".csv", ".tsv", ".tab", ".txt", ".dat"),
    load,
    ("delimiter", "header", "skip", "decimal", "thousands", "na_values"),
)
