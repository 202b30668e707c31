"""Delimited text: CSV, TSV and their kin.

pyarrow parses it: once to find the numbers, and again whenever rows are asked for, so that it may
be larger than memory. Python's csv module parses the first records, which tell delimiter and
header, what has several spaces between cells, and what pyarrow refuses, to name the line.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from inlier.data.sources.base import arrow
from inlier.data.sources.content import Content
from inlier.data.sources.location import CHUNK_BYTES, Location
from inlier.data.sources.numbers import COMMA, MISSING, POINT
from inlier.data.sources.options import ReadOptions

# In the order of preference, where a file could be read with several.
DELIMITERS = ("\t", ";", "|", ",", " ")
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Records that decide what the delimiter is, and whether there is a header.
SAMPLE = 100
# A block of text, of which a record may be as long, is held with what is made of it; so are the
# objects for each of very many columns.
BLOCK_COPIES, COLUMN_BYTES, FEW_COLUMNS = 64, 2000, 1000
SPACED_RECORDS = 1 << 12
# So spreadsheets are told the delimiter.
TOLD_DELIMITER = re.compile(r'"?sep=(.)"?\r?\n')
# Follows the last line, and is in a record of its own unless a quote is open.
END = "\0"

Record = tuple[list[str], int]
"""Cells, and the number of their last line."""


@dataclass(frozen=True)
class TextFile:
    """A text, and how it is divided into cells."""

    location: Location
    encoding: str
    delimiter: str = ","
    skip: int = 0
    """Lines that are left out at the top."""

    @property
    def longest(self) -> int:
        """Bound on the length of a record."""
        return min(1 << 30, max(CHUNK_BYTES, self.location.max_bytes // BLOCK_COPIES))

    def records(self, height: int) -> Iterator[tuple[list[list[str]], int]]:
        """Yield so many records that are not empty, and the number of the last line."""
        longest, spaced = self.longest, self.delimiter == " "
        csv.field_size_limit(longest)  # of a quote that is not closed

        def lines(file: io.TextIOWrapper) -> Iterator[str]:
            for line in iter(partial(file.readline, longest), ""):
                if len(line) >= longest:
                    raise self._too_long()
                if END in line:
                    raise ValueError(
                        f"{self.location} is not delimited text: there are zero bytes in it."
                    )
                # Several spaces are one delimiter, as numpy.savetxt and Fortran write.
                yield line.rstrip(" \r\n") + "\n" if spaced else line
            yield END

        with io.TextIOWrapper(self.location.open(), self.encoding, newline="") as file:
            kept = islice(lines(file), self.skip, None)
            reader = csv.reader(kept, delimiter=self.delimiter, skipinitialspace=spaced)
            kept_cells = filter(None, reader)
            try:
                while rows := list(islice(kept_cells, height)):
                    if rows[-1][-1].endswith(END):
                        break
                    yield rows, self.skip + reader.line_num
            except csv.Error as error:
                raise self._too_long() if "limit" in str(error) else error from None
            # Of a text that is skipped as a whole, its end is too.
            if rows and (last := rows.pop()) != [END]:
                raise self._unclosed(last[-1].rstrip(f"\r\n{END}"))
            if rows:
                yield rows, self.skip + reader.line_num - 1

    def _too_long(self) -> ValueError:
        return ValueError(
            f"{self.location} has a record of more than {self.longest:,} bytes, which takes more "
            "memory than is allowed. End its lines, close its quotes, or raise the limit, "
            f"{self.location.limit}={self.location.max_bytes}."
        )

    def _unclosed(self, cell: str) -> ValueError:
        lines = cell.count("\n")
        are = "line below it is" if lines == 1 else "lines below it are"
        return ValueError(
            f"{self.location}: a quote before {cell[:40]!r} is not closed, so that {lines} {are} "
            "in one cell. Close it or remove it."
        )

    def sample(self) -> list[Record]:
        """Return the first records."""
        found: list[Record] = []
        size = 0
        for (cells,), line in islice(self.records(1), SAMPLE):
            found.append((cells, line))
            size += len(cells) + sum(map(len, cells))
            if size > CHUNK_BYTES and len(found) > 1:
                break
        return found

    def blocks(self, width: int, columns: list[int]) -> Iterator[list[Any]]:
        """Yield the cells of some columns in blocks of records, all of which have one width."""
        pa, csv_ = arrow(), arrow("pyarrow.csv")
        if self.delimiter == " ":
            for rows, _ in self.records(SPACED_RECORDS):
                if set(map(len, rows)) != {width}:
                    self.check(width)
                yield [pa.array([row[j] for row in rows]) for j in columns]
            return
        names = [f"f{j}" for j in range(width)]
        # Words with a meaning are kept for each column: of a million they take gigabytes.
        none: dict[str, list[str]] = {"null_values": [], "true_values": [], "false_values": []}
        given = (
            csv_.ReadOptions(
                column_names=names,
                block_size=self.longest,
                skip_rows=self.skip,
                encoding=self.encoding.removesuffix("-sig"),
                use_threads=False,
            ),
            csv_.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            csv_.ConvertOptions(
                column_types={names[j]: pa.string() for j in columns},
                include_columns=[names[j] for j in columns],
                **none,
            ),
        )
        last = None
        try:
            with self.location.open() as file:
                for batch in csv_.open_csv(file, *given):
                    yield batch.columns
                    last = batch.columns[-1][-1].as_py() if len(batch) else last
        except pa.ArrowInvalid as error:
            if re.search("Empty CSV|Could not skip", str(error)):  # a header, and no rows
                return
            self.check(width)
            raise self._too_long() if "straddling" in str(error) else error from None
        if "\n" in (last or ""):  # perhaps of a quote that is never closed
            self.check(width)

    def check(self, width: int, records: Iterable[Record] | None = None) -> None:
        """Raise if some record, or any, has another number of cells, and name its line."""
        every = ((cells, line) for (cells,), line in self.records(1))
        for cells, line in every if records is None else records:
            if len(cells) != width:
                raise ValueError(
                    f"{self.location}: line {line} has {len(cells)} "
                    f"{'cell' if len(cells) == 1 else 'cells'}, but the first record has {width}, "
                    f"with delimiter={self.delimiter!r}. Correct the line, or give another "
                    "delimiter; skip=... leaves out lines at the top."
                )


def load(location: Location, options: ReadOptions) -> Content:
    """Read delimited text; what is not Unicode is Latin-1."""
    head = location.read(4)
    encoding = "utf-16" if head.startswith(UTF16) else "utf-8-sig"
    try:
        return _load(TextFile(location, encoding), options, [])
    except UnicodeError:
        note = f"{location} is not UTF-8: it was read as Latin-1."
        return _load(TextFile(location, "latin-1"), options, [note])


def _load(file: TextFile, options: ReadOptions, notes: list[str]) -> Content:
    """Find delimiter and titles in the first records, and the column of labels."""
    location = file.location
    if options.skip is None:
        with io.TextIOWrapper(location.open(), file.encoding, newline="") as opened:
            told = TOLD_DELIMITER.match(opened.readline(10))
        if told:
            options = replace(options, skip=1, delimiter=options.delimiter or told[1])
    file = replace(file, skip=options.skip or 0)
    delimiter = options.delimiter or _delimiter(file)
    file = replace(file, delimiter=delimiter)
    sample = file.sample()
    rows = [cells for cells, _ in sample]
    if not any(cell.strip() for row in rows for cell in row):
        below = f" below line skip={options.skip}" if options.skip else ""
        raise ValueError(f"{location} is empty{below}: there is no table in it.")
    above, titles, said = header_of(rows, options, [line for _, line in sample], "line")
    labels = [row[0] for row in rows[above:]]
    wider = 1 < len(titles) == usual_width(rows) - 1 and delimiter != ","
    if wider and any(titles) and len(set(labels)) == len(labels):
        titles = ["", *titles]  # R writes no title for the labels of rows
    d, first_line = len(titles), None
    file.check(d, sample[above:])  # before very many columns are made
    if d > FEW_COLUMNS:
        location.check_size(COLUMN_BYTES * d)
    if above:
        file = replace(file, skip=sample[above - 1][1])
    if file.skip and above < len(rows):
        first_line = sample[above][1] - "".join(rows[above]).count("\n")
    return Content(
        location,
        replace(options, delimiter=delimiter, header=any(titles)),
        arrow().schema([(title, "string") for title in titles]),
        partial(file.blocks, d),
        texts=range(d),
        notes=[*notes, *said],
        first_line=first_line,
    )


def header_of(
    rows: list[list[str]], options: ReadOptions, numbers: Sequence[int], what: str
) -> tuple[int, list[str], list[str]]:
    """Find the header in the first rows, which have `numbers`, as lines of a text have.

    Returns how many rows stand above the data, the titles, which are empty without a header, and
    what to tell.
    """
    above = titles_above(rows) if options.skip is None else 0
    header = has_header(rows[above:]) if options.header is None else options.header
    titles, notes = [cell.strip() if header else "" for cell in rows[above]], []
    if above:
        count = numbers[above - 1]
        they, them = ("they are", "them") if count > 1 else ("it is", "it")
        lines = f"{count} {what}s were" if count > 1 else f"{what} was"
        notes = [f"The first {lines} left out: {they} above the table. skip=0 keeps {them}."]
    return above + header, titles, notes


def _delimiter(file: TextFile) -> str:
    """Return the delimiter that gives all records the same length, and numbers."""
    best, chosen = (0.0, 0.0), ","
    for delimiter in DELIMITERS:
        try:
            rows = [cells for cells, _ in replace(file, delimiter=delimiter).sample()]
        except UnicodeError:
            raise
        except ValueError:  # a quote is open, if this is the delimiter
            continue
        usual = usual_width(rows)
        if usual > 1:
            cells = [cell for row in rows[1:] or rows for cell in row[:SAMPLE]]
            even = sum(len(row) == usual for row in rows) / len(rows)
            plain = sum(is_number(cell, delimiter) for cell in cells) / len(cells)
            if (even, plain) > best:
                best, chosen = (even, plain), delimiter
    return chosen


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
        if not short or (row[0].strip() and is_number(row[0])):
            return count if len(row) == width and has_header(rows[count:]) else 0
    return 0


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first row is all text, text above numbers, or numbered as by pandas."""
    first, below = [cell.strip() for cell in rows[0]], rows[1:]
    words = [j for j, cell in enumerate(first) if not is_number(cell)]
    if len(words) == len(first):
        return True
    numbered = [cell for j, cell in enumerate(first) if j not in words and (j or cell)]
    if numbered == [str(j) for j in range(len(numbered))]:
        # Without an index above it, the first row may be one of a table of whole numbers.
        whole = all(re.fullmatch(r"-?\d*", cell.strip()) for row in below for cell in row)
        if len(numbered) < len(first) or not (whole or len(first) < 3):
            return True
    for j in words:
        others = [row[j] for row in below if j < len(row) and row[j].strip() not in MISSING]
        if others and all(map(is_number, others)):
            return True
    return False


def is_number(cell: str, delimiter: str = ";") -> bool:
    """Whether a cell is missing, or a number; a decimal comma speaks for another delimiter."""
    cell, styles = cell.strip(), (POINT, COMMA) if delimiter != "," else (POINT,)
    return cell in MISSING or any(style.pattern.fullmatch(cell) for style in styles)
