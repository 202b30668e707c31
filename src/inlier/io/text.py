"""Delimited text: CSV, TSV and their kin.

Cells are read as text, and a column becomes numbers if all of it does: no cell far down can come
as a surprise. Whether the first record is a header is asked of what was read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO

from inlier._internal.csv_text import Writer
from inlier._internal.typing import Mask
from inlier.data.sources.base import opening
from inlier.io.base import Format, Place, ReadOptions, arrow, listed
from inlier.io.tabular import MISSING, Columns, distinct, parsed

# In the order of preference, where a file could be read with several.
DELIMITERS = ("\t", ";", "|", ",", " ")
BOM = b"\xef\xbb\xbf"
WIDE = (b"\xff\xfe", b"\xfe\xff")
# So many records tell what the delimiter is, and whether there is a header.
SAMPLE = 100
# What 1,234 is may be 1.234 or 1234.
THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2},\d{3}\s*$"
LONGEST_CELL = (1 << 31) - 1
BLOCK_BYTES = 1 << 20
BLOCK_RECORDS = 1 << 12


def load(place: Place, options: ReadOptions) -> Columns:
    """Read delimited text."""
    text, notes = _utf8(place)
    if not text.strip():
        raise ValueError(f"{place} is empty: there is no table in it.")
    delimiter = _delimiter(text, options.delimiter)
    cells = _cells(text, delimiter, place)
    header = _has_header(cells) if options.header is None else bool(options.header)
    titles = _first(cells) if header else [""] * cells.num_columns
    cells = cells.slice(int(header))
    names, more = distinct([title or f"x{j}" for j, title in enumerate(titles)])
    columns, reasons = [], {}
    commas = []
    also = options.na_values or ()
    for j, column in enumerate(cells.columns):
        numbers, reasons[j] = parsed(column, also)
        if reasons[j] and delimiter != ",":
            points, why = parsed(_with_points(column), also)
            if not why and _may_be_thousands(column):
                reasons[j] = "numbers with commas, which may be decimal points or thousands"
            elif not why:
                numbers, reasons[j] = points, ""
                commas.append(names[j])
        columns.append(numbers)
    if commas:
        more += (f"Commas were read as decimal points in {listed(commas)}.",)
    if len(names) > 1 and not titles[-1] and columns[-1].null_count == len(cells):
        reasons[len(names) - 1] = "nothing: the lines end in a delimiter"
    unnamed = [name for name, title in zip(names, titles, strict=True) if not title]
    if header and unnamed:
        more += (f"The header leaves columns without a name. They are called {listed(unnamed)}.",)
    return Columns(
        arrow().table(columns, names=list(names)),
        names,
        replace(options, delimiter=delimiter, header=header),
        reasons=reasons,
        cells=cells,
        notes=notes + more,
    )


def copy(place: Place, options: ReadOptions, rows: Mask, out: BinaryIO) -> None:
    """Write the header and some records of a text byte for byte, formulas included.

    A record may have line breaks in it, so it is Python's reader that says where it ends.
    """
    text, _ = _raw(place)
    mark = BOM if text.startswith(BOM) else b""
    pending: list[bytes] = [mark]
    n = -1 if options.header else 0
    with opening("the text that it was", str(place), csv.Error):
        for record in _records(text.removeprefix(BOM), options.delimiter or ",", pending):
            if record:
                if n < 0 or (n < len(rows) and rows[n]):
                    out.writelines(pending)
                n += 1
            pending.clear()
    if n != len(rows):
        raise ValueError(f"{place} had {len(rows)} rows when it was read, and has {n} now.")


def write(content: Columns, rows: Mask, delimiter: str, out: BinaryIO) -> None:
    """Write the cells of some rows with another delimiter; none becomes a formula."""
    with io.TextIOWrapper(out, encoding="utf-8", newline="") as file:
        writer = Writer(file, delimiter=delimiter, lineterminator="\n")
        if content.options.header:
            writer.writerow(content.names)
        kept = content.cells.filter(arrow().array(rows))
        for batch in kept.to_batches():
            writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _raw(place: Place) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a text, in an encoding in which delimiters and line breaks are one byte."""
    raw = place.read()
    if raw.startswith(WIDE):
        with opening("text", str(place), UnicodeError):
            return raw.decode("utf-16").encode(), ("UTF-16 was read, and UTF-8 is written.",)
    if b"\0" in raw:
        raise ValueError(f"{place} is not delimited text: there are zero bytes in it.")
    return raw, ()


def _utf8(place: Place) -> tuple[bytes, tuple[str, ...]]:
    raw, notes = _raw(place)
    raw = raw.removeprefix(BOM)
    try:
        raw.decode()
    except UnicodeDecodeError:
        note = f"{place} is not UTF-8: it was read as Latin-1."
        return raw.decode("latin-1").encode(), (*notes, note)
    return raw, notes


