"""Feather files of the second version, which are Arrow IPC files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpportal.tables.facts import TableFacts
from dpportal.tables.formats.reader import Format, Reading

if TYPE_CHECKING:
    import pyarrow as pa


class Feather(Format):
    """Batches of typed columns as they lie in memory, perhaps compressed; their values mean what Parquet's mean."""

    name = "feather"
    titles = ("Feather",)
    endings = (".feather", ".arrow")
    beginning = b"ARROW1\0\0"

    def read(self, reading: Reading) -> TableFacts:
        import pyarrow as pa

        from dpportal.tables.formats.arrow_table import Batches, convert_batches

        def opened() -> Batches:
            reader = pyarrow.ipc.open_file(file, options=pyarrow.ipc.IpcReadOptions(use_threads=False))
            return Batches(reader.schema, _batches(reader))

        import pyarrow.ipc

        with pa.OSFile(str(reading.source)) as file:
            return convert_batches(self, reading, opened)


def _batches(file: pa.ipc.RecordBatchFileReader) -> Iterator[tuple[float, pa.RecordBatch]]:
    """Each batch, checked, with the share of them that are read once it is.

    Nothing has looked at its offsets and at places in dictionaries yet: such as lie beyond the batch would be read from
    memory that holds something else.
    """
    for number in range(file.num_record_batches):
        batch = _as_bytes(file.get_batch(number))
        batch.validate(full=True)
        yield (number + 1) / file.num_record_batches, batch


def _as_bytes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with bytes in place of texts: what is no UTF-8 among them is replaced and counted, as in Parquet."""
    import pyarrow as pa

    kinds = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    columns = [c.view(kinds[c.type]) if c.type in kinds else c for c in batch.columns]
    return pa.record_batch(columns, names=batch.schema.names)
