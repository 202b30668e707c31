"""Arrow IPC: Feather, and files or streams of record batches."""

from __future__ import annotations

from inlier.data.sources.base import opening
from inlier.io.base import Format, Place, ReadOptions, arrow
from inlier.io.parquet import of_table
from inlier.io.tabular import Columns

MAGIC = b"ARROW1"


def load(place: Place, options: ReadOptions) -> Columns:
    """Read an Arrow file or stream; both are called .arrow."""
    pa, ipc = arrow(), arrow("pyarrow.ipc")
    whole = place.read(len(MAGIC)) == MAGIC
    with opening("an Arrow or Feather file", str(place), pa.ArrowException, OSError):
        source = pa.BufferReader(place.read())
        file = (ipc.open_file if whole else ipc.open_stream)(source)
        batches = map(file.get_batch, range(file.num_record_batches)) if whole else iter(file)
        held, size = [], 0
        for batch in batches:  # which may be packed
            size += batch.nbytes
            place.check_size(size)
            held.append(batch)
    return of_table(pa.Table.from_batches(held, file.schema), options)


FORMAT = Format(
    "Arrow or Feather",
    (".arrow", ".feather", ".ipc"),
    load,
    begins=lambda head: head.startswith(MAGIC),
)