def _lines(text: bytes) -> Iterator[str]:
    """The lines with their ends; each character is a byte."""
    return io.TextIOWrapper(io.BytesIO(text), encoding="latin-1", newline="")


def _records(text: bytes, delimiter: str, seen: list[bytes] | None = None) -> Any:
    """The reader of Python for a text; the lines that it has taken are added to `seen`."""
    spaced = delimiter == " "

    def lines() -> Iterator[str]:
        for line in _lines(text):
            if seen is not None:
                seen.append(line.encode("latin-1"))
            if spaced:  # those at the end are not followed by a cell
                body = line.rstrip("\r\n")
                line = body.rstrip(" ") + line[len(body) :]
            yield line

    # Python refuses longer cells than 128 KB, for the whole process. Arrow reads them.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    # Several spaces are one delimiter, as numpy.savetxt and Fortran write them.
    return csv.reader(lines(), delimiter=delimiter, skipinitialspace=spaced)


def _delimiter(text: bytes, given: str | None) -> str:
    """What stands between cells: that which gives all records the same length, and numbers."""
    if given is not None:
        named = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
        delimiter = named.get(given, given)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise ValueError(f"delimiter must be one character such as ',', but is {given!r}.")
        return delimiter
    best, chosen = (0.0, 0.0), ","
    for delimiter in DELIMITERS:
        try:
            records = list(islice(filter(None, _records(text, delimiter)), SAMPLE))
        except csv.Error:
            continue
        widths = [len(record) for record in records]
        usual = max(set(widths), key=widths.count)
        if usual > 1:
            cells = [cell for record in records[1:] or records for cell in record[:SAMPLE]]
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


def _with_points(cells: Any) -> Any:
    """With points for decimal commas, one in each cell."""
    return arrow("pyarrow.compute").replace_substring(cells, ",", ".", max_replacements=1)


def _may_be_thousands(cells: Any) -> bool:
    """Whether three digits follow every comma."""
    compute = arrow("pyarrow.compute")
    with_comma = compute.match_substring(cells, ",")
    three = compute.match_substring_regex(cells, THOUSANDS)
    return not compute.any(compute.and_not(with_comma, three)).as_py()


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


def _cells(text: bytes, delimiter: str, place: Place) -> Any:
    """All records, the first included, as columns of text."""
    pa, reader = arrow(), arrow("pyarrow.csv")
    with opening("delimited text", str(place), csv.Error):
        start: list[bytes] = []
        width = len(next(filter(None, _records(text, delimiter, start))))
        single = _with_tabs(text) if delimiter == " " else text
    # Most mistakes are near the top, and Arrow prepares every column before it finds one.
    _check_widths(text, delimiter, width, place, SAMPLE)
    parsing = reader.ParseOptions(
        delimiter="\t" if delimiter == " " else delimiter, newlines_in_values=b'"' in single
    )
    # Words with a meaning are kept for each column: of a million they take gigabytes.
    types = reader.ConvertOptions(
        column_types={f"f{j}": pa.string() for j in range(width)},
        null_values=[],
        true_values=[],
        false_values=[],
    )
    fault = None
    # A block becomes a chunk of every column: of a wide table it should hold many records. If one
    # record does not fit, all of the text is a block.
    for size in (max(BLOCK_BYTES, BLOCK_RECORDS * sum(map(len, start))), len(single) + 1):
        reading = reader.ReadOptions(autogenerate_column_names=True, block_size=min(size, 1 << 30))
        try:
            return reader.read_csv(pa.BufferReader(single), reading, parsing, types)
        except pa.ArrowInvalid as error:
            fault = error
            _check_widths(text, delimiter, width, place)
    raise ValueError(f"{place} could not be read as text with {delimiter!r} between cells: {fault}")


def _with_tabs(text: bytes) -> bytes:
    """One tab in place of the spaces between cells."""
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t").writerows(filter(None, _records(text, " ")))
    return out.getvalue().encode("latin-1")


def _check_widths(
    text: bytes, delimiter: str, width: int, place: Place, most: int | None = None
) -> None:
    """Name the first line that is too long or too short, of so many records or of all."""
    with opening("delimited text", str(place), csv.Error):
        reader = _records(text, delimiter)
        for record in islice(reader, most):
            if record and len(record) != width:
                break
        else:
            return
    raise ValueError(
        f"{place}: line {reader.line_num} has {len(record)} cells, but the first record has "
        f"{width}. Mend the line, or name the delimiter: {delimiter!r} was taken."
    )


FORMAT = Format(
    "delimited text",
    (".csv", ".tsv", ".tab", ".txt", ".dat"),
    load,
    ("delimiter", "header", "na_values"),
)
